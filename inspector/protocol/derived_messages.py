"""Messages, agents, threads and model calls derived from one record of a transcript.

A record may contain several messages, as content blocks, or none besides a row of its own. Each message is a
`DerivedMessage` with its column values. Its payload is created from the record on demand
(`inspector.formats.line_reading.payload_of`), and not stored.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME

MAX_DERIVED_MESSAGES = 1 << 15
"""Limit of messages in one record; one with more blocks is a single row."""


USER_PREFIX, MODEL_PREFIX = b"?", b"!"
"""Prefixes in `DerivedMessage.words` of the user's texts and of the model's."""


MODEL_CALL_KEY = "model_call"
"""Payload key of a model call; such a payload counts no tokens, since its messages do."""


class ApiCall(msgspec.Struct, gc=False):
    """A reported model call in one arithmetic: `input` without cache, `output` with reasoning.

    Several records may report one call with growing numbers. The one with the most output counts, the last on a tie
    (`inspector.analysis.passes.tokens.reported_usage`).
    """

    identifier: str | None
    """Name shared by its records; None if unnamed, so that each record is another call; "" if it is no call."""
    model: str | None
    has_usage: bool = False
    """Numbers are given; else they are zero."""
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """The part of `cache_write` for an hour, with a price of its own."""
    stop: str | None = None
    """Stop reason in the words of its API."""
    first_token_ns: int = -1
    """Time from the request to the first piece of a streamed answer; below 0 if unknown."""
    attempts: str | None = None
    """Name of failed attempts at this call: they are no calls of their own."""
    is_incomplete: bool = False
    """`output` was recorded at the beginning of the answer, below the record's own content."""
    is_named: bool = False
    """`identifier` is unique to the call, so an answer with an earlier call's text is still another call."""


class Spawn(msgspec.Struct, gc=False):
    """Sub-agent facts of a message: a call starts one, a call started this one, or its end."""

    call: str | None = None
    """Id of the call that starts it."""
    agent: str | None = None
    """Its own id."""
    parent: str | None = None
    """Id of the calling agent; None for the main one."""
    label: str | None = None
    """Its task in a few words."""
    type: str | None = None
    """The type of agent."""
    prompt: str | None = None
    """Its prompt, word for word: without another link, its first message has the same text."""
    has_ended: bool = False
    """This is its outcome."""
    has_failed: bool = False
    next_spawn: Spawn | None = None
    """Facts about another sub-agent."""


class Chain(msgspec.Struct, gc=False):
    """Position of a record that shows its sub-agent only by its predecessor."""

    identifier: str
    parent: str | None
    prompt: str | None = None
    """Of a first record, the sub-agent's prompt."""


MODEL_CHANNEL = "model items"
"""Channel of the items that a thread's model gets; records of other channels repeat them."""


class ThreadMark(msgspec.Struct, gc=False):
    """Thread facts of a record, in files without thread ids in their records.

    `inspector.store.messages.thread_files` combines them in reading order.
    """

    identifier: str | None = None
    """Id of the thread. A second, different one starts history copied from that thread."""
    space: str | None = None
    """The root thread."""
    parent: str | None = None
    """Of a sub-agent, its parent thread; "" if unnamed."""
    forked_from: str | None = None
    """Source thread of the copied history."""
    agent_type: str | None = None
    label: str | None = None
    first_own: int | None = None
    """Records with a smaller ordinal were copied."""
    ordinal: int | None = None
    turn: str | None = None
    """A turn begins or continues; "" without an id."""
    model: str | None = None
    """The model from here on."""
    prompt: bool = False
    """A prompt of a person, or of the parent agent."""
    ends_turn: bool = False
    """End of a turn."""
    channel: str | None = None
    """Channel of the text; `DerivedMessage.content` may occur once in each of several channels."""
    call: str | None = None
    """A call by its id, in place of a text: other channels' records are copies of the item that makes it."""
    answered_call: str | None = None
    """A result, by the id of its call."""
    failed_call: str | None = None
    """A failure inside a call: the call's id, or another id for the last open call."""


class History(msgspec.Struct, gc=False):
    """Facts about a history that may be rewritten: one message of it, or all."""

    identifier: str | None
    """Of one message."""
    rewritten: tuple[str, ...] = ()
    """The complete ids from here on."""


class DerivedMessage(msgspec.Struct, gc=False):
    """Column values of one message in a record."""

    kind: str
    sender: str | None
    to: tuple[str, ...] | None = None
    identifier: str | None = None
    correlation: str | None = None
    """Id of the message that it follows from."""
    context: str | None = None
    method: str | None = None
    target: str | None = None
    failed: bool = False
    declined: bool = False
    """A result of a call that the user declined."""
    took_ns: int = -1
    """Of a result, the tool's reported working time; below 0 if unknown."""
    size: int = 0
    """Bytes of its part of the record; 0 for all of it."""
    time_ns: int = NO_TIME
    record_id: str | None = None
    """The record's own id if it differs from `identifier`; on the record's last message."""
    content: bytes | msgspec.Raw = b""
    """Its content as written, equal for copies."""
    matched_text: bytes = b""
    """Text of a user or a model, as a JSON string after `ASKED` or `SAID`: equal in a session and on its wire.

    Also of a call or a result, if a wire may lack its id.
    """
    given: bytes = b""
    """Arguments of a call with an id of its own, as a wire recording holds them."""
    identity: bytes = b""
    """Equal for all records of the same message; replaces `matched_text`."""
    is_new: bool = False
    """Newly produced, as a model's answer: never a copy of an earlier one."""
    origin: str = ""
    """Id of its producer, if that may be recorded more than once, as a span: copies are matched only within it."""
    shared_text: str | None = None
    """Possible last text of a sub-agent, or its call's result: both contain the same text."""
    is_progress: bool = False
    """Progress only: later ones with the same correlation and kind are copies of the first."""
    is_unrecorded: bool = False
    """Its content was not recorded."""
    own_span: bool = False
    """A span of the tool itself contains this call or result."""
    by_program: bool = False
    """A text in the user's place that the agent's program wrote."""
    context_fill: tuple[int, int] | None = None
    """Tokens in the model's full context, and its window; 0 if unknown."""
    call: ApiCall | None = None
    spawn: Spawn | None = None
    chain: Chain | None = None
    cost: float | None = None
    """Stated cost in dollars: of the model call behind it, or of its session so far."""
    is_total: bool = False
    """`cost` is the total so far."""
    thread: ThreadMark | None = None
    history: History | None = None

    @property
    def has_call_id(self) -> bool:
        """True for a call with an id of its own; some APIs name a call by its tool alone."""
        return self.kind == kinds.REQUEST and self.identifier not in (None, self.target)


Payload = dict[str, Any]
"""Decoded content of a message."""


def envelope_of(meaning: DerivedMessage, payload: Payload, *, ts: str | None = None) -> dict[str, Any]:
    """Returns the equivalent envelope of a message."""
    written = {
        "id": meaning.identifier, "ts": ts, "from": meaning.sender, "to": list(meaning.to) if meaning.to else None,
        "kind": meaning.kind, "correlation_id": [meaning.correlation] if meaning.correlation is not None else None,
        "context": meaning.context,
    }  # fmt: skip
    return {**{key: value for key, value in written.items() if value is not None}, "payload": payload}


def envelope_bytes(meaning: DerivedMessage, payload: Payload, *, ts: str | None = None) -> bytes:
    """Returns the equivalent envelope as JSON."""
    envelope = envelope_of(meaning, payload, ts=ts)
    try:
        return msgspec.json.encode(envelope)
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        return json.dumps(envelope, ensure_ascii=True).encode()
