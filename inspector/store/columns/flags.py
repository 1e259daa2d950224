"""Flag bits of a message; passes read them to touch few rows."""

from __future__ import annotations

import enum


class Flag(enum.IntFlag):
    """Bits of the `flags` column."""

    UNREADABLE = 1
    GAP = 2
    """A marker of this program: frames may be missing here.

    With ERROR, a tapped server crashed and no frame is missing.
    """
    FRAME = 4
    """A `#stream#data` frame."""
    JOIN = 8
    RPC = 16
    """JSON-RPC without an envelope."""
    LOG_ONLY = 32
    """A log line about the gateway; no participant's message."""
    SENT = 64
    """Sent by this program."""
    HAS_META = 128
    """Its result has `_meta`, which the transient-context protocol uses."""
    ERROR = 256
    OBJECT_CONTEXT = 512
    BAD_CONTEXT = 1024
    """`context` is a number, array or boolean; the message appears in main."""
    NO_ID = 2048
    """An envelope without an id; `local-N` replaces it."""
    CORRELATED = 4096
    """Names at least one earlier message."""
    COPIES_DIFFER = 8192
    """A later copy in the log differs from the first in its bytes."""
    REJECTED = 16384
    """The gateway's log reports its rejection."""
    REFUSED = 1 << 21
    """Only its rejection is known; it reached no participant and has no effects."""
    MANY_CORRELATIONS = 32768
    """Names more than one message; passes read the others from the record."""
    CALLS_DIFFER = 65536
    """A response whose kind and payload name different calls; the kind wins."""
    DERIVED = 1 << 22
    """A message derived from a transcript's record, never written as an envelope (`protocol.derived_messages`)."""
    INHERITED = 1 << 23
    """A copy of another thread's prompt: it belongs to this thread's context and is not counted again."""
    TEXT = 1 << 24
    """An unreadable line without any JSON, like program output; neither a message nor a truncated one."""
    CALL_FROM_CORRELATION = 1 << 25
    """A response of a self-contained export names its call, which the export knew by correlation."""
    CALL_FROM_RPC_ID = 1 << 26
    """A response of a self-contained export names its call by the JSON-RPC id."""
    CONTAINS_REQUEST = 1 << 27
    """A response of a self-contained export contains its request, or is JSON-RPC without its connection."""
    DECLINED = 1 << 28
    """The user declined the call; no failure."""
    UNRECORDED = 1 << 29
    """Its content was not recorded, as in most traces. It is compared with no other and costs no tokens."""
    OWN_SPAN = 1 << 30
    """A tool call, or its result, recorded by a span of the tool; other traces record calls by their model only."""
    BY_PROGRAM = 1 << 31
    """A text in the user's place that the agent's program wrote: no prompt of a person."""
    CONTEXT_IN_KIND = 1 << 17
    CONTEXT_IN_PAYLOAD = 1 << 18
    CONTEXT_IN_THREAD = 1 << 19
    CONTEXT_IN_REASONING = 1 << 20
    """A place other than the envelope names its context (`protocol.context_places`)."""
