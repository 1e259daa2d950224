"""One decoded line or frame with its facts (exchange, model call, speaker), before it becomes a row of columns."""

from __future__ import annotations

import enum
from array import array
from collections.abc import Mapping
from typing import Any

import msgspec

from inspector.protocol.derived_messages import DerivedMessage
from inspector.protocol.header import Header
from inspector.protocol.timestamps import NO_TIME


class Shape(enum.IntEnum):
    """Type of a record."""

    ENVELOPE = 0
    RPC = 1
    """A JSON-RPC message without an envelope, as in MCP stdio traffic."""
    CLIENT_HELLO = 2
    """A client hello `{"type":"join",...}`."""
    ERROR = 3
    """A gateway's answer to a malformed message, `{"error":...}` without an envelope."""
    STREAM = 4
    """A data frame `#stream id#data`."""
    LOG_ONLY = 5
    """A log line about the gateway itself: a capability decision, an event without an envelope."""
    GAP = 6
    """A marker of this program: frames may be missing here."""
    UNREADABLE = 7
    NO_MESSAGE = 8
    """No message: a capture's header, or a marker that only records a connection."""
    DERIVED = 9
    """A record of a transcript with its messages in `derived_messages`."""


class HttpExchange(msgspec.Struct, gc=False):
    """The HTTP exchange of a message: one request with its answer."""

    number: int
    session: str | None = None
    """The session named in its line."""
    status: int = 0
    path: str | None = None
    method: str | None = None
    first_us: int = 0
    """Microseconds from the request to the first byte of its answer; 0 if unknown."""
    whole_us: int = 0
    """Microseconds from the request to the end of the exchange; 0 before it."""
    is_request: bool = False
    is_answer_head: bool = False
    """The head of its answer."""
    is_end: bool = False
    initializes: bool = False
    """A client requests a session."""
    hung_up: bool = False
    """The client ended it; since 2026-07-28 that cancels its request."""
    headers: dict[str, str] | None = None
    """Of a request or the head of an answer: headers for checks (`wire_recording.HEADERS`), lower-case names."""


class Speaker(enum.IntEnum):
    """Speaker of a request's entry, for the comparison of histories."""

    USER = 0
    ASSISTANT = 1
    CALL = 2
    RESULT = 3


class ModelCall(msgspec.Struct, gc=False):
    """Facts about a model call from its request, or its answer (docs/protocols.md 17)."""

    identifier: str
    operation: str
    """Name in SDKs: `messages.create`..."""
    model: str | None
    """As the request names it."""
    conversation: str
    asked_ns: int = NO_TIME
    continued_answer: str | None = None
    """Id of the continued answer, if the history is not sent again."""
    digest: bytes = b""
    """Equal for equal requests."""
    retries: int = 0
    """Number of earlier attempts, by the client."""
    occurrence_counts: dict[str, int] = {}
    """Number of occurrences of each part in the request, and before it in a server-side conversation."""
    opening_hash: str = ""
    """Equal for requests with the same first text of the user; empty if the request names its conversation."""
    thread: tuple[str, str] | tuple[()] = ()
    """Ids of session, and of thread or agent, sent beside the messages; empty for none."""
    history: array[int] = array("Q")
    """Hashes of the sent parts in order, without system prompts."""
    speakers: bytes = b""
    """The `Speaker` of each."""
    tools_hash: bytes = b""
    """Equal for equal tools; empty without tools."""
    system_prompt_hash: bytes = b""
    """Equal for system prompts with the same beginning."""


class Record(msgspec.Struct, gc=False):
    """One decoded record. Short-lived: it fills the columns and is dropped."""

    shape: Shape
    raw: bytes
    """The envelope, JSON-RPC message or frame as written; else the whole line."""
    header: Header | None = None
    """The outer level of `raw`; None for stream frames and unreadable bytes, except for too deep nesting."""
    time_ns: int = NO_TIME
    """Arrival or log time, nanoseconds since the epoch; NO_TIME without one."""
    direction: str | None = None
    """As written: `in`, `out`, `inbound`, `client->server`..."""
    participant: str | None = None
    """The participant in a gateway log line: sender of a received message, recipient of a delivered one."""
    space: str | None = None
    event: str | None = None
    """A gateway log's event: received, delivered, rejected..."""
    reason: str | None = None
    """Reason of an unreadable record or a gap; a sentence's end."""
    stream_id: str | None = None
    data: bytes | None = None
    """The data of a stream frame."""
    src: int = 0
    """Connection number within a capture, by the line."""
    batch: int = 0
    """Number of elements if `raw` is a JSON-RPC batch; unreadable as one message."""
    exchange: HttpExchange | None = None
    event_id: str | None = None
    """Id of a server-sent event: a repeated one in its session is a copy."""
    name: str | None = None
    """Row name of a line without a message."""
    failed: bool = False
    """Such a line reports a failure."""
    derived_messages: tuple[DerivedMessage, ...] = ()
    """The messages of a transcript's record, at least one."""
    derived_by: str | None = None
    """The format that derived them."""
    call: ModelCall | None = None
    """The model call of a recording's line."""
    known_facts: Mapping[str, Any] | None = None
    """Facts from earlier lines (`inspector.reading.reassembly.reassembler`), if any."""

    def inherit_from(self, around: Record) -> None:
        """Copies missing values from the surrounding line."""
        if self.time_ns == NO_TIME:
            self.time_ns = around.time_ns
        if self.direction is None:
            self.direction = around.direction
        self.src = self.src or around.src
        self.exchange = self.exchange or around.exchange


def unreadable_record(raw: bytes, reason: str) -> Record:
    """Returns a record of unknown bytes; `reason` describes them."""
    return Record(Shape.UNREADABLE, raw, reason=reason)
