"""Whose context the plot shows: chosen from those who may have a model."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis.model_context import Reader
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.source import GrowthSource
from inspector.ui.panels.timeline.head import Choice

_LEAD = "of"
SELECTED = "Go with the selected message"


class ReaderChoice(Choice):
    """Says "of **analyst with activities** v".

    Signals:
        reader_chosen(Reader): somebody else was chosen.
        selected_chosen(): whoever the selected message concerns was chosen.
    """

    reader_chosen = Signal(object)
    selected_chosen = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, _LEAD, (("", ""),), name="growthReader", parent=parent)
        self._readers: dict[str, Reader] = {}
        self._group: QActionGroup | None = None
        self._goes = True
        self._brief: dict[str, str] = {}
        self._is_brief = False

    def show_readers(self, source: GrowthSource) -> None:
        """Offer those there are, with the one looked at chosen."""
        words = {str(place): source.words_of(reader) for place, reader in enumerate(source.readers)}
        value = next((key for key, one in zip(words, source.readers, strict=True) if one == source.reader), "")
        goes = not source.chosen
        same = (words, value, goes) == (self._words, self.value, self._goes)
        if same and list(self._readers.values()) == source.readers:
            return
        self._goes = goes
        self._brief = {str(place): source.name_of(reader) for place, reader in enumerate(source.readers)}
        self._words = words or {"": "nobody"}
        self.value = value if words else ""
        self._readers = dict(zip(words, source.readers, strict=True))
        self._fill()
        self._say()

    def shorten(self, on: bool) -> None:
        """Leave out whose results are read, where room is short."""
        if on != self._is_brief:
            self._is_brief = on
            self.updateGeometry()
            self.update()

    @property
    @override
    def _shown_words(self) -> str:
        words = super()._shown_words
        return self._brief.get(self.value, words) if self._is_brief else words

    def _choose(self, key: str) -> None:
        """Somebody is chosen, be it whom the selected message concerns, too: from now on it stays so."""
        self.value = key
        self.reader_chosen.emit(self._readers[key])

    def _fill(self) -> None:
        if self._group is not None:
            self._group.deleteLater()
        self.menu_of_options.clear()
        group = self._group = QActionGroup(self)
        goes = self.menu_of_options.addAction(SELECTED)
        goes.setCheckable(True)
        goes.setChecked(self._goes)
        goes.triggered.connect(lambda: self.selected_chosen.emit())
        self.menu_of_options.addSeparator()
        for key in self._readers:
            action = group.addAction(self._words[key].replace("&", "&&"))
            action.setCheckable(True)
            action.setData(key)
            action.setChecked(key == self.value and not self._goes)
            self.menu_of_options.addAction(action)
        group.triggered.connect(lambda action: self._choose(action.data()))
        self.setEnabled(bool(self._readers))
