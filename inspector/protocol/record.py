"""What one line or frame turned out to hold, before it becomes a row of columns."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Mapping
from typing import Any

import msgspec

from inspector.protocol.header import Header
from inspector.protocol.meaning import Meaning
from inspector.protocol.times import NO_TIME


class Shape(enum.IntEnum):
    """What a record holds."""

    ENVELOPE = 0
    RPC = 1
    """A JSON-RPC message without an envelope, as in MCP stdio traffic."""
    JOIN = 2
    """A client hello `{"type":"join",...}`."""
    ERROR = 3
    """A gateway's answer to something malformed, `{"error":...}` without an envelope."""
    STREAM = 4
    """A data frame `#stream id#data`."""
    LOG_ONLY = 5
    """A log line about the gateway itself: a capability decision, an event without an envelope."""
    GAP = 6
    """A mark of ours: frames may be missing here."""
    UNREADABLE = 7
    NOTHING = 8
    """No message at all: a capture's first line, or a mark that only notes a connection."""
    MEANING = 9
    """A record of a transcript: `means` says which messages it means."""


class Exchange(msgspec.Struct, gc=False):
    """The HTTP exchange that a message was carried by: one request with its answer."""

    number: int
    session: str | None = None
    """The session that its line names."""
    status: int = 0
    path: str | None = None
    method: str | None = None
    first_us: int = 0
    """From the request to the first byte of its answer, microseconds; 0 where that is not known."""
    whole_us: int = 0
    """From the request to the end of the exchange; 0 before it."""
    begins: bool = False
    answers: bool = False
    """The head of its answer."""
    ends: bool = False
    initializes: bool = False
    """A client asks for a session."""
    hung_up: bool = False
    """The client ended it; since 2026-07-28 that takes back what it asked."""
    headers: dict[str, str] | None = None
    """Of a request or the head of an answer: those that checks look at (`http_lines.HEADERS`), names in lower case."""


class Speaker(enum.IntEnum):
    """Who says an entry of a request, as far as histories are compared."""

    USER = 0
    ASSISTANT = 1
    CALL = 2
    RESULT = 3


class ModelCall(msgspec.Struct, gc=False):
    """What is known of a call of a model when its request was read, or its answer (docs/protocols.md 17)."""

    identifier: str
    operation: str
    """As SDKs call it: `messages.create`..."""
    model: str | None
    """As the request names it."""
    conversation: str
    asked_ns: int = NO_TIME
    previous: str | None = None
    """The id of the answer that it goes on from, where what came before is not sent again."""
    digest: bytes = b""
    """Equal for equal requests."""
    retries: int = 0
    """How often its client says that it has tried before."""
    seen: dict[str, int] = {}
    """How often each thing was said in what was sent, and before it in a conversation that the server keeps."""
    opening: str = ""
    """Equal for requests that begin with the same words of the user; empty where the request names its conversation."""
    thread: tuple[str, str] | tuple[()] = ()
    """Ids of session, and of thread or agent, that the client sends beside the messages; empty for none."""
    history: array[int] = array("Q")
    """Marks of what is sent, without system prompts, in order."""
    speakers: bytes = b""
    """The `Speaker` of each."""
    offers: bytes = b""
    """Equal for equal tools; empty for a request without tools."""
    instructs: bytes = b""
    """Equal for system prompts that begin alike."""


class Record(msgspec.Struct, gc=False):
    """One record, read. Short-lived: columns are filled from it and it is dropped."""

    shape: Shape
    raw: bytes
    """The envelope, JSON-RPC message or frame as written; the whole line where nothing is inside it."""
    header: Header | None = None
    """The outer level of `raw`; None for stream frames and unreadable bytes, but for what is nested too deeply."""
    time_ns: int = NO_TIME
    """Arrival or log time, nanoseconds since the epoch; NO_TIME when the line has none."""
    direction: str | None = None
    """As written: `in`, `out`, `inbound`, `client->server`..."""
    participant: str | None = None
    """The participant a gateway log line names: sender of what was received, recipient of what was delivered."""
    space: str | None = None
    event: str | None = None
    """A gateway log's event: received, delivered, rejected..."""
    reason: str | None = None
    """Why it is unreadable, or what a gap is about; a sentence's end."""
    stream_id: str | None = None
    data: bytes | None = None
    """The data of a stream frame."""
    src: int = 0
    """Which of a capture's connections it came over, as the line says."""
    batch: int = 0
    """How many elements the JSON-RPC batch has that `raw` is; it is unreadable as one message."""
    exchange: Exchange | None = None
    event_id: str | None = None
    """Of a server-sent event: one that comes again in its session is a copy."""
    name: str | None = None
    """What the row of a line without a message is called."""
    failed: bool = False
    """Such a line tells of a failure."""
    means: tuple[Meaning, ...] = ()
    """The messages of a transcript's record, at least one."""
    meant_by: str | None = None
    """The format that says so."""
    call: ModelCall | None = None
    """The call of a model that a line of a recording is about."""
    known: Mapping[str, Any] | None = None
    """What lines before it tell of it (`inspector.reading.reassembly.reassembler`); None for nothing."""

    def within(self, around: Record) -> None:
        """Take what it does not say itself from the line around it."""
        if self.time_ns == NO_TIME:
            self.time_ns = around.time_ns
        if self.direction is None:
            self.direction = around.direction
        self.src = self.src or around.src
        self.exchange = self.exchange or around.exchange


def unreadable(raw: bytes, reason: str, *, time_ns: int = NO_TIME, direction: str | None = None) -> Record:
    """A record for bytes that hold nothing known; `reason` says what was found instead."""
    return Record(Shape.UNREADABLE, raw, time_ns=time_ns, direction=direction, reason=reason)
