"""The tokens of a line, however the message is wrapped and however large it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.tokens import line_counting
from inspector.tokens.counter import count_tokens
from inspector.tokens.line_counting import NOT_COUNTED, count_line
from tests.builders import envelope, received


def counted(line: bytes, kind: str = "chat", length: int | None = None) -> int:
    return count_line(lambda start, size: line[start : start + size], length or len(line), kind)


@pytest.mark.parametrize("wrap", [lambda e: e, received, lambda e: {"message": e}, lambda e: {"data": json.dumps(e)}])
def test_wrapping_makes_no_difference(wrap: Any) -> None:
    line = json.dumps(wrap(envelope(payload={"text": "a few words"}))).encode()
    assert counted(line) == count_tokens("a few words")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"{torn", ""), (b"#s1#token", "stream/frame"), (b'{"ctxcap":1}', ""), (b"[]", ""),
        (b'{"t":1,"mark":"gap","reason":"lost"}', ""), (b'{"kind":"chat","payload":7}', "chat"),
        (b'{"event":"capability_check","participant":"a","result":"denied"}', ""),
    ],
)  # fmt: skip
def test_what_says_nothing_to_a_model_costs_nothing(line: bytes, kind: str) -> None:
    assert counted(line, kind) == 0


def test_a_line_that_is_gone_is_not_counted() -> None:
    assert counted(b'{"kind":"chat"', length=100) == NOT_COUNTED


def test_a_large_message_is_taken_to_go_on_as_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Some words of a text. " * 100_000
    line = json.dumps(envelope(payload={"text": text})).encode()
    assert len(line) > line_counting.MAX_WHOLE_BYTES
    assert counted(line) == pytest.approx(count_tokens(text), rel=0.02)
