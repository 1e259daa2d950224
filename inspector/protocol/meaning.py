"""What one record of a transcript means: messages that nobody wrote as envelopes.

A record of a transcript may mean several messages, as content blocks do, or none but a row of its own. Each of them is
a `Meaning`, which says what columns are filled with. What it says, its payload, is made from the record when somebody
looks (`inspector.protocol.formats.payload_of`); nothing of it is kept.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from inspector.protocol.times import NO_TIME

MOST_MEANINGS = 1 << 15
"""Messages that one record may mean; one of more blocks is a single row."""


ASKED, SAID = b"?", b"!"
"""What the words of those who ask a model begin with in `Meaning.words`, and those of the model."""


CALL = "model_call"
"""Key of what a payload says of a call of a model; such a payload counts no tokens, as its messages do."""


class ApiCall(msgspec.Struct, gc=False):
    """A call of a model that a record reports of, in one arithmetic: `input` without cache, `output` with reasoning.

    A call may be reported by several records, with growing numbers: the one with the most output counts, the last on a
    tie (`inspector.analysis.passes.tokens.reported_usage`).
    """

    identifier: str | None
    """What its records name it by; None where none does, so that each tells of another; "" for what is no call."""
    model: str | None
    reported: bool = False
    """Whether numbers are given: else they are zero."""
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """Of `cache_write`, what is to last an hour, which has a price of its own."""
    stop: str | None = None
    """Why the model stopped, in the word of its API."""
    first_token_ns: int = -1
    """From the request to the first piece of a streamed answer, where both were seen; else below 0."""
    attempts: str | None = None
    """What attempts at this call are called that came to nothing: they are no calls of their own."""
    incomplete: bool = False
    """`output` was recorded when the answer began, and holds fewer tokens than the record's own content."""
    is_named: bool = False
    """`identifier` is the call's alone: it is another call also where it brought the words of an earlier one."""


class Spawn(msgspec.Struct, gc=False):
    """What a message tells of a sub-agent: that a call starts it, which agent a call has started, or what ended it."""

    call: str | None = None
    """Id of the call that starts it."""
    agent: str | None = None
    """Its own id."""
    parent: str | None = None
    """The id of the agent that called; None for the main one."""
    label: str | None = None
    """What it is to do, in a few words."""
    type: str | None = None
    """The sort of agent."""
    prompt: str | None = None
    """What it is told, word for word: where nothing else names the call, its first message says the same."""
    ended: bool = False
    """This is what came of it."""
    failed: bool = False
    also: Spawn | None = None
    """What it tells of another one."""


class Chain(msgspec.Struct, gc=False):
    """Where a record stands that tells only by its predecessor which sub-agent it is of."""

    identifier: str
    parent: str | None
    prompt: str | None = None
    """Of a first record, what the sub-agent is told."""


class ThreadMark(msgspec.Struct, gc=False):
    """What a record tells of the thread that its file is of, where the records themselves name none.

    `inspector.store.messages.threads` puts it together in the order read.
    """

    identifier: str | None = None
    """Which thread it is. Told a second time by another one, what follows was copied from that one."""
    space: str | None = None
    """The thread at the top."""
    parent: str | None = None
    """Of a sub-agent, the thread that spawned it; "" where it is not said which."""
    forked_from: str | None = None
    """The thread whose history it begins with, as far as that was copied."""
    agent_type: str | None = None
    label: str | None = None
    first_own: int | None = None
    """Records with a smaller ordinal were copied."""
    ordinal: int | None = None
    turn: str | None = None
    """A turn begins, or goes on; "" where it has no id."""
    model: str | None = None
    """Called from here on."""
    prompt: bool = False
    """A person says it, or the agent that spawned this one."""
    ended: bool = False
    """A turn is done."""
    channel: str | None = None
    """The same words may be told once in each of several ways: this is the way, `Meaning.said` the words."""
    call: str | None = None
    """A call, by its id, in place of words: other ways to tell of it are copies of the item that makes it."""
    answers: str | None = None
    """A result, by the id of its call."""
    failed_call: str | None = None
    """What a call ran has failed: the call's id, or one of its own for what the last call that is open ran."""


class History(msgspec.Struct, gc=False):
    """What a record tells of a history that may be written anew: one message of it, or all there are."""

    identifier: str | None
    """Of one message."""
    rewritten: tuple[str, ...] = ()
    """The ids of all from here on."""


class Meaning(msgspec.Struct, gc=False):
    """One message that a record means, as far as columns tell."""

    kind: str
    sender: str | None
    to: tuple[str, ...] | None = None
    identifier: str | None = None
    correlation: str | None = None
    """The id of the message that it follows from."""
    context: str | None = None
    method: str | None = None
    target: str | None = None
    failed: bool = False
    declined: bool = False
    """A result that says that the user did not allow the call."""
    took_ns: int = -1
    """Of a result, how long the tool worked, as it tells; below 0 where it does not."""
    size: int = 0
    """Bytes of the part of the record that says it; 0 for all of it."""
    time_ns: int = NO_TIME
    alias: str | None = None
    """The record's own id, where that is another than `identifier`; the record's last message bears it."""
    said: bytes | msgspec.Raw = b""
    """What it says, as written: a copy of it says the same."""
    words: bytes = b""
    """What a user or a model says, as a JSON string behind `ASKED` or `SAID`: equal in a session and on its wire.

    Also a call or a result, where a wire may tell it without an id.
    """
    mark: bytes = b""
    """Equal wherever the same message is told, whatever record tells it; in place of `said`."""
    is_new: bool = False
    """It was said just now, as a model's answer is: whatever was said before, it is no copy."""
    origin: str = ""
    """What said it, where that may be told more than once, as a span: then it is a copy of the same one's alone."""
    echo: str | None = None
    """Words of a sub-agent that may be its last, or the result of the call that started it: they are said again."""
    tick: bool = False
    """It only says that something goes on: further ones with the same correlation and kind are copies of the first."""
    unrecorded: bool = False
    """What it says was not recorded; only that it was said."""
    own_span: bool = False
    """A span of the tool itself tells this call or result."""
    filled: tuple[int, int] | None = None
    """Tokens in the model's context when it was full, or nearly, and how many it holds; 0 where not told."""
    call: ApiCall | None = None
    spawn: Spawn | None = None
    chain: Chain | None = None
    cost: float | None = None
    """Dollars that it states: of the call of the model that it came from, or of all of its session so far."""
    is_total: bool = False
    """`cost` is that of all so far."""
    thread: ThreadMark | None = None
    history: History | None = None


Payload = dict[str, Any]
"""What a message says, decoded."""


def envelope_of(meaning: Meaning, payload: Payload, *, ts: str | None = None) -> dict[str, Any]:
    """The envelope that a message would be, had somebody written it."""
    written = {
        "id": meaning.identifier, "ts": ts, "from": meaning.sender, "to": list(meaning.to) if meaning.to else None,
        "kind": meaning.kind, "correlation_id": [meaning.correlation] if meaning.correlation is not None else None,
        "context": meaning.context,
    }  # fmt: skip
    return {**{key: value for key, value in written.items() if value is not None}, "payload": payload}


def envelope_bytes(meaning: Meaning, payload: Payload, *, ts: str | None = None) -> bytes:
    """The same as JSON."""
    envelope = envelope_of(meaning, payload, ts=ts)
    try:
        return msgspec.json.encode(envelope)
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        return json.dumps(envelope, ensure_ascii=True).encode()
