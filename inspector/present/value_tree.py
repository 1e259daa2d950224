"""Tree of a message's JSON values: rows for a view, whole values, and display filters of values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from inspector.filters.grammar import MOST_OPENED
from inspector.filters.strings import quote
from inspector.present.json_spans import OPEN_JSON, path_of
from inspector.present.wire_text import safe_line, tool_tip
from inspector.protocol.payloads.record_tables import compact_json
from inspector.protocol.payloads.result_content import pretty_json
from inspector.protocol.secrets.masking import mask_secrets
from inspector.store.messages.payload_values import decode_embedded_json

MOST_CHILDREN = 2_000
"""Most children shown of one value; a last row counts the rest."""
_MOST_NODES = 6_000
"""Nodes of one answer after which no further children are included."""
_MAX_SHOWN_LENGTH = 300
_MIN_TIP_LENGTH = 20
_MAX_EMBEDDED_LENGTH = 1 << 20
"""Most characters of a text parsed for embedded JSON."""


class ValueNode(msgspec.Struct):
    """A value in the tree.

    Attributes:
        key: its key or index.
        type: object, array, string, number, boolean, null; more for a row that counts hidden values.
        text: the value in one line.
        rows: number of rows below it; a text that is JSON has rows, too.
        tip: more of a long text, for a tooltip.
        children: the rows; None until they are asked for.
    """

    key: str | int
    type: str
    text: str
    rows: int = 0
    tip: str = ""
    children: list[ValueNode] | None = None


class ValueTree:
    """A JSON value with secrets masked, also those in JSON embedded in texts.

    Args:
        value: the decoded envelope, or a JSON-RPC message.
        is_envelope: the payload is under `payload`; a JSON-RPC message is its own payload.
    """

    def __init__(self, value: object, *, is_envelope: bool) -> None:
        self._value = mask_secrets(value)
        self._is_envelope = is_envelope

    def value_at(self, steps: Sequence[str | int]) -> Any:
        """Returns a value by its path; OPEN_JSON opens an embedded JSON text.

        Raises:
            LookupError: there is no such value.
        """
        value = self._value
        for step in steps:
            if step == OPEN_JSON and isinstance(value, str):
                value = _inner_value(value)
            elif _has(value, step):
                value = value[step]
            else:
                raise LookupError(step)
        return value

    def rows_below(self, steps: Sequence[str | int]) -> list[ValueNode]:
        """Returns the rows below a value, with further levels depth first while the tree is small.

        Raises LookupError as `value_at`.
        """
        top = ValueNode("", "", "")
        waiting = [(top, _inner_value(self.value_at(steps)))]
        count = 0
        while waiting and count < _MOST_NODES:
            node, value = waiting.pop()
            children = [_node_and_inner(key, below) for key, below in _items(value)]
            node.children = [child for child, _ in children]
            hidden = _length(value) - len(children)
            if hidden > 0:
                node.children.append(ValueNode("…", "more", f"{hidden:,} more, see Raw", children=[]))
            count += len(children)
            waiting += [(child, inner) for child, inner in reversed(children) if child.rows]
        return top.children or []

    def whole_text(self, steps: Sequence[str | int]) -> str:
        """Returns a whole value as text, objects and lists as JSON. Raises LookupError as `value_at`."""
        value = self.value_at(steps)
        return value if isinstance(value, str) else pretty_json(value)

    def filter_of(self, steps: Sequence[str | int]) -> str:
        """Returns the display filter of a value; "" without one. Raises LookupError as `value_at`."""
        value = self.value_at(steps)
        if not steps or value is None or steps.count(OPEN_JSON) > MOST_OPENED:
            return ""
        if self._is_envelope and steps[0] != "payload":
            return _envelope_filter(steps, value)
        name = path_of(steps if self._is_envelope else ("payload", *steps))
        if name == "payload":
            return ""
        literal = _literal(value)
        return f"{name} == {literal}" if literal is not None else name


def _node_and_inner(key: str | int, value: Any) -> tuple[ValueNode, Any]:
    """Returns the node of a value, and the value with its children."""
    inner = _inner_value(value)
    tip = tool_tip(value) if isinstance(value, str) and len(value) > _MIN_TIP_LENGTH else ""
    rows = min(_length(inner), MOST_CHILDREN + 1)  # one row counts the rest
    return ValueNode(key, _type_of(value), _shown(value), rows, tip), inner


def _inner_value(value: Any) -> Any:
    """Returns a value, or the masked object or list that a text embeds as JSON."""
    if not isinstance(value, str):
        return value
    # The first character excludes almost all texts without a parse.
    if len(value) > _MAX_EMBEDDED_LENGTH or value.lstrip()[:1] not in ("{", "["):
        return None
    found = decode_embedded_json(value)
    # The outer masking saw only a text, so mask its inner keys again.
    return mask_secrets(found) if isinstance(found, dict | list) else None


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and 0 <= step < len(value)
    return isinstance(value, Mapping) and step in value


def _items(value: Any) -> list[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return [(str(key), inner) for key, inner in list(value.items())[:MOST_CHILDREN]]
    return list(enumerate(value[:MOST_CHILDREN])) if isinstance(value, list) else []


def _length(value: Any) -> int:
    return len(value) if isinstance(value, Mapping | list) else 0


def _type_of(value: Any) -> str:
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


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return safe_line(value, _MAX_SHOWN_LENGTH)
    if isinstance(value, Mapping):
        return _summary(value)
    if isinstance(value, list):
        return f"{len(value):,} {'item' if len(value) == 1 else 'items'}" if value else "[]"
    return safe_line(compact_json(value), _MAX_SHOWN_LENGTH)


def _summary(value: Mapping[str, Any]) -> str:
    """Returns an object in one line: its first keys."""
    if not value:
        return "{}"
    keys = ", ".join(safe_line(str(key), 40) for key in list(value)[:4])
    return f"{keys}, …" if len(value) > 4 else keys


def _envelope_filter(steps: Sequence[str | int], value: Any) -> str:
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
