"""Tests of `inspector.msp.session_layers`: the sub-context and the summary snapshots of a merged context."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.msp.objects import Snapshot
from inspector.msp.rules import Rules
from inspector.msp.session_layers import covered_words
from tests.merged import merged, opened, said, session, snapshot

AGREED = {"intent": "weekly report", "constraints": ["SI units", "no PDF"], "decisions": ["March"], "facts": []}


@pytest.mark.parametrize(
    ("written", "rules", "included"),
    [
        pytest.param(True, {}, True, id="true"),
        pytest.param(None, {}, True, id="missing"),
        pytest.param("no", {}, True, id="of a wrong type"),
        pytest.param(False, {}, False, id="an explicit false wins"),
        pytest.param(False, {"explicit_false_wins": False}, True, id="always included"),
    ],
)
def test_whether_the_sub_context_is_sent(written: object, rules: dict[str, Any], included: bool) -> None:
    policy = {} if written is None else {"include_sub_context": written}
    layer = merged(opened(session(sub_context=AGREED), policy=policy), **rules).layer("sub_context")
    assert layer.included is included
    assert len(layer.entries) == included
    assert (layer.tokens, layer.left_out) == ((13, 0) if included else (0, 13))
    assert layer.what == "intent, 2 constraints, 1 decision"


def test_the_sub_context_is_one_text_of_the_system() -> None:
    (entry,) = merged(opened(session(sub_context=AGREED))).layer("sub_context").entries
    assert (entry.id, entry.role) == (None, "system")
    assert entry.content == "Intent: weekly report\nConstraints:\n- SI units\n- no PDF\nDecisions:\n- March"


@pytest.mark.parametrize("agreed", [None, {}, {"intent": ""}, "weekly", ["weekly"], {"intent": 3, "facts": []}])
def test_a_session_that_says_nothing_of_itself(agreed: object) -> None:
    layer = merged(opened(session(sub_context=agreed))).layer("sub_context")
    assert (layer.included, layer.what, layer.tokens, layer.entries) == (True, "none", 0, ())


@pytest.mark.parametrize(
    ("written", "included"),
    [(True, True), (None, True), (0, True), (False, False)],
    ids=["true", "missing", "0", "false"],
)
def test_whether_snapshots_are_sent(written: object, included: bool) -> None:
    policy = {} if written is None else {"include_snapshots": written}
    layer = merged(opened(session(snapshots=(snapshot("a", [0, 20]),)), policy=policy)).layer("snapshots")
    assert (layer.included, len(layer.entries)) == (included, int(included))
    assert layer.what == "1, covers messages 1 to 20"


def test_snapshots_go_by_what_they_cover_then_by_when_they_were_made() -> None:
    made = (
        snapshot("nothing"), snapshot("late", [20, 40], 9), snapshot("untimed", [0, 20]),
        snapshot("second", [0, 20], 8), snapshot("first", [0, 10], 7), snapshot("odd", [True, 3]),
    )  # fmt: skip
    sub = opened(session(snapshots=made))
    ordered = [entry.id for entry in merged(sub).layer("snapshots").entries]
    assert ordered == ["first", "second", "untimed", "late", "nothing", "odd"]
    written = [entry.id for entry in merged(sub, snapshots_in_order=False).layer("snapshots").entries]
    assert written == [one["id"] for one in made]


@pytest.mark.parametrize(
    ("covers", "half_open", "inclusive"),
    [
        ([0, 20], "messages 1 to 20", "messages 1 to 21"),
        ([4, 5], "message 5", "messages 5 to 6"),
        ([4, 4], "no messages", "message 5"),
        ([9, 3], "no messages", "no messages"),
        (None, "", ""),
        ([1], "", ""),
    ],
)
def test_what_a_snapshot_covers_in_words(covers: object, half_open: str, inclusive: str) -> None:
    one = Snapshot(snapshot("a", covers))
    assert covered_words(one, Rules()) == half_open
    assert covered_words(one, Rules(half_open=False)) == inclusive


def test_without_a_session_there_is_nothing_to_inherit() -> None:
    context = merged(opened(None, said("q")))
    assert [(layer.included, len(layer.entries)) for layer in context.layers] == [
        (True, 0), (True, 0), (True, 0), (True, 1),
    ]  # fmt: skip
    assert context.notes == ("Its parent is not in the document: only its own messages are sent.",)
