"""Measures and paints the rows of a conversation: bubbles by role, inherited part and end (docs/design.md 16).

Text is rendered as Markdown without HTML if it looks like Markdown, else as plain text. Content of the file is
untrusted: secrets are masked, control and bidi characters are escaped, resources are never loaded. Layouts of recent
rows are cached.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSizeF, Qt, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPalette,
    QPen,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from typing_extensions import override

from inspector.present import formats
from inspector.present.wire_text import mask_start, visible_controls
from inspector.protocol.payloads.content_blocks import is_markdown
from inspector.ui.look import icons
from inspector.ui.look.rendered_markdown import render_markdown
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.msp.panel.chat_model import ChatRows, Row
from inspector.ui.panels.details.text_block import (
    ALL_CHARACTERS,
    FIRST_CHARACTERS,
    shorten,
)

_LINE_PERCENT = 118
_CODE = re.compile(r"(?<!`)`[^`\n]{1,200}`(?!`)")
_MAX_LAYOUTS = 240
"""Maximum of cached layouts; a screen shows about thirty."""


class SealedDocument(QTextDocument):
    """A text document that never loads resources."""

    @override
    def loadResource(self, type: int, name: QUrl | str) -> object:
        return None


def bubble_font(theme: Theme) -> QFont:
    """Returns the font of bubbles, one pixel larger than the body (docs/design.md 16)."""
    font = QFont(theme.font("body"))
    font.setPixelSize(theme.font("heading").pixelSize())
    return font


def is_cut(text: str) -> bool:
    """Returns True if only the beginning of a text is shown at first."""
    return len(text) > FIRST_CHARACTERS or len(shorten(text)) < len(text)


def is_row_cut(row: Row) -> bool:
    """Returns True if only the beginning of a row's message is shown."""
    return row.message is not None and not row.whole and is_cut(row.message.text)


def shown_text(text: str, *, whole: bool) -> str:
    """Returns the beginning of a text, or all of it up to a limit, with secrets masked."""
    most = ALL_CHARACTERS if whole else FIRST_CHARACTERS + 1
    # Mask before cutting, so that a cut secret is not left in plain text.
    seen = visible_controls(mask_start(text, most)[:most])
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
        """Draws the text with its top left corner at a point."""
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)  # pyright: ignore[reportAttributeAccessIssue] - the stubs lack it
        palette.setColor(QPalette.ColorRole.Text, ink)
        context.palette = palette  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        context.clip = QRectF(QPointF(), self.size)  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        painter.save()
        painter.translate(at)
        self.document.documentLayout().draw(painter, context)
        painter.restore()

    def link_at(self, point: QPointF) -> str:
        """Returns the address of the link at a point, or ""."""
        return self.document.documentLayout().anchorAt(point)

    def links(self) -> list[str]:
        """Returns the distinct addresses of its links."""
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
    """Lays out a text as narrow as its lines allow, at most `width` pixels wide."""
    document = SealedDocument()
    # The undo history would double the memory of each layout.
    document.setUndoRedoEnabled(False)
    document.setDocumentMargin(0)
    document.setDefaultFont(bubble_font(theme))
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    shown = shown_text(text, whole=whole)
    if is_markdown(text) or _CODE.search(text[:FIRST_CHARACTERS]):
        render_markdown(document, shown, theme)
        _color_links(document, theme)
    else:
        document.setPlainText(shown)
    _space_lines(document)
    document.setTextWidth(width)
    needed = min(width, document.idealWidth() + 1)
    document.setTextWidth(needed)
    return BubbleText(document, QSizeF(needed, document.size().height()))


