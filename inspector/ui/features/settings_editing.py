"""Edits settings from a window: the dialog, and actions for zoom, theme, hints and folded streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.settings.model import MAX_ZOOM_PERCENT, MIN_ZOOM_PERCENT

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.dialogs.settings_dialog import FurtherPage, SettingsDialog
    from inspector.ui.input.keys import Keys
    from inspector.ui.look.theme import ThemeSetting
    from inspector.ui.services import Services


class SettingsEditing(QObject):
    """Edits the settings of all windows from one of them.

    Signals:
        edited(): settings were edited and applied to every window, but not saved yet.
    """

    edited = Signal()

    def __init__(
        self, services: Services, keys: Keys, complete: Callable[[], object], further: Sequence[FurtherPage],
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            services: has the settings and the look.
            keys: the shortcuts of the window.
            complete: creates the parts of the window with shortcuts of their own, such as presets.
            further: pages that the dialog does not provide itself.
            parent: parent of modal dialogs.
        """
        super().__init__(parent)
        self._further = further
        self._services = services
        self._keys = keys
        self._complete = complete
        self._parent = parent

    def open(self, page: str = "") -> SettingsDialog:
        """Opens the settings dialog. Changes apply at once.

        Args:
            page: id of the first page; "" for the default.
        """
        from inspector.ui.dialogs.settings_dialog import SettingsDialog

        self._complete()
        dialog = SettingsDialog(
            self._services.theme,
            self._services.settings,
            self._parent,
            keyed=self._keys.visible_actions(),
            further=self._further,
        )
        if page:
            dialog.enter_page(page)
        dialog.changed.connect(self._on_changed)
        # presets have their own shortcuts
        dialog.changed.connect(lambda _settings: dialog.show_keyed(self._keys.visible_actions()))
        dialog.open()
        return dialog

    def edit_preset(self, place: int) -> None:
        """Opens the settings of one preset.

        Args:
            place: its index in the settings.
        """
        self.open("presets").edit_preset(place)

    def show_keys(self) -> None:
        """Shows the searchable list of shortcuts."""
        from inspector.ui.dialogs.keys_dialog import KeysDialog

        self._complete()
        dialog = KeysDialog(self._services.theme, self._keys, self._parent)
        dialog.change_requested.connect(lambda: self.open("keys"))
        dialog.open()

    def _on_changed(self, settings: Settings) -> None:
        hints_before = self._services.settings.display.show_context_hints
        self._services.settings = settings
        display, theme = settings.display, self._services.theme
        theme.set_setting(display.theme)
        theme.set_density(display.density)
        theme.set_zoom(display.zoom_percent / 100)
        self.apply(hints=display.show_context_hints != hints_before)

    def apply(self, *, hints: bool = False) -> None:
        """Applies edited settings to every window and saves them.

        Args:
            hints: True if context hints were edited. Windows then drop their overrides.
        """
        self._services.apply_settings(hints=hints)
        self.edited.emit()

    def fold_streams(self, folded: bool) -> None:
        """Shows each stream as one row, or each frame as its own, in all windows."""
        self._services.settings.display.fold_streams = folded
        self.apply()

    def show_hints(self, shown: bool) -> None:
        """Shows or hides the badges of transient results."""
        self._services.settings.display.show_context_hints = shown
        self.apply(hints=True)

    def choose_theme(self, theme: ThemeSetting) -> None:
        """Chooses light, dark or the system's theme."""
        self._services.settings.display.theme = theme
        self._services.theme.set_setting(theme)
        self.apply()

    def zoom_by(self, step: int) -> None:
        """Changes the zoom by a number of percentage points."""
        display = self._services.settings.display
        display.zoom_percent = max(MIN_ZOOM_PERCENT, min(MAX_ZOOM_PERCENT, display.zoom_percent + step))
        self._services.theme.set_zoom(display.zoom_percent / 100)
        self._services.save_settings()

    def zoom_reset(self) -> None:
        self.zoom_by(100 - self._services.settings.display.zoom_percent)
