"""Splits MCP traffic into conversations (connection, session or client) and tracks their state.

A conversation is MCP from the first message on that only MCP has; other JSON-RPC (agents, language servers) is
skipped. The side follows from the direction of the line, or from the method. Since 2026-07-28 each request names its
revision; before, `initialize` negotiates it (docs/protocols.md 13).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.protocol import mcp_messages
from inspector.protocol.directions import sender_and_receiver
from inspector.protocol.mcp_notes import CAPABILITIES_KEY, McpNote, server_name_and_version
from inspector.protocol.record import HttpExchange
from inspector.store.columns.hashes import NO_HASH, NO_ROW

# Requests without an answer stay open for as long as the capture.
_MAX_OPEN = 10_000
_MAX_CONVERSATIONS = 100_000
_MAX_NOISE = 1_000
_BY_SERVERS = mcp_messages.SERVER_METHODS | {
    "notifications/message", "notifications/tools/list_changed", "notifications/resources/list_changed",
    "notifications/prompts/list_changed", "notifications/resources/updated", "notifications/tasks/status",
    "notifications/subscriptions/acknowledged", "notifications/elicitation/complete", "notifications/progress",
}  # fmt: skip
_SECOND = 1_000_000_000


@dataclass(slots=True)
class McpRequest:
    """A request that is open or was recently answered."""

    row: int
    method: str
    name: str
    """Tool, prompt or resource; "" if unknown."""
    note: McpNote
    time_ns: int
    by_server: bool
    modern: bool
    rpc_hash: int
    exchange: int
    cancelled_ns: int | None = None


@dataclass(slots=True)
class Conversation:
    """A conversation.

    Attributes:
        key: source and connection.
        is_mcp: True once it is known to be MCP.
        whole: True if its beginning was seen.
        modern, legacy: True if messages of this era occurred.
        version: the revision that `initialize` negotiated; "" before.
        client_capabilities, server_capabilities: the last declared capabilities of each side; None before.
        server, server_version: the server's name and version; "" if unknown.
        open: open requests, by row; the oldest are dropped.
        settled: recently answered or cancelled requests, by row.
        lately: settled requests of all conversations as (conversation, row), the latest last.
        sides: by direction as written, True if it is the server's.
        noise: lines that are no messages: (row, beginning).
        reported: reports that occur once per conversation: (code, subject).
    """

    key: int
    is_mcp: bool = False
    whole: bool = False
    has_messages: bool = False
    modern: bool = False
    legacy: bool = False
    version: str = ""
    client_capabilities: dict[str, Any] | None = None
    server_capabilities: dict[str, Any] | None = None
    server: str = ""
    server_version: str = ""
    open: OrderedDict[int, McpRequest] = field(default_factory=OrderedDict)
    settled: OrderedDict[int, McpRequest] = field(default_factory=OrderedDict)
    lately: deque[tuple[Conversation, int]] = field(default_factory=deque, repr=False)
    sides: dict[str, bool] = field(default_factory=dict)
    noise: list[tuple[int, str]] = field(default_factory=list)
    reported: set[tuple[str, str]] = field(default_factory=set)

    @property
    def source(self) -> int:
        """Number of the source."""
        return self.key >> 32

    def report_once(self, check: Check, about: str = "") -> bool:
        """Returns True on the first call for a check and subject in this conversation."""
        if (check.code, about) in self.reported or len(self.reported) > _MAX_OPEN:
            return False
        self.reported.add((check.code, about))
        return True


@dataclass(slots=True)
class McpMessage:
    """A message of an MCP conversation, or an HTTP line without one.

    Attributes:
        note: extract of the message; None for a line without one.
        by_server: True if the server sent it.
        modern: True for 2026-07-28 or later, also for answers to such requests.
        asked: the request of an answer, if it was seen.
        exchange: the HTTP exchange that carried it; None over stdio.
    """

    batch: Batch
    row: int
    conversation: Conversation
    note: McpNote | None
    time_ns: int
    by_server: bool
    modern: bool
    asked: McpRequest | None = None
    exchange: HttpExchange | None = None

    @property
    def method(self) -> str:
        """Method of a request or notification; "" otherwise."""
        return (self.note.method or "") if self.note is not None else ""

    def report(self, check: Check, detail: str = "", *, other: int = NO_ROW, row: int | None = None) -> None:
        """Reports a finding about `row`, by default this message; an existing finding stays unchanged."""
        add_finding(self.batch, check, self.row if row is None else row, detail, other=other)


def add_finding(batch: Batch, check: Check, row: int, detail: str = "", *, other: int = NO_ROW) -> None:
    """Reports a finding about a message; an existing finding stays unchanged."""
    rows = np.array([row], np.int64)
    if not batch.findings.has(check, rows)[0]:
        batch.findings.add(check, rows, others=other, details=detail)


class Conversations:
    """Tracks conversations and marks MCP messages.

    Attributes:
        conversations: conversations by key.
        noisy_conversations: conversations of the batch with a line that is no message.
    """

    def __init__(self) -> None:
        self.conversations: dict[int, Conversation] = {}
        self.noisy_conversations: dict[int, Conversation] = {}
        self._recently_settled: deque[tuple[Conversation, int]] = deque()

    def read_messages(self, batch: Batch) -> Iterator[McpMessage]:
        """Yields the MCP messages of a batch and HTTP lines around them, in order. O(such messages).

        Open requests and capabilities are as of each message, its own content included.
        """
        self.noisy_conversations = {}
        capture = batch.capture
        notes, carried, noise = (
            capture.extracted.mcp_notes(),
            capture.extracted.http_exchanges(),
            capture.extracted.noise_lines(),
        )
        rows = np.unique(np.concatenate([np.fromiter(some, np.int64, len(some)) for some in (notes, carried, noise)]))
        rows = rows[(rows >= batch.start) & (rows < batch.stop)]
        if not len(rows):
            return
        keys = connection_keys(capture, rows).tolist()
        columns = [
            batch.column_values(name, rows).tolist()
            for name in ("time_ns", "direction", "sender", "rpc_hash", "target")
        ]
        causes = batch.links["cause"][rows].tolist()
        for row, key, time_ns, way, sender, rpc, target, cause in zip(
            rows.tolist(), keys, *columns, causes, strict=True
        ):
            conversation = self.conversations.get(key)
            # Bounded, as hostile traffic may open a connection per message.
            if conversation is None:
                if len(self.conversations) > _MAX_CONVERSATIONS:
                    continue
                conversation = self.conversations[key] = Conversation(key, lately=self._recently_settled)
            note = notes.get(row)
            exchange = carried.get(row)
            direction, named = (capture.strings[code] if code else "" for code in (way, sender))
            if row in noise:
                if _is_server(conversation, direction, named, None) and len(conversation.noise) < _MAX_NOISE:
                    conversation.noise.append((row, noise[row]))
                    self.noisy_conversations[key] = conversation
                continue
            if note is None:
                by_server = _is_server(conversation, direction, named, None)
                heard = McpMessage(batch, row, conversation, None, time_ns, by_server, False, None, exchange)
            else:
                name = capture.strings[target] if target else ""
                heard = self._message(
                    batch, conversation, row, note, time_ns, direction, named, rpc, name, cause, exchange
                )
            if conversation.is_mcp:
                yield heard
            if heard.asked is not None and note is not None and note.method is None:
                settle_request(conversation, heard.asked)

    def _message(
        self, batch: Batch, conversation: Conversation, row: int, note: McpNote, time_ns: int, way: str, sender: str,
        rpc: int, name: str, cause: int, exchange: HttpExchange | None,
    ) -> McpMessage:  # fmt: skip
        asked = conversation.open.get(cause) or conversation.settled.get(cause) if note.method is None else None
        by_server = _is_server(conversation, way, sender, note if asked is None else None)
        # The request has fixed the side already; the direction of the line may be written differently.
        if asked is not None:
            by_server = not asked.by_server
        version = note.params.meta_value(mcp_messages.VERSION_KEY) if note.params is not None else None
        modern = isinstance(version, str) and version >= mcp_messages.FIRST_MODERN
        if note.method is None:
            modern = asked is not None and asked.modern
        heard = McpMessage(batch, row, conversation, note, time_ns, by_server, modern, asked, exchange)
        if not conversation.has_messages:
            conversation.has_messages = True
            conversation.whole = modern or note.method in ("initialize", "server/discover")
        if not conversation.is_mcp and _is_mcp(note, modern=modern):
            conversation.is_mcp = True
            batch.mcp.first[conversation.key] = row
            if conversation.whole:
                batch.mcp.whole.add(conversation.key)
            if conversation.noise:
                self.noisy_conversations[conversation.key] = conversation
        self._update_conversation(heard, rpc, name)
        return heard

    def _update_conversation(self, heard: McpMessage, rpc: int, name: str) -> None:
        """Updates the conversation by a message, and opens a request."""
        conversation, note = heard.conversation, heard.note
        if note is None:
            return
        conversation.modern |= heard.modern
        if note.method is not None and note.params is not None:
            if note.method == "initialize":
                conversation.client_capabilities = (
                    note.params.capabilities if isinstance(note.params.capabilities, dict) else None
                )
            elif heard.modern:
                declared = note.params.meta_value(CAPABILITIES_KEY)
                conversation.client_capabilities = (
                    declared if isinstance(declared, dict) else conversation.client_capabilities
                )
            if rpc != NO_HASH and not note.method.startswith("notifications/"):
                number = heard.exchange.number if heard.exchange is not None else 0
                asked = McpRequest(
                    heard.row, note.method, name, note, heard.time_ns, heard.by_server, heard.modern, rpc, number
                )  # fmt: skip
                conversation.open[heard.row] = asked
                if len(conversation.open) > _MAX_OPEN:
                    conversation.open.popitem(last=False)
            return
        if heard.asked is None or note.result is None:
            return
        if heard.asked.method in ("initialize", "server/discover"):
            conversation.server_capabilities = (
                note.result.capabilities if isinstance(note.result.capabilities, dict) else None
            )
            name, version = server_name_and_version(note.result)
            if name:
                conversation.server, conversation.server_version = name, version
            if heard.asked.method == "initialize" and isinstance(note.result.version, str):
                conversation.version, conversation.legacy = note.result.version, True


def settle_request(conversation: Conversation, asked: McpRequest) -> None:
    """Moves a request from open to settled."""
    if conversation.open.pop(asked.row, None) is not None:
        conversation.settled[asked.row] = asked
        # Late answers and retries refer to recent requests only.
        while len(conversation.settled) > _MAX_SETTLED:
            conversation.settled.popitem(last=False)
        conversation.lately.append((conversation, asked.row))
        if len(conversation.lately) > _MAX_SETTLED_TOTAL:
            other, row = conversation.lately.popleft()
            other.settled.pop(row, None)


_MAX_SETTLED, _MAX_SETTLED_TOTAL = 256, 4_096
"""Bounds of settled requests per conversation, and in total: a fleet may have one short conversation per task."""


def _is_mcp(note: McpNote, *, modern: bool) -> bool:
    """Returns True if only MCP has such a message."""
    method = note.method
    if method is None:
        return False
    if modern or mcp_messages.is_own_method(method):
        return True
    return method == "initialize" and note.params is not None and isinstance(note.params.version, str)


_METHODS_OF_BOTH_SIDES = frozenset({"ping", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel"})
"""Requests that both sides send."""


def _is_server(conversation: Conversation, way: str, sender: str, note: McpNote | None) -> bool:
    """Returns True if the server sent it: by its name, else by the line's direction, else by the method."""
    said_by, said_to = sender_and_receiver(way)
    for one, is_sender in ((sender or said_by, True), (said_to, False)):
        if one in ("client", "server"):
            return (one == "server") is is_sender
    if way in conversation.sides:
        return conversation.sides[way]
    method = note.method if note is not None else None
    told = method in _BY_SERVERS
    if way and conversation.sides:  # there are two directions, so this is the other one
        conversation.sides[way] = not next(iter(conversation.sides.values()))
        return conversation.sides[way]
    if way and method is not None and method not in _METHODS_OF_BOTH_SIDES and not method.startswith("notifications/"):
        conversation.sides[way] = told
    return told


def seconds_between(later_ns: int, earlier_ns: int) -> float:
    """Returns the difference in seconds; hostile times can be far apart."""
    return (later_ns - earlier_ns) / _SECOND
