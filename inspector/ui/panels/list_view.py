"""List in a panel: rows, model and view with keys, a stable scroll position and an empty text.

Selection and scroll position follow the row's key, not its index. The lists of findings and marks share it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.plain_table import PlainTable

_KEYS = Qt.Key

Key = tuple[str, int]
"""Identifies a row while other rows are inserted and removed."""


class ListRows(Protocol):
    """Rows of a list by index and key."""

    def __len__(self) -> int: ...

    def key_at(self, row: int) -> Key: ...

    def row_of(self, key: Key) -> int:
        """Returns the row of a key, or -1 if it is not listed."""
        ...


_AnyIndex = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class ListModel(QAbstractTableModel):
    """Model of a list with one column. Texts are formatted on demand.

    Signals:
        about_to_change, rows_settled: before and after a change of the rows; views keep their position by key.

    Attributes:
        selected_key: key of the selected row, if any.
    """

    about_to_change = Signal()
    rows_settled = Signal()

    selected_key: Key | None = None

    @property
    def listed(self) -> ListRows:
        raise NotImplementedError

    @contextmanager
    def changing(self) -> Generator[None]:
        """Surrounds a change of any rows; resets the model."""
        self.about_to_change.emit()
        self.beginResetModel()
        yield
        self.endResetModel()
        self.rows_settled.emit()

    # Texts of a row

    def text(self, row: int) -> str:
        raise NotImplementedError

    def accessible_text(self, row: int) -> str:
        """Returns the text of a row for a screen reader."""
        raise NotImplementedError

    def tip(self, row: int) -> str:
        raise NotImplementedError

    def is_shown(self, row: int) -> bool:
        """Returns True if the message table shows the row's message."""
        return True

    def role_data(self, row: int, role: int) -> object:
        """Returns the data of a role defined by the panel."""
        return None

    # Qt

    @override
    def rowCount(self, parent: _AnyIndex = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.listed)

    @override
    def columnCount(self, parent: _AnyIndex = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    @override
    def data(self, index: _AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = index.row()
        if not index.isValid() or row >= len(self.listed):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self.accessible_text(row)
        return self.tip(row) if role == Qt.ItemDataRole.ToolTipRole else self.role_data(row, role)


class ListView(PlainTable):
    """Shows the rows of a `ListModel`.

    Signals:
        picked(int, bool): the user moved to a row; True for a click.
        entered(int): Enter or a double click on a row.
        copy_asked(int): copy the row.
    """

    picked = Signal(int, bool)
    entered = Signal(int)
    copy_asked = Signal(int)

    def __init__(
        self, model: ListModel, theme_controller: ThemeController, *, name: str, title: str,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the list.

        Args:
            model: its rows.
            theme_controller: gives the look.
            name: object name.
            title: accessible name.
            parent: owner.
        """
        super().__init__(theme_controller, parent, name=name, title=title)
        self._list = model
        self._selected: Key | None = None
        self._top: tuple[Key, int] | None = None
        self.make_single_column()
        self.setModel(model)
        model.about_to_change.connect(self._on_about_to_change)
        model.rows_settled.connect(self._on_rows_settled)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.verticalHeader().setDefaultSectionSize(self.row_height)
        self.verticalScrollBar().setSingleStep(self.row_height)
        self.setViewportMargins(0, metrics.unit, 0, 0)
        self.viewport().update()

    @property
    def row_height(self) -> int:
        """Height of every row in logical pixels."""
        return self._themes.theme.metrics.finding_row

    # Selection

    @property
    def selected(self) -> Key | None:
        """The selected key. In a collapsed group the group's head is highlighted for it."""
        return self._selected

    def select(self, key: Key | None, *, into_view: bool = True) -> None:
        """Selects a row or the head of its collapsed group without emitting `picked`; None clears the selection."""
        # The model keeps the group of this row expanded.
        self._selected = self._list.selected_key = key
        row = -1 if key is None else self._list.listed.row_of(key)
        self._highlight_row(row)
        if row >= 0 and into_view:
            # Without a layout QTableView scrolls by the old row positions.
            self.executeDelayedItemsLayout()
            self.scrollTo(self._list.index(row, 0))

    def _highlight_row(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        if row >= 0:
            self.selectionModel().setCurrentIndex(self._list.index(row, 0), flags.ClearAndSelect | flags.Rows)
        else:
            self.selectionModel().setCurrentIndex(QModelIndex(), flags.Clear)
        self.viewport().update()

    def _pick_row(self, row: int, *, clicked: bool = False) -> None:
        """Selects a row for the user and emits `picked`."""
        if 0 <= row < self._list.rowCount():
            self.select(self._list.listed.key_at(row))
            self.picked.emit(row, clicked)

    # Scroll position

    def _on_about_to_change(self) -> None:
        height = self.row_height
        top = self.verticalScrollBar().value()
        row = top // height
        # A view at the very top stays there, so that new severe rows are visible at once: they are sorted first.
        kept = top > 0 and row < len(self._list.listed)
        self._top = (self._list.listed.key_at(row), top - row * height) if kept else None

    def _on_rows_settled(self) -> None:
        rows = self._list.listed
        self._highlight_row(-1 if self._selected is None else rows.row_of(self._selected))
        self.executeDelayedItemsLayout()
        if self._top is not None:
            key, offset = self._top
            row = rows.row_of(key)
            if row >= 0:
                self.verticalScrollBar().setValue(row * self.row_height + offset)
        else:
            self.verticalScrollBar().setValue(0)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), event.key()
        # Arrow keys of a keypad carry this modifier.
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(row)
        elif modifiers or key == _KEYS.Key_Space:  # the window handles these keys
            event.ignore()
        elif key == _KEYS.Key_Escape:
            self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            self._enter_row(row)
        elif not self._navigate(row, key):
            super().keyPressEvent(event)

    def _navigate(self, row: int, key: int) -> bool:
        """Moves to another row. Returns False if the key is no navigation key."""
        last = self._list.rowCount() - 1
        page = max(1, self.viewport().height() // self.row_height - 1)
        wanted = {
            _KEYS.Key_Down: row + 1,
            _KEYS.Key_Up: row - 1,
            _KEYS.Key_PageDown: row + page,
            _KEYS.Key_PageUp: row - page,
            _KEYS.Key_Home: 0,
            _KEYS.Key_End: last,
        }.get(_KEYS(key))
        if wanted is None:
            return False
        if self._selected is None and key in (_KEYS.Key_Down, _KEYS.Key_Up):
            # Qt makes the first row current when the view gets the focus; the user starts from it.
            self._pick_row(max(row, 0))
            return True
        wanted = min(max(wanted, 0), last)
        if wanted != row:
            self._pick_row(wanted)
        return True

    def _enter_row(self, row: int) -> None:
        if row >= 0:
            self.entered.emit(row)

    @override
    def keyboardSearch(self, search: str) -> None:
        """Disables Qt's type-ahead search, which would format every row at each letter."""

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        row = self.rowAt(event.position().toPoint().y())
        if row >= 0 and event.button() is Qt.MouseButton.LeftButton:
            self._on_row_pressed(row)
        elif row >= 0 and event.button() is Qt.MouseButton.RightButton:  # the menu is about the selected row
            self.select(self._list.listed.key_at(row), into_view=False)

    def _on_row_pressed(self, row: int) -> None:
        self._pick_row(row, clicked=True)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.rowAt(event.position().toPoint().y())
        if event.button() is Qt.MouseButton.LeftButton and row >= 0:
            self._on_row_double_clicked(row)

    def _on_row_double_clicked(self, row: int) -> None:
        self.entered.emit(row)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Does nothing. Qt would select the row that is under the pointer by now."""

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():  # a drag selects nothing
            super().mouseMoveEvent(event)

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
