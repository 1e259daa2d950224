"""JSON text view: colours by type, and folds objects and lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget
from typing_extensions import override

from inspector.base.utf16 import Utf16Offsets
from inspector.present.json_spans import span_at, steps_at
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController

_COLORED = re.compile(r'("(?:[^"\\]|\\.)*"?)(?=(\s{0,19}:)?)|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|([{}\[\]:,]+)')
_COLORS = ("", "json.string", "ink.secondary", "json.number", "json.word", "ink.tertiary")
"""Colour tokens by the last matching group: string, key, number, word, punctuation."""

_MAX_COLORED_TOKENS = 8_000
"""Most coloured tokens of a line: more than a screen shows; twice as many need 0.1 s of layout."""


class JsonColors(QSyntaxHighlighter):
    """Colours keys and values by type, up to `_MAX_COLORED_TOKENS` tokens of a line.

    A line may have 30,000 tokens, and each costs a match, a call and a separate piece of the line's layout.
    """

    def __init__(self, themes: ThemeController, document: QTextDocument) -> None:
        super().__init__(document)
        self._themes = themes
        self._looks: list[QTextCharFormat] = []
        self.on = True
        """True if the text is JSON."""

    def renew(self) -> None:
        """Applies a changed theme."""
        self._looks.clear()
        self.rehighlight()

    @override
    def highlightBlock(self, text: str) -> None:
        if not self.on:
            return
        looks, color = self._looks or self._made_looks(), self.setFormat
        for token in islice(_COLORED.finditer(text), _MAX_COLORED_TOKENS):
            start, stop = token.span()
            color(start, stop - start, looks[token.lastindex or 0])

    def _made_looks(self) -> list[QTextCharFormat]:
        for name in _COLORS:
            look = QTextCharFormat()
            if name:
                look.setForeground(self._themes.theme.color(name))
            self._looks.append(look)
        return self._looks


_GUTTER = 14
"""Width of the folding gutter, pixels at 100 %."""


class _Gutter(QWidget):
    """Gutter with a chevron beside each line that opens an object or a list."""

    def __init__(self, text: JsonText) -> None:
        super().__init__(text)
        self._text = text
        self.setObjectName("rawFolding")
        self.setAccessibleName("Folding")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @override
    def sizeHint(self) -> QSize:
        return QSize(self._text.gutter, 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self._text.paint_gutter(QPainter(self))

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._text.fold_at(event.position().toPoint())


class JsonText(QPlainTextEdit):
    """Read-only JSON text with folding.

    Signals:
        value_chosen(tuple): the cursor moved to a value; carries its path.
    """

    value_chosen = Signal(object)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.colors = JsonColors(themes, self.document())
        self._folds = False
        self._folded: set[int] = set()
        self._gutter = _Gutter(self)
        self._gutter.hide()
        self.updateRequest.connect(self._renew_gutter)

    def _renew_gutter(self, *_scrolled: object) -> None:
        self._gutter.update()

    @property
    def gutter(self) -> int:
        """Width of the folding gutter in pixels; 0 without folding."""
        return round(_GUTTER * self._themes.theme.zoom) if self._folds else 0

    def show_text(self, text: str, *, is_json: bool, folds: bool) -> None:
        """Shows another text.

        Args:
            text: the text.
            is_json: colour it as JSON.
            folds: one value a line, so that objects and lists can be folded.
        """
        self._folded.clear()
        self._folds = folds
        self.colors.on = is_json
        self.setPlainText(text)
        self._gutter.setVisible(folds)
        self.setViewportMargins(self.gutter, 0, 0, 0)

    def renew_colors(self) -> None:
        """Applies a changed theme."""
        self.colors.renew()
        self.setViewportMargins(self.gutter, 0, 0, 0)

    # Folding

    def _closing_line(self, block: QTextBlock) -> QTextBlock | None:
        """Returns the line that closes the object or list opened in `block`; None if nothing can be folded."""
        text = block.text().rstrip()
        if not text.endswith(("{", "[")):
            return None
        indent = len(text) - len(text.lstrip())
        after = block.next()
        while after.isValid():
            line = after.text()
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                return after
            after = after.next()
        return None

    def is_folded(self, line: int) -> bool:
        """Returns True if the object or list opened in a line is folded."""
        return line in self._folded

    def fold(self, line: int, on: bool) -> None:
        """Folds or unfolds the object or list opened in a line."""
        block = self.document().findBlockByNumber(line)
        if not self._folds or self._closing_line(block) is None:
            return
        self._folded.symmetric_difference_update({line} if on != (line in self._folded) else ())
        hidden_to, block = -1, self.document().begin()
        while block.isValid():
            number = block.blockNumber()
            # QPlainTextEdit skips invisible blocks in its layout.
            block.setVisible(number >= hidden_to)
            if number >= hidden_to and number in self._folded:
                end = self._closing_line(block)
                hidden_to = end.blockNumber() if end is not None else hidden_to
            block = block.next()
        self.document().markContentsDirty(0, self.document().characterCount())
        layout = self.document().documentLayout()
        # Only this signal makes the scroll bar follow the new height.
        layout.documentSizeChanged.emit(layout.documentSize())
        self.viewport().update()
        self._gutter.update()

    def fold_at(self, place: QPoint) -> None:
        """Toggles the fold of the line at a height."""
        line = self.cursorForPosition(QPoint(0, place.y())).blockNumber()
        self.fold(line, not self.is_folded(line))

    def paint_gutter(self, painter: QPainter) -> None:
        """Paints the chevrons of the visible lines."""
        side, ratio = self.gutter, self.devicePixelRatioF()
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > self.viewport().height():
                return
            if block.isVisible() and self._closing_line(block) is not None:
                name = "ri.arrow-right-s-line" if self.is_folded(block.blockNumber()) else "ri.arrow-down-s-line"
                high = self.fontMetrics().height()
                painter.drawPixmap(
                    0, round(box.top() + (high - side) / 2), icons.pixmap(name, "ink.tertiary", side, ratio)
                )
            block = block.next()

    def units(self, place: int) -> int:
        """Converts a character offset to UTF-16 units, as Qt counts."""
        return Utf16Offsets(self.toPlainText()).units(place)

    # Values

    def choose(self, steps: Sequence[str | int]) -> None:
        """Selects a value and scrolls to it."""
        span = span_at(self.toPlainText(), steps)
        if span is None:
            return
        cursor = self.textCursor()
        offsets = Utf16Offsets(self.toPlainText())
        cursor.setPosition(offsets.units(span.stop))
        cursor.setPosition(offsets.units(span.start), QTextCursor.MoveMode.KeepAnchor)
        line = self.document().findBlock(cursor.position())
        # A value inside a folded object is invisible.
        for number in sorted(self._folded):
            end = self._closing_line(self.document().findBlockByNumber(number))
            if end is not None and number < line.blockNumber() < end.blockNumber():
                self.fold(number, False)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    # Qt events

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() is Qt.MouseButton.LeftButton and self.colors.on and not self.textCursor().hasSelection():
            text = self.toPlainText()
            steps = steps_at(text, Utf16Offsets(text).place(self.textCursor().position()))
            if steps is not None:
                self.value_chosen.emit(steps)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        line = self.textCursor().blockNumber()
        if self._folds and event.text() in ("+", "-") and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.fold(line, event.text() == "-")
            return
        super().keyPressEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._gutter.setGeometry(QRect(area.left(), area.top(), self.gutter, area.height()))
