"""Files that mean harm, or are merely huge: each case writes its bytes piece by piece, at any size.

Tests take them small; `tests/bench/hostile.py` takes them at the sizes of the design (50 and 100 MB, 1,000,000 names).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.builders import envelope, tool_result

MB = 1_000_000
_PIECE = 1 << 20


def _line(payload: object = None, kind: str = "chat", **fields: object) -> bytes:
    return json.dumps(envelope(kind, payload, **fields)).encode() + b"\n"


def _long(character: str, size: int) -> Iterator[bytes]:
    for start in range(0, size, _PIECE):
        yield character.encode() * min(_PIECE, size - start)


def _around(before: bytes, inner: Iterator[bytes], after: bytes) -> Iterator[bytes]:
    yield before
    yield from inner
    yield after


def _with(text: bytes, inner: Iterator[bytes]) -> Iterator[bytes]:
    """A line in which the word HERE is replaced by something long."""
    before, _, after = text.partition(b"HERE")
    return _around(before, inner, after)


def _text(size: int) -> Iterator[bytes]:
    """One chat message of about this size."""
    words = b'The quick brown fox jumps over the lazy dog, \\u00e9t\\u00e9 and \\"again\\". '
    return _with(_line({"text": "HERE"}, id="big"), (words * 1000 for _ in range(max(1, size // len(words) // 1000))))


def _records(size: int) -> Iterator[bytes]:
    """The result of a tool call with so many records that it has about this size."""
    asked = envelope("mcp/request", {"method": "tools/call", "params": {"name": "search"}}, id="ask", to=["files"])
    yield json.dumps(asked).encode() + b"\n"
    answer = tool_result(asked, id="big")
    answer["payload"]["result"]["records"] = "HERE"
    record = b'{"id":12345,"name":"record","tags":["a","b"],"value":1.5},'
    inner = (record * 1000 for _ in range(max(1, size // len(record) // 1000)))
    yield from _with(json.dumps(answer).encode().replace(b'"HERE"', b"[HERE{}]") + b"\n", inner)


def _contexts(count: int) -> Iterator[bytes]:
    for start in range(0, count, 1000):
        yield b"".join(
            b'{"kind":"chat","id":"m%d","from":"lead","context":"task-%d","payload":{"text":"x"}}\n' % (n, n)
            for n in range(start, min(start + 1000, count))
        )


def _agents(count: int) -> Iterator[bytes]:
    """Records of a session, each of another sub-agent's context, each named as the parent of the next."""
    for number in range(count):
        yield (
            b'{"type":"user","isSidechain":true,"sessionId":"s","uuid":"u%d","parentUuid":"u%d","agentId":"a%d",'
            b'"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"go on"}}\n'
        ) % (number, number + 1, number)


