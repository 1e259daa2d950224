"""Message table view: assembles selection, scroll anchor, columns and painter, and handles keys and pointer.

`Selection`, `ScrollAnchor`, `ColumnLayout` and `RowPainter` receive the table; none of them depends on this class.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
)  # fmt: skip
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QToolTip, QWidget
from typing_extensions import override

from inspector.present.message_columns import Column
from inspector.ui.input import own_keys
from inspector.ui.look.hit_highlight import HitRows
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.column_layout import ColumnLayout
from inspector.ui.panels.messages.header import HeaderMenu, MessageHeader
from inspector.ui.panels.messages.menu import RowMenu
from inspector.ui.panels.messages.message_copies import Copies
from inspector.ui.panels.messages.minimap import TickedScrollBar
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.new_messages_pill import NewPill
from inspector.ui.panels.messages.original_painter import COPY
from inspector.ui.panels.messages.row_painter import RowPainter
from inspector.ui.panels.messages.scroll_anchor import ScrollAnchor
from inspector.ui.panels.messages.selection import RowDrag, Selection
from inspector.ui.widgets.latest_answer import Client

_SHIFT, _CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
_LEFT, _RIGHT = Qt.Key.Key_Left, Qt.Key.Key_Right


def _modifiers(event: QKeyEvent | QMouseEvent) -> Qt.KeyboardModifier:
    # Keys of the keypad act as the others.
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


class MessageView(QTableView):
    """Table view of messages.

    Signals:
        open_details_requested(int): show this message's details.
        sort_requested(str, bool): sort by a field ("": order of arrival); True for largest first.
        message_clicked(int): a click selected a single message.
        pill_clicked(): in a sorted table: sort again, or cancel a running sort.

    Attributes:
        messages: its model.
        paints: fonts, metrics and colours of the current theme.
        selection: selected messages and the current one.
        anchor: keeps the scroll position, or follows.
        columns: positions and widths of columns.
        painter: paints rows and knows their geometry.
        heads: the header, with `head_menu`.
        menu: context menu of rows.
        copies: copies of the selected messages.
        ticks: its scroll bar.
        pill: floats over the table and counts new messages.
    """

    open_details_requested = Signal(int)
    sort_requested = Signal(str, bool)
    message_clicked = Signal(int)
    pill_clicked = Signal()

    def __init__(
        self, client: Client, model: MessageTableModel, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messageTable")
        self.setAccessibleName("Messages")
        self.setProperty(own_keys.LEAVES_SPACE, True)
        self.messages = model
        self._themes = theme_controller
        self.paints = PaintCache(theme_controller.theme, self.devicePixelRatioF())
        self.ticks = TickedScrollBar(theme_controller, self)
        self.setVerticalScrollBar(self.ticks)
        self.setModel(model)
        self.heads = MessageHeader(model, self.paints, self)
        self._set_up()
        self.columns = ColumnLayout(model, self, self.paints)
        self.selection = Selection(client, model, self, self.paints)
        self.painter = RowPainter(model, self, self.selection, self.paints)
        self.anchor = ScrollAnchor(client, model, self, self.selection, self.columns, self.paints)
        self.pill = NewPill(self.paints, self)
        self.copies = Copies(client, model, self, self.selection, self.columns)
        self.menu = RowMenu(client, model, self.selection, self.copies, self)
        self.head_menu = HeaderMenu(model, self)
        self._drag = RowDrag(self, self.selection, self.paints)
        self._keys: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Right: self._on_right, Qt.Key.Key_Left: self._on_left,
            Qt.Key.Key_Return: self._on_enter, Qt.Key.Key_Enter: self._on_enter,
            Qt.Key.Key_End: self.go_to_last, Qt.Key.Key_Home: self.go_to_first,
        }  # fmt: skip
        self._connect_parts()
        self._use_grid()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        # A click on a partly visible row must not scroll.
        self.setAutoScroll(False)
        # Tab leaves the table; otherwise it would step through all cells.
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalHeader(self.heads)
        self.heads.show()
        corner = QWidget(self)
        corner.setObjectName("messageTableCorner")
        corner.setProperty("variant", "base")
        corner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setCornerWidget(corner)
        self.verticalHeader().hide()
        # set before the rows exist: Qt resizes them one by one, quadratic in their number
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def _connect_parts(self) -> None:
        self._themes.changed.connect(self._on_theme_changed)
        self.selection.chain.rail_changed.connect(self._repaint_gutter)
        self.anchor.rows_moved.connect(self._hover_under_pointer)
        self.anchor.follower.count_changed.connect(self._show_new_count)
        self.pill.clicked.connect(self._on_pill_clicked)
        self.menu.open_details_requested.connect(self.open_details_requested)
        self.menu.toggle_requested.connect(self.toggle_original)
        self.head_menu.sort_requested.connect(self.sort_requested)
        self.heads.menu_requested.connect(self.head_menu.popup)
        self.heads.sort_requested.connect(self.sort_requested)
        if not self.messages.rows.revision:
            self.messages.modelReset.connect(self._on_first_rows)

    def _on_first_rows(self) -> None:
        """Gives a table with the focus its cursor, as Qt does if the rows are there before the focus."""
        self.messages.modelReset.disconnect(self._on_first_rows)
        if self.hasFocus() and self.messages.rowCount() and not self.currentIndex().isValid():
            self.selectionModel().setCurrentIndex(self.messages.index(0, 0), QItemSelectionModel.SelectionFlag.NoUpdate)

    # Look

    def _use_grid(self) -> None:
        metrics = self.paints.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        self.horizontalHeader().setFixedHeight(metrics.column_head)
        self.verticalScrollBar().setSingleStep(metrics.row)
        self.columns.lay_out_anew()

    def _on_theme_changed(self) -> None:
        at_top = self.anchor.at_top()
        self.paints.use_theme(self._themes.theme)
        self._use_grid()
        self.viewport().update()
        self.pill.use_theme()
        self.anchor.hold(at_top)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        seen = self.anchor.selected_in_sight(event.oldSize().height())
        super().resizeEvent(event)
        self.columns.lay_out()
        self.pill.place()
        self.anchor.resized(seen)

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        self.painter.paint(e.rect())

    @override
    def sizeHintForColumn(self, column: int) -> int:
        """Returns the present width; on a double click Qt would measure a thousand decoded rows."""
        return self.columnWidth(column)

    def show_find(self, found: HitRows | None) -> None:
        """Highlights the hits of a search."""
        self.painter.found = found
        self.viewport().update()
        self.ticks.update()

    def _repaint_gutter(self) -> None:
        self.viewport().update(0, 0, self.columnWidth(Column.GUTTER), self.viewport().height())

    def _show_new_count(self, count: int) -> None:
        self.pill.show_count(count, is_sorted=not self.anchor.can_follow)

    def _on_pill_clicked(self) -> None:
        if self.pill.working or not self.anchor.can_follow:
            self.pill_clicked.emit()
        else:
            self.anchor.follow(True)
        self.setFocus()

    @override
    def scrollTo(
        self, index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:  # fmt: skip
        """Scrolls vertically only; columns stay in place."""
        # Qt's scrollTo also scrolls horizontally to the cell.
        across = self.horizontalScrollBar().value()
        super().scrollTo(index, hint)
        self.horizontalScrollBar().setValue(across)

    # Navigation

    def go_to(self, message: int) -> bool:
        """Selects a message and scrolls to it; returns False if it is hidden."""
        row = self.messages.rows.row_of(message)
        if row is None:
            return False
        self.selection.choose_row(row)
        self.anchor.bring_into_view(row)
        return True

    def step(self, by: int) -> None:
        """Selects the next (1) or previous (-1) visible message; without a selection, the first or last one."""
        rows = self.messages.rows
        count = len(rows.visible)
        if not count:
            return
        current = self.selection.current
        position = None if current is None else rows.position(current)
        if current is None:
            wanted = 0 if by > 0 else count - 1
        elif position is None:
            # The next one is at the position of the hidden one.
            wanted = rows.messages_before(current) + by - (by > 0)
        else:
            wanted = position + by
        row = rows.row_of(rows.message_at(min(max(wanted, 0), count - 1)))
        if row is not None:
            self.selection.choose_row(row)
            self.scrollTo(self.messages.index(row, Column.MESSAGE))

    def go_to_first(self) -> None:
        if self.messages.rowCount():
            self.selection.choose_row(0)
            self.verticalScrollBar().setValue(0)
            self.anchor.follow(False)

    def go_to_last(self) -> None:
        """Selects the last visible message, and follows unless rows are sorted."""
        rows = self.messages.rows
        row = rows.row_of(rows.message_at(len(rows.visible) - 1)) if len(rows.visible) else None
        if row is not None:
            self.selection.choose_row(row)
        self.anchor.follow(True)

    def show_row(self, row: int) -> None:
        """Scrolls a row to the middle without selecting it."""
        self.verticalScrollBar().setValue(row * self.paints.metrics.row - self.viewport().height() // 2)

    def toggle_original(self, message: int | None = None) -> bool:
        """Expands or collapses the original of a result, by default of the current one; returns True if it has one."""
        message = self.selection.current if message is None else message
        if message is None:
            return False
        if not self.messages.is_expanded(message):
            return self.messages.expand(message, self._hold_rows)
        self._hold_rows(lambda: self._collapse(message))
        return True

    def _hold_rows(self, change: Callable[[], None]) -> None:
        """Changes the lines below a row; the other rows stay in place."""
        at_top = self.anchor.at_top()
        with self.selection.by_table():
            change()
        self.anchor.hold(at_top)
        self.selection.announce()

    def _collapse(self, message: int) -> None:
        row = self.messages.rows.row_of(message)
        if message == self.selection.current and row is not None:
            self.selection.select_row(row)
        self.messages.collapse(message)

    @override
    def selectAll(self) -> None:
        self.selection.select_all()

    # Keys

    @override
    def event(self, event: QEvent) -> bool:
        """Keeps the selection on next/previous keys while messages are selected one by one."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() is QEvent.Type.ShortcutOverride
            and self._keeps_selected(event)
        ):
            event.accept()
            return True
        return super().event(event)

    def _keeps_selected(self, event: QKeyEvent) -> bool:
        if event.key() not in (Qt.Key.Key_Up, Qt.Key.Key_Down) or _modifiers(event) != _CONTROL:
            return False
        return self.selection.several or self.selection.messages.gathering

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Escape ends the innermost state first: a sort, then a selection.
        if event.key() == Qt.Key.Key_Escape and self.pill.working:
            self.pill_clicked.emit()
            return
        if event.key() == Qt.Key.Key_Escape and self.selection.several:
            self.selection.select_current_alone()
            return
        if event.modifiers() == _SHIFT and event.key() in (_LEFT, _RIGHT):
            self._move_across(1 if event.key() == _RIGHT else -1)
            return
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copies.copy_rows()
            return
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.selectAll()
            return
        if event.key() == Qt.Key.Key_Space:
            self._on_space(event)
            return
        if self._move(event):
            return
        modifiers = _modifiers(event)
        ends = event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End)
        plain = not modifiers or (ends and modifiers == _CONTROL)
        act = self._keys.get(Qt.Key(event.key())) if plain else None
        if act is not None:
            act()
        else:
            super().keyPressEvent(event)

    def _move_across(self, by: int) -> None:
        """Makes the next cell of the row current; its menu filters and copies that cell."""
        current = self.currentIndex()
        columns = self.columns.shown_columns()
        if not current.isValid() or not columns:
            return
        here = columns.index(current.column()) if current.column() in columns else 0
        column = columns[min(max(here + by, 0), len(columns) - 1)]
        self.painter.cell_moved = True
        self.selection.move_to_row(current.row(), column)
        self.columns.bring_into_view(column)
        self.viewport().update()

    def _on_space(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if _modifiers(event) == _CONTROL and row >= 0:
            self.selection.toggle_row(row)
        else:
            # The window uses Space to pause the view.
            event.ignore()

    def _move(self, event: QKeyEvent) -> bool:
        """Moves to another row, extended by Shift; returns True if the key was used."""
        modifiers = _modifiers(event)
        extends = bool(modifiers & _SHIFT) and not modifiers & ~(_SHIFT | _CONTROL)
        by = {
            Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -self.selection.page_rows(), Qt.Key.Key_PageDown: self.selection.page_rows(),
        }.get(Qt.Key(event.key()))  # fmt: skip
        if extends and event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            by = self.messages.rowCount() * (1 if event.key() == Qt.Key.Key_End else -1)
        if by is None or not (extends or not modifiers or self._keeps_selected(event)):
            return False
        count, before = self.messages.rowCount(), self.currentIndex()
        if not count:
            return True
        nothing = not before.isValid() or (self.selection.current is None and not self.selection.several)
        row = self._first_row(by) if nothing else min(max(before.row() + by, 0), count - 1)
        if row == before.row() and not nothing:
            return True
        if extends:
            self.selection.extend_to_row(row, add=bool(modifiers & _CONTROL))
        elif modifiers:
            self.selection.move_to_row(row)
            self.selection.announce()
        else:
            self.selection.select_row(row, max(before.column(), Column.NUMBER))
        self.scrollTo(self.currentIndex())
        return True

    def _first_row(self, by: int) -> int:
        """Returns the first row for keys without a selection; Qt's current row may be off screen.

        Down starts at the top of the view; up, or while following, at the last row.
        """
        top, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        if self.anchor.follower.following or last < 0:
            last = self.messages.rowCount() - 1
        return last if by < 0 or self.anchor.follower.following else max(top, 0)

    def _current_place(self) -> tuple[int, int] | None:
        row = self.currentIndex().row()
        return self.messages.message_at_row(row) if row >= 0 else None

    def _on_right(self) -> None:
        """Expands a result; in an expanded one goes to its first line."""
        current = self._current_place()
        if current is None or current[1]:
            return
        if not self.messages.is_expanded(current[0]):
            self.toggle_original(current[0])
        else:
            self._go_to_row(self.currentIndex().row() + 1)

    def _on_left(self) -> None:
        """Collapses a result; on a line of an original goes to its result."""
        current = self._current_place()
        if current is None:
            return
        message, part = current
        if part:
            self._go_to_row(self.currentIndex().row() - part)
        elif self.messages.is_expanded(message):
            self.toggle_original(message)

    def _go_to_row(self, row: int) -> None:
        self.selection.select_row(row)
        self.scrollTo(self.currentIndex())

    def _on_enter(self) -> None:
        current = self._current_place()
        if current is not None:
            self.open_details_requested.emit(current[0])

    @override
    def keyboardSearch(self, search: str) -> None:
        """Does nothing: Qt would ask every row for its text at each letter."""

    @override
    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Leaves key and pointer selection to this class; programmatic moves select a row."""
        flags = QItemSelectionModel.SelectionFlag
        return flags.ClearAndSelect | flags.Rows if index.isValid() and event is None else flags.NoUpdate

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        # Without the focus, selected rows have another colour.
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        index, modifiers = self.indexAt(event.position().toPoint()), _modifiers(event)
        if not index.isValid():
            return
        row, column = index.row(), max(index.column(), Column.NUMBER)
        message = self.messages.message_at_row(row)[0]
        if event.button() is not Qt.MouseButton.LeftButton:
            # On a selected message the menu is about all selected ones.
            if not (self.selection.is_selected(message) and self.selection.several):
                self._select_clicked(row, column)
            return
        if not modifiers and self._press_link(index, event.position().toPoint()):
            return
        if modifiers & _SHIFT:
            self.selection.extend_to_row(row, column, add=bool(modifiers & _CONTROL))
        elif modifiers & _CONTROL:
            self.selection.press_more(row, column)
        else:
            self.painter.cell_moved = False
            self.selection.press(row, column)
        self._drag.begin(row)

    def _select_clicked(self, row: int, column: int) -> None:
        self.painter.cell_moved = False
        self.selection.choose_row(row, column)

    def _press_link(self, index: QModelIndex, position: QPoint) -> bool:
        """Handles a press on a link or chevron; returns True if there was one."""
        message, part = self.messages.message_at_row(index.row())
        link = self.painter.link_at(index.row(), position)
        if link is not None:
            if link.name == COPY:
                self.copies.clipboard.copy_text("the original", self.messages.original(message).source)
            else:
                self.open_details_requested.emit(message)
            return True
        if part or not self._on_chevron(index, position):
            return False
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._select_clicked(index.row(), index.column())
        self.toggle_original(message)
        return True

    def _on_chevron(self, index: QModelIndex, position: QPoint) -> bool:
        if not index.isValid() or index.column() != Column.MESSAGE:
            return False
        if not self.messages.content(self.messages.message_at_row(index.row())[0]).expandable:
            return False
        # The small chevron alone would be hard to hit.
        return self.painter.chevron_rect(self.visualRect(index)).adjusted(-4, -6, 4, 6).contains(position)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        super().mouseDoubleClickEvent(event)
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            self.open_details_requested.emit(self.messages.message_at_row(index.row())[0])

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._drag.row >= 0 and event.buttons() & Qt.MouseButton.LeftButton:
            self._drag.move(event.position().toPoint())
            return
        super().mouseMoveEvent(event)
        self._hover(event.position().toPoint())

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._drag.end()
            row, current = self.rowAt(round(event.position().y())), self.selection.current
            if row >= 0 and current == self.messages.message_at_row(row)[0] and not self.selection.several:
                self.message_clicked.emit(current)
        self._hover(event.position().toPoint())

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def _hover_under_pointer(self) -> None:
        """Updates the hover after rows moved under a still pointer."""
        inside = self.viewport().underMouse()
        self._hover(self.viewport().mapFromGlobal(QCursor.pos()) if inside else None)

    def _hover(self, position: QPoint | None) -> None:
        row = self.rowAt(position.y()) if position is not None else -1
        link = self.painter.link_at(row, position) if position is not None else None
        if row == self.painter.hovered_row and link == self.painter.hovered_link:
            return
        rows = {self.painter.hovered_row, row}
        self.painter.hovered_row, self.painter.hovered_link = row, link
        for changed in rows:
            if 0 <= changed < self.messages.rowCount():
                self.viewport().update(self.painter.row_rect(changed))
        hand = link is not None
        if position is not None and row >= 0 and not hand and not self.messages.message_at_row(row)[1]:
            hand = self._on_chevron(self.indexAt(position), position)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        """Shows a tooltip once its remarks are known, if the pointer is still there."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            index, at = self.indexAt(event.pos()), event.globalPos()
            if index.isValid() and not self.messages.message_at_row(index.row())[1]:
                message = self.messages.message_at_row(index.row())[0]
                self.messages.request_remarks(message, lambda: self._show_tool_tip(message, at))
        return super().viewportEvent(event)

    def _show_tool_tip(self, message: int, at: QPoint) -> None:
        place = self.viewport().mapFromGlobal(at)
        index = self.indexAt(place)
        if QCursor.pos() == at and index.isValid() and self.messages.message_at_row(index.row()) == (message, 0):
            QToolTip.showText(at, str(index.data(Qt.ItemDataRole.ToolTipRole) or ""), self.viewport())

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if not index.isValid():
            return
        rect = self.visualRect(index)
        at = rect.bottomLeft() if keyboard else event.pos()
        message, part = self.messages.message_at_row(index.row())
        has_ends = not keyboard and not part and index.column() == Column.FROM_TO
        second = has_ends and self.painter.is_on_receivers(rect, at, self.messages.content(message))
        self.menu.popup(index.row(), index.column(), self.viewport().mapToGlobal(at), second=second)
