"""View of a list of rows of equal height: layout, keys, pointer, selection by key, empty text and dragging.

`QListView` lays out every row. This view computes positions instead, so that a change of rows, zoom or density costs
the same for ten rows and a million. It stays a `QListView`, so that screen readers see a list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyleOptionViewItem, QWidget
from typing_extensions import override

from inspector.ui.look.empty_text import EmptyText
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.rows.delegate import RowDelegate
from inspector.ui.widgets.rows.key_moves import go_through_groups, navigate
from inspector.ui.widgets.rows.model import RowsModel

Index = QModelIndex | QPersistentModelIndex
Toggles = Literal["", "row", "box"]
_KEYS = Qt.Key
_MIN_HEIGHT = 24
"""Minimum height of a list in a low window, pixels."""
_MAX_SEARCHED = 500
"""Rows of a list with type-ahead search, which makes every row."""
_BOX_MARGIN = 6
"""Around a check box, so that it is easier to hit."""


class RowsView(QListView):
    """Shows the rows of a `RowsModel`.

    Signals:
        picked(int, bool): the user moved to a row; True for a click.
        entered(int): Enter or a double click on a row.
        toggled(int, bool): a click or Space on a row or its check box; True with Alt.
        expanded(int, bool): expand or collapse the group of a head.
        copy_asked(int): copy the row.
        removed(int): remove the row.
        moved(int, int): move a row, and its new position.
        left(): Esc was pressed.
        menu_asked(int, QPoint): show the menu of a row at this position on the screen.

    Attributes:
        head_of: returns the row of a group's head for a row in it, or -1; None without groups.
        letters: actions of keys by their text, without modifiers.
        shows_cursor: True if the current row has a ring while nothing is selected: once the keyboard is used.
        marked_row: a row that looks selected without the focus, or -1.
    """

    picked = Signal(int, bool)
    entered = Signal(int)
    toggled = Signal(int, bool)
    expanded = Signal(int, bool)
    copy_asked = Signal(int)
    removed = Signal(int)
    moved = Signal(int, int)
    left = Signal()
    menu_asked = Signal(int, object)

    def __init__(
        self, model: RowsModel, themes: ThemeController, *, name: str, title: str, parent: QWidget | None = None,
        in_dialog: bool = False, toggles: Toggles = "", removes: bool = False, top: int = 0, led: bool = False,
        free_cursor: bool = False,
    ) -> None:  # fmt: skip
        """Creates the list.

        Args:
            model: its rows.
            themes: gives the look.
            name: object name.
            title: accessible name.
            parent: owner.
            in_dialog: True if Enter and Esc are keys of the dialog.
            toggles: the part of a row that a click toggles.
            removes: True if Delete removes rows.
            led: True for a list whose keys come from a field, which keeps the focus.
            top: empty room above the first row, in pixels at 100 %.
            free_cursor: True if keys and clicks move the cursor, and something else selects.
        """
        super().__init__(parent)
        self._themes = themes
        self._rows = model
        # Qt asks for positions while the list is set up.
        self.delegate = RowDelegate(model, themes, self)
        self._empty = EmptyText()
        self._in_dialog, self._toggles, self._removes, self._led = in_dialog, toggles, removes, led
        self._top, self._free_cursor = top, free_cursor
        self.marked_row = -1
        self._selected: Hashable | None = None
        self._anchor: tuple[Hashable, int] | None = None
        self._hovered = -1
        self._drop_place = -1
        self._pinned: Literal["end", "selected"] | None = None
        self._pinned_at = 0
        self.head_of: Callable[[int], int] | None = None
        self.letters: dict[str, Callable[[], object]] = {}
        self.shows_cursor = False
        self.setObjectName(name)
        self.setAccessibleName(title)
        self._set_up()
        self.setItemDelegate(self.delegate)
        self.setModel(model)
        model.about_to_change.connect(self._on_about_to_change)
        model.rows_settled.connect(self._on_rows_settled)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _set_up(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMinimumHeight(_MIN_HEIGHT)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        edits = QAbstractItemView.EditTrigger
        self.setEditTriggers(edits.EditKeyPressed if self._rows.rename is not None else edits.NoEditTriggers)
        # Qt would scroll to a row that becomes current during a refresh.
        self.setAutoScroll(self._rows.reorders)
        if self._rows.reorders:
            self.setAccessibleDescription("Alt+Up and Alt+Down move an entry, Delete removes it.")
            self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
            self.setDefaultDropAction(Qt.DropAction.MoveAction)
            self.setDragDropOverwriteMode(False)

    def _on_theme_changed(self) -> None:
        self.setViewportMargins(0, round(self._top * self._themes.theme.zoom), 0, 0)
        self.updateGeometries()
        self.viewport().update()

    @property
    def row_height(self) -> int:
        """Height of every row in pixels."""
        return self.delegate.row_height()

    # Empty list

    def set_empty_text(self, text: str) -> None:
        self._empty.set_text(self, text)

    @property
    def empty_text(self) -> str:
        return self._empty.text

    @property
    def empty_top(self) -> int | None:
        """Top of the text for the empty list in pixels, or None while there are rows."""
        metrics = self._themes.theme.metrics
        return None if self._rows.rowCount() else metrics.pane_padding if self._in_dialog else metrics.unit

    # Layout

    @override
    def doItemsLayout(self) -> None:
        """Fits the scroll bar. `QListView` would ask for the index of every row."""
        QAbstractItemView.doItemsLayout(self)

    @override
    def updateGeometries(self) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setSingleStep(self.row_height)
        bar.setPageStep(max(1, height))
        bar.setRange(0, max(0, self._rows.rowCount() * self.row_height - height))
        self.updateEditorGeometries()

    @override
    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    @override
    def horizontalOffset(self) -> int:
        return 0

    def row_at(self, y: int) -> int:
        """Returns the row at a height of the viewport, or -1."""
        row = (y + self.verticalOffset()) // self.row_height
        return row if 0 <= row < self._rows.rowCount() else -1

    def visible_rows(self) -> tuple[int, int]:
        """Returns the first and last row on screen, or (0, -1) without rows."""
        count = self._rows.rowCount()
        if not count:
            return 0, -1
        first, last = self.row_at(0), self.row_at(self.viewport().height() - 1)
        return max(0, first), last if last >= 0 else count - 1

    def _row_rect(self, row: int) -> QRect:
        height = self.row_height
        return QRect(0, row * height - self.verticalOffset(), self.viewport().width(), height)

    def check_box(self, row: int) -> QRect | None:
        """Returns the place of a row's check box, if it begins with one."""
        return self.delegate.check_box(self._rows.spec(row), self._row_rect(row))

    @override
    def visualRect(self, index: Index) -> QRect:
        return self._row_rect(index.row()) if index.isValid() else QRect()

    @override
    def indexAt(self, p: QPoint) -> QModelIndex:
        row = self.row_at(p.y()) if 0 <= p.x() < self.viewport().width() else -1
        return self._rows.index(row) if row >= 0 else QModelIndex()

    @override
    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if not index.isValid():
            return
        self.updateGeometries()  # rows may just have been inserted
        hints, bar = QAbstractItemView.ScrollHint, self.verticalScrollBar()
        height, view = self.row_height, self.viewport().height()
        top = index.row() * height
        if hint is hints.PositionAtCenter:
            bar.setValue(top - (view - height) // 2)
        elif hint is hints.PositionAtTop or (hint is hints.EnsureVisible and top < bar.value()):
            bar.setValue(top)
        elif hint is hints.PositionAtBottom or top + height > bar.value() + view:
            bar.setValue(top + height - view)

    @property
    def at_end(self) -> bool:
        """True if the last row is visible."""
        return self.verticalOffset() >= self.verticalScrollBar().maximum()

    def scroll_to_end(self) -> None:
        self.updateGeometries()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._pin("end")

    def _pin(self, place: Literal["end", "selected"]) -> None:
        """Keeps the end or the selected row visible during resizes, until the user scrolls."""
        self._pinned, self._pinned_at = place, self.verticalOffset()

    @override
    def resizeEvent(self, e: QResizeEvent) -> None:
        pinned = self._pinned if self.verticalOffset() == self._pinned_at else None
        super().resizeEvent(e)
        self.updateGeometries()
        if pinned == "end":
            self.scroll_to_end()
        elif pinned is not None and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
            self._pin(pinned)

    @override
    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()
        self.updateEditorGeometries()

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
    def viewportSizeHint(self) -> QSize:
        return QSize(120, self._rows.rowCount() * self.row_height)

    # Selection

    @property
    def selected(self) -> Hashable | None:
        """The selected key. In a collapsed group the group's head is highlighted for it."""
        return self._selected

    def select(self, key: Hashable | None, *, into_view: bool = True) -> None:
        """Selects a row or the head of its collapsed group without emitting `picked`; None clears the selection."""
        self._selected = key
        row = -1 if key is None else self._rows.row_of(key)
        self._highlight_row(row)
        if row >= 0 and into_view:
            self.scrollTo(self._rows.index(row))
            self._pin("selected")

    def select_row(self, row: int) -> None:
        """Selects a row by its index, or nothing if there is no such row."""
        self.select(self._rows.key_at(row))

    @property
    def row(self) -> int:
        """The current row, or -1."""
        return self.currentIndex().row()

    def _highlight_row(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        flag = flags.NoUpdate if self._free_cursor else flags.ClearAndSelect if row >= 0 else flags.Clear
        self.selectionModel().setCurrentIndex(self._rows.index(row) if row >= 0 else QModelIndex(), flag)
        self.viewport().update()

    def pick_row(self, row: int, *, clicked: bool = False) -> None:
        """Selects a row for the user and emits `picked`."""
        if 0 <= row < self._rows.rowCount():
            is_cut = not self.viewport().rect().contains(self._row_rect(row))
            self.select(self._rows.key_at(row), into_view=not clicked or is_cut)
            self.picked.emit(row, clicked)

    @override
    def clearSelection(self) -> None:
        self.select(None)

    @override
    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        flag = QItemSelectionModel.SelectionFlag.NoUpdate
        return flag if self._free_cursor else super().selectionCommand(index, event)

    @override
    def setCurrentIndex(self, index: Index) -> None:
        """Selects a row, as `select` does."""
        self.select_row(index.row())

    # Changes of rows

    def _on_about_to_change(self) -> None:
        height, top = self.row_height, self.verticalOffset()
        key = self._rows.key_at(top // height)
        # A view at the very top stays there, so that new rows at the top are visible at once.
        self._anchor = (key, top % height) if top > 0 and key is not None else None

    def _on_rows_settled(self) -> None:
        self._highlight_row(-1 if self._selected is None else self._rows.row_of(self._selected))
        self.updateGeometries()
        if self._anchor is None:
            self.verticalScrollBar().setValue(0)
            return
        key, offset = self._anchor
        row = self._rows.row_of(key)
        if row >= 0:
            self.verticalScrollBar().setValue(row * self.row_height + offset)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() is QAbstractItemView.State.EditingState:  # Return in the field comes here, too
            super().keyPressEvent(event)
            return
        self.shows_cursor = True
        row, key = self.row, event.key()
        # Arrow keys of a keypad carry this modifier.
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        letter = "" if modifiers & ~Qt.KeyboardModifier.ShiftModifier else event.text().lower()
        if letter in self.letters:
            self.letters[letter]()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(row)
        elif self._move_row(row, key, modifiers) or self._activate(row, key, modifiers):
            return
        elif modifiers or key == _KEYS.Key_Space:  # the window handles these keys
            event.ignore()
        elif key in (_KEYS.Key_Delete, _KEYS.Key_Backspace) and self._removes and row >= 0:
            self.removed.emit(row)
        elif key == _KEYS.Key_Escape and not self._in_dialog:
            self.left.emit()
        elif go_through_groups(self, self._rows, row, key) or navigate(self, self._rows, row, key):
            return
        elif key in (_KEYS.Key_Escape, _KEYS.Key_Return, _KEYS.Key_Enter):  # keys of the dialog
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _activate(self, row: int, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Toggles a row, or enters it. Returns False if the key is for something else."""
        if key not in (_KEYS.Key_Return, _KEYS.Key_Enter, _KEYS.Key_Space):
            return False
        with_alt = bool(modifiers & Qt.KeyboardModifier.AltModifier)
        if row < 0 or modifiers & ~Qt.KeyboardModifier.AltModifier:
            return False
        if self._toggles and (key == _KEYS.Key_Space or self._toggles == "row"):
            self.toggled.emit(row, with_alt)
            return True
        if key == _KEYS.Key_Space or self._in_dialog or with_alt:
            return False
        self._enter_row(row)
        return True

    def _enter_row(self, row: int) -> None:
        is_open = self._rows.spec(row).expanded
        if is_open is None:
            self.entered.emit(row)
        else:
            self.expanded.emit(row, not is_open)

    def _move_row(self, row: int, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Moves a row of a list in the user's order, with Alt or Ctrl."""
        step = {_KEYS.Key_Up: -1, _KEYS.Key_Down: 1}.get(_KEYS(key), 0)
        wanted = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ControlModifier
        if not self._rows.reorders or not step or not modifiers & wanted:
            return False
        if row >= 0 and 0 <= row + step < self._rows.rowCount():
            self.moved.emit(row, row + step)
        return True

    @override
    def moveCursor(
        self, cursorAction: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:  # fmt: skip
        """Returns the first row, which Qt makes current when the view gets the focus; keys are handled above."""
        return self._rows.index(max(self.row, 0)) if self._rows.rowCount() else QModelIndex()

    @override
    def keyboardSearch(self, search: str) -> None:
        """Moves to the next row that begins with the typed letters, in lists that are short enough."""
        if self._rows.rowCount() > _MAX_SEARCHED:
            return
        before = self.currentIndex()
        super().keyboardSearch(search)
        if self.currentIndex() != before:
            self.pick_row(self.row)

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.focusPolicy() is not Qt.FocusPolicy.NoFocus:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
        row, button = self.row_at(event.position().toPoint().y()), event.button()
        if row < 0:
            return
        if self._rows.reorders:
            super().mousePressEvent(event)  # begins a drag
        spec = self._rows.spec(row)
        if button is Qt.MouseButton.LeftButton and not spec.selectable:
            return
        if button is Qt.MouseButton.LeftButton and spec.expanded is not None:
            self.select(spec.key, into_view=False)
            self.expanded.emit(row, not spec.expanded)
        elif button is Qt.MouseButton.LeftButton:
            self.pick_row(row, clicked=True)
        elif button is Qt.MouseButton.RightButton:  # the menu is about the selected row
            self.select(spec.key, into_view=False)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Toggles a row. Qt would select the row that is under the pointer by now."""
        if self._rows.reorders:
            self.setState(QAbstractItemView.State.NoState)
        point = event.position().toPoint()
        row = self.row_at(point.y())
        if event.button() is not Qt.MouseButton.LeftButton or row < 0 or row != self.row or not self._toggles:
            return
        box = self.check_box(row)
        margin = _BOX_MARGIN
        in_box = box is not None and box.adjusted(-margin, -margin, margin, margin).contains(point)
        if self._toggles == "row" or in_box:
            self.toggled.emit(row, bool(event.modifiers() & Qt.KeyboardModifier.AltModifier))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint().y())
        if event.button() is not Qt.MouseButton.LeftButton or row < 0:
            return
        if self._rows.spec(row).expanded is not None or self._toggles:
            self.mousePressEvent(event)
        else:
            self.entered.emit(row)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.row_at(event.position().toPoint().y()))
        if not event.buttons() or self._rows.reorders:  # a drag selects nothing
            super().mouseMoveEvent(event)

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def _hover(self, row: int) -> None:
        if row != self._hovered:
            for changed in (self._hovered, row):
                self.viewport().update(self._row_rect(changed))
            self._hovered = row

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            # The menu key has no pointer position, so the menu opens below the current row.
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

    # Dragging

    def place_at(self, point: QPoint) -> int:
        """Returns the insertion index at a point of the viewport; 0 is before the first row."""
        return min(max(0, round((point.y() + self.verticalOffset()) / self.row_height)), self._rows.rowCount())

    @override
    def dragMoveEvent(self, e: QDragMoveEvent) -> None:
        super().dragMoveEvent(e)
        self._drop_place = self.place_at(e.position().toPoint())
        self.viewport().update()

    @override
    def dropEvent(self, e: QDropEvent) -> None:
        row, place = self.row, self.place_at(e.position().toPoint())
        # The rows are moved here. Qt would remove the dragged row once more.
        e.setDropAction(Qt.DropAction.IgnoreAction)
        e.accept()
        self.stopAutoScroll()
        self.setState(QAbstractItemView.State.NoState)
        self._drop_place = -1
        self.viewport().update()
        target = place - (place > row)
        if row >= 0 and target != row:
            self.moved.emit(row, target)

    # Painting

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        painter, option = QPainter(self.viewport()), QStyleOptionViewItem()
        self.initViewItemOption(option)
        states, base = QStyle.StateFlag, QStyle.StateFlag.State_Enabled
        # The keyboard focus of a list in an inactive window is not shown.
        if self._led or (self.hasFocus() and self.isActiveWindow()):
            base |= states.State_Active
        selected, current = {index.row() for index in self.selectedIndexes()}, self.row
        first, last = self.visible_rows()
        for row in range(first, last + 1):
            state = base | (states.State_Selected if row in selected else states.State_None)
            if row == self._hovered:
                state |= states.State_MouseOver
            if row == self.marked_row:
                state |= states.State_On
            if row == current and self.shows_cursor:
                state |= states.State_HasFocus
            option.rect = self._row_rect(row)  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
            option.state = state  # pyright: ignore[reportAttributeAccessIssue] - as above
            self.delegate.paint(painter, option, self._rows.index(row))
        if self.state() is QAbstractItemView.State.DraggingState and self._drop_place >= 0:
            line = self._row_rect(self._drop_place)
            painter.fillRect(line.x(), line.y() - 1, line.width(), 2, self._themes.theme.color("accent.ring"))
        painter.end()
        if self.empty_top is not None:
            self._empty.paint(self, self._themes.theme, self.empty_top)

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.shows_cursor = event.reason() is not Qt.FocusReason.MouseFocusReason
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
