"""Common parts of agent protocols: JSON-RPC between agents, and between an agent and its client (docs/protocols.md 18).

A request or a notification is identified by its method. An answer, or a continued message, needs facts from earlier
lines; the reader of lines in order (`reading.reassembly.agent_protocol_lines`) supplies them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.formats.entry_builders import Entry, bytes_of, decoded_object
from inspector.formats.value_conversions import mapping_or_empty
from inspector.protocol import kinds
from inspector.protocol.calls import rpc_id
from inspector.protocol.derived_messages import MAX_DERIVED_MESSAGES, DerivedMessage, Payload
from inspector.protocol.header import ABSENT, Header, NotAnObjectError, read_header
from inspector.protocol.message_text import compact_json
from inspector.protocol.record import Record, Shape
from inspector.protocol.timestamps import NO_TIME

NO_FACTS: Mapping[str, Any] = {}
"""Facts of a line without earlier lines."""
CLIENT, AGENT = "client", "agent"

Entries = Callable[[Mapping[str, Any], Mapping[str, Any]], list[Entry]]
"""Returns the derived rows of a message with its known facts."""


def set_derived_messages(
    record: Record, label: str, entries_of: Entries, known: Mapping[str, Any] | None = None
) -> bool:
    """Sets the derived messages of a JSON-RPC record; returns False if there are none.

    Args:
        record: of the message.
        label: the protocol.
        entries_of: returns its rows.
        known: facts from earlier lines.
    """
    message = decoded_object(record.raw)
    if message is None:
        return False
    # A limit, since one message could contain very many blocks.
    entries = with_sizes(entries_of(message, known or NO_FACTS))[:MAX_DERIVED_MESSAGES]
    if not entries:
        return False
    for entry in entries:
        if entry.meaning.time_ns == NO_TIME:
            entry.meaning.time_ns = record.time_ns
    record.shape, record.derived_by, record.known_facts = Shape.DERIVED, label, known
    record.derived_messages = tuple(entry.meaning for entry in entries)
    return True


@dataclass(frozen=True, slots=True)
class RpcReader:
    """Reads the lines of one protocol; its `read` and `payload` are those of a `Format`.

    Attributes:
        label: the protocol.
        is_own: returns True if a message alone identifies the protocol.
        entries_of: returns the derived rows of a message.
    """

    label: str
    is_own: Callable[[Header], bool]
    entries_of: Entries

    def read(self, line: bytes, *, unknown: bool = False) -> Record | None:
        """Reads a line, without its end, if it is of this protocol; with `unknown` any JSON-RPC. Never raises."""
        try:
            header = read_header(line)
        except NotAnObjectError:
            return None
        is_rpc = header.jsonrpc is not ABSENT and (header.method is not ABSENT or header.result or header.error)
        if not is_rpc or not (unknown or self.is_own(header)):
            return None
        record = Record(Shape.RPC, line, header)
        return record if set_derived_messages(record, self.label, self.entries_of) else None

    def payload(self, line: bytes, number: int, known: Mapping[str, Any] = NO_FACTS) -> Payload:
        """Returns the payload of message `number`, from 0, with facts from earlier lines. Never raises."""
        message = decoded_object(line)
        entries = with_sizes(self.entries_of(message, known)) if message is not None else []
        return entries[number].payload if number < len(entries) else {}


def with_sizes(entries: list[Entry]) -> list[Entry]:
    """Adds the sizes of entries."""
    for entry in entries:
        entry.meaning.size = len(bytes_of(entry.payload))
    return entries


# Lines in order

IdScope = tuple[int, int]
"""Scope of JSON-RPC ids: the connection, and the HTTP exchange."""


@dataclass(slots=True)
class AgentRequest:
    """A request that may be answered.

    Attributes:
        protocol: its format.
        side: its sender, CLIENT or AGENT.
        method: as written.
        session: id of its session.
        options: offered to a user, by id.
        streamed: it may have several answers.
    """

    protocol: str
    side: str
    method: str
    session: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    streamed: bool = False


class OrderedLines(ABC):
    """Follows the lines of one source in order, for one protocol (`inspector.reading.reassembly.agent_protocol_lines`).

    Attributes:
        only_clients_ask: the direction of an answer does not limit its requests.
        has_pieces_in_answers: pieces of texts lie in answers, else in notifications.
    """

    only_clients_ask = False
    has_pieces_in_answers = False

    @abstractmethod
    def accepts_request(self, method: str, *, in_exchange: bool) -> bool:
        """Returns True if a request that no protocol claims is of this one, as the lines before it."""

    @abstractmethod
    def side_of(self, method: str, sender: str | None) -> str:
        """Returns the side that sends a request, CLIENT or AGENT.

        Args:
            method: of the request.
            sender: its sender by the line, such as `server`; None without one.
        """

    @abstractmethod
    def request_facts(self, scope: IdScope, method: str, params: Mapping[str, Any], side: str) -> dict[str, Any]:
        """Returns the facts about a request or notification that earlier lines give."""

    @abstractmethod
    def answer_facts(self, scope: IdScope, request: AgentRequest, message: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the facts about an answer that its request and earlier lines give."""

    @abstractmethod
    def piece_key(self, message: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Returns the key that the pieces of one text share; None for other messages."""

    @abstractmethod
    def text_in(self, message: Mapping[str, Any]) -> str:
        """Returns the text of a piece."""

    @abstractmethod
    def set_text(self, message: dict[str, Any], whole: str) -> None:
        """Replaces the text of a piece by the whole one."""

    def note_request(self, scope: IdScope, request: AgentRequest, params: Mapping[str, Any]) -> None:  # noqa: B027 - not every protocol needs it
        """Notes a request that expects an answer."""

    def fits_method(self, method: str, message: Mapping[str, Any]) -> bool:
        """Returns True if an answer has the typical form of the method's result."""
        del method, message
        return False

    def is_last_answer(self, message: Mapping[str, Any]) -> bool:
        """Returns True if no answer follows to the same streamed request."""
        del message
        return True

    def begins_text(self, message: Mapping[str, Any]) -> bool:
        """Returns True for a piece that starts its text anew."""
        del message
        return False

    def ends_text(self, message: Mapping[str, Any]) -> bool:
        """Returns True for the last piece of its text."""
        del message
        return False


# Parts of messages


def text_or_none(value: object) -> str | None:
    """Returns the value if it is a non-empty text, else None."""
    return value if isinstance(value, str) and value else None


def call_id(method: object, identifier: object) -> str | None:
    """Returns an id that links request and answer; includes the method, since both sides number from 0."""
    return f"{method} {rpc_id(identifier)}" if isinstance(method, str) and rpc_id(identifier) is not None else None


def request_entry(
    message: Mapping[str, Any], sender: str, *, kind: str = kinds.REQUEST, words: str | None = None
) -> Entry:
    """Returns the row of a request or notification."""
    method, params = text_or_none(message.get("method")), mapping_or_empty(message.get("params"))
    to = CLIENT if sender == AGENT else AGENT
    row = DerivedMessage(kind, sender, (to,), method=method, identifier=call_id(method, message.get("id")))
    body: Payload = {"method": method, "params": {key: one for key, one in params.items() if key != "_meta"}}
    return Entry(row, {"text": words, **body} if words is not None else body)


def answer_entry(
    message: Mapping[str, Any], known: Mapping[str, Any], sender: str, *, words: str | None = None, failed: bool = False
) -> Entry:
    """Returns the row of an answer, from the side that was asked."""
    method = text_or_none(known.get("method"))
    # An answer goes back to the side that asked.
    to = CLIENT if sender == AGENT else AGENT
    error = message.get("error")
    row = DerivedMessage(kinds.RESPONSE, sender, (to,), method=method, failed=failed or error is not None)
    row.correlation = call_id(method, message.get("id"))
    if error is not None:
        return Entry(row, {"error": {**mapping_or_empty(error), "message": error_words(error)}})
    shown = words if words is not None else compact_json(message.get("result"))
    return Entry(row, {"text": shown, "result": message.get("result")})


def error_words(error: object) -> str:
    """Returns the text of a JSON-RPC error."""
    said = text_or_none(mapping_or_empty(error).get("message"))
    return said if said is not None else compact_json(error)


def control_row(kind: str, sender: str, words: str, **more: Any) -> Entry:
    """Returns a row without a participant's text."""
    return Entry(DerivedMessage(kind, sender), {"text": words, **more})
