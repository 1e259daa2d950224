"""Settings > General > Plug-ins: every plug-in with its version, additions, place and last error, and a switch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from inspector.plugins import loading
from inspector.plugins.discovery import plugins_folder
from inspector.plugins.loading import PluginState
from inspector.present.wire_text import safe_line
from inspector.settings import Settings
from inspector.ui.dialogs.settings_dialog import SettingsPage
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.form import CheckField
from inspector.ui.widgets.labels import TextLabel

HELP = (
    "Plug-ins add formats, checks, fields and payload views. A plug-in is code that runs with your rights, so switch "
    "on only plug-ins that you trust. A changed one has to be switched on again. Checks apply to logs opened from now "
    "on."
)
NONE = "There are no plug-ins. Put a Python file into the folder, or install a package beside this program."
"""Help of an empty list."""


class PluginsPage(SettingsPage):
    """Lists plug-ins, and switches them on and off. Listing runs none of them."""

    def __init__(self, theme_controller: ThemeController, settings: Settings, parent: QWidget | None = None) -> None:
        """Creates the page.

        Args:
            theme_controller: gives the look.
            settings: edited in place.
            parent: the owner.
        """
        super().__init__(settings, parent, name="settingsPlugins", title="Plug-ins")
        self._themes = theme_controller
        self._column.setSpacing(12)
        self._column.addWidget(TextLabel(HELP, variant="secondary", name="pluginsHelp", wrap=True, parent=self))
        self._rows: list[_PluginRow] = []
        self._empty = TextLabel(NONE, variant="hint", name="pluginsEmpty", wrap=True, parent=self)
        self._column.addWidget(self._empty)
        folder = WordButton("Open folder", name="pluginsFolder", parent=self)
        folder.clicked.connect(self._on_folder_clicked)
        self._column.addWidget(folder, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        self.refresh()

    def refresh(self) -> None:
        """Shows the plug-ins that there are now."""
        states = loading.states(self._settings.plugins)
        if len(states) != len(self._rows):
            for row in self._rows:
                row.hide()
                row.deleteLater()
            self._rows = [_PluginRow(number, self) for number in range(len(states))]
            for number, row in enumerate(self._rows):
                self._column.insertWidget(1 + number, row)
                row.toggled.connect(partial(self._on_toggled, number))
        self._states: Sequence[PluginState] = states
        for row, state in zip(self._rows, states, strict=True):
            row.show_state(state)
        self._empty.setVisible(not states)

    def restore(self) -> None:
        """Switches all plug-ins off without a signal."""
        self._settings.plugins = []
        loading.load(())
        self.refresh()

    def _on_toggled(self, number: int, on: bool) -> None:
        state = self._states[number]
        self._settings.plugins = loading.switch(self._settings.plugins, state, on=on)
        self.refresh()
        self.changed.emit()

    def _on_folder_clicked(self) -> None:
        folder = plugins_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class _PluginRow(CheckField):
    """A switch with name and version, and lines about additions, place and last error."""

    def __init__(self, number: int, parent: QWidget) -> None:
        super().__init__("", "", name=f"plugin{number}", parent=parent)
        self._error = TextLabel(variant="error", name=f"plugin{number}Error", wrap=True, parent=self)
        self.add_below(self._error)

    def show_state(self, state: PluginState) -> None:
        """Shows a plug-in."""
        title = safe_line(f"{state.name} {state.version}".strip(), 48)
        self.box.setText(title.replace("&", "&&"))
        self.box.setAccessibleName(title)
        adds = ", ".join(state.adds) or "nothing known"
        sort = "file" if state.origin == "file" else "package"
        words = safe_line(f"Adds {adds}. {sort.capitalize()}, {state.place or 'missing'}", 400)
        self._help.setText(words)
        self.box.setAccessibleDescription(f"{words} {state.trouble}".strip())
        self.box.setEnabled(state.is_on or (state.found is not None and not state.found.trouble))
        self.set_checked(state.is_on)
        self._error.setText(safe_line(f"{state.trouble[:1].upper()}{state.trouble[1:]}.", 600) if state.trouble else "")
        self._error.setVisible(bool(state.trouble))
