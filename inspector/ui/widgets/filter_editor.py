"""Single-line editor for display filters with syntax colours, placeholder and error underline."""

from __future__ import annotations

import math

from PySide6.QtCore import QMimeData, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget
from typing_extensions import override

from inspector.base.utf16 import Utf16Offsets
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_highlighter import FilterHighlighter

PLACEHOLDER = 'Filter, for example  kind == "chat"'
"""Placeholder of the empty editor."""
_UNDO_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo, QKeySequence.StandardKey.Cut)


class FilterEditor(QPlainTextEdit):
    """A one-line editor of a display filter.

    Signals:
        entered: Enter was pressed.
        escaped: Esc was pressed.
        history_asked: the key for earlier filters was pressed.
        focus_moved(bool): it got or lost the focus.
        typed: a key changed the text, except Undo, Redo and Cut.
        sql_asked: copy the filter as SQL.
    """

    entered = Signal()
    escaped = Signal()
    history_asked = Signal()
    focus_moved = Signal(bool)
    typed = Signal()
    sql_asked = Signal()

    def __init__(
        self, theme_controller: ThemeController, parent: QWidget | None = None, *, placeholder: str = PLACEHOLDER
    ) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.placeholder = placeholder
        self._trouble: tuple[int, int] | None = None
        self.setObjectName("filterEditor")
        self.setAccessibleName("Display filter")
        self.setAccessibleDescription(placeholder)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tab leaves the editor, unless it accepts a completion.
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)
        self._highlighter = FilterHighlighter(self.document(), theme_controller)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    # Text

    def text(self) -> str:
        return self.toPlainText()

    def set_text(self, text: str) -> None:
        """Replaces all text; can be undone."""
        self._replace(0, len(self.text()), text)

    def replace_part(self, position: int, length: int, text: str) -> None:
        """Replaces a range of characters and moves the cursor behind it; can be undone."""
        self._replace(position, length, text)

    def _replace(self, position: int, length: int, text: str) -> None:
        self._select(position, length)
        cursor = self.textCursor()
        cursor.insertText(one_line(text))
        self.setTextCursor(cursor)

    def _select(self, position: int, length: int) -> None:
        units = Utf16Offsets(self.text()).units
        cursor = self.textCursor()
        cursor.setPosition(units(position))
        cursor.setPosition(units(position + length), QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def cursor_place(self) -> int:
        """Returns the cursor position in characters."""
        return Utf16Offsets(self.text()).place(self.textCursor().position())

    def set_cursor_place(self, place: int) -> None:
        self._select(place, 0)

    def left_of(self, place: int) -> int:
        """Returns the x position of a character in the editor, in pixels."""
        return round(self._span_of(place, 0)[0])

    # Errors

    def mark_trouble(self, trouble: tuple[int, int] | None) -> None:
        """Underlines a range; length 0 marks a place where text is missing."""
        if trouble != self._trouble:
            self._trouble = trouble
            self.viewport().update()

    # Qt events

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit()
        elif key == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif key == Qt.Key.Key_Down:
            self.history_asked.emit()
        else:
            before = self.text()
            back = any(event.matches(key) for key in _UNDO_KEYS)
            super().keyPressEvent(event)
            # Text that is taken back is not typed, so it is no reason to offer completions.
            if self.text() != before and not back:
                self.typed.emit()

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setObjectName("filterEditorMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addSeparator()
        action = menu.addAction("Copy as SQL")
        action.setObjectName("filterCopySql")
        action.setEnabled(bool(self.text().strip()))
        action.triggered.connect(self.sql_asked)
        menu.popup(event.globalPos())

    @override
    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accepts text but no files: the window opens dropped files itself."""
        return source.hasText() and not source.hasUrls()

    @override
    def insertFromMimeData(self, source: QMimeData) -> None:
        self.insertPlainText(one_line(source.text()))

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_moved.emit(True)

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_moved.emit(False)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.ensureCursorVisible()

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        # A single line must never scroll vertically.
        super().scrollContentsBy(dx, 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        theme = self._themes.theme
        if not self.text():
            font = theme.font("body")
            painter.setFont(font)
            painter.setPen(theme.color("ink.tertiary"))
            box = QRectF(self.viewport().rect())
            shown = QFontMetricsF(font).elidedText(self.placeholder, Qt.TextElideMode.ElideRight, box.width())
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
        elif self._trouble is not None:
            left, right, bottom = self._span_of(*self._trouble)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("severity.error"), 1.2 * theme.zoom))
            painter.drawPolyline(wave(left, right, bottom, theme.zoom))

    def _span_of(self, position: int, length: int) -> tuple[float, float, float]:
        units = Utf16Offsets(self.text()).units
        cursor = QTextCursor(self.document())
        cursor.setPosition(units(position))
        start_box = self.cursorRect(cursor)
        cursor.setPosition(units(position + length))
        end_box = self.cursorRect(cursor)
        least = self.fontMetrics().averageCharWidth()
        return start_box.left(), max(end_box.left(), start_box.left() + least), start_box.bottom()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.setFont(theme.font("mono"))
        metrics = self.fontMetrics()
        # Space for the underline below the descenders, and the same above to keep the text centred.
        air = math.ceil(3 * theme.zoom)
        self.setViewportMargins(0, air, 0, 0)
        self.setFixedHeight(metrics.height() + 2 * air)
        self.setCursorWidth(max(1, round(theme.zoom)))


def wave(left: float, right: float, bottom: float, zoom: float) -> list[QPointF]:
    """Returns the points of a wavy line with a period of 4 px."""
    step, height = 2.0 * zoom, 2.0 * zoom
    count = max(2, math.ceil((right - left) / step))
    return [QPointF(min(right, left + i * step), bottom - (height if i % 2 else 0) + 0.5) for i in range(count + 1)]


def one_line(text: str) -> str:
    return " ".join(text.splitlines()) if any(c in text for c in "\r\n\u2028\u2029\v\f\x85") else text
