"""Tree model over a message's JSON with lazy children; texts, paths and filters of its values."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from typing_extensions import override

from inspector.filters.grammar import MOST_OPENED
from inspector.filters.strings import quote
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.payloads.record_tables import compact_json
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.payload_values import OPEN_JSON, decode_embedded_json
from inspector.ui.panels.details.json_text import path_step

MOST_CHILDREN = 2_000
"""Most children shown of one node; a last row counts the rest."""
_MAX_SHOWN_LENGTH = 300
_Index = QModelIndex | QPersistentModelIndex
_ROOT = 0


class JsonRole(enum.IntEnum):
    """Roles of the tree besides Qt's own."""

    TYPE = int(Qt.ItemDataRole.UserRole) + 1
    """str: object, array, string, number, boolean, null, more."""
    VALUE = int(Qt.ItemDataRole.UserRole) + 2
    """str: the whole value as text; objects and arrays as JSON."""
    PATH = int(Qt.ItemDataRole.UserRole) + 3
    """str: path from the envelope, in filter syntax."""
    FILTER = int(Qt.ItemDataRole.UserRole) + 4
    """str: display filter of the value; "" if it has no filter."""


_UNREAD = object()
_MAX_EMBEDDED_LENGTH = 1 << 20
"""Most characters of a text parsed for embedded JSON."""


@dataclass(slots=True)
class _Node:
    parent: int
    row: int
    key: str | int
    value: Any
    children: list[int] | None = None
    hidden: int = 0
    depth: int = 0
    opened: Any = _UNREAD
    """Value of the JSON embedded in a text; None for other texts."""


