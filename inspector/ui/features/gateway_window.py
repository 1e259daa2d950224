"""Gateway session of a window, live or demo: connects, reports losses, reconnects, leaves, shows gaps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.client import EngineDiedError
from inspector.engine.document_state import ConnectionState
from inspector.engine.requests.gateways import Connection, SourceState, probe_gateway
from inspector.engine.requests.views import NextGap
from inspector.engine.start_files import end_recorder
from inspector.engine.targets import Gateway
from inspector.present import formats
from inspector.settings import ConnectionSettings, NamedConnection
from inspector.ui.features.opening import open_options

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.base.slices import SlicedWork
    from inspector.demo.script import Demo
    from inspector.ui.dialogs.connect import ConnectDialog, TestResult
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown, ShowsDocuments
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_REMARK_NOTICE = "remark"
_REMARK_MS = 15_000
"""Time to read the gateway's remark about a connection; milliseconds."""
_LEAVE_S = 12.0
"""Seconds for the engine of a closing window to leave a gateway, which takes it at most eight besides reading."""


class GatewayWatch(QObject):
    """Gives one window a live document and manages its session.

    Attributes:
        connection: the connection to the gateway, also after its end; None for a log.
        starting: True while a demo starts.

    Signals:
        connection_saved(ConnectionSave): save a connection from the dialog.
        secrets_wanted(ConnectionSettings): ask for the token of this connection, and join again.
        demo_begun(): a demo is about to be shown, with context hints.
        save_as_requested(): the capture cannot be written and needs another place.
    """

    connection_saved = Signal(object)
    secrets_wanted = Signal(object)
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
        self.connection: Connection | None = None
        self._last_state: tuple[str, str, str] | None = None
        self.starting = False
        self._demo: Demo | None = None
        self._shows_demo = False
        self._to_remember: Connection | None = None
        self._leaving = self._closed = False
        self._joining: DocumentClient | None = None
        self._continued: Connection | None = None
        self._lacks_secrets = False
        self._recorded: Path | None = None
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
        QTimer.singleShot(0, dialog, lambda: import_module("inspector.ui.pipe_client"))
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
        self._services.load_plugins()
        client = self._services.new_client(self._parent)
        failures: list[Exception] = []
        client.failed.connect(failures.append)
        self._to_remember = connection if remember else None
        client.connect_gateway(
            Gateway(
                connection.url, connection.space, connection.participant, connection.token.get_secret_value(),
                connection.answer_tools_list, demo=demo,
            ),
            open_options(self._services),
        )  # fmt: skip
        if not failures and client.state.connection is None:
            # An engine behind a pipe answers later.
            self.starting, self._joining = True, client
            show = lambda *_state: self._show_when_known(client, connection, failures, demo=demo)  # noqa: E731 - shorter than a function
            client.state_changed.connect(show)
            client.failed.connect(show)
            return True
        return self._show_joined(client, connection, failures, demo=demo)

    def _show_when_known(
        self, client: DocumentClient, connection: Connection, failures: list[Exception], *, demo: bool
    ) -> None:  # fmt: skip
        """Shows a live document as soon as its state is known."""
        if self._joining is client and (failures or client.state.connection is not None):
            self._joining, self.starting = None, False
            self._show_joined(client, connection, failures, demo=demo)

    def _show_joined(
        self, client: DocumentClient, connection: Connection, failures: list[Exception], *, demo: bool
    ) -> bool:  # fmt: skip
        """Shows a live document, or the reason why there is none. Returns False in this case."""
        if failures:
            client.close()
            self._notices.show_sentence(str(failures[0]), "severity.error")
            return False
        self.connection, self._shows_demo = connection, self._shows_demo or demo
        self._status.show_live(connection.shown_url, connection.space, connection.participant)
        steps = self._stage.showing(client)
        # the panes must exist before the session reports its first state
        while (panes := self._shown.panes) is None:
            next(steps)
        panes.messages.set_connected(None)
        panes.messages.say_when_empty(f"Connecting to {connection.shown_url}...")
        self._on_state_changed()
        self._services.spawn(self._run_display_steps(steps), "paint what is shown")
        return True

    async def _run_display_steps(self, steps: SlicedWork[Panes]) -> None:
        """Runs the remaining steps, each of which paints one part, in iterations of their own."""
        for _ in steps:
            await asyncio.sleep(0)

    @property
    def _state(self) -> ConnectionState | None:
        """The state of the connection; None for a log."""
        return self._shown.state.connection

    def _on_state_changed(self) -> None:
        now = self._state
        if now is not None and (now.state, now.sentence, now.trouble) != self._last_state:
            self._last_state = now.state, now.sentence, now.trouble
            self._on_state(SourceState(now.state), now)

    def _on_state(self, state: SourceState, now: ConnectionState) -> None:
        self._status.set_state(state, now.sentence)
        if self._shown.panes is not None:
            self._shown.panes.participants.set_connected(state in (SourceState.CONNECTED, SourceState.CONNECTING))
        if state is SourceState.RECONNECTING:
            self._on_lost(now)
        else:
            self._notices.dismiss("connection")
        if state is SourceState.CONNECTED:
            self._on_connected(now)
        elif state in (SourceState.CLOSED, SourceState.FAILED):
            if self._shown.panes is not None:
                self._shown.panes.messages.set_connected(None)
                self._shown.panes.messages.say_when_empty("No messages were received.")
            # Without a sentence the engine has ended, which `EngineWatch` reports.
            if now.sentence and (state is SourceState.FAILED or not self._leaving):
                severity = "severity.error" if state is SourceState.FAILED else "severity.warning"
                # the disk failed, not the gateway
                if now.is_unwritable:
                    self._notices.show_sentence(now.sentence, severity, ("Save as...", self.save_as_requested.emit))
                else:
                    self._notices.show_sentence(
                        f"{now.sentence}{self._received_words()}", severity, ("Reconnect", self.reconnect)
                    )
        self.tick()
        self._requests.actions_changed.emit()

    def _on_lost(self, now: ConnectionState) -> None:
        """Reports a lost connection, its reason and the trouble of the last attempt."""
        if self._shown.panes is not None:
            self._shown.panes.messages.set_connected(None)
            self._shown.panes.messages.say_when_empty("Connection lost. Reconnecting...")
        # Most sentences begin with the address, which the first one already has.
        shown_url = self.connection.shown_url if self.connection is not None else ""
        trouble = now.trouble.removeprefix(f"{shown_url} ")
        failed = f" Last attempt: {trouble}" if trouble else ""
        links = [("Connect now", self.connect_now), ("Stop", self.leave_gateway)]
        sentence = f"{now.outage} Reconnecting until you stop it.{failed}"
        self._notices.show_notice("connection", "warning", sentence, links, token="severity.warning")

    def connect_now(self) -> None:
        """Skips the wait before the next attempt to reconnect."""
        if self._shown.client is not None and self._state is not None:
            self._shown.client.continue_reading()

    def tick(self) -> None:
        """Shows the backlog and gaps; called once a second."""
        if self._shown.panes is None:
            return
        self._shown.panes.client.send_request(NextGap(), lambda gaps: self._status.set_gaps(gaps.count))
        state = self._shown.state
        now = state.connection
        if now is not None:
            self._status.set_behind(now.received - state.messages if state.is_live else 0)
            self._status.set_refused(now.refused)
            if now.state != SourceState.RECONNECTING.value:
                self._status.set_retry(0)
            elif now.next_at_s is None:
                self._status.set_retry(now.attempts)
            else:
                self._status.set_retry(now.attempts + 1, max(0.0, now.next_at_s - time.monotonic()))

    def show_next_gap(self) -> None:
        """Selects the message at the next gap in the capture."""
        panes = self._shown.panes
        if panes is not None:
            question = NextGap(panes.messages.current_message())
            panes.client.send_request(question, lambda gaps: None if gaps.next is None else panes.go_to(gaps.next))

    def _on_connected(self, now: ConnectionState) -> None:
        self._status.set_participant(now.participant)
        if self._shown.panes is not None:
            self._shown.panes.messages.set_connected(self._shown.state.name, time.time_ns())
        if self._to_remember is not None:
            self._remember_connection(self._to_remember)
            self._to_remember = None
        _, _, remark = now.sentence.partition(". ")
        if remark:  # remarks about the connection, such as a token that was not needed
            self._notices.show_notice(_REMARK_NOTICE, "note", now.sentence, token="severity.note", closable=True)
            QTimer.singleShot(_REMARK_MS, self, lambda: self._notices.dismiss(_REMARK_NOTICE))

    def _received_words(self) -> str:
        received = self._received_count()
        return f" Received until then: {formats.count_of(received, 'message')}." if received else ""

    def _received_count(self) -> int:
        """Returns the number of messages received from the gateway."""
        return self._shown.state.received

    def reconnect(self) -> None:
        """Joins again under a new id. Replaces this window if it is empty."""
        old = self.connection
        if old is None:
            return
        if self._lacks_secrets:
            self.secrets_wanted.emit(
                ConnectionSettings(url=old.url, space=old.space, answer_tools_list=old.answer_tools_list)
            )
            return
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
            if self._shown.client is not None and self.connection is not None:
                await self._shown.client.leave_gateway()
            if self._demo is not None:
                await self._demo.stop()
                self._demo = None
        if self._shown.panes is not None:
            self._shown.panes.bridge.flush()
        self._requests.actions_changed.emit()

    async def end_session_in_time(self) -> None:
        """Ends the session; kills an engine that does not answer. Its recorder ends with the window."""
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self.end_session()
        except TimeoutError:
            if self._shown.client is not None:
                self._shown.client.kill_engine()
            await self.end_session()

    def attach(self, panes: Panes) -> None:
        """Follows the connection of a document, also after it was replaced by one with further sources."""
        now = panes.client.state.connection
        if self.connection is None and now is not None:
            # The program that joined has ended, and its secrets with it.
            self._lacks_secrets = self._continued is None and now.has_secrets
            self.connection = self._continued or Connection(
                url=now.url, space=now.space, participant=now.participant
            )  # fmt: skip
            self._status.show_live(now.url, now.space, now.participant)
            self._on_state_changed()
        if self.connection is not None:
            panes.client.state_changed.connect(self._on_state_changed)
            panes.client.failed.connect(self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        """Notes the capture of a live document whose engine has ended: its recorder goes on, if it has joined."""
        state = self._shown.state
        if not (isinstance(error, EngineDiedError) and state.is_live):
            return
        self._recorded = state.path
        if self.is_joining and state.path is not None:
            self._services.spawn(asyncio.to_thread(end_recorder, state.path), "end the recorder")

    @property
    def is_joining(self) -> bool:
        """True until the gateway has answered for the first time. Its messages may arrive before the new state."""
        now, messages = self._state, self._shown.state.messages
        return now is not None and now.state == SourceState.CONNECTING.value and not messages

    def continue_in(self, other: GatewayWatch) -> None:
        """Gives the connection and the demo to the window that shows the capture from now on."""
        other._continued, self._recorded = self.connection, None
        if self._demo is not None:
            other.adopt_demo(self._demo)
            self._demo = None

    def leave_gateway(self) -> None:
        """Leaves the gateway in the background. Received messages stay in the window."""
        self._services.spawn(self.end_session(), "disconnect")

    def close(self) -> None:
        """Stops a starting demo, and leaves a gateway whose document is not shown so far, or whose engine has ended."""
        self._closed = True
        if self._recorded is not None:
            end_recorder(self._recorded)
        if self._joining is not None:
            self._joining.close(discard=True)
            self._joining = None

    # Demo

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
