"""Agents that answer each other without end."""

from __future__ import annotations

import pytest

from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, document_of, envelope
from tests.findings import at, talk


def told(document: CaptureDocument) -> list[tuple[int, str]]:
    return [(found.row, found.text) for found in document.analysis.findings.all() if found.code == "chat-loop"]


def test_it_says_who_since_when_and_what_it_costs() -> None:
    quiet = [{**line, "timestamp": at(200 + n)} for n, line in enumerate(talk(20, room="later"))]
    ((row, text),) = told(document_of(*talk(100), *quiet))
    assert row == 30
    assert text.startswith("coder and lead sent 100 chats, ")
    assert text.endswith(" in 99 s, each the answer to another within seconds; it began with No. 1.")


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
