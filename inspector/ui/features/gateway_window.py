"""How a window watches a gateway, a real one or the demo's: joining, losing it and getting it back, leaving."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject

from inspector.capture.captures import captures_folder
from inspector.capture.flags import Flag
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.demo.script import Demo
    from inspector.document.live import LiveSession
    from inspector.ui.dialogs.connect import ConnectDialog, TestResult
    from inspector.ui.window.main_window import MainWindow


class Watching(QObject):
    """Gives one window a live document, and keeps the session behind it.

    Attributes:
        session: the live session, also after it has ended; None for a log.
        starting: a demo is on its way to the window.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._application = window.application
        self.session: LiveSession | None = None
        self.starting = False
        self._demo: Demo | None = None
        self._shows_demo = False
        self._to_remember: Connection | None = None
        self._leaving = False
        self._ending = asyncio.Lock()
        window.status.retry_clicked.connect(self.connect_now)
        window.status.gaps_clicked.connect(self.show_next_gap)

    def free(self) -> Watching:
        """This window's while it is on the start page, else that of a new window."""
        return self._window.opening.free_window().watching

    def connect_dialog(self, *, editing: NamedConnection | None = None, parent: QWidget | None = None) -> ConnectDialog:
        """A dialog that asks for a gateway, or edits one that is kept; still to be opened."""
        from inspector.ui.dialogs.connect import ConnectDialog

        dialog = ConnectDialog(
            self._window.theme, self._application.settings, parent or self._window, test=try_connection,
            tokens=self._application.tokens, editing=editing,
        )  # fmt: skip
        dialog.kept.connect(self._window.connections.keep)
        dialog.accepted_connection.connect(self._connect_to)
        return dialog

    def ask_for_gateway(self, url: str = "", recent: ConnectionSettings | None = None) -> ConnectDialog:
        """Ask how to reach a gateway, then watch it.

        Args:
            url: filled in as its address.
            recent: a connection of before, filled in as it was.

        Returns:
            The dialog, open.
        """
        dialog = self.connect_dialog()
        if recent is not None:
            dialog.set_connection(recent)
        elif url:
            dialog.set_address(url)
        dialog.open()
        return dialog

    def _connect_to(self, connection: Connection) -> None:
        self.free().watch(connection, remember=True)

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
        from inspector.document.live import LiveSession

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
        if window.panes is not None:
            window.panes.participants.set_connected(state in (SourceState.CONNECTED, SourceState.CONNECTING))
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
        window.status.set_gaps(window.panes.gaps.update())
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
        gap = panes.gaps.next_after(panes.messages.current_message()) if panes is not None else None
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
            self._window.say(sentence, lasting=True)

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

    @property
    def is_demo(self) -> bool:
        """Whether what is watched is a demo of ours, also after it has ended."""
        return self._shows_demo

    def adopt_demo(self, demo: Demo) -> None:
        """End this demo together with the session that watches it."""
        self._demo = demo
        self._shows_demo = True

    def start_demo(self) -> None:
        """Watch the scripted agents, in this window or a new one."""
        from inspector.demo.script import Demo

        free = self.free()
        free.starting = True  # at once: the next click finds another window
        self._application.spawn(free.start_demo_session(Demo()), "demo")

    async def start_demo_session(self, demo: Demo) -> None:
        """Start a demo and join its gateway like any other; hints are shown in its window."""
        self.starting = True
        try:
            await demo.start()
        finally:
            self.starting = False
        if self._window not in self._application.windows:  # it was closed meanwhile
            await demo.stop()
            return
        self.adopt_demo(demo)
        self._window.hints_here = True
        self.watch(Connection(url=demo.url, space=demo.space), demo=True)


async def try_connection(connection: Connection) -> TestResult:
    """Try a connection for the dialog that asks for one."""
    from inspector.document.live import probe
    from inspector.ui.dialogs.connect import TestResult

    found = await probe(connection)
    if not found.welcomed:
        return TestResult(False, found.sentence)
    others = formats.count_of(found.others, "other participant")
    held = f"welcome with {formats.count_of(found.capabilities, 'capability', 'capabilities')}"
    return TestResult(True, f"The gateway answered in {found.millis:.0f} ms", f"{others}, {held}. {found.sentence}")
