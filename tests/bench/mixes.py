"""Traffic unlike the story's: mixes with knobs, eleven of them named and one for every number; and traces.

`python -m tests.bench.mixes NAME MESSAGES FILE` writes a log of one. What others will measure with is not known: each
named mix turns one knob far, and `random:7` turns all of them as the seed has it. The same name gives the same bytes.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from tests.bench.story import BLOCK_MARK, TIME_MARK, Story, line_of

Envelope = dict[str, Any]

_BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_WORDS = str.split(
    "check every caller of this loader and compare what the specification says about defaults then write"
)
_DIALECTS = ("mcp-x/v0", "mcpx/v0.1", "mcpp/v0.2", "meup/v0.2", "mew/v0.3", "mew/v0.4")
_ODD_TEXTS = ('\\ "quoted" \n', "é\u2028日本\U0001f600", "\u202e\u0000\x1b[31m", "</b>&amp;")
MOST_OPEN = 10_000
"""So many contexts, requests and proposals a mix remembers; what is older is left open for ever."""


@dataclass(frozen=True, slots=True)
class Mix:
    """The knobs. Shares are of messages, 0 to 1, and weigh against each other.

    Attributes:
        chats, calls, thoughts, proposals, streams, coming: what is done: a text, a request and its answer, a thought in
            a context, a proposal and its outcome, frames of a stream, participants that join, leave and are granted.
        fresh: of messages in a context, in one that was not there.
        depth: levels of a context below the first.
        ends: of messages in a context, that end one; half of those that come after go to contexts that have ended.
        objects: of contexts, named by an object with an id and a parent.
        chained: contexts each within the one before, without end.
        orphans: of requests nobody answers, and of answers that name nothing.
        odd: of messages, of kinds, recipients, correlations and payloads that no protocol knows.
        hints: of results, transient and consumed later.
        dialects: whether every protocol of the lineage is spoken in turns.
        participants: names.
        recipients: of a message, at most.
        disorder_s: how far a message's time is off, at most.
        duplicates: of messages, written again within the next hundred.
        shortest, longest: characters of a text.
        escapes: of texts, with what JSON has to escape.
        crlf: ends of lines.
        spaces: whether JSON is written with a space after each colon and comma.
    """

    chats: float = 1.0
    calls: float = 1.0
    thoughts: float = 0.5
    proposals: float = 0.02
    streams: float = 0.0
    coming: float = 0.0
    fresh: float = 0.02
    depth: int = 2
    ends: float = 0.02
    objects: float = 0.0
    chained: bool = False
    orphans: float = 0.02
    odd: float = 0.0
    hints: float = 0.0
    dialects: bool = False
    participants: int = 6
    recipients: int = 1
    disorder_s: float = 0.0
    duplicates: float = 0.0
    shortest: int = 20
    longest: int = 400
    escapes: float = 0.05
    crlf: bool = False
    spaces: bool = False


NAMED: dict[str, Mix] = {
    "contexts": Mix(thoughts=4.0, fresh=0.6, depth=6, ends=0.25),
    "chain": Mix(thoughts=4.0, fresh=0.5, objects=1.0, chained=True, shortest=10, longest=30),
    "odd": Mix(odd=0.7, objects=0.5, escapes=0.3),
    "crowd": Mix(participants=20_000, coming=1.0, recipients=40, calls=0.5, thoughts=0.1),
    "orphans": Mix(calls=4.0, orphans=0.5),
    "transients": Mix(calls=4.0, hints=0.8, thoughts=0.2),
    "dialects": Mix(dialects=True, proposals=0.1),
    "disorder": Mix(disorder_s=120.0, duplicates=0.15),
    "proposals": Mix(proposals=2.0, orphans=0.1),
    "streams": Mix(streams=4.0),
    "lengths": Mix(shortest=5, longest=20_000, escapes=0.5, crlf=True, spaces=True),
}
"""Each with one knob turned far."""


def drawn(seed: int) -> Mix:
    """All knobs as a seed has them."""
    random = Random(seed)
    return Mix(
        chats=random.random(), calls=random.random() * 2, thoughts=random.random() * 3, proposals=random.random() ** 2,
        streams=random.random() ** 2, coming=random.random() ** 3, fresh=random.random() ** 2,
        depth=random.choice((1, 2, 4, 12, 40)), ends=random.random() ** 2, objects=random.choice((0.0, 0.0, 0.1, 1.0)),
        chained=random.random() < 0.1, orphans=random.random() ** 2, odd=random.random() ** 3,
        hints=random.random() ** 2, dialects=random.random() < 0.3,
        participants=random.choice((3, 20, 500, 20_000)), recipients=random.choice((1, 2, 10, 40)),
        disorder_s=random.choice((0.0, 0.0, 2.0, 600.0)), duplicates=random.choice((0.0, 0.0, 0.02, 0.3)),
        shortest=random.choice((0, 20)), longest=random.choice((40, 400, 4_000, 20_000)),
        escapes=random.random() ** 2, crlf=random.random() < 0.2, spaces=random.random() < 0.2,
    )  # fmt: skip


def mix_of(name: str) -> Mix:
    """A mix by its name, or `random:SEED`.

    Raises:
        KeyError: there is none of that name.
    """
    return drawn(int(name.partition(":")[2])) if name.startswith("random:") else NAMED[name]


class Traffic:
    """Says the messages of a mix, without end."""

    def __init__(self, mix: Mix, seed: int = 1) -> None:
        self._mix = mix
        self._random = Random(seed)
        self._number = 0
        self._clock = 0.0
        self._names = [f"agent-{number}" for number in range(mix.participants)]
        # What is written in an envelope, and the path it stands for.
        self._open: deque[tuple[Any, str]] = deque([("main-1", "main-1")], MOST_OPEN)
        self._ended: deque[Any] = deque(maxlen=MOST_OPEN)
        doing: dict[Callable[[], Iterator[Envelope]], float] = {
            self._chat: mix.chats, self._call: mix.calls, self._thought: mix.thoughts, self._proposal: mix.proposals,
            self._stream: mix.streams, self._coming: mix.coming,
        }  # fmt: skip
        self._doings, self._weights = list(doing), list(doing.values())

    def envelopes(self) -> Iterator[Envelope]:
        """Envelopes in the order they are written."""
        again: list[tuple[int, Envelope]] = []
        while True:
            for doing in self._random.choices(self._doings, self._weights, k=64):
                for envelope in doing():
                    said = self._made_odd(envelope) if self._random.random() < self._mix.odd else envelope
                    yield said
                    if self._random.random() < self._mix.duplicates:
                        again.append((self._number + self._random.randrange(100), said))
            yield from (said for due, said in again if due <= self._number)
            again = [one for one in again if one[0] > self._number]

    def _envelope(self, kind: str, payload: Any, sender: str | None = None, **more: Any) -> Envelope:
        mix, random = self._mix, self._random
        self._number += 1
        self._clock += random.random() * 0.2
        off = (random.random() - 0.5) * 2 * mix.disorder_s if mix.disorder_s else 0.0
        when = _BEGUN + timedelta(seconds=self._clock + off)
        protocol = _DIALECTS[self._number // 50 % len(_DIALECTS)] if mix.dialects else "mew/v0.4"
        made: Envelope = {
            "protocol": protocol,
            "id": f"{self._number:x}-{random.getrandbits(32):08x}",
            "ts": when.isoformat(timespec="milliseconds")[:-6] + "Z",
            "from": sender or random.choice(self._names),
            "kind": kind,
            "payload": payload,
            **more,
        }
        if mix.dialects and protocol in _DIALECTS[:4] and "correlation_id" in made:
            named = made.pop("correlation_id")
            made["correlation_id"] = named[0] if named else None
        return made

    def _text(self) -> str:
        mix = self._mix
        # Short texts are many, long ones few.
        length = mix.shortest + int((mix.longest - mix.shortest) * self._random.random() ** 4)
        text = " ".join(self._random.choices(_WORDS, k=length // 8 + 1))[: max(1, length)]
        return text + self._random.choice(_ODD_TEXTS) if self._random.random() < mix.escapes else text

    def _to(self) -> dict[str, Any]:
        if self._mix.recipients <= 1:
            return {"to": [self._random.choice(self._names)]}
        return {"to": self._random.choices(self._names, k=self._random.randrange(1, self._mix.recipients + 1))}

    # What is done

    def _chat(self) -> Iterator[Envelope]:
        yield self._envelope("chat", {"text": self._text(), "format": "plain"}, **self._to())

    def _call(self) -> Iterator[Envelope]:
        random = self._random
        tool = f"tool_{random.randrange(40)}"
        asked = self._envelope("mcp/request", {
            "jsonrpc": "2.0", "id": self._number, "method": "tools/call",
            "params": {"name": tool, "arguments": {"query": self._text()}},
        }, **self._to(), **self._place())  # fmt: skip
        yield asked
        if random.random() < self._mix.orphans:
            if random.random() < 0.5:
                named = [f"nothing-{random.getrandbits(40):x}"]
                yield self._envelope("mcp/response", {"jsonrpc": "2.0", "id": 1, "result": {}}, correlation_id=named)
            return
        result: dict[str, Any] = {"content": [{"type": "text", "text": self._text()}]}
        if random.random() < self._mix.hints:
            result["_meta"] = self._meta(tool)
        answer = {"jsonrpc": "2.0", "id": asked["payload"]["id"], "result": result}
        where = {key: asked[key] for key in ("context",) if key in asked}
        yield self._envelope(
            "mcp/response", answer, asked["to"][0], to=[asked["from"]], correlation_id=[asked["id"]], **where
        )

    def _meta(self, tool: str) -> dict[str, Any]:
        match self._random.randrange(3):
            case 0:
                consumer = f"tool_{self._random.randrange(40)}"
                return {"contextHints": [{"tool": tool, "lifecycle": "transient", "consumedBy": consumer}]}
            case 1:
                return {"context": {"lifecycle": "transient", "summary": f"15 records of {tool}"}}
            case _:
                return {"context": {"consumed": True}}

    def _thought(self) -> Iterator[Envelope]:
        mix, random = self._mix, self._random
        if random.random() < mix.fresh:
            yield from self._begun()
        elif random.random() < mix.ends and len(self._open) > 1:
            place = random.randrange(len(self._open))
            context, _path = self._open[place]
            del self._open[place]
            self._ended.append(context)
            yield self._envelope("reasoning/conclusion", {"message": self._text()}, context=context)
        else:
            yield self._envelope("reasoning/thought", {"message": self._text()}, **self._place())

    def _begun(self) -> Iterator[Envelope]:
        mix, random = self._mix, self._random
        start = self._envelope("reasoning/start", {"message": self._text()})
        _, path = self._open[-1] if mix.chained else random.choice(self._open)
        levels = path.split("/")[: max(1, mix.depth)]
        name = f"part-{self._number:x}"
        if random.random() < mix.objects:
            below = path.rpartition("/")[2] if not mix.chained else path
            context: Any = {"id": name, "parent": below}
            self._open.append((context, name))
        else:
            within = "/".join([*levels[: random.randrange(len(levels)) + 1], name]) if random.random() < 0.7 else name
            context = within
            self._open.append((context, within))
        start["context"] = context
        yield start

    def _place(self) -> dict[str, Any]:
        if self._ended and self._random.random() < self._mix.ends / 2:
            return {"context": self._random.choice(self._ended)}
        if self._random.random() < 0.5:
            return {"context": self._random.choice(self._open)[0]}
        return {}

    def _proposal(self) -> Iterator[Envelope]:
        call = {"method": "tools/call", "params": {"name": "write_file", "arguments": {"text": self._text()}}}
        proposal = self._envelope("mcp/proposal", call, **self._place())
        yield proposal
        if self._random.random() < self._mix.orphans:
            return
        named: dict[str, Any] = {"correlation_id": [proposal["id"]]}
        outcome = self._random.randrange(3)
        if outcome == 0:
            yield self._envelope("mcp/request", call, **self._to(), **named)
        elif outcome == 1:
            yield self._envelope("mcp/reject", {"reason": "unsafe"}, **named)
        else:
            yield self._envelope("mcp/withdraw", {"reason": "timeout"}, proposal["from"], **named)

    def _stream(self) -> Iterator[Envelope]:
        asked = self._envelope("stream/request", {"direction": "upload", "description": self._text()}, **self._to())
        yield asked
        stream = f"stream-{self._number}"
        named: dict[str, Any] = {"correlation_id": [asked["id"]]}
        yield self._envelope("stream/open", {"stream_id": stream, "encoding": "text"}, "system:gateway", **named)
        for _ in range(self._random.randrange(1, 12)):
            yield self._envelope("stream/data", {"stream_id": stream, "data": self._text()}, asked["from"])
        if self._random.random() > self._mix.orphans:
            yield self._envelope("stream/close", {"stream_id": stream}, asked["from"], **named)

    def _coming(self) -> Iterator[Envelope]:
        who = self._random.choice(self._names)
        may = [{"kind": "chat"}, {"kind": "mcp/request", "payload": {"method": f"tools/{self._random.randrange(9)}"}}]
        match self._random.randrange(4):
            case 0:
                joined = {"event": "join", "participant": {"id": who, "capabilities": may}}
                yield self._envelope("system/presence", joined, "system:gateway")
            case 1:
                yield self._envelope(
                    "system/presence", {"event": "leave", "participant": {"id": who}}, "system:gateway"
                )
            case 2:
                grant = {"recipient": who, "capabilities": may, "reason": self._text()}
                yield self._envelope("capability/grant", grant, self._names[0], to=[who])
            case _:
                status = {"status": "busy", "tokens": self._random.randrange(200_000), "max_tokens": 200_000}
                yield self._envelope("participant/status", status, who)

    def _made_odd(self, envelope: Envelope) -> Envelope:
        random = self._random
        odd = dict(envelope)
        for _ in range(random.randrange(1, 3)):
            match random.randrange(8):
                case 0:
                    odd["kind"] = f"vendor-{random.randrange(3_000)}/thing"
                case 1:
                    odd["to"] = random.choice(("agent-1", {"id": "agent-1"}, [7, None], [["a"]], 12))
                case 2:
                    odd["correlation_id"] = random.choice((7, {"id": "x"}, [None], "one", [["a"]]))
                case 3:
                    odd["payload"] = random.choice(("only text", 7, None, [1, 2], True))
                case 4:
                    odd["context"] = random.choice((7, ["a", "b"], {"id": 7}, {"parent": "x"}, "", "a//b/"))
                case 5:
                    odd["ts"] = random.choice((1_767_603_600, "yesterday", None, "2026-01-05 09:00:00+01:00"))
                case 6:
                    odd[f"x-{random.randrange(500)}"] = {"more": self._text()}
                case _:
                    odd["id"] = random.choice((7, None, {"n": 1}, ""))
        return odd


def lines(name: str, count: int, *, seed: int = 1) -> Iterator[bytes]:
    """Lines of a mix, with their ends; `story` is the traffic that all are compared with."""
    if name == "story":
        yield from _story_lines(count, seed)
        return
    if name == HISTORIES:
        yield from _history_lines(count, seed)
        return
    mix = mix_of(name)
    end = b"\r\n" if mix.crlf else b"\n"
    encode = msgspec.json.Encoder().encode
    for envelope in islice(Traffic(mix, seed).envelopes(), count):
        line = encode(envelope)
        yield (msgspec.json.format(line, indent=0) if mix.spaces else line) + end


def _story_lines(count: int, seed: int) -> Iterator[bytes]:
    story = Story(seed)
    for number, envelope in enumerate(islice(story.envelopes(), count)):
        when = _BEGUN + timedelta(milliseconds=story.times_ms[number])
        line = line_of(envelope).replace(BLOCK_MARK.encode(), b"00000")
        yield line.replace(TIME_MARK.encode(), (when.isoformat(timespec="milliseconds")[:-6] + "Z").encode()) + b"\n"


HISTORIES = "histories"
"""A trace of an agent at work: each call of its model records the whole history, in OTLP; `count` calls, one a line."""


def _history_lines(count: int, seed: int) -> Iterator[bytes]:
    random, encode = Random(seed), msgspec.json.Encoder().encode
    told: list[Any] = [{"role": "user", "parts": [{"type": "text", "content": _sentence(random)}]}]
    for number in range(count):
        call = f"call_{number}"
        asked = {"path": f"file-{number}", "query": _sentence(random)}
        made = {"role": "assistant", "parts": [{"type": "tool_call", "id": call, "name": "read", "arguments": asked}]}
        found = _sentence(random)
        yield _span_line(2 * number, "chat m-1", {
            "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "gen_ai.agent.name": "worker",
            "gen_ai.usage.input_tokens": 40 * len(told), "gen_ai.usage.output_tokens": 30,
            "gen_ai.input.messages": encode(told).decode(), "gen_ai.output.messages": encode([made]).decode(),
        }) + b"\n"  # fmt: skip
        yield _span_line(2 * number + 1, "execute_tool read", {
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.call.id": call,
            "gen_ai.agent.name": "worker",
            "gen_ai.tool.call.arguments": encode(asked).decode(), "gen_ai.tool.call.result": found,
        }) + b"\n"  # fmt: skip
        told += [made, {"role": "tool", "parts": [{"type": "tool_call_response", "id": call, "response": found}]}]


def _sentence(random: Random) -> str:
    return " ".join(random.choices(_WORDS, k=25))


def _span_line(number: int, name: str, attributes: dict[str, str | int]) -> bytes:
    begun = int(_BEGUN.timestamp()) + number
    written = [
        {"key": key, "value": {"intValue": str(one)} if isinstance(one, int) else {"stringValue": one}}
        for key, one in attributes.items()
    ]
    span = {
        "traceId": "1" * 32, "spanId": f"{number + 2:016x}", "parentSpanId": f"{1:016x}", "name": name, "kind": 3,
        "startTimeUnixNano": f"{begun}000000000", "endTimeUnixNano": f"{begun + 1}000000000", "attributes": written,
    }  # fmt: skip
    service = [{"key": "service.name", "value": {"stringValue": "agents"}}]
    scopes = [{"scope": {"name": "bench"}, "spans": [span]}]
    return msgspec.json.encode({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": scopes}]})


def write(name: str, count: int, path: Path, *, seed: int = 1) -> Path:
    """Write a log of a mix."""
    with path.open("wb", buffering=1 << 20) as file:
        file.writelines(lines(name, count, seed=seed))
    return path


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
