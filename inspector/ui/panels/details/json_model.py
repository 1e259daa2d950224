"""Tree model over the JSON of a message: rows that the engine has answered, and paths of their values."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.engine.requests.value_tree import OPEN_JSON, ValueNode, path_of
from inspector.present.json_spans import Steps
from inspector.present.wire_text import safe_line, tool_tip

_Index = QModelIndex | QPersistentModelIndex
AskRows = Callable[[Steps, Callable[[list[ValueNode]], object]], object]
"""Asks for the rows below a value; calls back with them, now or later."""
_ROOT = 0
_MIN_TIP_LENGTH = 20


class JsonRole(enum.IntEnum):
    """Roles of the tree besides Qt's own."""

    TYPE = int(Qt.ItemDataRole.UserRole) + 1
    """str: object, array, string, number, boolean, null, more."""
    PATH = int(Qt.ItemDataRole.UserRole) + 2
    """str: path from the envelope, in filter syntax."""


@dataclass(slots=True)
class _Node:
    parent: int
    row: int
    value: ValueNode
    children: list[int] | None = None
    is_asked: bool = False


class JsonModel(QAbstractItemModel):
    """Keys and values in two columns. Rows below a value that have not been answered are fetched when it is expanded.

    Args:
        rows: the first level.
        ask: asks for further rows.
    """

    def __init__(self, rows: list[ValueNode], ask: AskRows, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ask = ask
        self._nodes = [_Node(-1, 0, ValueNode("", "object", "", len(rows), children=rows))]

    # Structure

    def _children(self, node: int) -> list[int]:
        """Returns the known children of a node."""
        held = self._nodes[node]
        if held.children is None and held.value.children is not None:
            held.children = list(range(len(self._nodes), len(self._nodes) + len(held.value.children)))
            self._nodes += [_Node(node, row, value) for row, value in enumerate(held.value.children)]
        return held.children or []

    def _node(self, index: _Index) -> int:
        return int(index.internalId()) if index.isValid() else _ROOT

    @override
    def index(self, row: int, column: int, parent: _Index = QModelIndex()) -> QModelIndex:
        if parent.isValid() and parent.column():
            return QModelIndex()
        children = self._children(self._node(parent))
        if not (0 <= row < len(children) and 0 <= column < 2):
            return QModelIndex()
        return self.createIndex(row, column, children[row])

    @override
    def parent(self, child: _Index) -> QModelIndex:  # pyright: ignore[reportIncompatibleMethodOverride] - one overload of Qt's
        above = self._nodes[self._node(child)].parent if child.isValid() else _ROOT
        return QModelIndex() if above <= _ROOT else self.createIndex(self._nodes[above].row, 0, above)

    @override
    def rowCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() and parent.column() else len(self._children(self._node(parent)))

    @override
    def columnCount(self, parent: _Index = QModelIndex()) -> int:
        return 2

    @override
    def hasChildren(self, parent: _Index = QModelIndex()) -> bool:
        return not (parent.isValid() and parent.column()) and self._nodes[self._node(parent)].value.rows > 0

    @override
    def canFetchMore(self, parent: _Index) -> bool:
        held = self._nodes[self._node(parent)]
        return held.value.rows > 0 and held.value.children is None and not held.is_asked

    @override
    def fetchMore(self, parent: _Index) -> None:
        node = self._node(parent)
        held = self._nodes[node]
        if not self.canFetchMore(parent):
            return
        held.is_asked = True

        def take(rows: list[ValueNode]) -> None:
            if not rows:
                return
            self.beginInsertRows(self.createIndex(held.row, 0, node), 0, len(rows) - 1)
            held.value.children = rows
            self._children(node)
            self.endInsertRows()

        self._ask(self.steps_of(parent), take)

    # Values

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        value = self._nodes[self._node(index)].value
        key = str(value.key)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return safe_line(key, 200) if index.column() == 0 else value.text
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{safe_line(key, 200)}: {value.text}"
            case Qt.ItemDataRole.ToolTipRole:
                tip = value.tip if index.column() else tool_tip(key) if len(key) > _MIN_TIP_LENGTH else ""
                return tip or None
            case JsonRole.TYPE:
                return value.type
            case JsonRole.PATH:
                return path_of(self.steps_of(index))
            case _:
                return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ("Key", "Value")[section] if 0 <= section < 2 else None
        return None

    # Paths

    def steps_of(self, index: _Index) -> Steps:
        """Returns the keys and indexes from the root to a value, with OPEN_JSON below each embedded JSON text."""
        steps: list[str | int] = []
        node = self._node(index)
        while node > _ROOT:
            steps.append(self._nodes[node].value.key)
            node = self._nodes[node].parent
            if node > _ROOT and self._nodes[node].value.type == "string":
                steps.append(OPEN_JSON)
        return tuple(steps[::-1])

    def index_at(self, steps: Sequence[str | int]) -> QModelIndex:
        """Returns the index at the end of `steps`, or of its longest known prefix; invalid for the root.

        Fetches rows on the way.
        """
        node = _ROOT
        for step in steps:
            if step == OPEN_JSON:
                continue
            if node != _ROOT:
                self.fetchMore(self.createIndex(self._nodes[node].row, 0, node))
            found = next((child for child in self._children(node) if self._nodes[child].value.key == step), None)
            if found is None or self._nodes[found].value.type == "more":
                break
            node = found
        return QModelIndex() if node == _ROOT else self.createIndex(self._nodes[node].row, 0, node)
