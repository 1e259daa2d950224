"""Finds a message's context: in the envelope, or in the place of a draft (ADR k9j, options 1 to 5)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from inspector.protocol import kinds
from inspector.protocol.calls import Payload, read_payload
from inspector.protocol.header import ABSENT


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


NO_PAYLOAD = Payload()
"""A payload without a context."""


class EnvelopeContextFields(Protocol):
    """Fields of an envelope that may name a context."""

    kind: Any
    context: Any
    thread_id: Any
    threadId: Any
    payload: Any


def find_context(header: EnvelopeContextFields, payload: Payload | None = None) -> tuple[object, ContextSource]:
    """Returns an envelope's context as written, and its place; (None, ContextSource.ABSENT) in the main context.

    Args:
        header: the envelope.
        payload: its decoded payload; None if the header has it as written.
    """
    if header.context is not ABSENT and header.context is not None:
        return header.context, ContextSource.ENVELOPE
    if payload is None:
        payload = (read_payload(header.payload) if may_name_context(header.payload) else None) or NO_PAYLOAD
    if payload.context is not ABSENT and is_context_name(payload.context):
        return payload.context, ContextSource.PAYLOAD
    # Older drafts name a thread in the envelope or in the payload.
    for thread in (header.thread_id, header.threadId, payload.thread_id, payload.threadId):
        if thread is not ABSENT and looks_like_id(thread):
            return thread, ContextSource.THREAD
    kind = header.kind if isinstance(header.kind, str) else ""
    # For these kinds, the payload names the context that the message is about.
    if kind.startswith(_IN_KIND):
        found = next(filter(looks_like_id, (payload.context_id, payload.reasoning_id)), None)
        return found, ContextSource.KIND if found is not None else ContextSource.ABSENT
    if looks_like_id(payload.reasoning_id) and kinds.split_kind(kind).name.startswith("reasoning/"):
        return payload.reasoning_id, ContextSource.REASONING_ID
    return None, ContextSource.ABSENT


def other_context_field(header: EnvelopeContextFields, payload: Payload) -> str:
    """Returns the field that names a context in an envelope without `context`, even if meaningless, else ""."""
    if header.context is not ABSENT and header.context is not None:
        return ""
    # Empty values name nothing, but the field is there.
    own = next((name for name in _THREADS if (value := getattr(header, name)) is not ABSENT and value), "")
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


def may_name_context(payload: msgspec.Raw) -> bool:
    """Returns True if a payload has a key, at any depth, that may name a context; few have."""
    data = bytes(payload)
    return any(key in data for key in _KEY_BEGINNINGS)


_KEY_BEGINNINGS = (b'"context', b'"reasoning_id"', b'"thread')
