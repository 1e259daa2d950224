"""Detects JSON-RPC batches: several messages in one array, as in MCP 2025-03-26.

RULE: an array with a JSON-RPC message among its elements is a batch, and each element is a message. An array without
one, or with more than 131,072 elements, is one unreadable line.
"""

from __future__ import annotations

import msgspec

from inspector.protocol.header import MAX_LENIENT, NotAnObjectError, decode_json
from inspector.protocol.json_values import REFUSALS, has_shape
from inspector.protocol.record import Record, unreadable_record

MAX_ELEMENTS = 1 << 17
"""Limit of elements in a batch. Each becomes a message; an array of 100 MB could contain fifty million."""


class _Message(msgspec.Struct, gc=False):
    jsonrpc: str


_decode_messages = msgspec.json.Decoder(list[_Message]).decode
_decode_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_message = msgspec.json.Decoder(_Message).decode


def batch_in(raw: bytes) -> Record | None:
    """Returns a placeholder record if a line is a batch, until its messages are read. Never raises.

    Args:
        raw: an array as written.
    """
    # A byte search first: most arrays are data.
    if raw[:1] != b"[" or b'"jsonrpc"' not in raw:
        return None
    count = _count(raw)
    if not 0 < count <= MAX_ELEMENTS:
        return None
    record = unreadable_record(raw, f"a JSON-RPC batch of {count:,}, where one message was expected")
    record.batch = count
    return record


def _count(raw: bytes) -> int:
    """Returns the number of elements; 0 without a JSON-RPC message among them."""
    try:
        # The struct decoder is fast, but refuses batches with other elements.
        return len(_decode_messages(raw))
    except REFUSALS:
        pass
    try:
        elements = _decode_elements(raw)
    except REFUSALS:
        return _count_leniently(raw) if len(raw) <= MAX_LENIENT else 0
    return len(elements) if any(map(_is_message, elements)) else 0


def _is_message(element: msgspec.Raw) -> bool:
    return has_shape(_decode_message, element)


def _count_leniently(raw: bytes) -> int:
    """Counts elements of JSON that only Python's decoder reads, such as NaN in a message."""
    try:
        elements = decode_json(raw)
    except NotAnObjectError:
        return 0
    return len(elements) if any(isinstance(e, dict) and isinstance(e.get("jsonrpc"), str) for e in elements) else 0
