"""Traffic of the transient-context protocol as a list of calls, and the three wrappings it can come in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import document_of, envelope

Line = dict[str, Any]
CONSUMED: dict[str, Any] = {"context": {"consumed": True}}


def hint(tool: Any = "search_records", consumer: Any = "analysis_store", **fields: Any) -> dict[str, Any]:
    return {"step": 2, "tool": tool, "lifecycle": "transient", "consumedBy": consumer, **fields}


def transient(summary: Any = "15 records") -> dict[str, Any]:
    """`_meta` of a transient result; None gives no summary."""
    context = {"lifecycle": "transient"} if summary is None else {"lifecycle": "transient", "summary": summary}
    return {"context": context}


@dataclass(eq=False)
class Call:
    """A tool call and its result."""

    tool: str
    meta: Any = None
    result: dict[str, Any] = field(default_factory=dict)
    error: bool = False
    """A JSON-RPC error beside the result."""

    def outcome(self) -> dict[str, Any]:
        """What the response holds."""
        content: dict[str, Any] = {"content": [{"type": "text", "text": "done"}], **self.result}
        if self.meta is not None:
            content["_meta"] = self.meta
        return {"result": content, **({"error": {"code": -32000, "message": "down"}} if self.error else {})}


def workflow(*hints: Any) -> Call:
    """A step whose result has hints."""
    return Call("get_workflow_step", {"contextHints": list(hints) or [hint()]})


def fetch(summary: Any = "15 records", tool: str = "search_records", **fields: Any) -> Call:
    """A call with a transient result."""
    return Call(tool, transient(summary), **fields)


def store(tool: str = "analysis_store", meta: Any = CONSUMED, **fields: Any) -> Call:
    """A call whose result consumes."""
    return Call(tool, meta, **fields)


Event = tuple[Call, str]
"""A call, and which half of it happens: "ask" or "answer"."""


def in_turn(*calls: Call) -> list[Event]:
    """Calls one after another."""
    return [(call, half) for call in calls for half in ("ask", "answer")]


class Stdio:
    """A client's connection to a server as lines of MCP stdio; the server asks too, with the same ids."""

    def __init__(self, way: tuple[str, str] = ("client->server", "server->client")) -> None:
        self._way = way
        self._ids: dict[Call, int] = {}

    def __call__(self, call: Call, half: str) -> Line:
        number = self._ids.setdefault(call, len(self._ids) + 1)
        if half == "ask":
            return self.line(0, id=number, method="tools/call", params={"name": call.tool, "arguments": {}})
        return self.line(1, id=number, **call.outcome())

    def line(self, way: int, **message: Any) -> Line:
        """A line that goes to the server (0) or to the client (1)."""
        return {"dir": self._way[way], "message": {"jsonrpc": "2.0", **message}}


class Mew:
    """A requester and a server inside MEW, as envelopes."""

    def __init__(self, client: str = "lead", server: str = "files", **fields: Any) -> None:
        self._client, self._server, self._fields = client, server, fields
        self._asked: dict[Call, str] = {}
        self._numbers: dict[Call, int] = {}

    def __call__(self, call: Call, half: str) -> Line:
        number = self._numbers.setdefault(call, len(self._numbers) + 1)
        identifier = self._asked.setdefault(call, f"{self._client}-{self._server}-{number}-{id(self)}")
        if half == "ask":
            payload = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": call.tool}}
            return envelope(
                "mcp/request", payload, sender=self._client, to=[self._server], id=identifier, **self._fields
            )
        return envelope(
            "mcp/response", {"jsonrpc": "2.0", "id": number, **call.outcome()}, sender=self._server,
            to=[self._client], correlation_id=[identifier], **self._fields,
        )  # fmt: skip


Wrap = Callable[[Sequence[Event]], list[tuple[Call | None, Line]]]
"""Makes lines of events, each with the call whose result it is."""


def stdio(events: Sequence[Event]) -> list[tuple[Call | None, Line]]:
    """Lines of MCP stdio, with requests of the server under the same ids, and notifications, between them."""
    talk = Stdio()
    lines: list[tuple[Call | None, Line]] = [(None, talk.line(0, method="notifications/initialized"))]
    for number, (call, half) in enumerate(events, 1):
        lines.append((None, talk.line(1, id=number, method="sampling/createMessage", params={})))
        lines.append((call if half == "answer" else None, talk(call, half)))
        lines.append((None, talk.line(0, id=number, result={"_meta": CONSUMED, "role": "assistant"})))
    return lines


def mew(events: Sequence[Event]) -> list[tuple[Call | None, Line]]:
    """Envelopes of one requester and one server."""
    talk = Mew()
    return [(call if half == "answer" else None, talk(call, half)) for call, half in events]


def mixed(events: Sequence[Event]) -> list[tuple[Call | None, Line]]:
    """The events in a pair of a space, and the same ones with the same ids, a step behind, in four other conversations.

    The result named for a call is that of the pair the test is about; `checked` looks at all five.
    """
    others = [Stdio(), Mew("other", "files"), Mew("third", "elsewhere"), Mew("lead", "files", context="deep")]
    own = Mew("agent", "files")
    lines: list[tuple[Call | None, Line]] = []
    for place, (call, half) in enumerate(events):
        lines.append((call if half == "answer" else None, own(call, half)))
        lines += [(None, other(*events[place - 1])) for other in others if place]
    return lines + [(None, other(*events[-1])) for other in others]


WRAPPINGS: dict[str, Wrap] = {"stdio": stdio, "mew": mew, "mixed": mixed}


class Opened:
    """A document of wrapped events, and where the result of each call is."""

    def __init__(self, wrap: Wrap, events: Sequence[Event]) -> None:
        wrapped = wrap(events)
        self.document: CaptureDocument = document_of(*(line for _, line in wrapped))
        assert self.document.unreadable == 0
        self.rows = {call: row for row, (call, _) in enumerate(wrapped) if call is not None}
        self._calls = {row: call for call, row in self.rows.items()}
        self.conversations = 5 if wrap is mixed else 1

    def collapses(self) -> list[tuple[Call, Call]]:
        """(consumer, result) in the order of the consumers; in a mixed capture every conversation has as many."""
        analysis = self.document.analysis
        consumes, back = FIELD_BY_NAME["consumes"], FIELD_BY_NAME["collapsed.by"]
        found: list[tuple[Call, Call]] = []
        total = 0
        for row in range(len(self.document.capture)):
            result = consumes.value(analysis, row)
            if not isinstance(result, int):
                continue
            total += 1
            assert back.value(analysis, result - 1) == row + 1
            if row in self._calls:
                found.append((self._calls[row], self._calls[result - 1]))
        assert total == len(found) * self.conversations
        return found

    def badges(self, call: Call) -> list[str]:
        """Badges of a result."""
        return FIELD_BY_NAME["badge"].value(self.document.analysis, self.rows[call])  # type: ignore[return-value]

    def note(self, call: Call) -> str | None:
        """What is said about a result's signal."""
        return self.document.analysis.transients.lifecycle(self.rows[call]).note

    def summary(self, call: Call) -> object:
        """The field `summary`."""
        return FIELD_BY_NAME["summary"].value(self.document.analysis, self.rows[call])
