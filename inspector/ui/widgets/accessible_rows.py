"""Rows of a painted view for screen readers: a list of articles, each with its heading.

Qt has interfaces for its own lists and tables only. A screen reader would find an empty view here.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAbstractItemView, QAccessibleWidget
from shiboken6 import isValid
from typing_extensions import override

_MAX_KEPT = 2_000
"""Rows with an interface; a reader asks for some dozens at a time."""


class _RowInterface(QAccessibleInterface):
    """A row: an article whose child is its heading, or an item without one. It stays with its place in the list."""

    def __init__(self, owner: _ListInterface, row: int) -> None:
        super().__init__()
        self.owner, self.row = owner, row
        self.heading = _HeadingInterface(self)

    @property
    def words(self) -> tuple[str, str]:
        """Heading and text; empty for a row that has gone."""
        view = self.owner.view
        return view.row_words(self.row) if self.isValid() else ("", "")

    @override
    def isValid(self) -> bool:
        return isValid(self.owner.view) and self.row < self.owner.view.model().rowCount()

    @override
    def object(self) -> QObject:
        return None  # pyright: ignore[reportReturnType] - rows are painted, as Qt's own cells

    @override
    def parent(self) -> QAccessibleInterface:
        return QAccessible.queryAccessibleInterface(self.owner.view) if isValid(self.owner.view) else self.owner

    @override
    def childCount(self) -> int:
        return 1 if self.isValid() and self.words[0] else 0

    @override
    def child(self, index: int) -> QAccessibleInterface:
        return self.heading if index == 0 and self.childCount() else None  # pyright: ignore[reportReturnType] - no such child

    @override
    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        return None  # pyright: ignore[reportReturnType] - the heading has the rectangle of the row

    @override
    def indexOfChild(self, child: QAccessibleInterface, /) -> int:
        return 0 if child is self.heading else -1

    @override
    def role(self) -> QAccessible.Role:
        return QAccessible.Role.Section if self.words[0] else QAccessible.Role.ListItem

    @override
    def rect(self) -> QRect:
        if not self.isValid():
            return QRect()
        view = self.owner.view
        rect = view.visualRect(view.model().index(self.row, 0))
        return QRect(view.viewport().mapToGlobal(rect.topLeft()), rect.size())

    @override
    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        if not self.isValid():
            state.invalid = 1
            return state
        view = self.owner.view
        is_current = view.currentIndex().row() == self.row
        state.readOnly = state.focusable = state.selectable = 1
        state.selected, state.focused = int(is_current), int(is_current and view.hasFocus())
        if not view.viewport().rect().intersects(view.visualRect(view.model().index(self.row, 0))):
            state.offscreen = 1
        return state

    @override
    def text(self, t: QAccessible.Text) -> str:
        return self.words[1] if t is QAccessible.Text.Name else ""

    @override
    def setText(self, t: QAccessible.Text, text: str) -> None:
        pass

    @override
    def interface_cast(self, t: QAccessible.InterfaceType) -> Any:
        return None


class _HeadingInterface(QAccessibleInterface):
    """The heading of a row."""

    def __init__(self, row: _RowInterface) -> None:
        super().__init__()
        self._row = row

    @override
    def isValid(self) -> bool:
        return self._row.isValid()

    @override
    def object(self) -> QObject:
        return None  # pyright: ignore[reportReturnType] - it is painted

    @override
    def parent(self) -> QAccessibleInterface:
        return self._row

    @override
    def childCount(self) -> int:
        return 0

    @override
    def child(self, index: int) -> QAccessibleInterface:
        return None  # pyright: ignore[reportReturnType] - it has no child

    @override
    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        return None  # pyright: ignore[reportReturnType] - it has no child

    @override
    def indexOfChild(self, child: QAccessibleInterface, /) -> int:
        return -1

    @override
    def role(self) -> QAccessible.Role:
        return QAccessible.Role.Heading

    @override
    def rect(self) -> QRect:
        return self._row.rect()

    @override
    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = 1
        return state

    @override
    def text(self, t: QAccessible.Text) -> str:
        return self._row.words[0] if t is QAccessible.Text.Name else ""

    @override
    def setText(self, t: QAccessible.Text, text: str) -> None:
        pass

    @override
    def interface_cast(self, t: QAccessible.InterfaceType) -> Any:
        return None


class _ListInterface(QAccessibleWidget):
    """The view as a list; rows are made as a reader asks for them."""

    def __init__(self, view: Any) -> None:
        super().__init__(view, QAccessible.Role.List, view.accessibleName())
        self.view: Any = view
        self._rows: dict[int, _RowInterface] = {}

    @override
    def childCount(self) -> int:
        return self.view.model().rowCount() if isValid(self.view) and self.view.model() is not None else 0

    @override
    def child(self, index: int) -> QAccessibleInterface:
        if not 0 <= index < self.childCount():
            return None  # pyright: ignore[reportReturnType] - no such row
        if index not in self._rows:
            if len(self._rows) >= _MAX_KEPT:
                self.drop_rows()
            row = self._rows[index] = _RowInterface(self, index)
            QAccessible.registerAccessibleInterface(row)
            QAccessible.registerAccessibleInterface(row.heading)
        return self._rows[index]

    @override
    def childAt(self, x: int, y: int) -> QAccessibleInterface:
        found: QModelIndex = self.view.indexAt(self.view.viewport().mapFromGlobal(QPoint(x, y)))
        return self.child(found.row())

    @override
    def indexOfChild(self, child: QAccessibleInterface, /) -> int:
        return child.row if isinstance(child, _RowInterface) else -1

    @override
    def focusChild(self) -> QAccessibleInterface:
        return self.child(self.view.currentIndex().row()) if self.view.hasFocus() else None  # pyright: ignore[reportReturnType] - no focus

    def drop_rows(self) -> None:
        """Takes the rows out of Qt's cache, which deletes them."""
        rows, self._rows = self._rows, {}
        for row in rows.values():
            for one in (row.heading, row):
                QAccessible.deleteAccessibleInterface(QAccessible.uniqueId(one))


_lists: dict[int, _ListInterface] = {}
"""Interfaces by view: Qt has no reference that keeps a Python object."""
_installed: list[object] = []


def _make_interface(_class: str, subject: QObject | None) -> QAccessibleInterface | None:
    if not isinstance(subject, QAbstractItemView) or not hasattr(subject, "row_words"):
        return None
    made, number = _ListInterface(subject), id(subject)
    _lists[number] = made

    def forget() -> None:
        if (gone := _lists.pop(number, None)) is not None:
            gone.drop_rows()

    subject.destroyed.connect(forget)
    return made


def read_rows_aloud() -> None:
    """Gives views with `row_words` their interface from now on."""
    if not _installed:
        _installed.append(_make_interface)
        QAccessible.installFactory(_make_interface)
