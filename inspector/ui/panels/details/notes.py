"""What the user wrote: a section above everything else; nothing where there is neither mark nor comment."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis.marks import Note, Target
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import Section
from inspector.ui.panels.details.sheet import Maker


class _Quoted(QWidget):
    """A text with a line at its left, in the colour of what is the user's own."""

    def __init__(self, themes: ThemeController, text: QWidget) -> None:
        super().__init__()
        self._themes = themes
        self.setObjectName("ownWords")
        unit = themes.theme.metrics.unit
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * unit, unit // 2, 0, unit // 2)
        layout.addWidget(text)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        width = self._themes.theme.metrics.selection_bar
        QPainter(self).fillRect(0, 0, width, self.height(), self._themes.theme.color("accent.ring"))


def note_sections(maker: Maker, target: Target, note: Note) -> list[QWidget]:
    """The section of a note, with a link to write on.

    Args:
        maker: of the page.
        target: the message or context the page is about.
        note: what it has.
    """
    if not note:
        return []
    words = "Edit" if note.comment else "Comment"
    link = maker.link(words, lambda: maker.links.comment_requested.emit(target), name="editComment")
    label = "Your comment" if note.comment else "Marked"
    body: list[QWidget] = []
    if note.comment:
        body.append(_Quoted(maker.themes, maker.text(note.comment, name="comment", label="Comment")))
    section: Section = maker.section(label, *body, name="noteSection", action=link)
    return [section]
