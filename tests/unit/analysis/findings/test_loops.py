"""Agents that answer each other without end."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, document_of, envelope, received, tool_call
from tests.findings import at, talk


def told(document: CaptureDocument) -> list[tuple[int, str]]:
    return [(found.row, found.text) for found in document.analysis.findings.all() if found.code == "chat-loop"]


def test_it_says_who_since_when_and_what_it_costs() -> None:
    quiet = [{**line, "timestamp": at(200 + n)} for n, line in enumerate(talk(20, room="later"))]
    ((row, text),) = told(document_of(*talk(100), *quiet))
    assert row == 30
    assert text.startswith("coder and lead sent 100 chats, ")
    assert text.endswith(" in 99 s, each an answer to another; the first is No. 1.")


@pytest.mark.parametrize("step", [1, 7, 29, 30, 31, 64])
def test_it_does_not_matter_in_which_pieces_it_comes(step: int) -> None:
    lines = talk(65)
    log = GrowingLog()
    for start in range(0, len(lines), step):
        log.write(*lines[start : start + step])
    assert told(log.end()) == told(document_of(*lines)) != []


def test_agents_that_write_no_correlation_are_known_by_whom_they_address() -> None:
    names = ("coder", "lead")
    chats = [
        envelope("chat", {"text": "x"}, id=f"c{n}", sender=names[n % 2], to=[names[(n + 1) % 2]], ts=at(n))
        for n in range(40)
    ]
    assert [row for row, _ in told(document_of(*chats))] == [30]
    assert told(document_of(*({**chat, "to": ["human"]} for chat in chats))) == []


def slow(count: int = 40, apart_s: float = 30, text: str = "Thank you, {n}", **fields: Any) -> list[dict[str, Any]]:
    return [
        {**line, "envelope": {**line["envelope"], "payload": {"text": text.format(n=n, word=words(n))}, **fields}}
        for n, line in enumerate(talk(count, apart_s=apart_s))
    ]


def words(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


def test_slow_agents_that_have_nothing_new_to_say_are_in_a_loop() -> None:
    ((row, text),) = told(document_of(*slow()))
    assert row == 30
    assert text.startswith("coder and lead sent 40 chats, ")
    assert text.endswith(" in 19 min, each an answer to another; the first is No. 1.")
    echoes = slow()
    for n, line in enumerate(echoes):
        line["envelope"]["payload"]["text"] = "Echo: " * n + "hello"
    assert len(told(document_of(*echoes))) == 1


@pytest.mark.parametrize("step", [1, 7, 29, 30, 31, 40])
def test_a_slow_loop_is_told_alike_in_all_pieces(step: int) -> None:
    lines = slow()
    log = GrowingLog()
    for start in range(0, len(lines), step):
        log.write(*lines[start : start + step])
    assert told(log.end()) == told(document_of(*lines)) != []


def between(lines: list[dict[str, Any]], *others: dict[str, Any]) -> list[dict[str, Any]]:
    return [*lines[:20], *(received(one, timestamp=at(20 * 30 - 1)) for one in others), *lines[20:]]


NO_LOOPS = {
    "they say something new": slow(text="Step {word} is done"),
    "one of them does, as a person who pages through": [
        one if n % 2 else other
        for n, (one, other) in enumerate(zip(slow(), slow(text="Page {word}"), strict=True))
    ],
    "a tool is called": between(slow(), tool_call("read_file", sender="lead")),
    "something is proposed": between(
        slow(), envelope("mcp/proposal", {"method": "tools/call", "params": {"name": "x"}}, sender="coder")
    ),
    "somebody else speaks": between(slow(), envelope("chat", {"text": "go on"}, sender="human")),
    "nobody names what it answers": slow(correlation_id=None),
    "too few": slow(30),
    "hours apart": slow(apart_s=700),
}  # fmt: skip


@pytest.mark.parametrize("lines", NO_LOOPS.values(), ids=NO_LOOPS)
def test_slow_talk_that_is_no_loop(lines: list[Any]) -> None:
    assert told(document_of(*lines)) == []
