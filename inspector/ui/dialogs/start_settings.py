"""Settings > General > At start: windows to reopen, reconnection, and agent sessions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.formats.products import SOME_PRODUCTS
from inspector.settings import Start
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, Form

RESTORE_HELP = (
    "Without files on the command line, the last windows open again with their filter, position and layout. "
    "Windows that were closed one by one stay closed."
)
RECONNECT_HELP = "Saved connections are joined with the token in the system keyring. Other gateways are offered."

SESSIONS_HELP = (
    f"File > Agent sessions searches the folders of {SOME_PRODUCTS} when it opens. It reads only the ends of files."
)


class StartSettingsPage(QWidget):
    """Edits a copy of the settings for the start.

    Signals:
        changed(Start): the user made a change; a new object each time.
    """

    changed = Signal(object)

    def __init__(self, theme_controller: ThemeController, start: Start, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            start: the shown settings; not changed.
            parent: the owner.
        """
        super().__init__(parent)
        self._now = start.model_copy()
        self.setObjectName("settingsStart")
        self.setAccessibleName("Startup")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        form = Form(theme_controller, self)
        self._restore = CheckField("Reopen windows", RESTORE_HELP, name="settingsRestoreWindows", parent=self)
        self._restore.toggled.connect(self._on_restore_toggled)
        self._reconnect = CheckField("Reconnect automatically", RECONNECT_HELP, name="settingsReconnect", parent=self)
        self._reconnect.toggled.connect(self._on_reconnect_toggled)
        form.add_across(self._restore)
        form.add_across(self._reconnect)
        self._sessions = CheckField(
            "List sessions of coding agents", SESSIONS_HELP, name="settingsAgentSessions", parent=self
        )
        self._sessions.toggled.connect(lambda on: self._change(agent_sessions=on))
        form.add_across(self._sessions)
        column.addLayout(form)
        column.addStretch(1)
        self.show_values(start)

    def show_values(self, start: Start) -> None:
        """Shows other settings without a signal."""
        self._now = start.model_copy()
        self._restore.set_checked(start.restore_windows)
        self._reconnect.set_checked(start.reconnect)
        self._sessions.set_checked(start.agent_sessions)
        self._reconnect.setEnabled(start.restore_windows)

    def _change(self, **values: object) -> None:
        self._now = self._now.model_copy(update=values)
        self.changed.emit(self._now.model_copy())

    def _on_restore_toggled(self, on: bool) -> None:
        self._reconnect.setEnabled(on)
        self._change(restore_windows=on)

    def _on_reconnect_toggled(self, on: bool) -> None:
        self._change(reconnect=on)
