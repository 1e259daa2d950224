"""The text of a bubble laid out: Markdown with HTML off where it is written as such, else as it is.

What comes from the file is hostile: secrets are masked, control and bidi characters written out, no resource is ever
loaded (docs/design.md 3). What is laid out is kept for the rows looked at last.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF, QUrl
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
    QTextFrameFormat,
    QTextOption,
    QTextTable,
)
from typing_extensions import override

from inspector.present.wire_text import masked, visible_controls
from inspector.protocol.payloads.blocks import is_markdown
from inspector.ui.look.theme import Theme
from inspector.ui.panels.details.text_block import ALL_CHARACTERS, FIRST_CHARACTERS, shorten, tidy_markdown

_LINE_PERCENT = 118
_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_KEPT = 240
"""Texts kept laid out; a screen shows some thirty."""


class SealedDocument(QTextDocument):
    """A text that never loads anything it names."""

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        return None


def bubble_font(theme: Theme) -> QFont:
    """13 px, one more than the body (docs/design.md 16)."""
    font = QFont(theme.font("body"))
    font.setPixelSize(theme.font("heading").pixelSize())
    return font


def is_cut(text: str) -> bool:
    """Whether only the beginning of a text is shown at first."""
    return len(text) > FIRST_CHARACTERS or len(shorten(text)) < len(text)


def shown_text(text: str, *, whole: bool) -> str:
    """What is shown of a text: its beginning, or all of it as far as that is bounded; secrets masked."""
    most = ALL_CHARACTERS if whole else FIRST_CHARACTERS + 1
    seen = visible_controls(masked(text, most)[:most])
    if whole:
        return seen[:ALL_CHARACTERS]
    head = shorten(seen)
    return f"{head} …" if len(head) < len(seen) or len(text) > most else head


@dataclass(slots=True)
class BubbleText:
    """A text laid out for a width."""

    document: SealedDocument
    size: QSizeF

    def draw(self, painter: QPainter, at: QPointF, ink: QColor) -> None:
        """Draw it with its upper left corner at a place."""
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)  # pyright: ignore[reportAttributeAccessIssue]  # the stubs lack it
        palette.setColor(QPalette.ColorRole.Text, ink)
        context.palette = palette  # pyright: ignore[reportAttributeAccessIssue]
        context.clip = QRectF(QPointF(), self.size)  # pyright: ignore[reportAttributeAccessIssue]
        painter.save()
        painter.translate(at)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def link_at(self, point: QPointF) -> str:
        """The address of the link at a place inside; "" where there is none."""
        return self.document.documentLayout().anchorAt(point)

    def links(self) -> list[str]:
        """The addresses of its links, each once."""
        found: dict[str, None] = {}
        block = self.document.begin()
        while block.isValid():
            place = block.begin()
            while not place.atEnd():
                address = place.fragment().charFormat().anchorHref()
                if address:
                    found[address] = None
                place += 1
            block = block.next()
        return list(found)


def lay_out(text: str, width: float, theme: Theme, *, whole: bool = False) -> BubbleText:
    """Lay a text out, no wider than `width` and no wider than it needs."""
    document = SealedDocument()
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(bubble_font(theme))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    shown = shown_text(text, whole=whole)
    if is_markdown(text) or _CODE.search(text[:FIRST_CHARACTERS]):
        features = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
        document.setMarkdown(shown, features)
        tidy_markdown(document, theme)
        _color_links(document, theme)
        _quiet_tables(document, theme)
    else:
        document.setPlainText(shown)
    _space_lines(document)
    document.setTextWidth(width)
    needed = min(width, document.idealWidth() + 1)
    document.setTextWidth(needed)
    return BubbleText(document, QSizeF(needed, document.size().height()))


def _space_lines(document: QTextDocument) -> None:
    """A little air between lines: they are read, not scanned. Tables keep theirs."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        if cursor.currentTable() is None:
            layout = block.blockFormat()
            layout.setLineHeight(_LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setBlockFormat(layout)
        block = block.next()


def _color_links(document: QTextDocument, theme: Theme) -> None:
    """Links in the theme's own accent: Qt's depends on a palette that may be an older one."""
    look = QTextCharFormat()
    look.setForeground(theme.color("accent.text"))
    block = document.begin()
    while block.isValid():
        place = block.begin()
        stretches: list[tuple[int, int]] = []
        while not place.atEnd():
            fragment = place.fragment()
            if fragment.charFormat().isAnchor():
                stretches.append((fragment.position(), fragment.position() + fragment.length()))
            place += 1
        for start, end in stretches:
            cursor = QTextCursor(document)
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.mergeCharFormat(look)
        block = block.next()


def _quiet_tables(document: QTextDocument, theme: Theme) -> None:
    """Tables with hairlines of the theme; Qt's own are as dark as the text."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            layout = frame.format().toTableFormat()
            layout.setBorderBrush(theme.color("line.strong"))
            layout.setBorderCollapse(True)
            layout.setBorder(1)
            layout.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)  # Qt's own is raised
            layout.setCellPadding(theme.metrics.unit)
            frame.setFormat(layout)


class BubbleTexts:
    """Texts laid out, the ones used last.

    Attributes:
        whole: texts the user asked to see whole.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, bool], BubbleText] = OrderedDict()
        self.whole: set[str] = set()

    def clear(self) -> None:
        """Forget what was laid out: the look has changed."""
        self._kept.clear()

    def text(self, text: str, width: int, theme: Theme) -> BubbleText:
        """A text laid out for a width in pixels."""
        whole = bool(self.whole) and text in self.whole
        key = (text, width, whole)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = lay_out(text, width, theme, whole=whole)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found
