"""Text of cards: sealed documents that never load anything, with selections, search hits and links.

Each piece is one `QTextDocument`, laid out for a width. No text is read as HTML or as Markdown here: blocks arrive
parsed, and are written with a cursor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QPainter,
    QPalette,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from typing_extensions import override

from inspector.base.utf16 import Utf16Offsets
from inspector.present.code import Stretch
from inspector.ui.look.hit_highlight import Locate
from inspector.ui.look.theme import Theme

_READING_PERCENT, _CODE_PERCENT = 118, 108
"""Line heights of texts to read and of monospaced lines."""

SYNTAX_TOKENS = {
    "comment": "ink.tertiary", "string": "json.string", "number": "json.number", "keyword": "json.word",
    "name": "accent.text",
}  # fmt: skip

Range = tuple[int, int]
"""Start and stop of a part of a document, in UTF-16 units."""


class SealedDocument(QTextDocument):
    """A text document that never loads resources."""

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        return None


def reading_font(theme: Theme) -> QFont:
    """Returns the font of prompts and answers, one pixel larger than the body."""
    font = QFont(theme.font("body"))
    font.setPixelSize(theme.font("heading").pixelSize())
    return font


def new_document(font: QFont) -> SealedDocument:
    """Returns an empty document without margins that wraps long words."""
    document = SealedDocument()
    # The undo history would double the memory of each layout.
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    return document


def block_format(*, mono: bool = False, top: float = 0, left: float = 0) -> QTextBlockFormat:
    """Returns the format of a paragraph or of a monospaced line."""
    look = QTextBlockFormat()
    look.setLineHeight(
        _CODE_PERCENT if mono else _READING_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
    )
    look.setTopMargin(top)
    look.setLeftMargin(left)
    return look


def plain_document(text: str, font: QFont, *, mono: bool = False) -> SealedDocument:
    """Returns a document of plain lines."""
    document = new_document(font)
    document.setPlainText(text)
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    cursor.mergeBlockFormat(block_format(mono=mono))
    return document


def color_parts(document: QTextDocument, parts: Iterable[tuple[int, int, QColor]], offsets: Utf16Offsets) -> None:
    """Colours parts of a document of plain lines.

    Args:
        document: its text is the text of `offsets`.
        parts: start, stop in characters, and colour.
        offsets: of the text.
    """
    cursor = QTextCursor(document)
    cursor.beginEditBlock()
    for start, stop, color in parts:
        look = QTextCharFormat()
        look.setForeground(color)
        cursor.setPosition(offsets.units(start))
        cursor.setPosition(offsets.units(stop), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)
    cursor.endEditBlock()


def color_syntax(document: QTextDocument, text: str, stretches: Iterable[Stretch], theme: Theme) -> None:
    """Colours the syntax of a document of plain lines."""
    parts = ((one.start, one.stop, theme.color(SYNTAX_TOKENS[one.sort])) for one in stretches)
    color_parts(document, parts, Utf16Offsets(text))


@dataclass(slots=True)
class TextPiece:
    """A text at a place of a card.

    Attributes:
        document: laid out for the width.
        x, y: top left corner in the card.
        ink: colour of text without one of its own.
        hits: parts with a search hit.
    """

    document: SealedDocument
    x: float
    y: float
    width: float
    height: float
    ink: QColor
    hits: Sequence[Range] = field(default_factory=tuple)

    @classmethod
    def laid_out(
        cls, document: SealedDocument, x: float, y: float, width: float, ink: QColor, *, max_lines: int = 0
    ) -> TextPiece:
        """Lays a document out at a place.

        Args:
            document: the text.
            x: left edge in the card.
            y: top edge in the card.
            width: wrapping width.
            ink: colour.
            max_lines: only so many lines are shown; 0 for all.
        """
        document.setTextWidth(width)
        height = document.size().height()
        if max_lines:
            height = min(height, _height_of_lines(document, max_lines))
        return cls(document, x, y, width, height, ink)

    @property
    def rect(self) -> QRectF:
        return QRectF(self.x, self.y, self.width, self.height)

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def length(self) -> int:
        """Length in UTF-16 units."""
        return max(0, self.document.characterCount() - 1)

    def ideal_width(self) -> float:
        return min(self.width, self.document.idealWidth())

    def position_at(self, point: QPointF) -> int:
        """Returns the position nearest to a point of the card, in UTF-16 units."""
        inside = point - QPointF(self.x, self.y)
        if inside.y() < 0:
            return 0
        if inside.y() > self.height:
            return self.length
        return max(0, self.document.documentLayout().hitTest(inside, Qt.HitTestAccuracy.FuzzyHit))

    def link_at(self, point: QPointF) -> str:
        """Returns the address of the link at a point of the card, or ""."""
        if not self.rect.contains(point):
            return ""
        return self.document.documentLayout().anchorAt(point - QPointF(self.x, self.y))

    def text(self, part: Range | None = None) -> str:
        """Returns its text, or a part of it."""
        cursor = QTextCursor(self.document)
        start, stop = part or (0, self.length)
        cursor.setPosition(min(start, self.length))
        cursor.setPosition(min(stop, self.length), QTextCursor.MoveMode.KeepAnchor)
        return cursor.selection().toPlainText()

    def word_at(self, position: int) -> Range:
        """Returns the word around a position."""
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(position, self.length))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        return cursor.selectionStart(), cursor.selectionEnd()

    def show_hits(self, locate: Locate | None) -> int:
        """Finds search hits in its text; returns their number.

        Args:
            locate: finds (start, stop) in characters of a text; None removes the hits.
        """
        if locate is None:
            self.hits = ()
            return 0
        text = self.document.toPlainText()
        offsets = Utf16Offsets(text)
        self.hits = tuple((offsets.units(start), offsets.units(stop)) for start, stop in locate(text) if stop > start)
        return len(self.hits)

    def top_of(self, position: int) -> float:
        """Returns the top of the line of a position, in the card."""
        block = self.document.findBlock(position)
        if not block.isValid():
            return self.y
        line = block.layout().lineForTextPosition(position - block.position())
        top = self.document.documentLayout().blockBoundingRect(block).top()
        return self.y + top + (line.y() if line.isValid() else 0)

    def paint(self, painter: QPainter, theme: Theme, selected: Range | None) -> None:
        """Paints the text, with its hits and the selected part; the painter is moved to the card."""
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)  # pyright: ignore[reportAttributeAccessIssue] - the stubs lack it
        palette.setColor(QPalette.ColorRole.Text, self.ink)
        context.palette = palette  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        clip = QRectF(0, 0, self.width + 1, self.height)
        context.clip = clip  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        parts = [(hit, theme.color("find.hit")) for hit in self.hits]
        if selected is not None and selected[1] > selected[0]:
            parts.append((selected, theme.color("find.hit")))
        context.selections = [  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            self._marked(part, color) for part, color in parts
        ]
        painter.save()
        painter.translate(self.x, self.y)
        painter.setClipRect(clip, Qt.ClipOperation.IntersectClip)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def _marked(self, part: Range, color: QColor) -> QAbstractTextDocumentLayout.Selection:
        marked = QAbstractTextDocumentLayout.Selection()
        cursor = QTextCursor(self.document)
        cursor.setPosition(min(part[0], self.length))
        cursor.setPosition(min(part[1], self.length), QTextCursor.MoveMode.KeepAnchor)
        look = QTextCharFormat()
        look.setBackground(color)
        marked.cursor = cursor  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        marked.format = look  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        return marked


def _height_of_lines(document: QTextDocument, count: int) -> float:
    """Returns the height of the first lines of a laid out document."""
    layout, block, left = document.documentLayout(), document.begin(), count
    height = 0.0
    while block.isValid() and left > 0:
        box, lines = layout.blockBoundingRect(block), block.layout().lineCount()
        if lines <= left:
            height = box.bottom()
        else:
            line = block.layout().lineAt(left - 1)
            height = box.top() + line.y() + line.height()
        left -= lines
        block = block.next()
    return height
