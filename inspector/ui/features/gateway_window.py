"""Gateway session of a window, live or demo: connects, reports losses, reconnects, leaves, shows gaps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.sources.connection import Connection
from inspector.sources.state import SourceState
from inspector.store.columns.flags import Flag
from inspector.store.files.capture_folder import captures_folder
from inspector.ui.loop_budget import others_first

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.base.slices import SlicedWork
    from inspector.demo.script import Demo
    from inspector.document.live import LiveSession
    from inspector.ui.dialogs.connect import ConnectDialog, TestResult
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown, ShowsDocuments
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_REMARK_NOTICE = "remark"
_REMARK_MS = 15_000
"""Time to read the gateway's remark about a connection; milliseconds."""


class GatewayWatch(QObject):
    """Gives one window a live document and manages its session.

    Attributes:
        session: the live session, also after its end; None for a log.
        starting: True while a demo starts.

    Signals:
        capture_begun(OwnCapture, bool): recording to this capture has begun; True for a demo.
        connection_saved(ConnectionSave): save a connection from the dialog.
        demo_begun(): a demo is about to be shown, with context hints.
        save_as_requested(): the capture cannot be written and needs another place.
    """

    capture_begun = Signal(object, bool)
    connection_saved = Signal(object)
    demo_begun = Signal()
    save_as_requested = Signal()

    def __init__(
        self, parent: QWidget, shown: Shown, stage: ShowsDocuments, services: Services, *, requests: WindowRequests,
        notices: NoticeStack, status: StatusBar, free: Callable[[], GatewayWatch],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, parent of dialogs.
            shown: the document and its panes.
            stage: brings a document into the window.
            services: recent and saved connections, keyring and background tasks.
            requests: requests to the window.
            notices: shows the state of the connection.
            status: shows it in short.
            free: returns this object of a window without a document, maybe of this one.
        """
        super().__init__(parent)
        self._parent, self._shown, self._stage, self._services = parent, shown, stage, services
        self._requests, self._notices, self._status = requests, notices, status
        self.free = free
        self.session: LiveSession | None = None
        self.starting = False
        self._demo: Demo | None = None
        self._shows_demo = False
        self._to_remember: Connection | None = None
        self._leaving = self._closed = False
        self._ending = asyncio.Lock()
        status.retry_clicked.connect(self.connect_now)
        status.gaps_clicked.connect(self.show_next_gap)

    def connect_dialog(self, *, editing: NamedConnection | None = None, parent: QWidget | None = None) -> ConnectDialog:
        """Returns an unopened dialog for a new gateway or a saved one."""
        from inspector.ui.dialogs.connect import ConnectDialog

        dialog = ConnectDialog(
            self._services.theme, self._services.settings, parent or self._parent, test=try_connection,
            tokens=self._services.tokens, editing=editing,
        )  # fmt: skip
        dialog.saved.connect(self.connection_saved)
        dialog.accepted_connection.connect(self._connect_to)
        return dialog

    def ask_for_gateway(self, url: str = "", recent: ConnectionSettings | None = None) -> ConnectDialog:
        """Shows the connect dialog and then watches the gateway.

        Args:
            url: the address to fill in.
            recent: the connection to fill in.

        Returns:
            The open dialog.
        """
        dialog = self.connect_dialog()
        if recent is not None:
            dialog.set_connection(recent)
        elif url:
            dialog.set_address(url)
        dialog.open()
        # imported while the user types an address
        QTimer.singleShot(0, dialog, lambda: import_module("inspector.document.live"))
        return dialog

    def _connect_to(self, connection: Connection) -> None:
        self.free().watch(connection, remember=True)

    def _remember_connection(self, connection: Connection) -> None:
        self._services.settings.remember_connection(
            ConnectionSettings(
                url=connection.shown_url, space=connection.space, answer_tools_list=connection.answer_tools_list
            )
        )
        self._services.save_settings()

    def watch(self, connection: Connection, *, remember: bool = False, demo: bool = False) -> bool:
        """Joins a gateway in this window. Returns False if the capture file cannot be created.

        Args:
            connection: address and identity.
            remember: add it to the recent connections after the gateway's greeting.
            demo: its capture may be deleted without a question.
        """
        from inspector.document.live import LiveSession

        self._services.load_plugins()
        document = CaptureDocument()
        document.memory.limit_to(self._services.settings.memory.limit_mb)
        self._to_remember = connection if remember else None
        try:
            session = LiveSession(connection, document, on_state=self._on_state, demo=demo, others_first=others_first)
        except OSError as error:
            where = error.filename or captures_folder()
            self._notices.show_sentence(
                f"The capture cannot be written: {where}: {error.strerror or error}.", "severity.error"
            )
            return False
        self.session = session
        self.capture_begun.emit(session.own, demo)
        self._status.show_live(connection.shown_url, connection.space, connection.participant)
        steps = self._stage.showing(document)
        # the panes must exist before the session reports its first state
        while (panes := self._shown.panes) is None:
            next(steps)
        panes.messages.set_connected(None)
        panes.messages.say_when_empty(f"Connecting to {connection.shown_url}...")
        session.start()
        self._services.spawn(self._run_display_steps(steps), "paint what is shown")
        return True

    async def _run_display_steps(self, steps: SlicedWork[Panes]) -> None:
        """Runs the remaining steps, each of which paints one part, in iterations of their own."""
        for _ in steps:
            await asyncio.sleep(0)

    def _on_state(self, state: SourceState, sentence: str) -> None:
        self._status.set_state(state, sentence)
        if self._shown.panes is not None:
            self._shown.panes.participants.set_connected(state in (SourceState.CONNECTED, SourceState.CONNECTING))
        if state is SourceState.RECONNECTING:
            self._on_lost()
        else:
            self._notices.dismiss("connection")
        if state is SourceState.CONNECTED:
            self._on_connected(sentence)
        elif state in (SourceState.CLOSED, SourceState.FAILED):
            if self._shown.panes is not None:
                self._shown.panes.messages.set_connected(None)
                self._shown.panes.messages.say_when_empty("No messages were received.")
            if state is SourceState.FAILED or not self._leaving:
                severity = "severity.error" if state is SourceState.FAILED else "severity.warning"
                # the disk failed, not the gateway
                if self.session is not None and self.session.writer.error is not None:
                    self._notices.show_sentence(sentence, severity, ("Save as...", self.save_as_requested.emit))
                else:
                    self._notices.show_sentence(
                        f"{sentence}{self._received_words()}", severity, ("Reconnect", self._reconnect)
                    )
        self.tick()
        self._requests.actions_changed.emit()

    def _on_lost(self) -> None:
        """Reports a lost connection, its reason and the trouble of the last attempt."""
        outage = self.session.source.outage if self.session is not None else None
        if outage is None:
            return
        if self._shown.panes is not None:
            self._shown.panes.messages.set_connected(None)
            self._shown.panes.messages.say_when_empty("Connection lost. Reconnecting...")
        # Most sentences begin with the address, which the first one already has.
        trouble = outage.trouble.removeprefix(f"{self.session.connection.shown_url} ") if self.session else ""
        failed = f" Last attempt: {trouble}" if trouble else ""
        links = [("Connect now", self.connect_now), ("Stop", self.leave_gateway)]
        sentence = f"{outage.why} Reconnecting until you stop it.{failed}"
        self._notices.show_notice("connection", "warning", sentence, links, token="severity.warning")

    def connect_now(self) -> None:
        """Skips the wait before the next attempt to reconnect."""
        if self.session is not None:
            self.session.source.retry_now()

    def tick(self) -> None:
        """Shows the backlog and gaps; called once a second."""
        if self._shown.panes is None:
            return
        self._status.set_gaps(self._shown.panes.gaps.update())
        if self.session is not None:
            messages = len(self._shown.document.capture)
            self._status.set_behind(
                self.session.source.recorder.recorded - messages if self._shown.document.live else 0
            )
            self._status.set_refused(self.session.writer.dropped_count)
            outage = self.session.source.outage
            if outage is None:
                self._status.set_retry(0)
            elif outage.next_at_s is None:
                self._status.set_retry(outage.attempts)
            else:
                self._status.set_retry(outage.attempts + 1, max(0.0, outage.next_at_s - time.monotonic()))

    def show_next_gap(self) -> None:
        """Selects the message at the next gap in the capture."""
        panes = self._shown.panes
        gap = panes.gaps.next_after(panes.messages.current_message()) if panes is not None else None
        if panes is not None and gap is not None:
            panes.go_to(gap)

    def _on_connected(self, sentence: str) -> None:
        if self.session is not None:
            self._status.set_participant(self.session.source.participant)
        if self._shown.panes is not None:
            self._shown.panes.messages.set_connected(self._shown.document.name, time.time_ns())
        if self._to_remember is not None:
            self._remember_connection(self._to_remember)
            self._to_remember = None
        _, _, remark = sentence.partition(". ")
        if remark:  # remarks about the connection, such as a token that was not needed
            self._notices.show_notice(_REMARK_NOTICE, "note", sentence, token="severity.note", closable=True)
            QTimer.singleShot(_REMARK_MS, self, lambda: self._notices.dismiss(_REMARK_NOTICE))

    def _received_words(self) -> str:
        received = self._received_count()
        return f" Received until then: {formats.count_of(received, 'message')}." if received else ""

    def _received_count(self) -> int:
        """Returns the number of messages received from the gateway."""
        flags = self._shown.document.capture.columns["flags"]
        return int(np.count_nonzero((flags & int(Flag.SENT)) == 0))

    def _reconnect(self) -> None:
        """Joins again under a new id. Replaces this window if it is empty."""
        if self.session is None:
            return
        old = self.session.connection
        self._connect_to(
            Connection(url=old.url, space=old.space, token=old.token, answer_tools_list=old.answer_tools_list)
        )
        # an empty window has no content to lose, so the new one takes its place
        if not self._received_count():
            self._requests.replaced.emit()

    async def end_session(self) -> None:
        """Leaves the gateway and ends its demo, if any."""
        self._leaving = True
        async with self._ending:  # a second call waits for the first
            if self.session is not None:
                await self.session.close()
            if self._demo is not None:
                await self._demo.stop()
                self._demo = None
        if self._shown.panes is not None:
            self._shown.panes.bridge.flush()
        self._requests.actions_changed.emit()

    def adopt(self, document: CaptureDocument) -> None:
        """Attaches the session to a replaced document with further sources."""
        if self.session is not None and document.sources.live_source is not None:
            self.session.adopt_document(document)

    def leave_gateway(self) -> None:
        """Leaves the gateway in the background. Received messages stay in the window."""
        self._services.spawn(self.end_session(), "disconnect")

    def close(self) -> None:
        """Marks the window as closed, so that a starting demo stops."""
        self._closed = True

    # Demo

    @property
    def connection(self) -> Connection | None:
        """The connection of the live session, also after its end; None for a log."""
        return None if self.session is None else self.session.connection

    @property
    def is_demo(self) -> bool:
        """True if the window shows the demo, also after its end."""
        return self._shows_demo

    def adopt_demo(self, demo: Demo) -> None:
        """Stores the demo to end it together with its session."""
        self._demo = demo
        self._shows_demo = True

    def start_demo(self) -> None:
        """Starts the demo in this window or a new one."""
        from inspector.demo.script import Demo

        free = self.free()
        free.starting = True  # at once: the next click must use another window
        self._services.spawn(free.start_demo_session(Demo()), "demo")

    async def start_demo_session(self, demo: Demo) -> None:
        """Starts a demo and joins its gateway. Its window shows hints."""
        self.starting = True
        try:
            await demo.start()
        finally:
            self.starting = False
        if self._closed:  # the window closed meanwhile
            await demo.stop()
            return
        self.adopt_demo(demo)
        self.demo_begun.emit()
        self.watch(Connection(url=demo.url, space=demo.space), demo=True)


async def try_connection(connection: Connection) -> TestResult:
    """Tests a connection for the connect dialog."""
    from inspector.document.live import probe_gateway
    from inspector.ui.dialogs.connect import TestResult

    found = await probe_gateway(connection)
    if not found.welcomed:
        return TestResult(False, found.sentence)
    others = formats.count_of(found.others, "other participant")
    if not found.others:
        others = f"No other participant is in the space {connection.space}. Is the name right?"
    held = f"elcome with {formats.count_of(found.capabilities, 'capability', 'capabilities')}"
    told = f"{others}, w{held}" if found.others else f"{others} W{held}"
    headline = f"The gateway answered in {found.millis:.0f} ms"
    return TestResult(True, headline, f"{told}.", doubtful=not found.others)