class JsonModel(QAbstractItemModel):
    """Keys and values in two columns, with secrets masked and control characters visible.

    Args:
        value: the decoded envelope, or a JSON-RPC message.
        is_envelope: the payload is under `payload`; a JSON-RPC message is its own payload.
    """

    def __init__(self, value: object, *, is_envelope: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_envelope = is_envelope
        self._nodes = [_Node(-1, 0, "", mask_secrets(value))]

    # Structure

    def _children(self, node: int) -> list[int]:
        held = self._nodes[node]
        if held.children is None:
            held.children = []
            items: list[tuple[str | int, Any]]
            within = self._inner_value(node)
            if isinstance(within, Mapping):
                items = [(str(k), v) for k, v in list(within.items())[:MOST_CHILDREN]]
            elif isinstance(within, list):
                items = list(enumerate(within[:MOST_CHILDREN]))
            else:
                items = []
            for row, (key, value) in enumerate(items):
                held.children.append(len(self._nodes))
                self._nodes.append(_Node(node, row, key, value, depth=held.depth + 1))
            hidden = _length(within) - len(items)
            if hidden > 0:
                held.children.append(len(self._nodes))
                self._nodes.append(_Node(node, len(items), "…", None, [], hidden, held.depth + 1))
        return held.children

    def _inner_value(self, node: int) -> Any:
        """Returns a node's value, or the masked object or list that its text embeds as JSON."""
        held = self._nodes[node]
        text = held.value
        if not isinstance(text, str):
            return text
        if held.opened is _UNREAD:
            # The first character excludes almost all texts without a parse.
            looks = len(text) <= _MAX_EMBEDDED_LENGTH and text.lstrip()[:1] in ("{", "[")
            found = decode_embedded_json(text) if looks else None
            # The outer masking saw only a text, so mask its inner keys again.
            held.opened = mask_secrets(found) if isinstance(found, dict | list) and found else None
        return held.opened

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
        if parent.isValid() and parent.column():
            return False
        return _length(self._inner_value(self._node(parent))) > 0

    # Values

    @override
    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self._nodes[self._node(index)]
        if role == Qt.ItemDataRole.DisplayRole:
            return safe_line(str(node.key), 200) if index.column() == 0 else self._shown(node)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{safe_line(str(node.key), 200)}: {self._shown(node)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(node, index.column())
        if role == JsonRole.TYPE:
            return "more" if node.hidden else json_type(node.value)
        if role == JsonRole.VALUE:
            return node.value if isinstance(node.value, str) else pretty_json(node.value)
        if role == JsonRole.PATH:
            return self.path(self._node(index))
        if role == JsonRole.FILTER:
            return self._filter(self._node(index))
        return None

    @override
    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ("Key", "Value")[section] if 0 <= section < 2 else None
        return None

    def _shown(self, node: _Node) -> str:
        if node.hidden:
            return f"{node.hidden:,} more, see Raw"
        if isinstance(node.value, str):
            return safe_line(node.value, _MAX_SHOWN_LENGTH)
        if isinstance(node.value, Mapping):
            return _summary(node.value)
        if isinstance(node.value, list):
            return f"{len(node.value):,} {'item' if len(node.value) == 1 else 'items'}" if node.value else "[]"
        return safe_line(compact_json(node.value), _MAX_SHOWN_LENGTH)

    def _tooltip(self, node: _Node, column: int) -> str | None:
        text = str(node.key) if column == 0 else node.value if isinstance(node.value, str) else ""
        return tool_tip(text) if len(text) > 20 else None

    # Paths and filters

    def _steps(self, node: int) -> list[str | int]:
        """Returns the keys from the root to a node, with OPEN_JSON below each embedded JSON text."""
        steps: list[str | int] = []
        while node > _ROOT:
            steps.append(self._nodes[node].key)
            node = self._nodes[node].parent
            if node > _ROOT and isinstance(self._nodes[node].value, str):
                steps.append(OPEN_JSON)
        return steps[::-1]

    def steps_of(self, index: _Index) -> list[str | int]:
        """Returns the keys and indexes from the root to a value, with OPEN_JSON below each embedded JSON text."""
        return self._steps(self._node(index))

    def index_at(self, steps: Sequence[str | int]) -> QModelIndex:
        """Returns the index at the end of `steps`, or of its longest existing prefix; invalid for the root."""
        node = _ROOT
        for step in steps:
            if step == OPEN_JSON:
                continue
            found = next((child for child in self._children(node) if self._nodes[child].key == step), None)
            if found is None or self._nodes[found].hidden:
                break
            node = found
        return QModelIndex() if node == _ROOT else self.createIndex(self._nodes[node].row, 0, node)

    def path(self, node: int) -> str:
        """Returns a node's path, such as `payload.params."odd key".0` or `json(payload.text).status`."""
        return _path_of(self._steps(node))

    def _filter(self, node: int) -> str:
        steps, held = self._steps(node), self._nodes[node]
        if not steps or held.hidden:
            return ""
        if self._is_envelope and steps[0] != "payload":
            return _envelope_filter(steps, held.value)
        name = _path_of(steps if self._is_envelope else ["payload", *steps])
        if steps.count(OPEN_JSON) > MOST_OPENED:
            return ""
        if name == "payload" or held.value is None:
            return ""
        literal = _literal(held.value)
        return f"{name} == {literal}" if literal is not None else name


def _envelope_filter(steps: list[str | int], value: Any) -> str:
    """Returns the filter of an envelope key; envelope keys have fields of their own, some under other names."""
    first = steps[0]
    if first in ("from", "id", "protocol") and len(steps) == 1 and isinstance(value, str):
        return f"{first} == {quote(value)}"
    if first == "kind" and isinstance(value, str):
        return f"kind.raw == {quote(value)}"
    if first in ("to", "correlation_id") and isinstance(value, str):
        return f"{'to' if first == 'to' else 'correlation'} == {quote(value)}"
    if first in ("to", "correlation_id") and len(steps) == 1 and value and isinstance(value, list):
        # A list has no literal, so the filter tests for presence.
        return "to" if first == "to" else "correlation"
    if first == "context" and isinstance(value, str):
        wanted = value.strip("/")
        return f"context under {quote(wanted)}" if wanted else "!context"
    return ""


def _literal(value: Any) -> str | None:
    """Returns a value as a filter literal; None for values without a literal and for long ones."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        # NaN differs from itself; larger numbers lose digits as floats.
        return json.dumps(value) if value == value and abs(value) < 1e15 else None
    return quote(value) if isinstance(value, str) and len(value) <= 500 else None


def _path_of(steps: Sequence[str | int]) -> str:
    text = ""
    for step in steps:
        text = f"json({text})" if step == OPEN_JSON else f"{text}.{path_step(step)}" if text else path_step(step)
    return text


def json_type(value: Any) -> str:
    """Returns the JSON type name of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, Mapping):
        return "object"
    return "array" if isinstance(value, list) else "string"


def _length(value: Any) -> int:
    return len(value) if isinstance(value, Mapping | list) else 0


def _summary(value: Mapping[str, Any]) -> str:
    """Returns an object in one line: its first keys."""
    if not value:
        return "{}"
    keys = ", ".join(safe_line(str(key), 40) for key in list(value)[:4])
    return f"{keys}, …" if len(value) > 4 else keys
