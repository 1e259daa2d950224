"""What keys and pointer do in the message table."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QCursor, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.document.document import CaptureDocument
from inspector.present.message_columns import Column
from inspector.ui.input import own_keys
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.messages.copies import Copies
from inspector.ui.panels.messages.drag import RowDrag
from inspector.ui.panels.messages.header_menu import HeaderMenu
from inspector.ui.panels.messages.menu import RowMenu
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.scroll_anchor import SteadyTable
from inspector.ui.panels.messages.spanning import COPY, Link
from inspector.ui.panels.messages.texts import one_text

_SHIFT, _CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
_LEFT, _RIGHT = Qt.Key.Key_Left, Qt.Key.Key_Right


def _modifiers(event: QKeyEvent | QMouseEvent) -> Qt.KeyboardModifier:
    return event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


class MessageView(SteadyTable):
    """The table with its input.

    Signals:
        filter_requested(str, str): an expression, and how it joins the filter in force (filter_menu.FilterMode).
        column_requested(str): make a column of this field.
        sort_requested(str, bool): sort by a field ("": order of arrival), the largest first or not.
        time_requested(str): what the column Time shall say, an id of `times.MODES`.
        columns_dialog_requested: choose columns in the dialog.
        reference_requested(int): count times from this message.
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show the causal chain of this message alone.
    """

    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    sort_requested = Signal(str, bool)
    time_requested = Signal(str)
    columns_dialog_requested = Signal()
    reference_requested = Signal(int)
    open_details_requested = Signal(int)
    save_requested = Signal(int)
    chain_requested = Signal(int)

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        theme_controller: ThemeController,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, model, theme_controller, parent)
        self.setProperty(own_keys.LEAVES_SPACE, True)
        self.copies = Copies(document, self)
        self.menu = RowMenu(document, self.copies, self)
        self.menu.filter_requested.connect(self.filter_requested)
        self.menu.column_requested.connect(self.column_requested)
        self.menu.open_details_requested.connect(self.open_details_requested)
        self.menu.save_requested.connect(self.save_requested)
        self.menu.chain_requested.connect(self.chain_requested)
        self.menu.toggle_requested.connect(self.toggle_original)
        self.menu.reference_requested.connect(self.reference_requested)
        self._drag = RowDrag(self, self._drag_to)
        self._drag.ended.connect(self._on_dragged)
        self.head_menu = HeaderMenu(self)
        self.head_menu.sort_requested.connect(self.sort_requested)
        self.head_menu.columns_changed.connect(self.columns_changed)
        self.head_menu.time_requested.connect(self.time_requested)
        self.head_menu.dialog_requested.connect(self.columns_dialog_requested)
        self.heads.menu_requested.connect(self.head_menu.popup)
        self.heads.sectionClicked.connect(self._on_head_clicked)
        self._keys: dict[Qt.Key, Callable[[], object]] = {
            Qt.Key.Key_Right: self._on_right,
            Qt.Key.Key_Left: self._on_left,
            Qt.Key.Key_Return: self._on_enter,
            Qt.Key.Key_Enter: self._on_enter,
            Qt.Key.Key_End: self.go_to_last,
            Qt.Key.Key_Home: self.go_to_first,
        }

    def _on_head_clicked(self, column: int) -> None:
        """Smallest first, then largest first, then the order of arrival again."""
        if column == Column.GUTTER:
            return
        by, name = self.messages.rows.sorted_by, self.messages.columns.sort_name(column)
        mine = by is not None and by.field.name == name
        if by is not None and mine and by.descending:
            self.sort_requested.emit("", False)
        else:
            # Messages stand by their number already, so that the first click on No. turns them round.
            self.sort_requested.emit(name, mine or column == Column.NUMBER)

    # Keys

    @override
    def event(self, event: QEvent) -> bool:
        """While messages are gathered, the keys of the next and previous one move on and leave them selected."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._gathers(event):
            event.accept()
            return True
        return super().event(event)

    def _gathers(self, event: QKeyEvent) -> bool:
        up_or_down = event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down)
        return up_or_down and _modifiers(event) == _CONTROL and (self.selected.several or self.selected.gathering)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.pill.working:
            self.pill_clicked.emit()
            return
        if event.key() == Qt.Key.Key_Escape and self.selected.several:
            self.select_current_alone()
            return
        if event.modifiers() == _SHIFT and event.key() in (_LEFT, _RIGHT):
            self._move_across(1 if event.key() == _RIGHT else -1)
            return
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copies.put(self.copies.rows())
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
        """Make the next cell of the row the current one, from which its menu filters and copies."""
        current = self.currentIndex()
        columns = self.shown_columns()
        if not current.isValid() or not columns:
            return
        here = columns.index(current.column()) if current.column() in columns else 0
        column = columns[min(max(here + by, 0), len(columns) - 1)]
        self.cell_moved = True
        self._move_to_row(current.row(), column)
        self.bring_column(column)
        self.viewport().update()

    def _on_space(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if _modifiers(event) == _CONTROL and row >= 0:
            self.toggle_row(row)
        else:
            event.ignore()  # it pauses the window's view, wherever the focus is

    def _move(self, event: QKeyEvent) -> bool:
        """Go to another row; with Shift select as far as it, while messages are gathered leave them; did it."""
        modifiers = _modifiers(event)
        extends = bool(modifiers & _SHIFT) and not modifiers & ~(_SHIFT | _CONTROL)
        by = {
            Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -self._page_rows(), Qt.Key.Key_PageDown: self._page_rows(),
        }.get(Qt.Key(event.key()))  # fmt: skip
        if extends and event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            by = self.messages.rowCount() * (1 if event.key() == Qt.Key.Key_End else -1)
        if by is None or not (extends or not modifiers or self._gathers(event)):
            return False
        count, before = self.messages.rowCount(), self.currentIndex()
        if not count:
            return True
        nothing = not before.isValid() or (self.selected_message is None and not self.selected.several)
        row = self._first_row(by) if nothing else min(max(before.row() + by, 0), count - 1)
        if row == before.row() and not nothing:
            return True
        if extends:
            self.extend_to_row(row, add=bool(modifiers & _CONTROL))
        elif modifiers:
            self._move_to_row(row)
            self._tell_selection()
        else:
            self._select_row(row, max(before.column(), Column.NUMBER))
        self.scrollTo(self.currentIndex())
        return True

    def _first_row(self, by: int) -> int:
        """Where keys begin while nothing is selected: what is in sight, for the current row of Qt is not.

        Going down that is the top, unless new messages are followed; going up, or following, the last one.
        """
        top, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        if self.follower.following or last < 0:
            last = self.messages.rowCount() - 1
        return last if by < 0 or self.follower.following else max(top, 0)

    def _current(self) -> tuple[int, int] | None:
        row = self.currentIndex().row()
        return self.messages.at(row) if row >= 0 else None

    def _on_right(self) -> None:
        """Expand; on an expanded result go to its first line."""
        current = self._current()
        if current is None or current[1]:
            return
        if not self.messages.is_expanded(current[0]):
            self.toggle_original(current[0])
        else:
            self._go_to_row(self.currentIndex().row() + 1)

    def _on_left(self) -> None:
        """Collapse; on a line of an original go to its result."""
        current = self._current()
        if current is None:
            return
        message, part = current
        if part:
            self._go_to_row(self.currentIndex().row() - part)
        elif self.messages.is_expanded(message):
            self.toggle_original(message)

    def _go_to_row(self, row: int) -> None:
        self._select_row(row)
        self.scrollTo(self.currentIndex())

    def _on_enter(self) -> None:
        current = self._current()
        if current is not None:
            self.open_details_requested.emit(current[0])

    @override
    def keyboardSearch(self, search: str) -> None:
        """Nothing: Qt would ask every row for its text at each letter."""

    @override
    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        """Keys and pointer select here, not in Qt; once a row was selected one always is."""
        flags = QItemSelectionModel.SelectionFlag
        return flags.ClearAndSelect | flags.Rows if index.isValid() and event is None else flags.NoUpdate

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
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
        message = self.messages.at(row)[0]
        if event.button() is not Qt.MouseButton.LeftButton:
            if not (self.is_selected(message) and self.selected.several):
                self._click(row, column)
            return
        if not modifiers and self._press(index, event.position().toPoint()):
            return
        if modifiers & _SHIFT:
            self.extend_to_row(row, column, add=bool(modifiers & _CONTROL))
        elif modifiers & _CONTROL:
            self.toggle_row(row, column)
            self.selected.begin(message, message, add=True)
        else:
            self._click(row, column)
            self.selected.begin(message, message, add=False)
        self._drag.begin(row)

    def _click(self, row: int, column: int) -> None:
        self.cell_moved = False
        self._choose_row(row, column)

    def _press(self, index: QModelIndex, position: QPoint) -> bool:
        """Act on a link or a chevron; whether there was one."""
        message, part = self.messages.at(index.row())
        link = self._link_at(index.row(), position)
        if link is not None:
            if link.name == COPY:
                self.copies.put(one_text("the original", self.messages.original(message).source))
            else:
                self.open_details_requested.emit(message)
            return True
        if part or not self._on_chevron(index, position):
            return False
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._click(index.row(), index.column())
        self.toggle_original(message)
        return True

    def _on_chevron(self, index: QModelIndex, position: QPoint) -> bool:
        if (
            not index.isValid()
            or index.column() != Column.MESSAGE
            or not self.messages.content(self.messages.at(index.row())[0]).collapsed
        ):
            return False
        return self.painter.chevron_rect(self.visualRect(index)).adjusted(-4, -6, 4, 6).contains(position)

    def _link_at(self, row: int, position: QPoint) -> Link | None:
        if row < 0:
            return None
        message, part = self.messages.at(row)
        if not part:
            return None
        line = self.messages.original(message).lines[part - 1]
        links = self.originals.links(self.block_rect(row), line)
        return next((link for link in links if link.rect.contains(position)), None)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        super().mouseDoubleClickEvent(event)
        if index.isValid() and event.button() is Qt.MouseButton.LeftButton:
            self.open_details_requested.emit(self.messages.at(index.row())[0])

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
        self._hover(event.position().toPoint())

    def _drag_to(self, row: int) -> None:
        """Select as far as a row the pointer was dragged to; it is picked where it is let go."""
        self._quiet = True
        self.selected.reach(self.messages.at(row)[0])
        self._move_to_row(row)
        self._quiet = False
        self._tell_selection()

    def _on_dragged(self) -> None:
        if self.selected_message is not None:
            self.chosen.emit(self.selected_message)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    @override
    def _follow_pointer(self) -> None:
        inside = self.viewport().underMouse()
        self._hover(self.viewport().mapFromGlobal(QCursor.pos()) if inside else None)

    def _hover(self, position: QPoint | None) -> None:
        row = self.rowAt(position.y()) if position is not None else -1
        link = self._link_at(row, position) if position is not None else None
        if row == self.hovered_row and link == self.hovered_link:
            return
        rows = {self.hovered_row, row}
        self.hovered_row, self.hovered_link = row, link
        for changed in rows:
            if 0 <= changed < self.messages.rowCount():
                self.viewport().update(self.row_rect(changed))
        hand = link is not None
        if position is not None and row >= 0 and not hand and not self.messages.at(row)[1]:
            hand = self._on_chevron(self.indexAt(position), position)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if not index.isValid():
            return
        rect = self.visualRect(index)
        at = rect.bottomLeft() if keyboard else event.pos()
        self.menu.popup(index.row(), index.column(), self.viewport().mapToGlobal(at), second=self._in_second(index, at))

    def _in_second(self, index: QModelIndex, position: QPoint) -> bool:
        """Whether a place in From -> To is on the receivers' side."""
        message, part = self.messages.at(index.row())
        if part or index.column() != Column.FROM_TO:
            return False
        rect = self.visualRect(index)
        first, _ = self.painter.ends_split(rect.width(), self.messages.content(message))
        return position.x() > rect.x() + self.paints.metrics.cell_padding + first
