"""Chunks of the AI SDK in lines: JSON objects, data of an event stream, or the lines of its earlier data stream.

A line of the earlier stream has a letter or digit and a JSON value, as `0:"Two "`. It becomes the chunk of today.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from inspector.formats.entry_builders import decoded_object
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol.header import json_or_none
from inspector.protocol.json_size import is_too_large

CHUNKS: dict[str, tuple[str, ...]] = {
    "text-start": ("id",), "text-delta": ("delta", "textDelta"), "text-end": ("id",),
    "reasoning-start": ("id",), "reasoning-delta": ("delta",), "reasoning-end": ("id",),
    "tool-input-start": ("toolCallId",), "tool-input-delta": ("inputTextDelta",),
    "tool-input-available": ("toolCallId", "toolName"), "tool-input-error": ("toolCallId",),
    "tool-output-available": ("toolCallId",), "tool-output-error": ("toolCallId",),
    "tool-output-denied": ("toolCallId",), "tool-approval-request": ("approvalId",),
    "tool-approval-response": ("approvalId",), "source-url": ("sourceId",), "source-document": ("sourceId",),
    "file": ("mediaType",), "reasoning-file": ("mediaType",), "error": ("errorText",),
    "message-metadata": ("messageMetadata",),
}  # fmt: skip
"""Types of chunks, each with members of which it has one."""
_BARE = {
    "start": ("messageId", "messageMetadata"), "finish": ("finishReason", "messageMetadata"), "start-step": (),
    "finish-step": (), "reset-step": (), "abort": ("reason",),
}  # fmt: skip
"""Types of chunks that may have no other member, each with the members that it may have."""
_DATA = b"data:"
_LINE = re.compile(rb"([0-9a-k]):(?=[\"\[{])")
_MEMBERS = {
    b"9": ("tool-input-available", {"args": "input"}), b"a": ("tool-output-available", {"result": "output"}),
    b"b": ("tool-input-start", {}), b"c": ("tool-input-delta", {"argsTextDelta": "inputTextDelta"}),
    b"d": ("finish", {}), b"e": ("finish-step", {}), b"f": ("start-step", {}), b"h": ("source-url", {}),
    b"k": ("file", {"mimeType": "mediaType"}),
}  # fmt: skip
"""Types of lines with an object, each with the names of members that have changed."""
_VALUES = {
    b"0": ("text-delta", "delta"), b"g": ("reasoning-delta", "delta"), b"3": ("error", "errorText"),
    b"2": ("data-stream", "data"), b"8": ("message-metadata", "messageMetadata"),
}  # fmt: skip
"""Types of lines with another value, each with the member for it."""


def without_field(line: bytes) -> bytes:
    """Returns the data of an event stream's line; other lines unchanged."""
    return line[len(_DATA) :].strip() if line.startswith(_DATA) else line


def chunk_in(line: bytes) -> Mapping[str, Any] | None:
    """Returns the chunk in a line; None for other lines. Never raises."""
    bare = without_field(line)
    found = _LINE.match(bare)
    if found is not None:
        return _earlier_chunk(found[1], bare[found.end() :])
    value = decoded_object(bare)
    chunk = unwrapped(value) if value is not None else {}
    return chunk if is_chunk(chunk) else None


def unwrapped(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the chunk in a recorder's line, as `{"time": ..., "chunk": {...}}`; other values unchanged."""
    chunk = value.get("chunk")
    return chunk if isinstance(chunk, Mapping) and "type" not in value and is_chunk(chunk) else value


def is_chunk(value: Mapping[str, Any]) -> bool:
    """Returns True for a chunk of a message."""
    sort = value.get("type")
    if not isinstance(sort, str):
        return False
    if sort in CHUNKS:
        return any(key in value for key in CHUNKS[sort]) and "sessionID" not in value
    if sort in _BARE:
        allowed = {"type", "providerMetadata", "finishReason", "usage", "isContinued", *_BARE[sort]}
        return value.keys() <= allowed and (len(value) > 1 or sort.endswith("-step") or sort in ("start", "finish"))
    return sort.startswith("data-") and "data" in value and value.keys() <= {"type", "id", "data", "transient"}


def _earlier_chunk(letter: bytes, written: bytes) -> Mapping[str, Any] | None:
    value = None if is_too_large(written) else json_or_none(written)
    if letter in _VALUES and isinstance(value, str | list):
        sort, member = _VALUES[letter]
        return {"type": sort, member: value, "earlier": True}
    if letter not in _MEMBERS or not isinstance(value, Mapping):
        return None
    sort, names = _MEMBERS[letter]
    own = {names.get(key, key): one for key, one in mapping_or_empty(value).items()}
    return {**own, "type": sort, "earlier": True}