def _picture(size: int) -> Iterator[bytes]:
    """A result of a session's tool that is a picture of so many bytes in base64, and what follows from it."""
    about = b'{"type":"%s","sessionId":"s","parentUuid":%s,"timestamp":"2026-01-05T09:00:00.000Z","message":'
    result = b'{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":'
    source = b'{"type":"base64","media_type":"image/png","data":"'
    letters = bytes(range(65, 91)) + bytes(range(97, 123)) + b"0123456789+/"
    yield from _around(
        about % (b"user", b"null") + result + source,
        (letters * 4_096 for _ in range(max(1, size // len(letters) // 4_096))),
        b'"}}]}]},"uuid":"u1"}\n' + about % (b"user", b'"u1"') + b'{"role":"user","content":"go on"},"uuid":"u2"}\n',
    )


def _keys(count: int) -> Iterator[bytes]:
    for start in range(0, count, 1000):
        yield b",".join(b'"k%d":%d' % (n, n) for n in range(start, min(start + 1000, count)))
        yield b"," if start + 1000 < count else b""


def _deep(depth: int) -> Iterator[bytes]:
    yield _line({"text": "below"}, context="/".join(f"d{n}" for n in range(depth)))


def _names(count: int) -> Iterator[bytes]:
    for start in range(0, count, 1000):
        yield b",".join(b'"agent-%d"' % n for n in range(start, min(start + 1000, count)))
        yield b"," if start + 1000 < count else b""


def _listed(key: str, count: int) -> Iterator[bytes]:
    line = json.dumps(envelope("chat", {"text": "to all"}, **{key: ["HERE"]})).encode() + b"\n"
    return _with(line.replace(b'"HERE"', b"HERE"), _names(count))


def _objects(count: int) -> Iterator[bytes]:
    for start in range(0, count, 10_000):
        yield b"{}\n" * min(10_000, count - start)


@dataclass(frozen=True)
class Case:
    """One hostile file.

    Attributes:
        full: the size of the design: bytes, or a count.
        small: the size tests take.
        make: gives the bytes for a size; an ordinary message stands before and behind them.
    """

    full: int
    small: int
    make: Callable[[int], Iterator[bytes]]


CASES: dict[str, Case] = {
    "message of text": Case(50 * MB, 2 * MB, _text),
    "message of records": Case(50 * MB, 2 * MB, _records),
    "brackets": Case(100 * MB, 2 * MB, lambda n: _around(b"", _long("[", n), b"\n")),
    "objects in objects": Case(100 * MB, 2 * MB, lambda n: _around(b"", _long('{"a":', n // 5), b"\n")),
    "payload of brackets": Case(100 * MB, 2 * MB, lambda n: _with(
        _line("HERE").replace(b'"HERE"', b"HERE"), _around(b"", _long("[", n // 2), b"]" * (n // 2)))),
    "unfinished payload": Case(100 * MB, 2 * MB, lambda n: _around(
        b'{"kind":"chat","id":"torn","payload":[', _long("1,", n // 2), b"\n")),
    "line without an end": Case(1000 * MB, 3 * MB, lambda n: _long("x", n)),
    "zeros": Case(100 * MB, 2 * MB, lambda n: _around(b"", _long("\0", n), b"\n")),
    "no UTF-8": Case(10 * MB, 2 * MB, lambda n: _around(
        b'{"kind":"chat","from":"\xff\xfe","payload":{"text":"',
        (b"\xff\xfe" * 1000 for _ in range(n // 2000)), b'"}}\n')),
    "half characters": Case(10 * MB, 2 * MB, lambda n: _with(_line({"text": "HERE"}), _long("\\ud83d", n // 6))),
    "context": Case(10 * MB, 2 * MB, lambda n: _with(_line({"text": "here"}, context="HERE"), _long("c", n))),
    "contexts deep": Case(10_000, 2_000, _deep),
    "contexts": Case(1_000_000, 2_000, _contexts),
    "sub-agents": Case(1_000_000, 2_000, _agents),
    "kind": Case(10 * MB, 2 * MB, lambda n: _with(_line({"text": "kind"}, "HERE"), _long("k", n))),
    "sender": Case(10 * MB, 2 * MB, lambda n: _with(_line({"text": "from"}, sender="HERE"), _long("s", n))),
    "id": Case(10 * MB, 2 * MB, lambda n: _with(_line({"text": "id"}, id="HERE"), _long("i", n))),
    "recipients": Case(1_000_000, 20_000, lambda n: _listed("to", n)),
    "correlations": Case(1_000_000, 20_000, lambda n: _listed("correlation_id", n)),
    "digits": Case(1_000_000, 10_000, lambda n: _with(
        b'{"kind":"chat","id":"n","payload":{"text":"n","n":HERE,"e":1e400}}\n', _long("9", n))),
    "digits as a time": Case(1_000_000, 10_000, lambda n: _with(
        b'{"kind":"chat","id":"n","ts":HERE}\n', _long("9", n))),
    "invisible": Case(10 * MB, 200_000, lambda n: _with(
        _line({"text": "HERE"}), ((b"\\u0000\\u202e\xe2\x80\xae\\u001b[31m" * 100) for _ in range(n // 2000)))),
    "picture": Case(60 * MB, 2 * MB, _picture),
    "keys": Case(1_000_000, 100_000, lambda n: _with(
        _line("HERE", id="keys").replace(b'"HERE"', b"{HERE}"), _keys(n))),
    "empty objects": Case(1_000_000, 5_000, _objects),
}  # fmt: skip


def write(case: str, folder: Path, *, full: bool = False) -> Path:
    """Write a case into a folder, between two ordinary messages."""
    made = CASES[case]
    path = folder / f"{case}.jsonl"
    with path.open("wb") as file:
        file.write(_line({"text": "before"}, id="before"))
        for piece in made.make(made.full if full else made.small):
            file.write(piece)
        if case != "line without an end":
            file.write(_line({"text": "after"}, id="after"))
    return path
