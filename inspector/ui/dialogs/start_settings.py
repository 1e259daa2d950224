"""Settings > General > At start: windows to reopen, reconnection, and agent sessions."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.settings import Start
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, Form

RESTORE_HELP = (
    "A start without files opens the windows of before, with their filter, place and layout. "
    "Windows you closed by themselves stay closed."
)
RECONNECT_HELP = (
    "Gateways kept under a name are joined again, with the token in the system keyring. Others are offered."
)

SESSIONS_HELP = (
    "File > Agent sessions looks into the folders of Claude Code, Codex and others when it is opened, "
    "at the ends of files only."
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
        self.setAccessibleName("At start")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        form = Form(theme_controller, self)
        self._restore = CheckField(
            "Open what was open before", RESTORE_HELP, name="settingsRestoreWindows", parent=self
        )
        self._restore.toggled.connect(self._on_restore_toggled)
        self._reconnect = CheckField("Connect again by itself", RECONNECT_HELP, name="settingsReconnect", parent=self)
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
