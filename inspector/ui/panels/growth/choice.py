"""Whose context the plot shows: chosen from those who may have a model."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QWidget

from inspector.model_context import Reader
from inspector.ui.panels.growth.source import GrowthSource
from inspector.ui.panels.timeline.head import Choice
from inspector.ui.theme import ThemeController

_LEAD = "of"


class ReaderChoice(Choice):
    """Says "of **analyst with activities** v".

    Signals:
        reader_chosen(Reader): somebody else was chosen.
    """

    reader_chosen = Signal(object)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(themes, _LEAD, (("", ""),), name="growthReader", parent=parent)
        self._readers: dict[str, Reader] = {}
        self._group: QActionGroup | None = None
        self.chosen.connect(lambda key: self.reader_chosen.emit(self._readers[key]))

    def show_readers(self, source: GrowthSource) -> None:
        """Offer those there are, with the one looked at chosen."""
        words = {str(place): source.words_of(reader) for place, reader in enumerate(source.readers)}
        value = next((key for key, one in zip(words, source.readers, strict=True) if one == source.reader), "")
        if words == self._words and value == self.value and list(self._readers.values()) == source.readers:
            return
        self._words = words or {"": "nobody"}
        self.value = value if words else ""
        self._readers = dict(zip(words, source.readers, strict=True))
        self._fill()
        self._say()

    def _fill(self) -> None:
        if self._group is not None:
            self._group.deleteLater()
        self.menu_of_options.clear()
        group = self._group = QActionGroup(self)
        for key in self._readers:
            action = group.addAction(self._words[key].replace("&", "&&"))
            action.setCheckable(True)
            action.setData(key)
            action.setChecked(key == self.value)
            self.menu_of_options.addAction(action)
        group.triggered.connect(lambda action: self.choose(action.data()))
        self.setEnabled(bool(self._readers))
