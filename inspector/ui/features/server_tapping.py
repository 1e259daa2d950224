"""Taps an MCP server of a client on this machine and opens its capture as it arrives."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QProcess, QTimer, Signal
from PySide6.QtWidgets import QWidget

from inspector.base.paths import data_folder
from inspector.tap.capture_name import SUFFIX
from inspector.tap.install.changes import Change, RefusedError, Server, applied, planned, servers_of
from inspector.tap.install.entries import own_command
from inspector.ui.dialogs.tap_server import TapServerDialog

if TYPE_CHECKING:
    from inspector.ui.services import Services
    from inspector.ui.widgets.notice import NoticeStack

FOLDER = "taps"
WAITING = "Changed. {} The capture opens here as soon as the client starts the server."
RUNNING = "The tap runs while this dialog is open. Closing it restores the configuration. {}"
_POLL_MS = 300
# A tap ends within a second, so this is a limit for a stuck one.
_END_TIMEOUT_MS = 5_000


class Tapping(QObject):
    """Shows the servers, changes a client's entry on request, and opens the resulting capture.

    A server at an address is tapped while the dialog is open. Its tap is a separate process. The entry is restored when
    the dialog closes or the program ends.

    Signals:
        arrived(str): open this capture.
    """

    arrived = Signal(str)

    def __init__(self, parent: QWidget, services: Services, notices: NoticeStack) -> None:
        """Stores its collaborators.

        Args:
            parent: the window, parent of the dialog.
            services: the look and background tasks.
            notices: reports an entry that could not be restored.
        """
        super().__init__(parent)
        self._parent, self._services, self._notices = parent, services, notices
        self._dialog: TapServerDialog | None = None
        self._looking: asyncio.Task[None] | None = None
        self._change: Change | None = None
        self._server_to_restore: Server | None = None  # the server whose entry must be restored
        self._tap: QProcess | None = None
        self._changed_at = 0.0
        self._watch = QTimer(self)
        self._watch.setInterval(_POLL_MS)
        self._watch.timeout.connect(self._look_for_capture)
        program = QCoreApplication.instance()
        if program is not None:
            program.aboutToQuit.connect(self.end)

    @property
    def folder(self) -> Path:
        """The folder of captures."""
        return data_folder() / FOLDER

    def show_dialog(self) -> TapServerDialog:
        if self._dialog is not None:
            self._dialog.raise_()
            self._dialog.activateWindow()
            return self._dialog
        dialog = self._dialog = TapServerDialog(self._services.theme, self._parent)
        dialog.selected.connect(self._show_plan)
        dialog.change_requested.connect(self._make_change)
        dialog.refresh_requested.connect(self._look_up)
        dialog.finished.connect(lambda _result: self._on_finished())
        dialog.show()
        self._look_up()
        return dialog

    # Finding and planning

    def _look_up(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self._looking = self._services.spawn(self._fill(), "look for MCP servers")

    async def _fill(self) -> None:
        found = await asyncio.to_thread(servers_of)
        if self._dialog is not None:
            self._dialog.show_found(found)

    def _show_plan(self, server: Server | None) -> None:
        """Shows the change that a tap of this server needs."""
        self._change = None
        if self._dialog is None or server is None:
            return
        try:
            self._change = planned(server, self.folder, install=not server.form.tapped)
        except RefusedError as error:
            self._dialog.show_change(None, str(error))
        else:
            self._dialog.show_change(self._change)

    # Changing

    def _make_change(self) -> None:
        change, dialog = self._change, self._dialog
        if change is None or dialog is None:
            return
        self._changed_at = time.time()
        try:
            applied(change)
        except RefusedError as error:
            dialog.show_change(None, str(error))
            return
        if change.server.form.tapped:
            self._look_up()
            return
        notes = " ".join(change.notes)
        if change.run:
            self._server_to_restore = change.server
            self._run_tap(change.run)
            dialog.show_running(RUNNING.format(notes))
        else:
            dialog.show_running(WAITING.format(notes))
        self._watch.start()

    def _run_tap(self, words: tuple[str, ...]) -> None:
        program, *first = own_command()
        self._tap = QProcess(self)
        self._tap.finished.connect(self._on_tap_ended)
        self._tap.errorOccurred.connect(self._on_tap_failed)
        self._tap.start(program, [*first, *words])

    def _on_tap_ended(self) -> None:
        """Shows the error of a tap that ended by itself."""
        tap = self._tap
        said = bytes(tap.readAllStandardError().data()).decode(errors="replace") if tap is not None else ""
        self.end()
        if self._dialog is not None:
            self._dialog.show_ended()
            self._dialog.show_sentence(said.removeprefix("context-inspector tap: ").strip() or "The tap has ended.")

    def _on_tap_failed(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._on_tap_ended()

    def _look_for_capture(self) -> None:
        """Opens the first capture written since the change."""
        try:
            # 1 s of tolerance for the resolution of file times
            recent = [file for file in self.folder.glob(f"*{SUFFIX}") if file.stat().st_mtime >= self._changed_at - 1.0]
        except OSError:
            return
        if not recent:
            return
        self._watch.stop()
        newest = min(recent, key=lambda file: file.stat().st_mtime)
        self.arrived.emit(str(newest))
        if self._dialog is not None and self._tap is None:
            self._dialog.show_sentence(f"{newest.name} is open and shows new messages as they arrive.")

    # Closing

    def close(self) -> None:
        """Closes the dialog and ends its tap."""
        if self._dialog is not None:
            self._dialog.close()

    def _on_finished(self) -> None:
        self._dialog = None
        if self._looking is not None:
            self._looking.cancel()
        self.end()

    def end(self) -> None:
        """Ends the running tap and restores the client's entry."""
        self._watch.stop()
        tap, self._tap = self._tap, None
        if tap is not None:
            # This end is wanted, so it is not reported as a failure.
            tap.finished.disconnect(self._on_tap_ended)
            tap.terminate()
            if not tap.waitForFinished(_END_TIMEOUT_MS):
                tap.kill()
            tap.deleteLater()
        server, self._server_to_restore = self._server_to_restore, None
        if server is None:
            return
        # Read again, since the file may have changed while the tap ran.
        for one in servers_of((server.client,), server.file.path).servers:
            if (one.table, one.name) == (server.table, server.name) and one.form.tapped:
                try:
                    applied(planned(one, self.folder, install=False))
                except RefusedError as error:
                    self._notices.show_sentence(str(error), "severity.warning")
