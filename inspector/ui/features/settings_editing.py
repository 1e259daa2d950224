"""The settings as the user edits them: in their dialog, and by actions such as zoom; what is set counts at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from inspector.settings import Settings
    from inspector.ui.dialogs.settings import FurtherPage, SettingsDialog
    from inspector.ui.input.keys import Keys
    from inspector.ui.look.theme import ThemeSetting
    from inspector.ui.services import Services

_ZOOM = (80, 200)
"""Least and most, in per cent."""


class SettingsEditing(QObject):
    """Edits the settings of all windows from one of them.

    Signals:
        edited(): settings were edited, and every window has taken them over; they are still to be stored.
    """

    edited = Signal()

    def __init__(
        self, services: Services, keys: Keys, complete: Callable[[], object], further: Sequence[FurtherPage],
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Edit nothing yet.

        Args:
            services: has the settings and the look.
            keys: the keys of the window.
            complete: makes what has keys of its own in the window, such as presets.
            further: pages of the dialog about what it does not know.
            parent: dialogs are modal to it.
        """
        super().__init__(parent)
        self._further = further
        self._services = services
        self._keys = keys
        self._complete = complete
        self._parent = parent

    def open(self, page: str = "") -> SettingsDialog:
        """Open the dialog; what is edited in it applies at once.

        Args:
            page: id of the page it opens on; the first one by default.
        """
        from inspector.ui.dialogs.settings import SettingsDialog

        self._complete()
        dialog = SettingsDialog(
            self._services.theme, self._services.settings, self._parent, keyed=self._keys.known(), further=self._further
        )
        if page:
            dialog.enter_page(page)
        dialog.changed.connect(self._on_changed)
        dialog.changed.connect(lambda _settings: dialog.show_keyed(self._keys.known()))  # presets bring theirs
        dialog.open()
        return dialog

    def edit_preset(self, place: int) -> None:
        """Open the settings of one preset.

        Args:
            place: its place in the settings.
        """
        self.open("presets").edit_preset(place)

    def show_keys(self) -> None:
        """List the keys, so that one can be looked for."""
        from inspector.ui.dialogs.keys import KeysDialog

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
        """Settings were edited: every window takes them over, and they are stored.

        Args:
            hints: whether context hints are among what was edited; then windows with their own mind give it up.
        """
        self._services.apply_settings(hints=hints)
        self.edited.emit()

    def fold_streams(self, folded: bool) -> None:
        """Give the frames of each stream one row, or each its own, in all windows and from now on."""
        self._services.settings.display.fold_streams = folded
        self.apply()

    def show_hints(self, shown: bool) -> None:
        """Show or hide the badges of transient results."""
        self._services.settings.display.show_context_hints = shown
        self.apply(hints=True)

    def choose_theme(self, theme: ThemeSetting) -> None:
        """Be light or dark, or as the system is."""
        self._services.settings.display.theme = theme
        self._services.theme.set_setting(theme)
        self.apply()

    def zoom_by(self, step: int) -> None:
        """So many per cent larger, or smaller."""
        display = self._services.settings.display
        display.zoom_percent = max(_ZOOM[0], min(_ZOOM[1], display.zoom_percent + step))
        self._services.theme.set_zoom(display.zoom_percent / 100)
        self._services.save_settings()

    def zoom_reset(self) -> None:
        """Actual size."""
        self.zoom_by(100 - self._services.settings.display.zoom_percent)
