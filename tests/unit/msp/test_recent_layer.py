"""Tests of `inspector.msp.recent_layer`: which messages of a parent come in, and why others do not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.merged import at, merged, opened, recent, said, session, snapshot, withheld

SEVEN = [said(name) for name in "abcdefg"]


@pytest.mark.parametrize(
    ("policy", "rules", "expected"),
    [
        pytest.param({"recent_parent_messages": 2}, {}, "fg", id="the last N"),
        pytest.param({"recent_parent_messages": 20}, {}, "abcdefg", id="as many as there are"),
        pytest.param({"recent_parent_messages": 0}, {}, "", id="0 is none"),
        pytest.param({"recent_parent_messages": -3}, {}, "", id="negative is none"),
        pytest.param({}, {}, "cdefg", id="missing is 5"),
        pytest.param({}, {"missing_recent": 1}, "g", id="missing is what the rule says"),
        pytest.param(None, {}, "cdefg", id="no policy"),
        pytest.param([2], {}, "cdefg", id="a policy that is none"),
        pytest.param({"recent_parent_messages": "2"}, {}, "cdefg", id="a text is no number"),
        pytest.param({"recent_parent_messages": True}, {}, "cdefg", id="true is no number"),
        pytest.param({"recent_parent_messages": None}, {}, "cdefg", id="null is missing"),
    ],
)
def test_how_many_recent_messages(policy: object, rules: dict[str, Any], expected: str) -> None:
    context = merged(opened(session(*SEVEN), policy=policy), **rules)
    assert recent(context) == list(expected)
    assert withheld(context) == []
    assert [message.id for message in context.older_messages] == list("abcdefg")[: 7 - len(expected)]
    assert context.layer("recent").included is bool(expected)


VISIBLE = [
    said("a"), said("m1", "main_only"), said("b"), said("m2", "main_only"),
    said("c", "global"), said("m3", "main_only"),
]  # fmt: skip
TWO = {"recent_parent_messages": 2}


@pytest.mark.parametrize(
    ("rules", "sent", "kept"),
    [
        pytest.param({}, ["b", "c"], ["m1", "m2", "m3"], id="counted after excluding"),
        pytest.param({"count_withheld": True}, ["c"], ["m1", "m2", "m3"], id="counted before excluding"),
        pytest.param({"include_main_only": True}, ["c", "m3"], [], id="lenient"),
    ],
)
def test_main_only_stays_in_the_parent(rules: dict[str, Any], sent: list[str], kept: list[str]) -> None:
    context = merged(opened(session(*VISIBLE), policy=TWO), **rules)
    assert (recent(context), withheld(context)) == (sent, kept)
    for one in context.withheld:
        assert (one.reason, one.rule) == ("main_only: visible only in the parent.", "include_main_only")


def test_of_a_chat_that_is_main_only_nothing_is_left() -> None:
    sub = opened(session(*(said(name, "main_only") for name in "abc")), policy={"recent_parent_messages": 5})
    context = merged(sub)
    assert (recent(context), withheld(context)) == ([], ["a", "b", "c"])
    assert context.notes == ("0 of 5 (3 withheld as main_only).",)
    assert context.layer("recent").what == "0 of 5, 3 withheld as main_only"
    assert context.layer("recent").included
    lenient = merged(sub, include_main_only=True)
    assert recent(lenient) == ["a", "b", "c"]
    assert lenient.notes == ("3 parent messages are main_only and included.",)
    assert lenient.layer("recent").entries[0].reason == "One of the last 5 parent messages, main_only and included."


OLD_GLOBALS = [
    said("a", "global", 1), said("b", second=2), said("c", "global", 3), said("a", "global", 4), said("d", second=5),
    said("e", "global", 6), said("f", second=7),
]  # fmt: skip


def test_older_global_messages_come_in_once_in_order_and_are_not_counted() -> None:
    context = merged(opened(session(*OLD_GLOBALS), policy=TWO))
    assert recent(context) == ["c", "a", "e", "f"]
    assert [entry.older_global for entry in context.layer("recent").entries] == [True, True, False, False]
    assert context.layer("recent").entries[0].reason == "Global: sent though older than the last 2 parent messages."
    assert context.layer("recent").what == "2 of 2, 2 older and global"
    assert [(one.id, one.reason) for one in context.withheld] == [("a", "Another message with the same id is sent.")]
    assert [message.id for message in context.older_messages] == ["b", "d"]


def test_older_global_messages_may_be_left_out() -> None:
    context = merged(opened(session(*OLD_GLOBALS), policy=TWO), older_globals=False)
    assert recent(context) == ["e", "f"]
    assert [message.id for message in context.older_messages] == ["a", "b", "c", "a", "d"]


def test_global_messages_are_sent_where_no_recent_ones_are_asked_for() -> None:
    layer = merged(opened(session(*OLD_GLOBALS[:3]), policy={"recent_parent_messages": 0})).layer("recent")
    assert [(entry.id, entry.reason) for entry in layer.entries] == [
        ("a", "Global: always sent."), ("c", "Global: always sent."),
    ]  # fmt: skip
    assert (layer.included, layer.why) == (True, "The policy asks for none.")


def test_order_is_by_time_and_what_has_none_stays_behind_what_it_followed() -> None:
    parent = session(said("late", second=9), said("after late"), said("early", second=1), said("after early"))
    assert recent(merged(opened(parent))) == ["early", "after early", "late", "after late"]


@pytest.mark.parametrize(
    ("visibility", "reason"),
    [
        ("subsession_only", "subsession_only, but outside any sub-session: not sent."),
        ("private", 'Visibility "private" is unknown to the protocol.'),
        ("Global", 'Visibility "Global" is unknown to the protocol.'),
    ],
)
def test_an_odd_visibility_is_never_promoted(visibility: str, reason: str) -> None:
    sub = opened(session(said("a"), said("odd", visibility)))
    context = merged(sub)
    assert recent(context) == ["a"]
    assert [(one.id, one.reason, one.rule) for one in context.withheld] == [("odd", reason, "include_misplaced")]
    assert len(context.notes) == 1
    assert recent(merged(sub, include_misplaced=True)) == ["a", "odd"]


@pytest.mark.parametrize("visibility", [None, "", "global", 7, ["main_only"]])
def test_these_visibilities_keep_nothing_back(visibility: object) -> None:
    assert recent(merged(opened(session(said("a", visibility))))) == ["a"]


COVERED = [snapshot("sum", [0, 4])]


def test_what_a_snapshot_covers_is_sent_twice_and_flagged() -> None:
    sub = opened(session(*SEVEN, snapshots=COVERED))
    context = merged(sub)
    assert recent(context) == list("cdefg")
    covered = [entry.id for entry in context.layer("recent").entries if "Also in the snapshot" in entry.reason]
    assert covered == ["c", "d"]
    assert context.notes == ("Messages 3 to 4 are sent twice: in a snapshot and as parent messages.",)
    assert context.layer("recent").entries[0].reason.endswith(" Also in the snapshot of messages 1 to 4.")
    assert merged(sub, half_open=False).notes == (
        "Messages 3 to 5 are sent twice: in a snapshot and as parent messages.",
    )


def test_what_a_snapshot_covers_may_be_left_out() -> None:
    sub = opened(session(*SEVEN, snapshots=COVERED))
    context = merged(sub, covered_again=False)
    assert (recent(context), withheld(context)) == (list("efg"), ["c", "d"])
    assert context.withheld[0].reason == "Covered by the snapshot of messages 1 to 4, which is sent."
    assert context.notes == ("Messages 3 to 4 are not sent, because a snapshot covers them.",)
    assert [message.id for message in context.older_messages] == ["a", "b"]


def test_a_snapshot_that_is_not_sent_covers_nothing() -> None:
    sub = opened(session(*SEVEN, snapshots=COVERED), policy={"include_snapshots": False})
    context = merged(sub, covered_again=False)
    assert (recent(context), context.notes) == (list("cdefg"), ())


def test_what_is_newer_than_the_sub_session_comes_in_by_the_letter() -> None:
    parent = session(said("a", second=1), said("b", "global", 20), said("c", second=30))
    sub = opened(parent, created_at=at(20))
    context = merged(sub)
    assert recent(context) == ["a", "b", "c"]
    assert context.notes == ("2 parent messages sent are newer than the sub-session.",)
    before = merged(sub, before_opening=True)
    assert (recent(before), withheld(before), before.notes) == (["a"], ["b", "c"], ())
    unknown = merged(opened(parent, name="s2"), before_opening=True)
    assert recent(unknown) == ["a", "b", "c"]
    assert unknown.notes == ("Its opening time is unknown, so newer parent messages are not excluded.",)


def test_what_siblings_say_comes_in_through_the_parent_alone() -> None:
    parent = session(said("a", second=1), said("z", second=60))
    opened(parent, said("x", "global", 30), said("y", "subsession_only", 31), name="other")
    opened(parent, said("gone", "global", 30), name="gone", status="discarded")
    opened(parent, said("copied", "global", 30), name="copied").merged = True
    sub = opened(parent, said("q", "global", 40))
    strict = merged(sub, sibling_globals=False)
    assert recent(strict) == ["a", "z"]
    assert strict.notes == ("1 global message of other sub-sessions is not sent before a merge.",)
    context = merged(sub)
    assert (recent(context), withheld(context)) == (["a", "x", "z"], [])
    assert context.layer("recent").entries[1].reason == 'One of the last 5 parent messages, from "other".'


def test_a_merged_sibling_is_a_message_of_the_parent() -> None:
    parent = session(said("a"), said("sum", summary_of="other"), said("x", "global", merged_from="other"))
    opened(parent, said("x", "global"), name="other", status="closed").merged = True
    assert recent(merged(opened(parent))) == ["a", "sum", "x"]


def test_its_own_messages_are_not_sent_a_second_time_from_the_parent() -> None:
    parent = session(said("q", "global"), said("r", content="another"), said("new", content="r said", merged_from="s1"))
    sub = opened(parent, said("q", "global"), said("r"))
    sub.merged = True
    context = merged(sub)
    assert (recent(context), withheld(context)) == (["r"], ["q", "new"])
    assert {one.reason for one in context.withheld} == {"Own message of the sub-session: sent in its own layer."}


def test_a_message_of_another_conversation_with_the_same_id_is_another_one() -> None:
    chat = session(said("q1", "global", 1), said("z", second=9))
    sub = opened(chat, policy={"recent_parent_messages": 1})
    opened(chat, {**said("q1", "global", 2), "content": "a decision"}, name="other")
    opened(chat, said("q1", "global", 3), name="same")
    contents = [entry.content for entry in merged(sub).layer("recent").entries]
    assert len(contents) == 3
    assert "a decision" in contents
