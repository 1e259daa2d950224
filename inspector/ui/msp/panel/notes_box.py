"""Sentences about a merged context, each with the switch that changes it as a link."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layer_words import Note
from inspector.ui.panels.details.section import LinkText
from inspector.ui.widgets.labels import IconLabel, TextLabel


class NoteLine(QWidget):
    """One sentence."""

    def __init__(self, themes: ThemeController, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName(f"subsessionNote{place}")
        self._grid = QGridLayout(self)
        self._grid.setColumnStretch(1, 1)
        self._icon = IconLabel(themes, "note", "severity.note", size=14, name=f"subsessionNote{place}Icon", parent=self)
        self._text = TextLabel("", variant="small", name=f"subsessionNote{place}Text", wrap=True, parent=self)
        self.link = LinkText(themes, "", f"subsessionNote{place}Link", self)
        self._grid.addWidget(self._icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(self._text, 0, 1)
        self._grid.addWidget(self.link, 1, 1, Qt.AlignmentFlag.AlignLeft)
        self.note = Note("")
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def say(self, note: Note) -> None:
        """Say something else."""
        if note == self.note:
            return
        self.note = note
        self._icon.set_icon(*(("warning", "severity.warning") if note.warns else ("note", "severity.note")))
        self._text.setText(note.text)
        self.setAccessibleName(note.text)
        self.link.setText(note.link)
        self.link.setAccessibleName(f"{note.link}: {note.text}" if note.link else "")
        self.link.setVisible(bool(note.link))
        self.link.updateGeometry()

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(round(8 * zoom))
        self._grid.setVerticalSpacing(0)


class NotesBox(QWidget):
    """The sentences, below each other.

    Signals:
        rule_switched(str): turn this rule about.
    """

    rule_switched = Signal(str)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.lines: list[NoteLine] = []
        self.setObjectName("subsessionNotes")
        self.setAccessibleName("Notes")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 4)
        self._column.setSpacing(8)

    def show_notes(self, notes: Sequence[Note]) -> None:
        """Say others."""
        while len(self.lines) < len(notes):
            line = NoteLine(self._themes, len(self.lines), self)
            line.link.clicked.connect(self._on_link_clicked)
            self._column.addWidget(line)
            self.lines.append(line)
        for place, line in enumerate(self.lines):
            if place < len(notes):
                line.say(notes[place])
            line.setVisible(place < len(notes))
        self.setVisible(bool(notes))

    @property
    def notes(self) -> list[Note]:
        """What is said."""
        return [line.note for line in self.lines if not line.isHidden()]

    def _on_link_clicked(self) -> None:
        for line in self.lines:
            if line.link is self.sender():
                self.rule_switched.emit(line.note.rule)
                return
