"""What the filter bar offers while a filter is typed."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.node_columns import NodeTable
from inspector.filters import compile_filter, completion
from inspector.filters.completion import MAX_CANDIDATES, Completer, Completion
from inspector.filters.parse import parser_at
from inspector.filters.strings import quote
from tests.builders import document_of, envelope, lasting
from tests.unit.filters.test_properties import EXPRESSIONS

TOLD = '{"size": 3}'
AGENTS = [
    envelope(
        "chat", {"text": "x", "deep": {"odd key": 1}, "told": TOLD}, id="a", **{"from": "lead", "to": ["fs", "human"]}
    ),
    envelope("chat", id="b", **{"from": "lead"}),
    envelope("chat/acknowledge", id="c", **{"from": 'Ann "the" lead', "to": ["fs"]}, correlation_id=["a"]),
    envelope(
        "mcp/request", id="d", context="r-1/sub", **{"from": "Ann"},
        payload={"method": "tools/call", "params": {"name": "read_file", "arguments": {}}},
    ),
    envelope("chat", id="e", **{"from": "Bearer abcdef123456"}),
]  # fmt: skip


@cache
def analysis() -> Analysis:
    return lasting(document_of(*AGENTS)).analysis


def offered(text: str) -> Completion:
    """What is offered at the bar, or at the end of the text."""
    cursor = text.find("|") if "|" in text and "||" not in text else len(text)
    return Completer(analysis()).complete(text.replace("|", "", 1) if cursor < len(text) else text, cursor)


def labels(text: str) -> list[str]:
    return [candidate.label for candidate in offered(text).candidates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kin", ["kind", "kind.raw"]),
        ("leaf", ["context.leaf"]),
        ("kind =", ["==", "!="]),
        ("kind == ", ["chat", "chat/acknowledge", "mcp/request"]),
        ("kind == ACK", ["chat/acknowledge"]),
        ('kind == "ch', ["chat", "chat/acknowledge"]),
        ("kind like read", ["mcp/request:tools/call:read_file"]),
        ("from == ", ["lead", 'Ann "the" lead', "Ann"]),
        ("to in {fs, ", ["fs", "human"]),
        ("to in {fs ", ["}"]),
        ("context under ", ["r-1/sub", "$context"]),
        ("error == ", ["true"]),
        ("finding.severity >= ", ["note", "warning", "error"]),
        ("error ", ["==", "!=", "&&", "||"]),
        ("error &", ["&&"]),
        ("!err", ["error", "run.error"]),
        ("payload.de", ["payload.deep", 'payload.deep."odd key"']),
        ("js", ["json(...)"]),
        ("json(pay", ["json(payload.told)", "json(payload.told).size"]),
        ("error && json(payload.told).s", ["json(payload.told).size"]),
        ("ki| == x", ["kind", "kind.raw"]),
        ("kind==", ["chat", "chat/acknowledge", "mcp/request"]),
        ("error &&ki", ["kind", "kind.raw"]),
        ("kind in ", ["{"]),
        ("payload.method == ", ["tools/call"]),
    ],
)
def test_offers(text: str, expected: list[str]) -> None:
    assert labels(text) == expected


@pytest.mark.parametrize("text", ['kind == "chat"', "x y z", '"some text', "no == ", "context.typ = = ", "kind == )"])
def test_offers_nothing(text: str) -> None:
    assert offered(text).candidates == []


def test_values_have_counts_and_fields_have_help() -> None:
    assert [candidate.count for candidate in offered("kind == ").candidates] == [3, 1, 1]
    assert offered("kin").candidates[0].help == "Canonical kind, without a suffix; `like` also sees method and target."


@pytest.mark.parametrize(
    ("text", "cursor", "label", "expected"),
    [
        ("ki", 2, "kind", "kind "),
        ("ki == x", 2, "kind", "kind == x"),
        ("kind == ch", 10, "chat", 'kind == "chat"'),
        ('kind == "ch" && error', 11, "chat", 'kind == "chat" && error'),
        ("from == ", 8, 'Ann "the" lead', 'from == "Ann \\"the\\" lead"'),
        ("kind ", 5, "in", "kind in { "),
        ("kind==", 6, "chat", 'kind== "chat"'),
        ("kind ==c", 8, "chat", 'kind == "chat"'),
        ("error &&", 8, "kind", "error && kind "),
        ("kind in ", 8, "{", "kind in { "),
    ],
)
def test_putting_in(text: str, cursor: int, label: str, expected: str) -> None:
    completion = Completer(analysis()).complete(text, cursor)
    chosen = next(candidate for candidate in completion.candidates if candidate.label == label)
    after, place = completion.applied(text, chosen)
    assert after == expected
    assert after[:place].rstrip().endswith(chosen.text)


def test_secrets_are_not_offered() -> None:
    assert not any("abcdef" in label for label in labels("from == "))


def test_a_value_that_is_called_a_secret_is_not_offered() -> None:
    pairs = [{"name": "API_KEY", "value": "correct horse"}, {"name": "LANG", "value": "en"}]
    completer = Completer(document_of(envelope(payload={"env": pairs})).analysis)
    offered = [completer.complete(f"payload.env.{n}.value == ", 23).candidates for n in range(2)]
    assert [[candidate.label for candidate in some] for some in offered] == [[], ["en"]]


def test_of_many_values_only_those_are_looked_at_that_are_offered() -> None:
    document = document_of(*(envelope(context=f"turn-{n}") for n in range(MAX_CANDIDATES + 100)))
    completer = Completer(document.analysis)
    with (
        patch.object(completion, "quote", wraps=quote) as quoted,
        patch.object(NodeTable, "__getitem__", autospec=True, side_effect=NodeTable.__getitem__) as read,
    ):
        completer.complete("context == ", 11)
        assert (quoted.call_count, read.call_count) == (MAX_CANDIDATES, MAX_CANDIDATES)
        found = completer.complete('context == "TURN-29', 19)
        assert [c.label for c in found.candidates] == ["turn-29", *(f"turn-29{n}" for n in range(10))]
        assert (quoted.call_count, read.call_count) == (MAX_CANDIDATES + 11, MAX_CANDIDATES + 2 * 11)


@given(EXPRESSIONS, st.data())
def test_whatever_is_offered_fits(expression: object, data: st.DataObject) -> None:
    text = str(expression)
    cursor = data.draw(st.integers(0, len(text)))
    completion = Completer(analysis()).complete(text[:cursor], cursor)
    for candidate in completion.candidates[:5]:
        after, _ = completion.applied(text[:cursor], candidate)
        # Raises where no filter begins like this. One that opens a text goes on with the name of a value.
        opened = after.rstrip()
        deep = len(opened) - len(opened.removesuffix("json("))
        assert parser_at(opened + ("payload.a" + ")" if deep else "")) is not None
        assert candidate.text in after


@given(st.text(max_size=40), st.integers(0, 40))
def test_any_text_can_be_completed(text: str, cursor: int) -> None:
    completion = Completer(analysis()).complete(text, min(cursor, len(text)))
    assert 0 <= completion.start <= completion.stop <= len(text)


def test_every_value_offered_finds_its_messages() -> None:
    for field in ("kind", "from", "to", "context", "context.root", "context.leaf", "tool"):
        for candidate in offered(f"{field} == ").candidates:
            if candidate.count is not None:
                filter_ = compile_filter(f"{field} == {candidate.text}")
                shown = filter_.mask(analysis(), np.arange(len(AGENTS)))
                assert shown.sum() == candidate.count
