"""Which node each message belongs to; state, type and label of nodes (docs/protocols.md 6 to 8, docs/design.md 2)."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.protocol.timestamps import parse_time
from tests.builders import GrowingLog, document_of, envelope


def said(context: Any, kind: str = "chat", **fields: Any) -> dict[str, Any]:
    return envelope(kind, context=context, **fields)


def start(identifier: str, context: Any = None, message: str = "Why so") -> dict[str, Any]:
    return envelope("reasoning/start", {"message": message}, id=identifier, context=context)


def at(second: int) -> str:
    return f"2026-01-05T09:{second // 60:02d}:{second % 60:02d}.000Z"


def column(document: CaptureDocument, name: str) -> list[object]:
    field = FIELD_BY_NAME[name]
    return [field.value(document.analysis, message) for message in range(len(document.capture))]


def node(document: CaptureDocument, path: str) -> int:
    tree = document.analysis.contexts.tree
    return next(n for n in tree.alive() if tree.path(n) == path)


def test_fields_of_a_path() -> None:
    document = document_of(said("a/b/c"), said(None), said("/"), said("a//b/"), said(7), said(["a"]), said(True))
    assert column(document, "context") == ["a/b/c", None, None, "a/b", None, None, None]
    assert column(document, "context.parent") == ["a/b", None, None, "a", None, None, None]
    assert column(document, "context.root") == ["a", None, None, "a", None, None, None]
    assert column(document, "context.leaf") == ["c", None, None, "b", None, None, None]
    assert column(document, "context.depth") == [3, None, None, 2, None, None, None]
    assert column(document, "context.raw") == ["a/b/c", None, "/", "a//b/", "7", '["a"]', "true"]


def test_a_parent_that_comes_later_is_the_parent() -> None:
    document = document_of(said({"id": "scan", "parent": "why"}), said({"id": "why", "parent": "job"}), said("job"))
    assert column(document, "context.parent") == ["job/why", "job", None]
    assert column(document, "context") == ["job/why/scan", "job/why", "job"]


def test_counts() -> None:
    contexts = document_of(said("a/b"), said("a/b"), said("a"), said(None), "{torn").analysis.contexts
    tree = contexts.tree
    counts = {tree.path(n): (tree.own[n], tree.subtree[n]) for n in tree.alive()}
    assert counts == {"a": (1, 3), "a/b": (2, 2)}
    assert contexts.main_counts == {0: 2}


def test_a_mark_of_ours_is_nobodys_message() -> None:
    gap = {"t": parse_time(at(3_000)), "src": 0, "mark": "rotated"}
    contexts = document_of(said(None, ts=at(1)), gap, said("a", ts=at(2)), gap).analysis.contexts
    assert contexts.main_counts == {0: 1}
    # It comes at the time of whoever watches the log, not at that of the log.
    assert contexts.clock_ns == parse_time(at(2))
    assert contexts.state(contexts.node_of(2)) == "active"


def test_a_reasoning_sequence() -> None:
    document = document_of(
        said(None, id="q"), start("r1", message="  Why\n so  "), said("r1", "reasoning/thought"), said("r1"),
        said("r1", "reasoning/conclusion"), said(None, correlation_id=["q"]),
    )  # fmt: skip
    contexts, r1 = document.analysis.contexts, node(document, "r1")
    assert column(document, "context") == [None, None, "r1", "r1", "r1", None]
    assert (contexts.label(r1), contexts.started_by[r1], contexts.concluded_by[r1]) == ("Why so", 1, 4)
    assert (contexts.first_row[r1], contexts.last_row[r1]) == (2, 4)
    assert (contexts.state(r1), contexts.type(r1)) == ("concluded", "reasoning")
    assert contexts.type_reason(r1) == "Opened by reasoning/start, No. 2."


@pytest.mark.parametrize(
    "lines",
    [
        [start("r2", "r1"), said("r2"), said("r1/r2")],
        [said("r2"), start("r2", "r1"), said("r1/r2")],
        [said("r2"), said("r1/r2"), start("r2", "r1")],
        [said("r1/r2"), said({"id": "r2", "parent": "r1"}), said("r2")],
    ],
    ids=["start first", "start between", "start last", "an object instead"],
)
def test_both_names_of_a_nested_sequence_are_one_path(lines: list[Any]) -> None:
    document = document_of(*lines)
    assert {path for path in column(document, "context") if path != "r1"} == {"r1/r2"}


def test_scan_why_job_as_messages_arrive() -> None:
    log = GrowingLog()
    log.write(said({"id": "scan", "parent": "why"}))
    assert column(log.document, "context") == ["why/scan"]
    (changes,) = log.write(said({"id": "why", "type": "reasoning", "parent": "job"}))
    assert changes.tree_moved
    assert column(log.document, "context") == ["job/why/scan", "job/why"]
    assert column(log.document, "context.type") == [None, "reasoning"]
    (changes,) = log.write(said({"id": "job", "parent": "scan"}))
    assert not changes.tree_moved
    assert column(log.document, "context") == ["job/why/scan", "job/why", "job"]


@pytest.mark.parametrize(
    ("contexts", "paths"),
    [
        ([{"id": "c"}, {"id": "c", "parent": "p"}], ["p/c", "p/c"]),
        ([{"id": "c", "parent": "p"}, {"id": "c"}], ["p/c", "p/c"]),
        ([{"id": "c", "parent": "p"}, {"id": "c", "parent": "other"}], ["p/c", "p/c"]),
        ([{"id": "c", "parent": "c"}], ["c"]),
        ([{"id": "c", "parent": {"id": "p", "type": "t", "parent": "g"}}], ["g/p/c"]),
        ([{"id": "a", "parent": {"id": "b", "parent": "a"}}], ["a"]),
        ([{"id": "a", "parent": "b"}, {"id": "b", "parent": "c"}, {"id": "c", "parent": "a"}], ["c/b/a", "c/b", "c"]),
        ([{"id": "a/b", "parent": "c%"}], ["c%25/a%2Fb"]),
        (["x", {"id": "x", "parent": "p"}], ["p/x", "p/x"]),
        ([{"id": "c", "parent": 7}, {"id": "c", "parent": ""}], ["c", "c"]),
        ([{"id": "c", "parent": {"type": "no id"}}], ["c"]),
    ],
    ids=[
        "parent later", "parent left out later", "first parent stays", "its own parent", "nested parents",
        "nested cycle", "cycle of three", "quoted", "string and object", "odd parents", "a parent without an id",
    ],
)  # fmt: skip
def test_object_contexts(contexts: list[Any], paths: list[str]) -> None:
    assert column(document_of(*map(said, contexts)), "context") == paths


def test_nested_objects_are_observed_parent_first() -> None:
    document = document_of(said({"id": "a", "parent": {"id": "b", "parent": "a"}}))
    assert document.analysis.contexts.tree.path(node(document, "a/b")) == "a/b"


def test_parents_nested_without_end_do_no_harm() -> None:
    context: Any = {"id": "deepest"}
    for number in range(300):
        context = {"id": f"c{number}", "parent": context}
    document = document_of(said(context))
    assert column(document, "context.depth") == [65]


@pytest.mark.parametrize(
    ("kinds", "state"),
    [
        (["reasoning/thought"], "active"),
        (["reasoning/conclusion"], "concluded"),
        (["reasoning/cancel"], "cancelled"),
        (["reasoning/cancel", "reasoning/conclusion"], "cancelled"),
        (["reasoning/conclusion", "reasoning/cancel"], "cancelled"),
        (["reasoning/conclusion", "chat"], "concluded"),
        (["reasoning/end"], "concluded"),
    ],
)
def test_states(kinds: list[str], state: str) -> None:
    document = document_of(*(said("c", kind, ts=at(0)) for kind in kinds))
    assert column(document, "context.state") == [state] * len(kinds)


@pytest.mark.parametrize(("seconds", "state"), [(0, "active"), (30, "active"), (31, "idle")])
def test_a_log_s_contexts_are_active_by_its_last_record(seconds: int, state: str) -> None:
    document = document_of(said("c", ts=at(0)), said(None, ts=at(seconds)))
    assert column(document, "context.state") == [state, None]


def test_live_contexts_are_active_by_the_wall_clock() -> None:
    document = document_of(said("c", ts=at(0)))
    document.analysis.now_ns = parse_time(at(31))
    assert column(document, "context.state") == ["idle"]


def test_an_ancestor_without_messages_goes_by_those_far_below() -> None:
    document = document_of(said("a/b/c/d", ts=at(0)))
    contexts = document.analysis.contexts
    assert [contexts.state(n) for n in contexts.tree.walk(0)] == ["active"] * 4


def test_without_times_nothing_has_timed_out() -> None:
    document = document_of({"kind": "chat", "context": "a"}, {"kind": "chat"})
    contexts = document.analysis.contexts
    assert (contexts.state(0), contexts.main_state(0), column(document, "context.state")[0]) == ("active",) * 3
    document = document_of({"kind": "chat", "context": "a"}, said("b", ts=at(0)), said("b", ts=at(40)))
    assert column(document, "context.state") == ["active"] * 3


def test_a_context_is_no_more_idle_than_those_below_it() -> None:
    said_below = said({"id": "k", "parent": "p"}, ts=at(100))
    for lines in ([said({"id": "p"}, ts=at(0)), said_below], [said("p", ts=at(0)), said("p/k", ts=at(100))]):
        contexts = document_of(*lines).analysis.contexts
        assert [contexts.state(n) for n in contexts.tree.walk(0)] == ["active"] * 2
    lines = [said("p", ts=at(0)), said("p/k", ts=at(10)), said("q", ts=at(100))]
    contexts = document_of(*lines).analysis.contexts
    assert [contexts.state(n) for n in contexts.tree.walk(0)] == ["idle", "idle", "active"]


@pytest.mark.parametrize(
    ("lines", "types", "reason"),
    [
        ([said("x")], [None], ""),
        ([said("reason-7")], ["reasoning"], "Its first segment starts with “reason”."),
        ([said("reason-7/sub")], ["reasoning"], "Its first segment starts with “reason”."),
        ([said("sub/reason-7")], [None], ""),
        ([said("x", "reasoning/thought")], ["reasoning"], "Holds reasoning messages."),
        ([said("x"), said("x", "reflection")], ["reasoning", "reasoning"], "Holds reasoning messages."),
        ([said("x"), start("x")], ["reasoning", None], "Opened by reasoning/start, No. 2."),
        ([said({"id": "x", "type": "review"})], ["review"], "Its messages say so."),
        ([said({"id": "reason-1", "type": "review"})], ["review"], "Its messages say so."),
        ([said({"id": "x"}), said({"id": "x", "type": "review"}), said({"id": "x", "type": "other"})],
         ["review"] * 3, "Its messages say so."),
        ([said({"id": "x", "type": 7})], [None], ""),
    ],
)  # fmt: skip
def test_types(lines: list[Any], types: list[str | None], reason: str) -> None:
    document = document_of(*lines)
    contexts = document.analysis.contexts
    assert column(document, "context.type") == types
    assert contexts.type_reason(contexts.node_of(0)) == reason


def test_a_type_that_is_learnt_late_is_reported() -> None:
    log = GrowingLog()
    log.write(said("x"))
    assert column(log.document, "context.type") == [None]
    (changes,) = log.write(said("x", "reasoning/thought"))
    assert changes.tree_moved
    assert column(log.document, "context.type") == ["reasoning", "reasoning"]
    (changes,) = log.write(said("x", "reasoning/thought"))
    assert not changes.tree_moved


def test_speakers_in_the_order_they_first_spoke() -> None:
    document = document_of(
        said("x", sender="b"), said("x", sender="a"), said("x", sender="b"), {"kind": "chat", "context": "x"}
    )
    contexts = document.analysis.contexts
    assert [document.capture.strings[code] for code in contexts.senders_in(0)] == ["b", "a"]


def test_starts_without_an_id_and_starts_twice() -> None:
    document = document_of(
        {"kind": "reasoning/start", "payload": {}}, {"kind": "reasoning/start", "id": 7, "payload": {}},
        start("r", message="first"), start("r", message="second"), said("r"),
    )  # fmt: skip
    contexts, r = document.analysis.contexts, node(document, "r")
    assert (len(contexts.tree.alive()), contexts.started_by[r], contexts.label(r)) == (1, 2, "first")


def test_labels_are_cut() -> None:
    document = document_of(start("r", message="word " * 100))
    assert len(document.analysis.contexts.label(0)) == 80


def test_spaces_hold_contexts_of_their_own() -> None:
    def line(space: str, context: str | None) -> dict[str, Any]:
        inner = {"kind": "chat", "id": f"{space}-{context}", "context": context}
        return {"event": "received", "timestamp": at(0), "space_id": space, "envelope": inner}

    document = document_of(line("s2", "a"), line("s1", "a"), line("s1", None), line("s2", None))
    contexts, strings = document.analysis.contexts, document.capture.strings
    assert [strings[space] for space in contexts.spaces] == ["s2", "s1"]
    assert len(contexts.tree.alive()) == 2


def test_nodes_that_gained_messages_are_noted() -> None:
    log = GrowingLog()
    log.write(said("a"), said("b"))
    contexts = log.document.analysis.contexts
    contexts.take_touched()
    log.write(said("b"), said(None))
    assert contexts.take_touched() == {node(log.document, "b")}


def test_states_of_a_deep_tree() -> None:
    document = document_of(said("/".join("a" * 20_000), id="m"))
    contexts = document.analysis.contexts
    assert {contexts.state(n) for n in range(len(contexts.tree))} == {"active"}
    assert column(document, "context.state") == ["active"]
    assert column(document, "context.root") == ["a"]


def test_an_ancestor_without_messages_goes_by_those_below() -> None:
    log = GrowingLog()
    log.write(said("a/b/c", ts=at(0)), said("x/y", ts=at(100)))
    contexts = log.document.analysis.contexts
    assert [contexts.state(node(log.document, path)) for path in ("a", "a/b", "x")] == ["idle", "idle", "active"]
    log.write(said("a/b/d", ts=at(101)))
    assert [contexts.state(node(log.document, path)) for path in ("a", "a/b", "a/b/c")] == ["active", "active", "idle"]


def test_a_path_that_is_cut_says_so() -> None:
    long = "/".join(f"s{number}" for number in range(1_001))
    contexts = document_of(envelope(context=long), envelope(context="a/b")).analysis.contexts
    cut, usual = contexts.node_of(0), contexts.node_of(1)
    assert contexts.note(cut) == "Its path has 1,001 levels: those beyond 1,000 are one context."
    assert contexts.note(usual) == ""


def test_one_key_in_two_spaces_is_two_contexts() -> None:
    places = [(space, context) for context in ("a", "b") for space in ("s1", "s2", "s1")]
    lines = [{"timestamp": at(n), "event": "received", "space_id": space, "envelope": said(context, id=f"m{n}")}
             for n, (space, context) in enumerate(places)]  # fmt: skip
    contexts = document_of(*lines).analysis.contexts
    assert contexts.nodes().tolist() == [0, 1, 0, 2, 3, 2]
    assert contexts.nodes_of(slice(2, 4)).tolist() == [0, 2]
