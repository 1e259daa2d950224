"""The traffic of the benchmarks as envelopes: always the same, with marks where a repetition differs.

One turn of the story is a question, a reasoning sequence with thoughts and tool calls in it and below it, now and then
a proposal, a page of the transient loop (docs/protocols.md 13) or a status report, and an answer. Making JSON of a
million envelopes takes half a minute, so `template` repeats a stretch of the story: ids, JSON-RPC numbers and times
hold marks of a fixed width, into which each repetition writes its own.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import count
from typing import Any

Envelope = dict[str, Any]

AGENTS = ("lead", "files", "coder", "reviewer", "human")
TOOLS = ("read_file", "list_directory", "grep", "write_file", "run_tests")

BLOCK_MARK = "@@@@@"
"""Where the number of the repetition goes, in digits."""
TIME_MARK = "~" * 24
"""Where a time goes, such as `2026-01-05T09:00:00.000Z`."""

_WORDS = str.split(
    "the configuration is read before validation so a missing key shows up late check every caller of this loader "
    "and compare with what the specification says about defaults then write a test that fails first"
)


class Story:
    """Tells the turns, once each.

    Attributes:
        times_ms: when each envelope told so far was said, in milliseconds since the beginning.
    """

    def __init__(self, seed: int = 7, *, length: float = 1.0) -> None:
        """Make a story.

        Args:
            seed: the same seed tells the same story.
            length: of every text, 1.0 for envelopes of about 620 bytes, 0.4 for about 400.
        """
        self._random = random.Random(seed)
        self._length = length
        self._said = count()
        self._calls = count(1)
        self._clock_ms = 0
        self.times_ms: list[int] = []

    def envelopes(self) -> Iterator[Envelope]:
        """Envelopes in the order of arrival, without end."""
        yield from self._hints()
        for turn in count(1):
            yield from self._turn(turn)

    def _envelope(self, kind: str, sender: str, payload: Any, **fields: Any) -> Envelope:
        self._clock_ms += self._random.randrange(1, 400)
        self.times_ms.append(self._clock_ms)
        return {
            "protocol": "mew/v0.4",
            "id": f"{sender}-{self._random.getrandbits(32):08x}-{BLOCK_MARK}{next(self._said):05d}",
            "ts": TIME_MARK,
            "from": sender,
            "kind": kind,
            **fields,
            "payload": payload,
        }

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=max(1, round(words * self._length))))

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
        place = next(self._calls)
        number = f"#1{BLOCK_MARK}{place:05d}#"  # a number once the hashes and quotation marks are gone
        arguments = {"path": f"src/module_{place % 400}.py", "pattern": self._text(27)}
        call = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        where = {"context": context} if context else {}
        request = self._envelope("mcp/request", "lead", call, to=["files"], **where, **fields)
        yield request
        result: dict[str, Any] = {"content": [{"type": "text", "text": self._text(72)}]}
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


def line_of(value: Any) -> bytes:
    """One line of JSON, without its end; marks stay in it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace('"#1', "1").replace('#"', "").encode()
