"""Tests of `inspector.msp.merged`: the four layers together, nested sub-sessions, and the forms it is given out in."""

from __future__ import annotations

from inspector.msp.merged import MergedContexts
from inspector.msp.merged_layers import LAYER_TITLES
from tests.merged import merged, opened, recent, said, session, snapshot, withheld, words

DESK = session(
    said("a", role="assistant"), said("b", "main_only"), said("c"),
    snapshots=(snapshot("sum", [0, 1]),), sub_context={"intent": "report"},
)  # fmt: skip


def test_there_are_always_four_layers_in_this_order() -> None:
    none = {"include_sub_context": False, "include_snapshots": False, "recent_parent_messages": 0}
    for sub in (opened(DESK), opened(DESK, policy=none), opened(None)):
        assert [layer.name for layer in merged(sub).layers] == list(LAYER_TITLES)
    assert list(LAYER_TITLES) == ["sub_context", "snapshots", "recent", "own"]


def test_the_form_for_scripts() -> None:
    sub = opened(DESK, said("q", "subsession_only"), policy={"include_snapshots": False})
    assert merged(sub).as_json() == {
        "subsession": "s1",
        "layers": [
            {"name": "sub_context", "included": True, "tokens": 2, "entries": [
                {"id": None, "role": "system", "content": "Intent: report",
                 "reason": "Intent, constraints, decisions and facts of the session."}]},
            {"name": "snapshots", "included": False, "tokens": 0, "entries": []},
            {"name": "recent", "included": True, "tokens": 4, "entries": [
                {"id": "a", "role": "assistant", "content": "a said", "reason": "One of the last 5 parent messages."},
                {"id": "c", "role": "user", "content": "c said", "reason": "One of the last 5 parent messages."}]},
            {"name": "own", "included": True, "tokens": 2, "entries": [
                {"id": "q", "role": "user", "content": "q said", "reason": "Own message."}]},
        ],
        "withheld": [{"id": "b", "reason": "main_only: visible only in the parent."}],
        "tokens": 8,
    }  # fmt: skip


def test_the_form_to_send() -> None:
    sub = opened(DESK, said("q"), {"content": [{"type": "text", "text": "two"}, "parts"]})
    assert merged(sub).as_messages() == [
        {"role": "system", "content": "Intent: report"},
        {"role": "system", "content": "sum sums up"},
        {"role": "assistant", "content": "a said"},
        {"role": "user", "content": "c said"},
        {"role": "user", "content": "q said"},
        {"role": "user", "content": "two\n\nparts"},
    ]


def test_a_time_that_is_a_number_counts_as_missing() -> None:
    late = {**said("late"), "timestamp": 4_102_444_800}
    parent = session(said("a", second=1), late, said("b", second=2), said("c", second=3))
    assert recent(merged(opened(parent, policy={"recent_parent_messages": 2}))) == ["b", "c"]
    assert recent(merged(opened(parent))) == ["a", "late", "b", "c"]  # behind the one written before it


def test_own_messages_keep_their_order_whatever_their_times_and_visibility() -> None:
    sub = opened(session(), said("b", "main_only", 9), said("a", "global", 1), said("c", "private"))
    context = merged(sub)
    assert [entry.id for entry in context.layer("own").entries] == ["b", "a", "c"]
    assert context.notes == ("1 own message is main_only, which has no effect in a sub-session.",)


NEST = session(said("m", "global"), said("n"), snapshots=(snapshot("sum", [0, 2]),), sub_context={"intent": "report"})
MIDDLE = opened(NEST, said("p", "subsession_only"), said("o", "main_only"), said("g", "global"), name="middle")
INNER = opened(MIDDLE, said("q"), name="inner")


def test_a_nested_one_has_the_session_above_and_the_messages_of_its_direct_parent() -> None:
    context = merged(INNER)
    assert [len(layer.entries) for layer in context.layers] == [1, 1, 3, 1]
    assert (recent(context), withheld(context)) == (["m", "p", "g"], ["o"])
    without = merged(INNER, ancestor_globals=False)
    assert recent(without) == ["p", "g"]
    assert without.notes == ("2 of 5 (1 withheld as main_only).", "1 global message above the parent is not sent.")


def test_a_nested_one_by_other_rules() -> None:
    above = merged(INNER, ancestor_globals=True)
    assert recent(above) == ["m", "p", "g"]
    assert above.layer("recent").entries[0].reason == (
        'Global, from "m1", above the parent. Also in the snapshot of messages 1 to 2.'
    )
    root = merged(INNER, recent_from_root=True)
    assert recent(root) == ["m", "n", "g"]


def test_sub_sessions_that_lie_in_each_other_end() -> None:
    one = opened(None, said("x", "global"), name="one")
    other = opened(one, name="other")
    # The reader cuts a circle; whatever comes by, asking for what lies above ends.
    assert recent(merged(other, ancestor_globals=True)) == ["x"]


def test_one_that_is_over_says_so() -> None:
    assert merged(opened(DESK, name="c", status="closed")).notes[0] == (
        "The sub-session is closed. It would send this if it continued."
    )
    assert "discarded" in merged(opened(DESK, name="d", status="discarded")).notes[0]


def test_odd_values_of_a_policy_are_named() -> None:
    policy = {"include_sub_context": "yes", "include_snapshots": 1, "recent_parent_messages": "five\u202e"}
    assert merged(opened(session(), policy=policy)).notes == (
        'include_sub_context is "yes", which is not true or false; it is included.',
        'include_snapshots is "1", which is not true or false; they are included.',
        'recent_parent_messages is "five\u202e", which is not a whole number; 5 is used.',
    )


def test_after_an_edit_everything_is_worked_out_anew() -> None:
    parent = session(said("a"))
    sub = opened(parent)
    contexts = MergedContexts(count=words)
    assert recent(contexts.compute(sub)) == ["a"]
    parent.items.append(said("b"))
    contexts.invalidate(parent)
    assert recent(contexts.compute(sub)) == ["a", "b"]
    sub.items.append(said("q"))
    assert contexts.compute(sub).layer("own").entries[0].id == "q"
    parent.items.pop()
    contexts.invalidate()
    assert recent(contexts.compute(sub)) == ["a"]


def test_what_is_global_beside_an_ancestor_reaches_those_nested_deeper() -> None:
    main = session()
    opened(main, said("g", "global"), name="beside")
    inner = opened(opened(main, name="outer"), name="inner")
    assert [entry.id for entry in merged(inner).layer("recent").entries] == ["g"]
