"""Decodes one record of a Codex thread, as far as columns need it.

Three generations: *bare* items without times (2025, up to version 0.3x), *envelopes* of `timestamp`, `type` and
`payload`, and *paginated* ones with an `ordinal` (2026). The shapes have no published schema.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from inspector.protocol.header import MAX_LENIENT, decode_object, json_or_none
from inspector.protocol.json_values import NO_RAW, decode_one

TYPES = frozenset(
    {
        "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
        "inter_agent_communication", "inter_agent_communication_metadata", "token_usage_record", "retained_context",
        "security_risk_score", "realtime_item",
    }
)  # fmt: skip
"""Types of envelopes."""
USUAL = re.compile(
    rb'\{\s?"timestamp":\s?"[^"]{20,35}",\s?(?:"ordinal":\s?\d+,\s?)?"type":\s?"(?:%s)",\s?"payload":\s?\{'
    % "|".join(sorted(TYPES)).encode()
)
"""Beginning of nearly all envelopes, and of no other format's record: a fast filter."""
ITEM, EVENT, HEADER, STATE = "response_item", "event_msg", "session_meta", "state"


class Content(msgspec.Struct, gc=False):
    """A block of a message's content, or of a summary."""

    type: str | None = None
    text: msgspec.Raw = NO_RAW


class Counts(msgspec.Struct, gc=False):
    """Tokens as the API reports them: cached ones are part of the input, reasoning of the output."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None


class Info(msgspec.Struct, gc=False):
    """Content of a `token_count`."""

    total_token_usage: Counts | None = None
    last_token_usage: Counts | None = None
    model_context_window: int | None = None


class Item(msgspec.Struct, gc=False):
    """A completed item in a paginated file."""

    type: str | None = None
    id: str | None = None
    text: msgspec.Raw = NO_RAW
    content: msgspec.Raw = NO_RAW
    summary_text: msgspec.Raw = NO_RAW
    agent_thread_id: str | None = None
    status: str | None = None
    exit_code: int | None = None


class Inner(msgspec.Struct, gc=False):
    """The payload of a record. `Raw` values contain the bytes as written, empty if the key is absent."""

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    role: str | None = None
    content: list[Content] | str | None = None
    summary: list[Content] | str | None = None
    arguments: msgspec.Raw = NO_RAW
    input: msgspec.Raw = NO_RAW
    action: msgspec.Raw = NO_RAW
    output: msgspec.Raw = NO_RAW
    message: msgspec.Raw = NO_RAW
    text: msgspec.Raw = NO_RAW
    encrypted_content: msgspec.Raw = NO_RAW
    session_id: str | None = None
    parent_thread_id: str | None = None
    forked_from_id: str | None = None
    source: msgspec.Raw = NO_RAW
    base_instructions: msgspec.Raw = NO_RAW
    instructions: msgspec.Raw = NO_RAW
    subagent_history_start_ordinal: int | None = None
    turn_id: str | None = None
    model: str | None = None
    info: Info | None = None
    usage: Counts | None = None
    thread_token_usage: Counts | None = None
    item: Item | None = None
    author: str | None = None
    recipient: str | None = None
    agent_thread_id: str | None = None
    status: Any = None
    new_thread_id: str | None = None
    new_agent_role: str | None = None


class Line(msgspec.Struct, gc=False):
    """One record; a bare one is wrapped in an envelope."""

    type: str | None = None
    timestamp: str | None = None
    payload: Inner | None = None
    ordinal: int | None = None
    record_type: str | None = None
    id: str | None = None
    instructions: msgspec.Raw = NO_RAW


_decode = msgspec.json.Decoder(Line).decode
_decode_inner = msgspec.json.Decoder(Inner).decode
_UNKNOWN = re.compile(r"[a-z][a-z0-9_]{2,60}")
_BARE = (b'"call_id"', b'"encrypted_content"', b'"input_text"', b'"output_text"', b'"summary_text"')
"""Every bare item has one of these."""
_BARE_TYPES = frozenset(
    {
        "message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
        "local_shell_call", "web_search_call",
    }
)  # fmt: skip


def read_codex(line: bytes, *, unknown: bool = False) -> Line | None:
    """Decodes a record if it is one of a thread. Never raises.

    Args:
        line: the record.
        unknown: accept an unknown type too.
    """
    if line[:1] != b"{":
        return None
    if USUAL.match(line) or (b'"payload"' in line and b'"timestamp"' in line):
        return _read_envelope(line, unknown=unknown)
    if b'"record_type"' in line or b'"instructions"' in line:
        return _read_header(line)
    return _read_item(line) if b'"type"' in line and any(mark in line for mark in _BARE) else None


def _read_envelope(line: bytes, *, unknown: bool) -> Line | None:
    found = decode_one(_decode, line) or _read_leniently(line)
    if found is None or found.type is None or found.timestamp is None or found.payload is None:
        return None
    if found.type in TYPES:
        return found
    return found if unknown and _UNKNOWN.fullmatch(found.type) and len(found.timestamp) >= _TIME else None


_TIME = len("2026-01-02T03:04:05Z")


def _read_header(line: bytes) -> Line | None:
    """Reads the first line of a bare thread, or a note between items."""
    found = decode_one(_decode, line)
    if found is None:
        return None
    if found.record_type is not None and found.type is None:
        return Line(STATE, found.timestamp, Inner(found.record_type)) if found.record_type == STATE else None
    if found.type is None and found.id is not None and found.timestamp is not None and found.instructions:
        return Line(HEADER, found.timestamp, Inner(id=found.id, instructions=found.instructions))
    return None


def _read_item(line: bytes) -> Line | None:
    found = decode_one(_decode_inner, line)
    if found is None or found.type not in _BARE_TYPES:
        return None
    blocks = found.content if isinstance(found.content, list) else ()
    fits = {
        "message": found.role is not None and any(one.type in ("input_text", "output_text") for one in blocks),
        # Grok Build states a status here, Codex never.
        "reasoning": found.summary is not None
        and found.status is None
        and (bool(found.encrypted_content) or found.id is not None),
        "web_search_call": bool(found.action),
    }.get(found.type, found.call_id is not None)
    return Line(ITEM, None, found) if fits else None


# Records that the fast decoder refuses


def _read_leniently(line: bytes) -> Line | None:
    """Decodes a record with an unexpected type or half a surrogate; members that do not fit count as absent."""
    value = decode_object(line) if len(line) <= MAX_LENIENT else {}
    if not isinstance(inner := value.get("payload"), dict):
        return None
    sort, timestamp = (one if isinstance(one := value.get(key), str) else None for key in ("type", "timestamp"))
    ordinal = value.get("ordinal")
    found = Line(sort, timestamp, Inner(), ordinal if isinstance(ordinal, int) else None)
    for name in Inner.__struct_fields__:
        if name in inner:
            _put(found.payload, name, inner[name])
    return found


def _put(inner: Inner | None, name: str, value: Any) -> None:
    """Sets a payload's member if its type fits."""
    try:
        one = _decode_inner(json.dumps({name: value}).encode())
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return
    setattr(inner, name, getattr(one, name))


def head_of(raw: msgspec.Raw, length: int = 1) -> bytes:
    """Returns the beginning of a value as written."""
    return bytes(memoryview(raw)[:length])


def decode_raw(raw: msgspec.Raw) -> Any:
    """Returns a decoded value, if it is JSON."""
    return json_or_none(bytes(raw))
