"""How a window gets its document: a log, a gateway, the demo, pasted text."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog

from inspector.capture.flags import Flag
from inspector.captures import OwnCapture, captures_folder
from inspector.document import CaptureDocument, Progress
from inspector.live import POLL_S, LiveSession, probe
from inspector.reading import LIVE_BLOCK_BYTES, UnknownFormatError
from inspector.settings import ConnectionSettings
from inspector.sources.connection import Connection
from inspector.sources.inputs import is_stream
from inspector.sources.state import SourceState
from inspector.ui import formats
from inspector.ui.dialogs.connect import ConnectDialog, TestResult
from inspector.ui.following import Following
from inspector.ui.gaps import GapRows

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
_WAIT_S = 0.003
_QUIET_S = 0.3
"""Shorter work shows no progress (look.md 9)."""
_LOGS = "Logs and captures (*.jsonl *.log *.json *.ctxcap *.txt *.gz *.zst);;All files (*)"


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
        self._gaps: GapRows | None = None
        self._ending = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._spooled: tempfile.TemporaryDirectory[str] | None = None
        self._following = Following(window)
        self._may_read = self._is_finite = False
        self._stopped_at: float | None = None

    def connect_start_page(self, page: StartPage) -> None:
        """Do what the start page asks for."""
        page.open_requested.connect(self.ask_for_files)
        page.connect_requested.connect(self.ask_for_gateway)
        page.demo_requested.connect(self.start_demo)
        page.paste_requested.connect(self.paste_text)
        page.recent_file_requested.connect(lambda path: self.open_path(Path(path)))
        page.recent_connection_requested.connect(self._connect_again)
        page.clear_recent_requested.connect(self._clear_recent)
        page.recover_requested.connect(self._window.keeping.recover)
        page.discard_requested.connect(self._window.keeping.discard_unsaved)

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
            await self.load(path, name=name, follow=name is None)
        except UnknownFormatError as error:
            self._window.say(str(error), "severity.error")
        except OSError as error:
            self._window.say(f"{path} cannot be read: {error.strerror or error}.", "severity.error")
        else:
            if name is None and not is_stream(path):
                self.remember(path)
        finally:
            self._reading = None
            if self._window.panes is None:
                self._window.keeping.let_go()

    def open_unsaved(self, own: OwnCapture, name: str) -> None:
        """Open a capture that an earlier run did not save, here or in a new window; it stays unsaved."""
        free = self._free()
        free._window.keeping.hold(own)
        free.open_path(own.path, name=name)

    def cancel_reading(self) -> bool:
        """Read no further; what was read stays. Whether there was something to cancel: what has no end is followed."""
        if not (self._may_read and self._is_finite):
            return False
        self._may_read = False
        return True

    def stop_reading(self) -> None:
        """The window closes while a log is still being read."""
        if self._reading is not None:
            self._reading.cancel()
        self._following.stop()

    def remember(self, path: Path) -> None:
        """Put a file on top of the recent ones."""
        self._application.settings.remember_file(str(path.resolve()))
        self._application.save_settings()

    async def load(self, path: Path, *, name: str | None = None, follow: bool = False) -> None:
        """Read a log into this window; rows show while it is being read, and afterwards as it grows.

        Args:
            path: a log, an archive, a pipe or STANDARD_INPUT.
            name: what titles show instead of the file's own.
            follow: read on when the log grows, until the window closes.

        Raises:
            OSError: the file cannot be read.
            UnknownFormatError: nothing in it is known.
        """
        document = CaptureDocument()
        try:
            steps = document.open_log(path, name=name, block_bytes=LIVE_BLOCK_BYTES, wait=False, follow=follow)
            await self._read(document, steps)
        except BaseException:
            if self._window.document is not document:  # else it is closed with the window
                document.close()
            raise
        if self._window.panes is not None:
            self._window.panes.bridge.flush()
        self._window.status.show_log(
            document.name, FORMAT_WORDS.get(document.format, "empty log"), document.decisions is not None,
            size_bytes=document.capture.sources[0].size, path=str(path),
        )  # fmt: skip
        self._window.refresh_counts()
        self._window.enable_actions()
        self._following.start(document)
        for sentence in document.troubles:
            self._window.say(sentence, "severity.warning")
        if self._stopped_at is not None:
            self._window.status.set_stopped(self._stopped_at, len(document.capture))
            self._window.status.go_on_clicked.connect(lambda: self.open_path(path, name=name))

    async def _read(self, document: CaptureDocument, steps: Generator[Progress]) -> None:
        """Take the steps of opening, in slices that leave the window responsive; rows show after the first.

        Ends early when `cancel_reading` was asked for; what was read by then stays.
        """
        loop = asyncio.get_running_loop()
        shown = False
        started = loop.time()
        until = started + _SLICE_S
        self._stopped_at, self._may_read = None, True
        with contextlib.closing(steps):
            for progress in steps:
                share = progress.done / max(1, progress.total)
                self._is_finite = progress.total > 0
                if not shown and progress.messages:
                    self._window.status.show_log(document.name, FORMAT_WORDS.get(document.format, ""))
                    self._window.show_document(document)
                    shown = True
                    if document.live:
                        self._window.notices.dismiss("message")
                if loop.time() - started > _QUIET_S and progress.total:  # nobody knows how long a stream is
                    self._window.status.set_progress(share, progress.messages)
                if progress.waiting or loop.time() > until:
                    await asyncio.sleep((_WAIT_S if progress.total else POLL_S) if progress.waiting else 0)
                    until = loop.time() + _SLICE_S
                if not self._may_read:
                    self._stopped_at = share
                    break
        self._may_read = False
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

    def watch(self, connection: Connection, *, remember: bool = False, demo: bool = False) -> bool:
        """Join a gateway in this window; False when not even the capture file could be made.

        Args:
            connection: where to and as whom.
            remember: list it among the recent ones once the gateway has greeted us.
            demo: its capture may be thrown away without a question.
        """
        document = CaptureDocument()
        self._to_remember = connection if remember else None
        try:
            session = LiveSession(connection, document, on_state=self._on_state, demo=demo)
        except OSError as error:
            where = error.filename or captures_folder()
            self._window.say(f"The capture cannot be written: {where}: {error.strerror or error}.", "severity.error")
            return False
        self.session = session
        self._window.keeping.hold(session.own, demo=demo)
        self._window.status.show_live(connection.shown_url, connection.space, connection.participant)
        panes = self._window.show_document(document)
        panes.messages.set_connected(None)
        panes.messages.say_when_empty(f"Connecting to {connection.shown_url}...")
        session.start()
        return True

    def _on_state(self, state: SourceState, sentence: str) -> None:
        window = self._window
        window.status.set_state(state, sentence)
        if state is SourceState.RECONNECTING:
            self._on_lost()
        else:
            window.notices.dismiss("connection")
        if state is SourceState.CONNECTED:
            self._on_connected(sentence)
        elif state in (SourceState.CLOSED, SourceState.FAILED):
            if window.panes is not None:
                window.panes.messages.set_connected(None)
                window.panes.messages.say_when_empty("Nothing was received.")
            if state is SourceState.FAILED or not self._leaving:
                severity = "severity.error" if state is SourceState.FAILED else "severity.warning"
                if self.session is not None and self.session.writer.error is not None:  # the disk, not the gateway
                    window.say(sentence, severity, ("Save as...", window.keeping.save_as))
                else:
                    window.say(f"{sentence}{self._kept()}", severity, ("Connect again", self._reconnect))
        self.tick()
        window.enable_actions()

    def _on_lost(self) -> None:
        """The connection is being sought again: say why it was lost and what stands in the way."""
        outage = self.session.source.outage if self.session is not None else None
        if outage is None:
            return
        window = self._window
        if window.panes is not None:
            window.panes.messages.set_connected(None)
            window.panes.messages.say_when_empty("The connection was lost; trying to get it back.")
        # Most sentences begin with the address, which the first one says already.
        trouble = outage.trouble.removeprefix(f"{self.session.connection.shown_url} ") if self.session else ""
        failed = f" Last attempt: {trouble}" if trouble else ""
        links = [("Connect now", self.connect_now), ("Stop", self.leave_gateway)]
        sentence = f"{outage.why} Trying again until you stop it.{failed}"
        window.notices.show_notice("connection", "warning", sentence, links, token="severity.warning")

    def connect_now(self) -> None:
        """Do not wait for the next attempt at getting a lost connection back."""
        if self.session is not None:
            self.session.source.try_now()

    def tick(self) -> None:
        """Say how far the window is behind and what is missing; called once a second."""
        window = self._window
        if window.panes is None:
            return
        if self._gaps is None:
            self._gaps = GapRows(window.document)
        window.status.set_gaps(self._gaps.update())
        if self.session is not None:
            messages = len(window.document.capture)
            window.status.set_behind(self.session.source.recorder.recorded - messages if window.document.live else 0)
            window.status.set_not_kept(self.session.writer.refused)
            outage = self.session.source.outage
            if outage is None:
                window.status.set_retry(0)
            elif outage.next_at_s is None:
                window.status.set_retry(outage.attempts)
            else:
                window.status.set_retry(outage.attempts + 1, max(0.0, outage.next_at_s - time.monotonic()))

    def show_next_gap(self) -> None:
        """Go to the next place where messages may be missing."""
        panes = self._window.panes
        gap = self._gaps.next_after(panes.messages.current_message()) if panes and self._gaps is not None else None
        if panes is not None and gap is not None:
            panes.go_to(gap)

    def _on_connected(self, sentence: str) -> None:
        if self.session is not None:
            self._window.status.set_participant(self.session.source.participant)
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
        """Remove files nobody needs any more; called when the window has closed them."""
        self._drop_spooled()

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
        self.watch(Connection(url=demo.url, space=demo.space), demo=True)


async def try_connection(connection: Connection) -> TestResult:
    """Try a connection for the dialog that asks for one."""
    found = await probe(connection)
    if not found.welcomed:
        return TestResult(False, found.sentence)
    others = formats.count_of(found.others, "other participant")
    held = f"welcome with {formats.count_of(found.capabilities, 'capability', 'capabilities')}"
    return TestResult(True, f"The gateway answered in {found.millis:.0f} ms", f"{others}, {held}. {found.sentence}")
