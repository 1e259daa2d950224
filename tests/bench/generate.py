"""Generated traffic for the benchmarks: always the same for the same number of messages.

One turn of the story is a question, a reasoning sequence with thoughts and tool calls in it and below it, now and then
a proposal, a page of the transient loop (protocols.md 13) or a status report, and an answer. A message is about
620 bytes as an envelope; in a gateway's log each comes once as received and three times as delivered.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

Envelope = dict[str, Any]

AGENTS = ("lead", "files", "coder", "reviewer", "human")
TOOLS = ("read_file", "list_directory", "grep", "write_file", "run_tests")
_WORDS = str.split(
    "the configuration is read before validation so a missing key shows up late check every caller of this loader "
    "and compare with what the specification says about defaults then write a test that fails first"
)
_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Story:
    """Tells the turns. `envelopes()` never ends."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._numbers = count(1)
        self._clock_ms = 0

    def envelopes(self) -> Iterator[Envelope]:
        """Envelopes in the order of arrival."""
        yield from self._hints()
        for turn in count(1):
            yield from self._turn(turn)

    def _envelope(self, kind: str, sender: str, payload: Any, **fields: Any) -> Envelope:
        self._clock_ms += self._random.randrange(1, 400)
        moment = _START + timedelta(milliseconds=self._clock_ms)
        return {
            "protocol": "mew/v0.4",
            "id": f"{sender}-{self._random.getrandbits(32):08x}-{next(self._numbers)}",
            "ts": moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z",
            "from": sender,
            "kind": kind,
            **fields,
            "payload": payload,
        }

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=words))

    def _turn(self, turn: int) -> Iterator[Envelope]:
        question = self._envelope("chat", "human", {"text": self._text(40), "format": "plain"}, to=["lead"])
        yield question
        start = self._envelope("reasoning/start", "lead", {"message": self._text(30)}, correlation_id=[question["id"]])
        yield start
        context = start["id"]
        for _ in range(self._random.randrange(4, 9)):
            yield self._envelope("reasoning/thought", "lead", {"message": self._text(90)}, context=context)
            yield from self._call(self._random.choice(TOOLS), context)
            yield from self._call(self._random.choice(TOOLS), f"{context}/files")
        if turn % 3 == 0:
            yield from self._proposal(turn, context)
        if turn % 2 == 0:
            yield from self._page(context)
        if turn % 5 == 0:
            facts = {"messages_in_context": turn, "tokens": turn * 97 % 200_000, "max_tokens": 200_000}
            yield self._envelope("participant/status", "coder", facts | {"status": self._text(40)})
        yield self._envelope("reasoning/conclusion", "lead", {"message": self._text(60)}, context=context)
        yield self._envelope("chat", "lead", {"text": self._text(70)}, to=["human"], correlation_id=[question["id"]])

    def _call(self, tool: str, context: str | None, *, meta: Any = None, **fields: Any) -> Iterator[Envelope]:
        number = next(self._numbers)
        arguments = {"path": f"src/module_{number % 400}.py", "pattern": self._text(25)}
        call = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        where = {"context": context} if context else {}
        request = self._envelope("mcp/request", "lead", call, to=["files"], **where, **fields)
        yield request
        result: dict[str, Any] = {"content": [{"type": "text", "text": self._text(70)}]}
        if meta is not None:
            result["_meta"] = meta
        answer = {"jsonrpc": "2.0", "id": number, "result": result}
        yield self._envelope("mcp/response", "files", answer, to=["lead"], correlation_id=[request["id"]], **where)

    def _proposal(self, turn: int, context: str) -> Iterator[Envelope]:
        call = {"method": "tools/call", "params": {"name": "write_file", "arguments": {"text": self._text(60)}}}
        proposal = self._envelope("mcp/proposal", "coder", call, context=context)
        yield proposal
        named = {"correlation_id": [proposal["id"]]}
        if turn % 9 == 0:
            yield self._envelope("mcp/reject", "reviewer", {"reason": "unsafe", "text": self._text(60)}, **named)
        elif turn % 9 == 3:
            yield self._envelope("mcp/withdraw", "coder", {"reason": "timeout", "text": self._text(60)}, **named)
        else:
            yield from self._call("write_file", context, **named)

    def _hints(self) -> Iterator[Envelope]:
        hint = {"step": 2, "tool": "search_records", "lifecycle": "transient", "consumedBy": "analysis_store"}
        yield from self._call("get_workflow_step", None, meta={"contextHints": [hint]})

    def _page(self, context: str) -> Iterator[Envelope]:
        summary = {"lifecycle": "transient", "summary": f"15 activity records ({self._text(3)}...)"}
        yield from self._call("search_records", context, meta={"context": summary})
        yield from self._call("analysis_store", context, meta={"context": {"consumed": True}})


def write_envelopes(path: Path, messages: int) -> int:
    """Write a log of bare envelopes, one a line; returns its size in bytes."""
    return _write(path, messages, lambda envelope: (envelope,))


def write_gateway_log(path: Path, messages: int) -> int:
    """Write an `envelope-history.jsonl` with four records a message; returns its size in bytes."""
    return _write(path, messages, _log_lines)


def _log_lines(envelope: Envelope) -> Iterator[dict[str, Any]]:
    line = {"timestamp": envelope["ts"], "event": "received", "id": envelope["id"], "envelope": envelope}
    yield {
        **line,
        "participant": envelope["from"],
        "space_id": "bench",
        "direction": "inbound",
        "transport": "websocket",
    }
    for name in AGENTS[:3]:
        yield {
            **line, "event": "delivered", "participant": name, "space_id": "bench", "direction": "outbound",
            "transport": "websocket", "metadata": {"source_participant": envelope["from"]},
        }  # fmt: skip


def _write(path: Path, messages: int, lines: Any) -> int:
    envelopes = Story().envelopes()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(messages):
            for line in lines(next(envelopes)):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path.stat().st_size
