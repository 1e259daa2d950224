"""Finds a message's context: in the envelope, or in the place of a draft (ADR k9j, options 1 to 5)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from inspector.protocol import kinds
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, decode_json


class ContextSource(enum.IntEnum):
    """Place of a message's context."""

    ABSENT = 0
    ENVELOPE = 1
    KIND = 2
    """A kind such as `subcontext/reasoning/step`; the payload has the id."""
    PAYLOAD = 3
    """`payload.context`."""
    MARKERS = 4
    """It correlates to a message inside an open `context/start`."""
    THREAD = 5
    """`thread_id`."""
    REASONING_ID = 6
    """`payload.reasoning_id`, as in the first draft of t8k."""
    STREAM = 7
    """Of a frame: its chunk, or the request for its stream."""


PLACE_NAMES = {
    ContextSource.ENVELOPE: "envelope",
    ContextSource.KIND: "kind",
    ContextSource.PAYLOAD: "payload.context",
    ContextSource.MARKERS: "context/start",
    ContextSource.THREAD: "thread_id",
    ContextSource.REASONING_ID: "reasoning_id",
    ContextSource.STREAM: "stream",
}
"""Names in filters and lists."""
PLACE_EXPLANATIONS = {
    ContextSource.KIND: "its kind: k9j, option 1",
    ContextSource.PAYLOAD: "payload.context: k9j, option 3",
    ContextSource.MARKERS: "correlation to a context/start: k9j, option 4",
    ContextSource.THREAD: "thread_id: k9j, option 5",
    ContextSource.REASONING_ID: "payload.reasoning_id: first draft of t8k",
}
"""Explanations for users, for places outside released versions."""

START_KIND, END_KIND = "context/start", "context/end"
"""The markers of option 4."""
_IN_KIND = ("subcontext/", "sub-context/")
_THREADS = ("thread_id", "threadId")
_MAX_ID_LENGTH = 255


class _Payload(msgspec.Struct, gc=False):
    context: Any = ABSENT
    context_id: Any = ABSENT
    reasoning_id: Any = ABSENT
    thread_id: Any = ABSENT
    threadId: Any = ABSENT


_decode = msgspec.json.Decoder(_Payload).decode
NO_CONTEXT_PAYLOAD: PayloadContextFields = _Payload()
"""A payload without a context."""


class EnvelopeContextFields(Protocol):
    """Context fields of an envelope outside its payload."""

    kind: Any
    context: Any
    thread_id: Any
    threadId: Any


class PayloadContextFields(Protocol):
    """Context fields of a payload."""

    context: Any
    context_id: Any
    reasoning_id: Any
    thread_id: Any
    threadId: Any


def find_context(header: Header) -> tuple[object, ContextSource]:
    """Returns an envelope's context as written, and its place; (None, ContextSource.ABSENT) in the main context."""
    if header.context is not ABSENT and header.context is not None:
        return header.context, ContextSource.ENVELOPE
    return find_context_outside_field(header, _payload(header.payload))


def find_context_outside_field(
    header: EnvelopeContextFields, payload: PayloadContextFields
) -> tuple[object, ContextSource]:
    """Returns the same for an envelope without a value in `context`."""
    if is_context_name(payload.context):
        return payload.context, ContextSource.PAYLOAD
    # Older drafts name a thread in the envelope or in the payload.
    for holder in (header, payload):
        thread = next(filter(looks_like_id, (getattr(holder, name) for name in _THREADS)), None)
        if thread is not None:
            return thread, ContextSource.THREAD
    kind = header.kind if isinstance(header.kind, str) else ""
    # For these kinds, the payload names the context that the message is about.
    if kind.startswith(_IN_KIND):
        found = next(filter(looks_like_id, (payload.context_id, payload.reasoning_id)), None)
        return found, ContextSource.KIND if found is not None else ContextSource.ABSENT
    if looks_like_id(payload.reasoning_id) and kinds.split_kind(kind).name.startswith("reasoning/"):
        return payload.reasoning_id, ContextSource.REASONING_ID
    return None, ContextSource.ABSENT


def other_context_field(header: EnvelopeContextFields, payload: PayloadContextFields | None = None) -> str:
    """Returns the field that names a context in an envelope without `context`, even if meaningless, else "".

    Args:
        header: the envelope.
        payload: its decoded payload; None if the header has it as written.
    """
    if header.context is not ABSENT and header.context is not None:
        return ""
    # Empty values name nothing, but the field is there.
    own = next((name for name in _THREADS if (value := getattr(header, name)) is not ABSENT and value), "")
    if payload is None:
        payload = _payload(header.payload) if isinstance(header, Header) else NO_CONTEXT_PAYLOAD
    held = (f"payload.{name}" for name in (*_THREADS, "context") if is_context_name(getattr(payload, name)))
    return own or next(held, "")


def is_context_name(value: object) -> bool:
    """Returns True if a payload's field looks like a context's name instead of text about one."""
    if isinstance(value, Mapping):
        return looks_like_id(value.get("id"))
    return looks_like_id(value)


def looks_like_id(value: object) -> bool:
    """Returns True if a value looks like an id."""
    return isinstance(value, str) and 0 < len(value) <= _MAX_ID_LENGTH and not any(map(str.isspace, value))


_KEYS = tuple(f'"{name}"'.encode() for name in ("context", "context_id", "reasoning_id", *_THREADS))


def _payload(raw: msgspec.Raw) -> PayloadContextFields:
    data = bytes(raw)
    if not any(key in data for key in _KEYS):  # few have any
        return NO_CONTEXT_PAYLOAD
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _read_leniently(data)


def _read_leniently(data: bytes) -> PayloadContextFields:
    try:
        decoded = decode_json(data)
    except NotAnObjectError:
        return NO_CONTEXT_PAYLOAD
    if not isinstance(decoded, dict):
        return NO_CONTEXT_PAYLOAD
    return _Payload(**{name: decoded[name] for name in _Payload.__struct_fields__ if name in decoded})
