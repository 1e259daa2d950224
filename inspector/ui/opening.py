"""How a window gets its document: a log, a gateway, the demo, pasted text."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from inspector.capture.flags import Flag
from inspector.document import LIVE_BLOCK_BYTES, CaptureDocument, Progress, UnknownFormatError
from inspector.live import LiveSession, probe
from inspector.settings import ConnectionSettings
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState
from inspector.ui import formats
from inspector.ui.dialogs.connect import ConnectDialog, TestResult

if TYPE_CHECKING:
    from inspector.demo.script import Demo
    from inspector.ui.main_window import MainWindow
    from inspector.ui.panels.start.panel import StartPage

FORMAT_WORDS: dict[str | None, str] = {
    "gateway-log": "gateway log",
    "capability-decisions": "capability decisions",
    "envelopes": "envelopes",
    "json-rpc": "JSON-RPC",
    "wrapped": "wrapped lines",
    "capture": "capture",
}
_SLICE_S = 0.008
_LOGS = "Logs and captures (*.jsonl *.log *.json *.ctxcap *.txt);;All files (*)"


class Opening(QObject):
    """Gives one window its document, and keeps the live session behind it.

    Attributes:
        session: the live session, also after it has ended; None for a log.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._application = window.application
        self.session: LiveSession | None = None
        self._demo: Demo | None = None
        self._to_remember: Connection | None = None
        self._leaving = False
        self._ending = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._spooled: tempfile.TemporaryDirectory[str] | None = None

    def connect_start_page(self, page: StartPage) -> None:
        """Do what the start page asks for."""
        page.open_requested.connect(self.ask_for_files)
        page.connect_requested.connect(self.ask_for_gateway)
        page.demo_requested.connect(self.start_demo)
        page.paste_requested.connect(self.paste_text)
        page.recent_file_requested.connect(lambda path: self.open_path(Path(path)))
        page.recent_connection_requested.connect(self._connect_again)
        page.clear_recent_requested.connect(self._clear_recent)

    def _free(self) -> Opening:
        """This window's opening while it is on the start page, else that of a new window."""
        taken = self._window.panes is not None or self._reading is not None
        return self._application.new_window().opening if taken else self

    # Logs

    def ask_for_files(self) -> None:
        """Ask for logs and open each in a window."""
        recent = self._application.settings.recent_files
        folder = str(Path(recent[0]).parent) if recent else ""
        dialog = QFileDialog(self._window, "Open a log", folder, _LOGS)
        dialog.setObjectName("openDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self.open_paths)
        dialog.open()

    def open_paths(self, paths: list[str]) -> None:
        """Open files, each in a window of its own."""
        for path in paths:
            self.open_path(Path(path))

    def open_path(self, path: Path, *, name: str | None = None) -> None:
        """Open a log here, or in a new window when this one is taken."""
        free = self._free()
        free._reading = self._application.spawn(free._open(path, name), f"open {path.name}")

    async def _open(self, path: Path, name: str | None) -> None:
        try:
            await self.load(path, name=name)
        except UnknownFormatError as error:
            self._window.say(str(error), "severity.error")
        except OSError as error:
            self._window.say(f"{path} cannot be read: {error.strerror or error}.", "severity.error")
        else:
            if name is None:
                self.remember(path)
        finally:
            self._reading = None

    def stop_reading(self) -> None:
        """The window closes while a log is still being read."""
        if self._reading is not None:
            self._reading.cancel()

    def remember(self, path: Path) -> None:
        """Put a file on top of the recent ones."""
        self._application.settings.remember_file(str(path.resolve()))
        self._application.save_settings()

    async def load(self, path: Path, *, name: str | None = None) -> None:
        """Read a log into this window; rows show while it is being read.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: nothing in it is known.
        """
        document = CaptureDocument()
        try:
            await self._read(document, document.open_log(path, name=name, block_bytes=LIVE_BLOCK_BYTES))
        except BaseException:
            if self._window.document is not document:  # else it is closed with the window
                document.close()
            raise
        self._window.status.set_progress(None)
        if self._window.panes is not None:
            self._window.panes.bridge.flush()
        self._window.status.show_log(
            document.name, FORMAT_WORDS.get(document.format, "empty log"), document.decisions is not None,
            size_bytes=document.capture.sources[0].size, path=str(path),
        )  # fmt: skip
        self._window.refresh_counts()

    async def _read(self, document: CaptureDocument, steps: Iterator[Progress]) -> None:
        """Take the steps of opening, in slices that leave the window responsive; rows show after the first."""
        loop = asyncio.get_running_loop()
        shown = False
        until = loop.time() + _SLICE_S
        for progress in steps:
            if not shown and progress.messages:
                self._window.show_document(document)
                shown = True
            self._window.status.set_progress(progress.done / max(1, progress.total))
            if loop.time() > until:
                await asyncio.sleep(0)
                until = loop.time() + _SLICE_S
        if not shown:
            self._window.show_document(document)

    def paste_text(self) -> None:
        """Open what is in the clipboard as a log."""
        text = QGuiApplication.clipboard().text()
        if not text.strip():
            self._window.say("There is no text in the clipboard. Copy lines of a log first, one JSON object a line.")
            return
        self.open_text(text.encode("utf-8", "surrogatepass"), "pasted text")

    def open_text(self, data: bytes, name: str) -> None:
        """Open bytes that came from somewhere else than a file: they are spooled to one first."""
        folder = tempfile.TemporaryDirectory(prefix="context-inspector-")
        path = Path(folder.name) / name  # what a sentence about it says
        path.write_bytes(data)
        free = self._free()
        free._drop_spooled()
        free._spooled = folder  # lives as long as the window, which reads from it
        free.open_path(path, name=name)

    def _drop_spooled(self) -> None:
        if self._spooled is not None:
            self._spooled.cleanup()
            self._spooled = None

    def _clear_recent(self) -> None:
        self._application.settings.recent_files.clear()
        self._application.settings.recent_connections.clear()
        self._application.save_settings()
        self._window.start_page.show_recents(self._application.settings)

    # Gateways

    def ask_for_gateway(self, url: str = "", recent: ConnectionSettings | None = None) -> None:
        """Ask how to reach a gateway, then watch it.

        Args:
            url: filled in as its address.
            recent: a connection of before, filled in as it was.
        """
        dialog = ConnectDialog(self._window.theme, self._application.settings, self._window, test=try_connection)
        if recent is not None:
            dialog.set_connection(recent)
        elif url:
            dialog.set_address(url)
        dialog.accepted_connection.connect(self._connect_to)
        dialog.open()

    def _connect_again(self, recent: ConnectionSettings) -> None:
        self.ask_for_gateway(recent=recent)

    def _connect_to(self, connection: Connection) -> None:
        self._free().watch(connection, remember=True)

    def _remember_connection(self, connection: Connection) -> None:
        self._application.settings.remember_connection(
            ConnectionSettings(
                url=connection.shown_url, space=connection.space, answer_tools_list=connection.answer_tools_list
            )
        )
        self._application.save_settings()

    def watch(self, connection: Connection, *, remember: bool = False) -> bool:
        """Join a gateway in this window; False when not even the capture file could be made.

        Args:
            connection: where to and as whom.
            remember: list it among the recent ones once the gateway has greeted us.
        """
        document = CaptureDocument()
        self._to_remember = connection if remember else None
        try:
            session = LiveSession(connection, document, on_state=self._on_state)
        except OSError as error:
            self._window.say(str(error), "severity.error")
            return False
        self.session = session
        self._window.status.show_live(connection.shown_url, connection.space, connection.participant)
        panes = self._window.show_document(document)
        panes.messages.set_connected(None)
        panes.messages.say_when_empty(f"Connecting to {connection.shown_url}...")
        session.start()
        return True

    def _on_state(self, state: SourceState, sentence: str) -> None:
        window = self._window
        window.status.set_state(state, sentence)
        if state is SourceState.CONNECTED:
            self._on_connected(sentence)
        elif state is not SourceState.CONNECTING:
            if window.panes is not None:
                window.panes.messages.set_connected(None)
                window.panes.messages.say_when_empty("Nothing was received.")
            if state is SourceState.FAILED or not self._leaving:
                severity = "severity.error" if state is SourceState.FAILED else "severity.warning"
                window.say(f"{sentence}{self._kept()}", severity, ("Connect again", self._reconnect))
        window.enable_actions()

    def _on_connected(self, sentence: str) -> None:
        if self._window.panes is not None:
            self._window.panes.messages.set_connected(self._window.document.name, time.time_ns())
        if self._to_remember is not None:
            self._remember_connection(self._to_remember)
            self._to_remember = None
        _, _, remark = sentence.partition(". ")
        if remark:  # more than that we are connected, such as that the token was of no use
            self._window.say(sentence)

    def _kept(self) -> str:
        received = self._received()
        return f" What was received stays: {formats.count_of(received, 'message')}." if received else ""

    def _received(self) -> int:
        """Messages that came from the gateway, without what we sent ourselves."""
        flags = self._window.document.capture.columns["flags"]
        return int(np.count_nonzero((flags & int(Flag.SENT)) == 0))

    def _reconnect(self) -> None:
        """Join once more under a fresh id; in place of this window while there is nothing in it."""
        if self.session is None:
            return
        old = self.session.connection
        self._connect_to(
            Connection(url=old.url, space=old.space, token=old.token, answer_tools_list=old.answer_tools_list)
        )
        if not self._received():
            self._application.windows[-1].setGeometry(self._window.geometry())
            self._window.close()

    def clear_away(self) -> None:
        """Remove files nobody needs any more: pasted text, a capture in which nothing was received.

        Called when the window has closed them.
        """
        self._drop_spooled()
        if self.session is not None and not self._received() and self.session.document.path is not None:
            with contextlib.suppress(OSError):  # it stays then, which does no harm
                self.session.document.path.unlink()

    async def end_session(self) -> None:
        """Leave the gateway and end the demo behind it, if there is one."""
        self._leaving = True
        async with self._ending:  # asked twice, the second waits for the first
            if self.session is not None:
                await self.session.close()
            if self._demo is not None:
                await self._demo.stop()
                self._demo = None
        if self._window.panes is not None:
            self._window.panes.bridge.flush()
        self._window.enable_actions()

    def leave_gateway(self) -> None:
        """Leave the gateway in the background; what was received stays in the window."""
        self._application.spawn(self.end_session(), "disconnect")

    # Demo

    def adopt_demo(self, demo: Demo) -> None:
        """End this demo together with the session that watches it."""
        self._demo = demo

    def start_demo(self) -> None:
        """Watch the scripted agents, in this window or a new one."""
        from inspector.demo.script import Demo

        self._application.spawn(self._free().start_demo_session(Demo()), "demo")

    async def start_demo_session(self, demo: Demo) -> None:
        """Start a demo and join its gateway like any other; hints are shown in its window."""
        await demo.start()
        self.adopt_demo(demo)
        self._window.hints_here = True
        self.watch(Connection(url=demo.url, space=demo.space))


async def try_connection(connection: Connection) -> TestResult:
    """Try a connection for the dialog that asks for one."""
    found = await probe(connection)
    if not found.welcomed:
        return TestResult(False, found.sentence)
    others = formats.count_of(found.others, "other participant")
    held = f"welcome with {formats.count_of(found.capabilities, 'capability', 'capabilities')}"
    return TestResult(True, f"The gateway answered in {found.millis:.0f} ms", f"{others}, {held}. {found.sentence}")
