"""The rows of a table: filter and scope, following new traffic, lines of expanded originals."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from inspector.filters import batch_size, compile_filter
from inspector.filters import compile as compiling
from inspector.filters.visible import Reach, Scope, Update, VisibleRows
from tests.builders import GrowingLog, clean_up, document_of, envelope, tool_call, tool_result
from tests.strategies import context_conversations, conversations, gateway_logs, rpc_conversations, traffic


def rows_of(document: CaptureDocument, text: str = "", scope: Scope | None = None) -> VisibleRows:
    rows = VisibleRows(document.analysis)
    rows.apply_filter(compile_filter(text), scope)
    return rows


def chats(*contexts: Any) -> CaptureDocument:
    return document_of(*(envelope(context=context) for context in contexts))


def scope(document: CaptureDocument, path: str | None, reach: Reach = Reach.BELOW) -> Scope:
    tree = document.analysis.contexts.tree
    return Scope(0, MAIN if path is None else next(n for n in tree.alive() if tree.path(n) == path), reach)


# Choosing


def test_a_filter_chooses() -> None:
    document = chats(None, "a", "a/b", None)
    assert rows_of(document).visible.tolist() == [0, 1, 2, 3]
    assert rows_of(document, "!context").visible.tolist() == [0, 3]
    assert rows_of(document, "kind == never").visible.tolist() == []


@pytest.mark.parametrize(
    ("path", "reach", "shown"),
    [
        ("a", Reach.BELOW, [1, 2, 3]),
        ("a", Reach.ONLY, [1]),
        ("a", Reach.CHILDREN, [2]),
        ("a/b", Reach.BELOW, [2, 3]),
        ("a/b/c", Reach.CHILDREN, []),
        (None, Reach.BELOW, [0, 5]),
        (None, Reach.ONLY, [0, 5]),
    ],
)
def test_a_scope_chooses(path: str | None, reach: Reach, shown: list[int]) -> None:
    document = chats(None, "a", "a/b", "a/b/c", "ab", None)
    assert rows_of(document, "", scope(document, path, reach)).visible.tolist() == shown


def test_a_scope_may_be_a_whole_space() -> None:
    def line(space: str) -> dict[str, Any]:
        return {"event": "received", "timestamp": "x", "space_id": space, "envelope": envelope(context="a")}

    document = document_of(line("s1"), line("s2"), line("s1"))
    space = document.capture.strings.find("s1")
    assert space is not None
    assert rows_of(document, "", Scope(space, None)).visible.tolist() == [0, 2]


def test_scope_and_filter_both_count() -> None:
    document = chats("a", "a", "b")
    assert rows_of(document, "no != 1", scope(document, "a")).visible.tolist() == [1]


def test_a_scope_follows_its_node_into_another() -> None:
    document = chats("r2", "r1/r2")
    rows = rows_of(document, "", scope(document, "r2"))
    assert rows.visible.tolist() == [0]
    log = GrowingLog()
    log.write(envelope(context="r2"), envelope(context="r1/r2"))
    rows = rows_of(log.document, "", scope(log.document, "r2"))
    (changes,) = log.write(envelope("reasoning/start", {}, id="r2", context="r1"))
    rows.apply(rows.prepare(changes))
    assert rows.visible.tolist() == [0, 1]


# Following

FILTERS = (
    "", "!context", 'context under "r1"', 'context childof "r1"', 'context.type == "reasoning"', "context.depth >= 2",
    'context.root == "r1"', 'context.leaf == "r2"', 'context.state == "idle"', 'context.state == "concluded"', "badge",
    'badge == "collapsed"', "collapsed.by", "consumes", "summary", "latency < 5000", "answered",
    'proposal.state == "open"', 'proposal.state == "answered"', 'tool == "grep"', 'tool.rule == "unknown"',
    'kind like "mcp/*:grep"', 'kind like "mcp/response:tools/call:search_*"', 'delivered == "lead"',
    'method == "tools/list"', "target", "error || badge", 'text contains "why"', "payload.tokens == 5",
    'from == "lead" && !answered', 'summary contains "grep"', 'to == "lead"', 'correlation == "a"',
    "!proposal.state && context", '"why"', 'id == "a"', 'id in {"a", "local-1", "r1/r2"}', 'id != "a"', "!id",
    'correlation in {"a", "q0", "d0"}', 'correlation != "q1"', "!correlation", 'summary == "15 records"', "!summary",
    'context under "r1" && "why"', 'context.state == "active" || payload.tokens == 5', "context.raw",
    'delivered && context.depth == 1', 'space == "other" && (answered || latency)', 'context.raw == "7"',
    'badge && context.type != "reasoning"', "state == answered", "state in {concluded, cancelled, closed}",
    "state == failed || state == open",
    'kind like "mcp/*:grep" && !(text contains "why")', 'proposal.state in {"open", "fulfilled"} || source',
)  # fmt: skip
scopes = st.none() | st.tuples(st.integers(-1, 4), st.sampled_from(list(Reach)))


anything = st.one_of(conversations, context_conversations, rpc_conversations, gateway_logs(), traffic())
NOTHING = AnalysisChanges(0, 0, np.empty(0, np.int64), tree_moved=False)


@given(anything, st.sampled_from(FILTERS), scopes, st.integers(1, 4))
def test_following_gives_what_choosing_anew_gives(
    lines: list[dict[str, Any]], text: str, wanted: tuple[int, Reach] | None, size: int
) -> None:
    log = GrowingLog()
    rows = rows_of(log.document, text)
    tree = log.document.analysis.contexts.tree
    for place in range(0, len(lines), size):
        for changes in log.write(*lines[place : place + size]):
            follow(rows, changes, text)
        if rows.scope is None and wanted is not None and len(tree) > wanted[0]:
            rows.apply_filter(rows.filter, Scope(tree.space[wanted[0]] if wanted[0] >= 0 else 0, *wanted))
    clean_up()


@given(anything, st.sampled_from(FILTERS), scopes, st.integers(1, 4), st.integers(0, 3))
def test_following_in_slices_comes_to_the_same(
    lines: list[dict[str, Any]], text: str, wanted: tuple[int, Reach] | None, size: int, slices: int
) -> None:
    """Traffic comes faster than records are decoded: what is shown is behind, in order, and right in the end."""
    log = GrowingLog()
    rows = rows_of(log.document, text)
    tree = log.document.analysis.contexts.tree
    with slow_decoding():
        for place in range(0, len(lines), size):
            for changes in [*log.write(*lines[place : place + size]), *[NOTHING] * slices]:
                rows.apply(rows.prepare(changes, in_blocks=True))
                shown = rows.visible.tolist()
                assert shown == sorted(set(shown))
                calls = rows.hidden_calls()
                assert len(rows) == len(shown)
                assert min(calls) >= 0
            if rows.scope is None and wanted is not None and len(tree) > wanted[0]:
                rows.apply_filter(rows.filter, Scope(tree.space[wanted[0]] if wanted[0] >= 0 else 0, *wanted))
        for _ in range(10 * len(lines) + 10):
            if rows.is_behind:
                rows.apply(rows.prepare(NOTHING, in_blocks=True))
    assert not rows.is_behind
    assert rows.visible.tolist() == rows.evaluate(compile_filter(text), rows.scope).tolist()
    anew = rows_of(log.document, text, rows.scope)
    assert rows.hidden_calls() == anew.hidden_calls()
    clean_up()


@contextmanager
def slow_decoding() -> Generator[None]:
    """One record takes as long as there is time for."""
    with (
        patch.object(batch_size, "_FIRST_SIZE", 1),
        patch.object(batch_size, "_MAX_SIZE", 1),
        patch.object(compiling, "_CHUNK", 2),
        patch.object(compiling, "BLOCK_S", 0.0),
    ):
        yield


def follow(rows: VisibleRows, changes: AnalysisChanges, text: str) -> Update:
    """Apply what a feed did, and compare with choosing anew through a filter that remembers nothing."""
    before = rows.visible.tolist()
    update = rows.prepare(changes)
    assert rows.visible.tolist() == before
    rows.apply(update)
    after = rows.visible.tolist()
    assert after == rows.evaluate(compile_filter(text), rows.scope).tolist()
    assert after == sorted(set(after))
    assert not update.appended or after[: len(before)] == before
    assert set(update.changed.tolist()) <= set(after)
    return update


def test_new_messages_only_append() -> None:
    log = GrowingLog()
    rows = rows_of(log.document, "from == lead")
    updates = [follow(rows, log.write(envelope(sender=sender))[0], "from == lead") for sender in ("lead", "x", "lead")]
    assert [update.appended for update in updates] == [True, True, True]
    assert rows.visible.tolist() == [0, 2]


def test_an_earlier_message_may_come_to_fit_or_stop_fitting() -> None:
    log = GrowingLog()
    request = tool_call("grep")
    answered, waiting = rows_of(log.document, "answered"), rows_of(log.document, "kind == mcp/request && !answered")
    (changes,) = log.write(request)
    assert (follow(answered, changes, "answered").appended, waiting.prepare(changes).visible.tolist()) == (True, [0])
    waiting.apply(waiting.prepare(changes))
    (changes,) = log.write(tool_result(request))
    assert follow(answered, changes, "answered").visible.tolist() == [0]
    assert not follow(waiting, changes, waiting.filter.text).appended


def test_changed_messages_that_are_shown_are_named() -> None:
    log = GrowingLog()
    rows = rows_of(log.document)
    request = tool_call("grep")
    follow(rows, log.write(request, envelope())[0], "")
    update = follow(rows, log.write(tool_result(request))[0], "")
    assert (update.appended, update.changed.tolist()) == (True, [0])


def test_time_passing_changes_what_goes_by_the_clock() -> None:
    document = document_of(envelope(context="a", ts="2026-01-05T09:00:00.000Z"))
    rows = rows_of(document, "context.state == active")
    assert rows.visible.tolist() == [0]
    document.analysis.now_ns = 2 * 10**18
    nothing = AnalysisChanges(1, 1, np.empty(0, np.int64), tree_moved=False)
    assert rows.prepare(nothing).visible.tolist() == [0]
    assert rows.prepare(nothing, clock=True).visible.tolist() == []


# Expanded originals

expansions = st.dictionaries(st.integers(0, 11), st.integers(1, 4), max_size=5)


@given(expansions, st.sets(st.integers(0, 11)))
def test_rows_and_messages_lead_to_each_other(expanded: dict[int, int], shown: set[int]) -> None:
    document = chats(*[None] * 12)
    text = " || ".join(f"no == {number + 1}" for number in sorted(shown)) or "kind == never"
    rows = rows_of(document, text)
    for message, parts in expanded.items():
        rows.expand(message, parts)
    expected = [(m, part) for m in sorted(shown) for part in range(expanded.get(m, 0) + 1)]
    assert [rows.row_at(row) for row in range(len(rows))] == expected
    assert [rows.row_of(message, part) for message, part in expected] == list(range(len(expected)))
    assert [rows.row_of(message) for message in range(12) if message not in shown] == [None] * (12 - len(shown))
    for message in expanded:
        rows.collapse(message)
    assert len(rows) == len(shown)
    clean_up()


def test_an_expansion_outlives_a_filter() -> None:
    document = chats(None, None, None)
    rows = rows_of(document)
    rows.expand(1, 2)
    rows.apply_filter(compile_filter("no != 2"), None)
    assert [rows.row_at(row) for row in range(len(rows))] == [(0, 0), (2, 0)]
    rows.apply_filter(compile_filter(""), None)
    assert [rows.row_at(row) for row in range(len(rows))] == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0)]
    assert (rows.part_count(1), rows.part_count(0)) == (2, 0)


def test_nothing_expands_to_nothing() -> None:
    rows = rows_of(chats(None))
    rows.expand(0, 0)
    rows.collapse(0)
    assert len(rows) == 1


@pytest.mark.parametrize(("message", "row"), [(0, 0), (1, 0), (2, 1), (3, 1), (9, 1)])
def test_the_nearest_row(message: int, row: int) -> None:
    rows = rows_of(chats(*[None] * 4), "no == 2 || no == 3")
    assert rows.nearest_row(message) == row


def test_no_row_is_near_where_nothing_is_shown() -> None:
    assert rows_of(chats(None), "kind == never").nearest_row(0) == -1


# What is hidden


def test_hidden_calls() -> None:
    call = {"method": "tools/list"}
    document = document_of(
        envelope("mcp/request", call, context="a"), envelope("mcp/request", call, context="b"),
        envelope("mcp/proposal", call, context="a"), envelope("mcp/request", call), envelope(context="a"),
    )  # fmt: skip
    assert rows_of(document).hidden_calls() == (0, 0)
    assert rows_of(document, "from == nobody").hidden_calls() == (3, 1)
    assert rows_of(document, "!context").hidden_calls() == (2, 1)
    assert rows_of(document, "", scope(document, "a")).hidden_calls() == (2, 0)
    assert rows_of(document, "context.depth == 1").hidden_calls() == (1, 0)
    assert rows_of(document, 'kind like "mcp/*"').hidden_calls() == (0, 0)


def test_a_scope_may_let_the_calls_outside_of_it_through() -> None:
    call = {"method": "tools/list"}
    document = document_of(
        envelope("chat", context="a"), envelope("mcp/request", call, context="b"), envelope("chat", context="b"),
        envelope("mcp/proposal", call), envelope("mcp/request", call, context="a"),
    )  # fmt: skip
    narrow = scope(document, "a")
    wide = replace(narrow, calls=True)
    assert rows_of(document, "", narrow).visible.tolist() == [0, 4]
    assert rows_of(document, "", wide).visible.tolist() == [0, 1, 3, 4]
    assert rows_of(document, "", wide).hidden_calls() == (0, 0)
