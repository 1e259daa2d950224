"""Converts sessions of Continue, one document each, to a line for the session and one for each item of its history."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from inspector.formats.continue_dev.reader import NAME, RESULTS_KEY, SESSION_KEY, USAGE_KEY
from inspector.formats.document_conversion import DocumentConversion
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.value_conversions import mapping_or_empty, mappings_in, text_or_none


def begins_session(head: bytes) -> bool:
    """Returns True for the first bytes of a session."""
    if b'"history"' not in head:
        return False
    value = first_record(head)
    items = mappings_in(value.get("history"))
    is_named = isinstance(value.get("sessionId"), str) and isinstance(value.get("workspaceDirectory"), str)
    # The history may come first, and be longer than these bytes.
    is_item = any({"message", "contextItems"} <= one.keys() for one in items[:1])
    return isinstance(value.get("history"), list) and (is_named or (is_item and "requests" not in value))


def _records(document: Any, path: Path) -> list[Mapping[str, Any]]:
    session = dict(mapping_or_empty(document))
    name, given = text_or_none(session.get("sessionId")) or path.stem, session.pop("history", None)
    items = mappings_in(given)
    messages = [mapping_or_empty(item.get("message")) for item in items]
    has_usage = any(isinstance(one.get("usage"), Mapping) for one in messages)
    # The state of a call repeats the message with its result.
    results = {call for one in messages if isinstance(call := one.get("toolCallId"), str)}
    states = {
        call: state.get("status")
        for item in items
        for state in mappings_in(item.get("toolCallStates"))
        if isinstance(call := state.get("toolCallId"), str) and call in results
    }
    lines: list[Mapping[str, Any]] = [{SESSION_KEY: name, "session": session, USAGE_KEY: has_usage}]
    for item, message in zip(items, messages, strict=True):
        called = [text_or_none(one.get("toolCallId")) for one in mappings_in(item.get("toolCallStates"))]
        own = [*called, text_or_none(message.get("toolCallId"))]
        told = {one: states[one] for one in own if one is not None and one in states}
        lines.append({SESSION_KEY: name, "item": item, **({RESULTS_KEY: told} if told else {})})
    return lines


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_session, convert=partial(DocumentConversion, records_of=_records),
    container=NAME,
)  # fmt: skip
