"""Settings > General > Startup: windows to reopen, reconnection, agent sessions, and folders with many logs."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.formats.products import SOME_PRODUCTS
from inspector.settings import Start
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.form import CheckField, FieldColumn, Form
from inspector.ui.widgets.segmented import SegmentedControl

RESTORE_HELP = (
    "Without files on the command line, the last windows open again with their filter, position and layout. "
    "Windows that were closed one by one stay closed."
)
RECONNECT_HELP = "Saved connections are joined with the token in the system keyring. Other gateways are offered."

SESSIONS_HELP = (
    f"The start page and File > Agent sessions search the folders of {SOME_PRODUCTS}. They read only the ends of files."
)
FOLDERS_HELP = (
    "A folder with ten logs or more opens as one document in the order of time, or as a table that opens each log."
)
_CHOICES = (("ask", "Ask"), ("document", "Document"), ("runs", "Runs"))
_PLACES = (("tabs", "Tabs"), ("windows", "Windows"))
_FOLDERS = (
    ("session_folders", "Session folders"), ("evaluation_folders", "Evaluation folders"),
    ("log_folders", "Log folders"),
)  # fmt: skip
"""Field of `Start`, and its label."""


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
        self._open_in = SegmentedControl(
            theme_controller, _PLACES, name="settingsOpenIn", label="Open documents in", parent=self
        )
        self._open_in.chosen.connect(lambda place: self._change(open_in=place))
        form.add_field("Open documents in", self._open_in)
        self._folders: dict[str, SegmentedControl] = {}
        for field, label in _FOLDERS:
            control = SegmentedControl(theme_controller, _CHOICES, name=f"settings_{field}", label=label, parent=self)
            control.chosen.connect(partial(self._on_folder_chosen, field))
            self._folders[field] = control
            help_text = FOLDERS_HELP if field == _FOLDERS[-1][0] else ""
            form.add_field(label, FieldColumn(control, name=f"{field}_column", help_text=help_text, parent=self))
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
        self._open_in.set_value(start.open_in)
        for field, control in self._folders.items():
            control.set_value(getattr(start, field))

    def _on_folder_chosen(self, field: str, choice: str) -> None:
        self._change(**{field: choice})

    def _change(self, **values: object) -> None:
        self._now = self._now.model_copy(update=values)
        self.changed.emit(self._now.model_copy())

    def _on_restore_toggled(self, on: bool) -> None:
        self._reconnect.setEnabled(on)
        self._change(restore_windows=on)

    def _on_reconnect_toggled(self, on: bool) -> None:
        self._change(reconnect=on)