def _space_lines(document: QTextDocument) -> None:
    """Increases the line spacing for reading, except in tables."""
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        if cursor.currentTable() is None:
            layout = block.blockFormat()
            layout.setLineHeight(_LINE_PERCENT, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            cursor.setBlockFormat(layout)
        block = block.next()


def _color_links(document: QTextDocument, theme: Theme) -> None:
    """Colours links by the theme. Qt's own link colour may come from an outdated palette."""
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


class BubbleTexts:
    """Cache of laid out texts, least recently used first."""

    def __init__(self) -> None:
        self._laid_out: OrderedDict[tuple[str, int, bool], BubbleText] = OrderedDict()

    def clear(self) -> None:
        """Clears the cache after a change of the theme."""
        self._laid_out.clear()

    def text(self, text: str, width: int, theme: Theme, *, whole: bool = False) -> BubbleText:
        """Returns a text laid out for a width in pixels."""
        key = (text, width, whole)
        found = self._laid_out.get(key)
        if found is None:
            found = self._laid_out[key] = lay_out(text, width, theme, whole=whole)
            while len(self._laid_out) > _MAX_LAYOUTS:
                self._laid_out.popitem(last=False)
        else:
            self._laid_out.move_to_end(key)
        return found


_SHARE = 0.72
"""Maximum width of a bubble as a share of the view."""
_SIDE, _INSIDE_X, _INSIDE_Y = 20, 12, 7
_LINE, _GAP = 18, 7
"""Height of the line below a bubble, and the gap to the next one."""
_EMPTY = "empty"
_PLACEHOLDER = "…"
"""Text of a message that has not arrived."""


@dataclass(frozen=True, slots=True)
class Box:
    """Rectangles of a bubble's parts, in pixels of the view."""

    bubble: QRectF
    text: BubbleText
    text_at: QPointF
    more: QRectF | None
    line: QRectF
    right: bool


class ChatPainting:
    """Measures and paints rows.

    Attributes:
        texts: cached layouts.
    """

    def __init__(self, themes: ThemeController) -> None:
        self._themes = themes
        self.texts = BubbleTexts()

    @property
    def _theme(self) -> Theme:
        return self._themes.theme

    def _px(self, plain: int) -> int:
        return round(plain * self._theme.zoom)

    # Heights

    def estimates(self, rows: ChatRows, start: int, stop: int, width: int) -> NDArray[np.int64]:
        """Estimates heights of rows from the lengths of their texts: (n,) int64 pixels. O(rows)."""
        own, count = rows.own_start, rows.own_count
        found = np.full(stop - start, self._px(44), np.int64)
        first, last = max(start, own), min(stop, own + count)
        if first < last:
            letters, breaks = rows.sizes(first - own, last - own)
            metrics = QFontMetrics(bubble_font(self._theme))
            fit = max(8, self._text_width(width) // max(1, metrics.averageCharWidth()))
            # Longer texts are cut, so 60 lines suffice for an estimate.
            lines = np.minimum(-(-np.maximum(letters, 1) // fit) + breaks, 60)
            found[first - start : last - start] = lines * metrics.lineSpacing() + self._padding_height()
        return found

    def _padding_height(self) -> int:
        """Returns the height of a message without its text."""
        return 2 * self._px(_INSIDE_Y) + self._px(_LINE) + self._px(_GAP)

    def _text_width(self, width: int) -> int:
        return max(40, round(width * _SHARE) - 2 * self._px(_INSIDE_X))

    def height(self, rows: ChatRows, row: Row, width: int) -> int:
        """Lays out a row and returns its height."""
        if row.is_message:
            text = self._text_of(row, width)
            more = self._px(_LINE) if is_row_cut(row) else 0
            return round(text.size.height() + 0.5) + more + self._padding_height()
        if row.kind == "summary" and rows.sub is not None:
            text = self.texts.text(rows.sub.summary, self._summary_width(width), self._theme)
            return round(text.size.height() + 0.5) + 2 * self._px(12) + self._px(_LINE) + self._px(12)
        return self._px(46 if row.kind == "inherited" else 40)

    def _summary_width(self, width: int) -> int:
        return max(40, width - 2 * self._px(_SIDE) - 2 * self._px(_INSIDE_X))

    def _text_of(self, row: Row, width: int) -> BubbleText:
        text = (row.message.text or _EMPTY) if row.message is not None else _PLACEHOLDER
        return self.texts.text(text, self._text_width(width), self._theme, whole=row.whole)

    # Positions

    def box(self, row: Row, rect: QRect) -> Box:
        """Returns the rectangles of a message's parts.

        Args:
            row: a row with a message.
            rect: of the row.
        """
        message = row.message
        text = self._text_of(row, rect.width())
        inside_x, inside_y, more_height = self._px(_INSIDE_X), self._px(_INSIDE_Y), self._px(_LINE)
        right = message is not None and message.role == "user"
        cut = is_row_cut(row)
        width = round(text.size.width() + 0.5) + 2 * inside_x
        if cut:
            wanted = QFontMetrics(self._theme.font("small")).horizontalAdvance(self.more_words(row)) + 2 * inside_x
            width = max(width, wanted)
        height = round(text.size.height() + 0.5) + 2 * inside_y + (more_height if cut else 0)
        left = rect.right() + 1 - self._px(_SIDE) - width if right else rect.left() + self._px(_SIDE)
        bubble = QRectF(left, rect.top(), width, height)
        more = None
        if cut:
            more = QRectF(left + inside_x, bubble.bottom() - inside_y - more_height, width - 2 * inside_x, more_height)
        line = QRectF(rect.left() + self._px(_SIDE) + 2, bubble.bottom() + 1, rect.width() - 2 * self._px(_SIDE) - 4,
                      self._px(_LINE))  # fmt: skip
        return Box(bubble, text, QPointF(left + inside_x, rect.top() + inside_y), more, line, right)

    def more_words(self, row: Row) -> str:
        """Returns the label of the link that expands a text."""
        count = row.message.characters if row.message is not None else 0
        return f"Show all {formats.number(count)} characters"

    def link_at(self, row: Row, rect: QRect, point: QPoint) -> str:
        """Returns the address of the link at a point, or ""."""
        if row.message is None:
            return ""
        box = self.box(row, rect)
        return box.text.link_at(QPointF(point) - box.text_at)

    def links(self, row: Row, width: int) -> list[str]:
        return [] if row.message is None else self._text_of(row, width).links()

    # Painting

    def paint(self, painter: QPainter, rows: ChatRows, row: Row, rect: QRect, inherited: str, *, current: bool) -> None:
        """Paints a row.

        Args:
            painter: of the view.
            rows: all rows.
            row: the row to paint.
            rect: its rectangle.
            inherited: text of the line about the inherited part.
            current: True for the current row with the keyboard focus.
        """
        if row.is_message:
            self._paint_message(painter, row, rect, current=current)
        elif row.kind == "summary":
            self._paint_summary(painter, rows, rect, current=current)
        else:
            self._paint_line(painter, rows, row, rect, inherited, current=current)

    def _paint_message(self, painter: QPainter, row: Row, rect: QRect, *, current: bool) -> None:
        theme, message, box = self._theme, row.message, self.box(row, rect)
        parent = row.kind == "parent"
        edge = QPen(Qt.PenStyle.NoPen)
        if message is not None and message.is_global:
            edge = QPen(theme.color("accent.ring"), 1)
        elif parent or theme.high_contrast:
            edge = QPen(theme.color("line.hair"), 1)
        self._round(painter, box.bubble, self._fill(row), edge)
        ink = "ink.tertiary" if message is None or not message.text else "ink.secondary" if parent else "ink.primary"
        box.text.draw(painter, box.text_at, theme.color(ink))
        if box.more is not None:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("accent.text"))
            painter.drawText(box.more, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom, self.more_words(row))
        self._paint_below(painter, row, box)
        if current:
            outset = 2.5
            ring = box.bubble.adjusted(-outset, -outset, outset, outset)
            pen = QPen(theme.color("accent.ring"), 1.5)
            self._round(painter, ring, None, pen, radius=theme.metrics.radius_bubble + outset)

    def _fill(self, row: Row) -> QColor | None:
        theme = self._theme
        if row.kind == "parent":
            return None
        if row.message is not None and row.message.role == "user":
            return theme.color("accent.wash")
        return theme.color("surface.raised" if theme.dark else "surface.chrome")

    def _round(
        self, painter: QPainter, rect: QRectF, fill: QColor | None, edge: QPen, *, radius: float | None = None
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(edge)
        painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
        inset = 0.5 if edge.style() != Qt.PenStyle.NoPen else 0.0
        round_ = self._theme.metrics.radius_bubble if radius is None else radius
        painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), round_, round_)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)

    def _paint_below(self, painter: QPainter, row: Row, box: Box) -> None:
        """Paints the line below a bubble: time, role and visibility."""
        theme, message = self._theme, row.message
        if message is None:
            return
        font = theme.font("small")
        metrics = QFontMetrics(font)
        when, where = message.below, message.visibility
        gap, side = self._px(10), self._px(12)
        icon = 0 if not where else side + self._px(4)
        width = (
            metrics.horizontalAdvance(when)
            + (gap if when and where else 0)
            + icon
            + metrics.horizontalAdvance(where)
            + (self._px(2) if where else 0)  # rounding down would elide the text
        )
        x = max(box.line.left(), box.line.right() - width) if box.right else box.line.left()
        painter.setFont(font)
        painter.setPen(theme.color("ink.tertiary"))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box.line.adjusted(x - box.line.left(), 0, 0, 0), flags, when)
        if not where:
            return
        x += metrics.horizontalAdvance(when) + (gap if when else 0)
        is_global = message.is_global
        token = "accent.text" if is_global else "ink.tertiary"
        top = round(box.line.center().y() - side / 2)
        pixmap = icons.pixmap("global" if is_global else "hidden", token, side, painter.device().devicePixelRatioF())
        painter.drawPixmap(round(x), top, pixmap)
        painter.setPen(theme.color(token))
        room = box.line.right() - x - icon
        words = metrics.elidedText(where, Qt.TextElideMode.ElideRight, round(room))
        painter.drawText(box.line.adjusted(x + icon - box.line.left(), 0, 0, 0), flags, words)

    def _paint_line(
        self, painter: QPainter, rows: ChatRows, row: Row, rect: QRect, inherited: str, *, current: bool
    ) -> None:
        """Paints a text in the middle of a hairline."""
        theme = self._theme
        words = inherited
        if row.kind == "title":
            words = rows.sub.title if rows.sub is not None else ""
        elif row.kind == "end" and rows.sub is not None:
            words = rows.sub.end
        font = theme.font("column")
        metrics = QFontMetrics(font)
        side = self._px(_SIDE)
        opens = row.kind == "inherited" and rows.opens
        icon = self._px(12) + self._px(7) if opens else 0
        room = rect.width() - 2 * side - icon - self._px(24)
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
        width = metrics.horizontalAdvance(words) + icon
        middle, left = rect.top() + rect.height() // 2, rect.left() + (rect.width() - width) // 2
        gap = self._px(12)
        hair = theme.color("line.hair")
        painter.fillRect(QRect(rect.left() + side, middle, left - gap - rect.left() - side, 1), hair)
        painter.fillRect(QRect(left + width + gap, middle, rect.right() + 1 - side - left - width - gap, 1), hair)
        if opens:
            glyph = "ri.arrow-up-circle-line" if rows.expanded else "ri.arrow-down-circle-line"
            pixmap = icons.pixmap(glyph, "ink.secondary", self._px(12), painter.device().devicePixelRatioF())
            painter.drawPixmap(left, middle - self._px(6), pixmap)
        painter.setFont(font)
        painter.setPen(theme.color("ink.secondary"))
        box = QRect(left + icon, rect.top(), width - icon + 4, rect.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        if current:
            ring = QRectF(left - 6, middle - self._px(11), width + 12, self._px(22))
            self._round(painter, ring, None, QPen(theme.color("accent.ring"), 1.5), radius=self._px(11))

    def _paint_summary(self, painter: QPainter, rows: ChatRows, rect: QRect, *, current: bool) -> None:
        theme, sub = self._theme, rows.sub
        if sub is None:
            return
        side, inside = self._px(_SIDE), self._px(_INSIDE_X)
        card = QRectF(rect).adjusted(side, 0, -side, -self._px(12))
        edge = QPen(theme.color("accent.ring" if current else "line.hair"), 1.5 if current else 1)
        self._round(painter, card, theme.color("surface.inset"), edge, radius=theme.metrics.radius_card)
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("ink.secondary"))
        head = QRectF(card.left() + inside, card.top() + self._px(8), card.width() - 2 * inside, self._px(_LINE))
        words = painter.fontMetrics().elidedText(
            f"Summary of {sub.label}", Qt.TextElideMode.ElideRight, round(head.width())
        )
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)
        text = self.texts.text(sub.summary, self._summary_width(rect.width()), theme)
        text.draw(painter, QPointF(card.left() + inside, head.bottom() + self._px(4)), theme.color("ink.primary"))
