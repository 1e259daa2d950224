"""Rows that report sessions: they shape the tree in any order, and count as no message."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from tests.builders import GrowingLog, document_of, envelope


def told(kind: str, context: str | None = None, **payload: Any) -> dict[str, Any]:
    name = payload.get("subsession_id", "")
    return envelope(
        f"msp/{kind}", payload, protocol="msp", space="m1", sender=None, context=context, id=f"{kind}{name}"
    )


LINES = [
    told("session", label="Desk"),
    told("subsession", subsession_id="s1", label="units", status="open"),
    told("subsession", "s1", subsession_id="s2", label="history", status="open"),
    envelope(protocol="msp", space="m1", context="s2", id="a"),
]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_sub_sessions_lie_where_they_were_opened(order: tuple[int, ...]) -> None:
    document = document_of(*(LINES[place] for place in order))
    contexts, strings = document.analysis.contexts, document.capture.strings
    assert {contexts.tree.path(node): contexts.label(node) for node in contexts.tree.alive()} == {
        "s1": "units", "s1/s2": "history",
    }  # fmt: skip
    assert {contexts.type(node) for node in contexts.tree.alive()} == {"subsession"}
    assert [contexts.tree.own[node] for node in contexts.tree.walk(contexts.spaces[0])] == [0, 1]
    assert {strings[space]: label for space, label in contexts.sessions.labels.items()} == {"m1": "Desk"}
    assert contexts.main_counts == {}


@pytest.mark.parametrize(("status", "state"), [("closed", "concluded"), ("discarded", "cancelled")])
def test_the_end_of_a_sub_session_is_that_of_its_context(status: str, state: str) -> None:
    log = GrowingLog()
    log.write(*LINES)
    contexts = log.document.analysis.contexts
    node = contexts.tree.find(contexts.spaces[0], "s1")
    assert contexts.state(node) in ("active", "idle")
    log.write(told("closed", subsession_id="s1", status=status, summary="Done"))
    assert contexts.state(node) == state
    assert contexts.metadata(node)["status"] == status


def test_odd_rows_shape_nothing() -> None:
    odd: tuple[dict[str, Any], ...] = (
        {}, {"subsession_id": 7}, {"subsession_id": ""}, {"subsession_id": "s1", "label": ["x"], "status": {}},
    )  # fmt: skip
    document = document_of(*(told("subsession", **one) for one in odd), told("closed"), told("session", label=3))
    contexts = document.analysis.contexts
    assert [contexts.label(node) for node in contexts.tree.alive()] == ["s1"]
