"""The preset bar's presets: kept in the settings, chosen, saved, renamed, removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog

from inspector.filters import FilterError, compile_filter
from inspector.settings import Preset
from inspector.ui import formats
from inspector.ui.widgets.preset_bar import PresetBar

if TYPE_CHECKING:
    from inspector.ui.main_window import MainWindow

_NAME_LENGTH = 24
PROBLEMS = "finding.severity >= warning"
"""The preset that carries a count: its own filter, whatever it is called."""


class Presets(QObject):
    """The presets of one window; the settings behind them are everybody's.

    Signals:
        chosen(str): a preset's filter shall be applied.

    Attributes:
        bar: the chips.
    """

    chosen = Signal(str)

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._text = ""
        self.bar = PresetBar(window.theme, self._usable(), window)
        self.bar.chosen.connect(lambda preset: self.chosen.emit(preset.filter))
        self.bar.add_requested.connect(lambda: self.save(self._text))
        self.bar.removed.connect(self._remove)
        self.bar.rename_requested.connect(self._ask_for_name)

    def _usable(self) -> list[Preset]:
        """The presets whose fields exist by now."""
        return [preset for preset in self._window.application.settings.presets if _compiles(preset.filter)]

    def show_active(self, text: str) -> None:
        """Mark the preset of the filter in force, and whether it can still be saved as one."""
        self._text = text
        self.bar.set_active_filter(text)
        saved = self.bar.holds(text)
        self._window.filter_bar.set_saved(saved)
        self.bar.set_can_add(bool(text.strip()) and not saved)

    def show_problems(self, messages: int, words: str) -> None:
        """Say how many messages the preset Problems shows, and what was found, by severity."""
        self.bar.set_count(PROBLEMS, messages)
        said = f"{formats.count_of(messages, 'message')} with a problem: {words}" if messages else ""
        self.bar.set_note(PROBLEMS, said)

    def save(self, text: str) -> None:
        """Keep a filter as a preset, named after itself until it is renamed."""
        presets = self._window.application.settings.presets
        if text.strip() and all(preset.filter != text for preset in presets):
            name = text if len(text) <= _NAME_LENGTH else f"{text[: _NAME_LENGTH - 1]}…"
            presets.append(Preset(name=name, filter=text))
            self.refresh()

    def _ask_for_name(self, preset: Preset) -> None:
        dialog = QInputDialog(self._window)
        dialog.setObjectName("renameDialog")
        dialog.setWindowTitle("Rename preset")
        dialog.setLabelText("Name of the preset:")
        dialog.setTextValue(preset.name)
        dialog.textValueSelected.connect(lambda name: self._rename(preset, name))
        dialog.open()

    def _rename(self, preset: Preset, name: str) -> None:
        if name.strip():
            preset.name = name.strip()
            self.refresh()

    def _remove(self, preset: Preset) -> None:
        presets = self._window.application.settings.presets
        if preset in presets:
            presets.remove(preset)
            self.refresh()

    def refresh(self) -> None:
        """Presets were added, removed or edited: show and store them."""
        self.bar.set_presets(self._usable())
        self.show_active(self._text)
        self._window.application.save_settings()


def _compiles(text: str) -> bool:
    try:
        compile_filter(text, selected_context="context")
    except FilterError:
        return False
    return True
