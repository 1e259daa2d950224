"""View of a conversation: keys, pointer and painting of bubbles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.engine.requests.msp_sessions import NO_MESSAGES
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.bubbles import ChatPainting
from inspector.ui.msp.panel.chat_model import ChatModel, Row
from inspector.ui.widgets.variable_height_view import VariableHeightView

_KEYS = Qt.Key
_STEP = 24


class ChatView(VariableHeightView):
    """Shows the rows of a `ChatModel`.

    Signals:
        menu_asked(int, QPoint): show the menu of a row at this position on the screen.
        opened(int): Enter on a row, or a click on the line about the inherited part.
        global_asked(int): G: make a message global, or take that back.
        copy_asked(int): copy a message.
        link_asked(str): open the address of a clicked link.
        left(): Esc was pressed.

    Attributes:
        painting: measures and paints rows.
    """

    menu_asked = Signal(int, object)
    opened = Signal(int)
    global_asked = Signal(int)
    copy_asked = Signal(int)
    link_asked = Signal(str)
    left = Signal()

    def __init__(self, model: ChatModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chat = model
        self._themes = themes
        self.painting = ChatPainting(themes)
        self.setObjectName("chatView")
        self.setAccessibleName("Conversation")
        self.setProperty("variant", "base")
        self.setMouseTracking(True)
        self.setModel(model)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self.painting.texts.clear()
        self.verticalScrollBar().setSingleStep(round(_STEP * self._themes.theme.zoom))
        self._reset_layout()

    @override
    def expected(self, first: int, stop: int) -> NDArray[np.int64]:
        return self.painting.estimates(self._chat.rows, first, stop, self._row_width)

    @override
    def measured(self, row: int) -> int:
        found = self._chat.rows[row]
        if found.is_message and found.message is None:
            return self.heights.height(row)  # the estimate stays until the message arrives
        return self.painting.height(self._chat.rows, found, self._row_width)

    def show_whole(self, row: int) -> None:
        """Expands a long message."""
        found = self._chat.row(row)
        if found is not None and found.message is not None:
            self._chat.read_whole(found.message.ref)
            self.lay_out_again(row)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), _KEYS(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(row)
        elif modifiers or key == _KEYS.Key_Space:  # the window handles these keys
            event.ignore()
        elif key == _KEYS.Key_Escape:
            self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            self.opened.emit(row)
        elif key == _KEYS.Key_G:
            self.global_asked.emit(row)
        elif not self._navigate(row, key):
            event.ignore()

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.show_row(index.row(), quietly=True)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        row = self._chat.row(index.row())
        if row is None or event.button() is not Qt.MouseButton.LeftButton or index != self.currentIndex():
            return
        more, link = self._pressable(row, self.visualRect(index), point)
        if row.kind == "inherited":
            self.opened.emit(index.row())
        elif more:
            self.show_whole(index.row())
        elif link:
            self.link_asked.emit(link)

    def _pressable(self, row: Row, rect: QRect, point: QPoint) -> tuple[bool, str]:
        """Returns the effect of a click at a point: expand the message, and the link to open."""
        if row.message is None:
            return False, ""
        more = self.painting.box(row, rect).more
        return more is not None and more.contains(point.toPointF()), self.painting.link_at(row, rect, point)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Does the same as two clicks, and no more."""

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        row = self._chat.row(index.row())
        hand = row is not None and (
            (row.kind == "inherited" and self._chat.rows.opens)
            or any(self._pressable(row, self.visualRect(index), point))
        )
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            at = self.visualRect(index).center() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        if not self.currentIndex().isValid() and len(self.heights):  # Qt would move to the first row
            self.show_row(self.whole_in_sight[-1], quietly=True)
        super().focusInEvent(event)
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._themes.theme.color("surface.base"))
        rows, current = self._chat.rows, self.currentIndex().row()
        focused = self.hasFocus()
        for row in self.rows_in_sight():
            self.painting.paint(
                painter, rows, rows[row], self._rect(row), self._chat.inherited, current=row == current and focused
            )
        if rows.sub is not None and not rows.own_count and rows.sub.is_open:
            self._paint_empty(painter)

    def _paint_empty(self, painter: QPainter) -> None:
        theme = self._themes.theme
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        top = self._top(len(self.heights)) if len(self.heights) else 0
        box = QRect(0, top, self.viewport().width(), theme.metrics.row)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, NO_MESSAGES)
