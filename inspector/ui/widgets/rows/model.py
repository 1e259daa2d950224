"""Item model of a list over a source of row specifications."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from typing_extensions import override

from inspector.present.rows import Layout, ListedRows, Row, RowSource
from inspector.present.wire_text import tool_tip
from inspector.ui.look.roles import Role

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_MAX_CACHED = 4_000
"""Rows with a cached specification; a full cache is emptied, since only visible rows are made again."""
_MAX_MOVED = 500
"""Rows of a list that changes by insertions and moves, which are quadratic; longer ones are reset."""


class RowsModel(QAbstractListModel):
    """Rows of a source, made on demand and cached.

    Signals:
        about_to_change, rows_settled: before and after a change of rows; views keep their position by key.

    Attributes:
        rename: receives the row and the edited text, and returns True if it is accepted; None for fixed texts.
        reorders: True if rows can be dragged.
    """

    about_to_change = Signal()
    rows_settled = Signal()

    def __init__(
        self, source: RowSource, parent: QObject | None = None, *,
        rename: Callable[[int, str], bool] | None = None, reorders: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._source = source
        self._specs: dict[int, Row] = {}
        self.rename = rename
        self.reorders = reorders

    @property
    def source(self) -> RowSource:
        return self._source

    @property
    def layout_of_rows(self) -> Layout:
        return self._source.layout

    def nearest_selectable(self, row: int, step: int) -> int:
        """Returns the next row that is no heading, in either direction, or -1."""
        onward, back = range(row, self.rowCount()), range(row, -1, -1)
        places = chain(onward, back) if step > 0 else chain(back, onward)
        return next((place for place in places if self.spec(place).selectable), -1)

    def spec(self, row: int) -> Row:
        """Returns the specification of a row."""
        found = self._specs.get(row)
        if found is None:
            if len(self._specs) >= _MAX_CACHED:
                self._specs.clear()
            found = self._specs[row] = self._source.spec(row)
        return found

    def key_at(self, row: int) -> Hashable | None:
        return self._source.key_at(row) if 0 <= row < len(self._source) else None

    def row_of(self, key: Hashable) -> int:
        """Returns the row of a key, or -1."""
        return self._source.row_of(key)

    # Changes

    @contextmanager
    def changing(self) -> Generator[None]:
        """Surrounds any change of the source; resets the model."""
        self.about_to_change.emit()
        self.beginResetModel()
        self._specs.clear()
        yield
        self.endResetModel()
        self.rows_settled.emit()

    def replace_source(self, source: RowSource) -> None:
        with self.changing():
            self._source = source

    def drop_specs(self) -> None:
        """Has rows made again after a change of their number or content."""
        self._specs.clear()

    def renew(self, first: int = 0, last: int | None = None) -> None:
        """Makes rows again whose texts may have changed."""
        last = len(self._source) - 1 if last is None else last
        self._specs.clear()
        if first <= last:
            self.dataChanged.emit(self.index(first), self.index(last))

    def show_rows(self, layout: Layout, rows: Sequence[Row]) -> None:
        """Shows rows made in advance. Rows with a known key stay selected and in place."""
        listed = self._source
        if not isinstance(listed, ListedRows):
            self.replace_source(ListedRows(layout, rows))
            return
        listed.layout = layout
        by_key = {row.key: row for row in (*rows, *listed.rows)}

        def put(keys: list[Hashable]) -> None:
            listed.rows[:] = [by_key[key] for key in keys]

        self.reorder([row.key for row in rows], put)
        changed = [place for place, row in enumerate(rows) if listed.rows[place] != row]
        listed.rows[:] = rows
        self._specs.clear()
        if changed:
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))

    def reorder(self, keys: Sequence[Hashable], put: Callable[[list[Any]], object]) -> None:
        """Removes, moves and inserts rows to reach another order, so that views keep selection and scroll position.

        Args:
            keys: of the rows, in the new order.
            put: sets the keys of the source's rows.
        """
        now = [self._source.key_at(row) for row in range(len(self._source))]
        if now == list(keys):
            return
        if max(len(now), len(keys)) > _MAX_MOVED:
            with self.changing():
                put(list(keys))
            return
        self.about_to_change.emit()

        def apply() -> None:
            put(list(now))
            # Views ask for rows before and after each step.
            self._specs.clear()

        nowhere, wanted = QModelIndex(), set(keys)
        # Removals first, so that moves and insertions see final positions.
        for place in reversed([place for place, key in enumerate(now) if key not in wanted]):
            self.beginRemoveRows(nowhere, place, place)
            del now[place]
            apply()
            self.endRemoveRows()
        for place, key in enumerate(keys):
            if place < len(now) and now[place] == key:
                continue
            if key in now:
                old = now.index(key)
                self.beginMoveRows(nowhere, old, old, nowhere, place)
                now.insert(place, now.pop(old))
                apply()
                self.endMoveRows()
            else:
                self.beginInsertRows(nowhere, place, place)
                now.insert(place, key)
                apply()
                self.endInsertRows()
        self.rows_settled.emit()

    # Qt

    @override
    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._source)

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        place = index.row()
        if not index.isValid() or place >= len(self._source):
            return None
        roles = Qt.ItemDataRole
        if role in (roles.DisplayRole, roles.EditRole):
            return self.spec(place).text
        if role == roles.AccessibleTextRole:
            return self.spec(place).spoken or self.spec(place).text
        if role == roles.AccessibleDescriptionRole:
            return self.spec(place).described or None
        if role == roles.ToolTipRole:
            return tool_tip(self.spec(place).tip) if self.spec(place).tip else None
        if role == roles.CheckStateRole:
            checked = self.spec(place).checked
            return None if checked is None else roles_of_check(checked)
        return self.spec(place).message if role == Role.MESSAGE else None

    @override
    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if self.rename is None or role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        return self.rename(index.row(), str(value))

    @override
    def flags(self, index: Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        if not index.isValid():
            return flag.ItemIsDropEnabled if self.reorders else flag.NoItemFlags
        found = flag.ItemIsEnabled | flag.ItemNeverHasChildren
        # A source may have shrunk before its change is announced.
        if index.row() < len(self._source) and self.spec(index.row()).selectable:
            found |= flag.ItemIsSelectable
        if self.rename is not None:
            found |= flag.ItemIsEditable
        return found | flag.ItemIsDragEnabled if self.reorders else found

    @override
    def supportedDropActions(self) -> Qt.DropAction:
        return Qt.DropAction.MoveAction


def roles_of_check(checked: bool) -> Qt.CheckState:
    return Qt.CheckState.Checked if checked else Qt.CheckState.Unchecked
