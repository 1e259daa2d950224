"""The conversation as a list of rows of any height, of which only those in sight are laid out.

Rows not looked at yet are as high as their text lets expect. When one comes into sight and is laid out, what is in
sight already stays where it is and the others give way, so that nothing jumps and the bar stays right.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget
from typing_extensions import override

from inspector.ui.panels.subsessions.heights import Heights
from inspector.ui.panels.subsessions.model import ChatModel
from inspector.ui.panels.subsessions.painting import ChatPainting
from inspector.ui.panels.subsessions.words import NO_MESSAGES
from inspector.ui.theme import ThemeController

_KEYS = Qt.Key
_ROUNDS = 8
"""Laying out what came into sight may bring more into sight; it comes to rest long before this."""
_ROOT = QModelIndex()
_Index = QModelIndex | QPersistentModelIndex


class ChatView(QAbstractItemView):
    """Shows the rows of a `ChatModel`.

    Signals:
        menu_asked(int, QPoint): the menu of a row at a place on the screen.
        opened(int): Return on a row, or a press on the line about what is inherited.
        global_asked(int): a message shall be global, or not any more: G.
        copy_asked(int): a message is to be copied.
        link_asked(str): the address of a link that was pressed.
        left(): Esc was pressed.
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
        self.heights = Heights()
        self._width = 0
        self._settling = False
        self._at_end = True
        self._anchor: tuple[int, int] | None = None
        self.setObjectName("chatView")
        self.setAccessibleName("Conversation")
        self.setProperty("variant", "base")
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAutoScroll(False)
        self.setModel(model)
        model.modelReset.connect(self._on_reset)
        model.rowsInserted.connect(self._on_inserted)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self.painting.texts.clear()
        self.verticalScrollBar().setSingleStep(round(24 * self._themes.theme.zoom))
        self._begin_anew()

    # What the model says

    def _on_reset(self) -> None:
        self._at_end = True
        self._begin_anew()

    def _on_inserted(self, _parent: QModelIndex, first: int, last: int) -> None:
        estimates = self.painting.estimates(self._chat.rows, first, last + 1, self._row_width)
        self.heights.insert(first, estimates)
        self._settle()

    @override
    def dataChanged(self, topLeft: _Index, bottomRight: _Index, roles: object = ()) -> None:
        for row in range(topLeft.row(), bottomRight.row() + 1):
            if row < len(self.heights):
                self.heights.forget(row)
        self._settle()
        self.viewport().update()

    @override
    def reset(self) -> None:
        super().reset()
        self.heights.take(np.zeros(0, np.int64))  # `_on_reset` comes at once

    def _begin_anew(self) -> None:
        """Nothing is laid out any more; what was on top stays on top, and the end at the end."""
        rows = self._chat.rows
        kept = self._anchor
        self.heights.take(self.painting.estimates(rows, 0, len(rows), self._row_width))
        held = kept if kept is not None and not self._at_end and kept[0] < len(rows) else None
        if held is not None:
            self._set_value(self.heights.top(held[0]) - held[1])
        self._settle(held)
        self.viewport().update()

    @property
    def _row_width(self) -> int:
        return max(120, self.viewport().width())

    # Where rows are

    def _top(self, row: int) -> int:
        """Where a row begins in the viewport; few rows stand at the top, as in the picture."""
        return self.heights.top(row) - self.verticalScrollBar().value()

    def _rect(self, row: int) -> QRect:
        return QRect(0, self._top(row), self.viewport().width(), self.heights.height(row))

    def rows_in_sight(self) -> range:
        """The rows of which something is seen."""
        if not len(self.heights):
            return range(0)
        top = self.verticalScrollBar().value()
        first = self.heights.row_at(top)
        return range(first, self.heights.row_at(top + self.viewport().height() - 1) + 1)

    def _settle(self, held: tuple[int, int] | None = None) -> None:
        """Lay out what is in sight, and keep in place what was laid out before.

        Args:
            held: a row, and where it shall begin in the view whatever is laid out above it.
        """
        if self._settling:
            return
        self._settling = True
        bar = self.verticalScrollBar()
        at_end = self._at_end
        self._fit_bar()
        for _ in range(_ROUNDS):
            if at_end:
                bar.setValue(bar.maximum())
            seen = self.rows_in_sight()
            new = [row for row in seen if not self.heights.exact[row]]
            if not new:
                break
            anchor = next((row for row in seen if self.heights.exact[row]), seen.start)
            offset = self.heights.top(anchor) - bar.value()
            if held is not None:
                anchor, offset = held
            found = [self._measured(row) for row in new]
            if self.heights.set_exact(new, found):
                self._fit_bar()
                bar.setValue(self.heights.top(anchor) - offset)
        if at_end:
            bar.setValue(bar.maximum())
        seen = self.rows_in_sight()
        self._anchor = (seen.start, self._top(seen.start)) if len(seen) else None
        self._settling = False

    def _measured(self, row: int) -> int:
        return self.painting.height(self._chat.rows, self._chat.rows[row], self._row_width)

    def _fit_bar(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(max(1, height))
        bar.setRange(0, max(0, self.heights.total - height) if len(self.heights) else 0)

    def _set_value(self, value: int) -> None:
        was, self._settling = self._settling, True
        self._fit_bar()
        self.verticalScrollBar().setValue(value)
        self._settling = was

    def scroll_to_end(self) -> None:
        """Bring the last row into sight; what comes is followed."""
        self._at_end = True
        self._settle()
        self.viewport().update()

    def show_row(self, row: int) -> None:
        """Put the user on a row, and bring it into sight."""
        if 0 <= row < len(self.heights):
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(self._chat.index(row), flags.ClearAndSelect)
            self.scrollTo(self._chat.index(row))

    @property
    def place(self) -> tuple[int, int, bool]:
        """The row on top, where it begins, and whether the end is in sight."""
        row, top = self._anchor or (0, 0)
        return row, top, self._at_end

    def return_to(self, place: tuple[int, int, bool]) -> None:
        """Put the rows where they were."""
        row, top, at_end = place
        self._at_end = at_end
        held = (row, top) if not at_end and row < len(self.heights) else None
        if held is not None:
            self._set_value(self.heights.top(row) - top)
        self._settle(held)
        self.viewport().update()

    def offset_of(self, row: int) -> int:
        """Where a row begins in the view."""
        return self._top(row) if row < len(self.heights) else 0

    def go_quietly(self, row: int) -> None:
        """Put the user on a row; nothing moves."""
        self._go(row, into_view=False)

    def show_whole(self, row: int) -> None:
        """Show a long message whole."""
        found = self._chat.row(row)
        if found is not None and found.message is not None:
            self.painting.texts.whole.add(found.message.content)
            self._at_end = False
            self.heights.forget(row)
            self._settle()
            self.viewport().update()

    # What Qt asks of a view

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if self._settling:
            return
        bar = self.verticalScrollBar()
        self._at_end = bar.value() >= bar.maximum()
        self._settle()
        self.viewport().update()

    @override
    def visualRect(self, index: _Index) -> QRect:
        return self._rect(index.row()) if index.isValid() and index.row() < len(self.heights) else QRect()

    @override
    def indexAt(self, point: QPoint) -> QModelIndex:
        y = point.y() + self.verticalScrollBar().value()
        if not len(self.heights) or not 0 <= y < self.heights.total:
            return QModelIndex()
        return self._chat.index(self.heights.row_at(y))

    @override
    def scrollTo(
        self, index: _Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        row = index.row()
        if not 0 <= row < len(self.heights):
            return
        self.heights.set_exact([row], [self._measured(row)])
        self._fit_bar()
        bar, height = self.verticalScrollBar(), self.viewport().height()
        top = self.heights.top(row)
        bottom = top + self.heights.height(row)
        if top < bar.value() or bottom - top > height:
            bar.setValue(top - self._themes.theme.metrics.unit)
        elif bottom > bar.value() + height:
            bar.setValue(bottom - height)
        self._settle()
        self.viewport().update()

    @override
    def horizontalOffset(self) -> int:
        return 0

    @override
    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    @override
    def isIndexHidden(self, index: _Index) -> bool:
        return False

    @override
    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        index = self.indexAt(rect.center())
        self.selectionModel().select(QItemSelection(index, index), command)

    @override
    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        for index in selection.indexes():
            region += self.visualRect(index)
        return region

    @override
    def moveCursor(self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        actions = QAbstractItemView.CursorAction
        last = len(self.heights) - 1
        row = self.currentIndex().row()
        target = {
            actions.MoveUp: row - 1, actions.MovePrevious: row - 1, actions.MoveDown: row + 1,
            actions.MoveNext: row + 1, actions.MoveHome: 0, actions.MoveEnd: last,
        }.get(cursorAction, row)  # fmt: skip
        return self._chat.index(min(max(target, 0), last)) if last >= 0 else QModelIndex()

    @override
    def updateGeometries(self) -> None:
        super().updateGeometries()
        if not self._settling:
            self._settle()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._row_width != self._width:
            self._width = self._row_width
            self._begin_anew()
        else:
            self._settle()

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), _KEYS(event.key())
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(row)
        elif modifiers or key == _KEYS.Key_Space:  # the window's
            event.ignore()
        elif key == _KEYS.Key_Escape:
            self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            self.opened.emit(row)
        elif key == _KEYS.Key_G:
            self.global_asked.emit(row)
        elif not self._step(row, key):
            event.ignore()

    def _step(self, row: int, key: Qt.Key) -> bool:
        """Move as a key says; whether it is one for that. What is higher than the view is read before one leaves it."""
        bar, height, last = self.verticalScrollBar(), self.viewport().height(), len(self.heights) - 1
        if last < 0:
            return False
        if key in (_KEYS.Key_PageDown, _KEYS.Key_PageUp):
            bar.setValue(bar.value() + (height if key == _KEYS.Key_PageDown else -height))
            seen = self.rows_in_sight()
            whole = [at for at in seen if self._top(at) >= 0 and self._rect(at).bottom() < height] or [seen.start]
            self._go(whole[-1] if key == _KEYS.Key_PageDown else whole[0], into_view=False)
            return True
        if 0 <= row <= last and key == _KEYS.Key_Down and self._rect(row).bottom() + 1 - height > 0:
            bar.setValue(bar.value() + min(height // 2, self._rect(row).bottom() + 1 - height))
            return True
        if 0 <= row <= last and key == _KEYS.Key_Up and self._top(row) < 0 < self._rect(row).bottom():
            bar.setValue(bar.value() + max(-height // 2, self._top(row)))
            return True
        wanted = {_KEYS.Key_Down: row + 1, _KEYS.Key_Up: row - 1, _KEYS.Key_Home: 0, _KEYS.Key_End: last}.get(key)
        if wanted is None:
            return False
        self._go(min(max(wanted, 0), last))
        if key == _KEYS.Key_End:
            self.scroll_to_end()
        return True

    def _go(self, row: int, *, into_view: bool = True) -> None:
        index = self._chat.index(row)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if into_view:
            self.scrollTo(index)
        self.viewport().update()

    @override
    def keyboardSearch(self, search: str) -> None:
        """Nothing: Qt would ask every row for its text at each letter."""

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self._go(index.row(), into_view=False)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        row = self._chat.row(index.row()) if index.isValid() else None
        if row is None or event.button() is not Qt.MouseButton.LeftButton or index != self.currentIndex():
            return
        if row.message is None:
            if row.kind == "inherited":
                self.opened.emit(index.row())
            return
        box = self.painting.box(row, self.visualRect(index))
        if box.more is not None and box.more.contains(point.toPointF()):
            self.show_whole(index.row())
            return
        link = self.painting.link_at(row, self.visualRect(index), point)
        if link:
            self.link_asked.emit(link)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Nothing more than two clicks."""

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        index = self.indexAt(point)
        row = self._chat.row(index.row()) if index.isValid() else None
        hand = False
        if row is not None and row.message is not None:
            box = self.painting.box(row, self.visualRect(index))
            hand = bool(box.more is not None and box.more.contains(point.toPointF())) or bool(
                self.painting.link_at(row, self.visualRect(index), point)
            )
        elif row is not None:
            hand = row.kind == "inherited" and self._chat.rows.opens
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
        if not self.currentIndex().isValid() and len(self.heights):  # Qt would go to the first row
            whole = [row for row in self.rows_in_sight() if self._rect(row).bottom() < self.viewport().height()]
            self._go(whole[-1] if whole else self.rows_in_sight().start, into_view=False)
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
                painter, rows, rows[row], self._rect(row), current=row == current and focused, focused=focused
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
