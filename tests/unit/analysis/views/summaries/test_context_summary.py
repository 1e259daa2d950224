"""What is told of one context: what its messages add up to, how it is written, what was found below it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.findings.naming_problems import naming_problems
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries import context_summary
from inspector.analysis.views.summaries.context_summary import (
    MAX_NOTATIONS,
    ContextTally,
    Notation,
    children_of,
    findings_below,
    notations_of,
    subtree_mask,
)
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes
from inspector.protocol.timestamps import NO_TIME, parse_time
from tests.builders import GrowingLog, document_of, envelope, received

DIALECTS = Path(__file__).parents[4] / "data" / "dialects"


def said(context: Any, kind: str = "chat", payload: Any = None, **fields: Any) -> dict[str, Any]:
    return envelope(kind, payload, context=context, **fields)


def node(document: CaptureDocument, path: str) -> int:
    tree = document.analysis.contexts.tree
    return next((n for n in tree.alive() if tree.path(n) == path), MAIN)


def tally_of(document: CaptureDocument, path: str = "") -> ContextTally:
    tally = ContextTally(document.analysis, document.analysis.contexts.spaces[0], node(document, path))
    tally.update()
    return tally


def told(tally: ContextTally) -> tuple[Any, ...]:
    """All it says; what has no order in itself is compared without."""
    return (
        tally.messages, tally.size, tally.largest, tally.first, tally.last, tally.first_ns, tally.last_ns,
        dict(tally.senders), dict(tally.kinds), dict(tally.written), tally.first_written, tally.rate,
        tally.recent(tally.last_ns),
    )  # fmt: skip


def test_what_messages_add_up_to() -> None:
    times = [f"2026-01-05T09:{clock}.000Z" for clock in ("00:00", "00:10", "00:20", "01:10")]
    document = document_of(
        said("a", ts=times[0]),
        said("a/b", ts=times[1]),
        said("a", "mcp/request", {"method": "x" * 300}, sender="files", ts=times[2]),
        said("/a/", ts=times[3]),
    )
    tally, strings = tally_of(document, "a"), document.capture.strings
    assert (tally.messages, tally.first, tally.last, tally.largest) == (3, 0, 3, 2)
    assert tally.size == int(document.capture.columns["size"][[0, 2, 3]].sum())
    assert {strings[code]: count for code, count in tally.senders.items()} == {"lead": 2, "files": 1}
    assert {strings[code]: count for code, count in tally.kinds.items()} == {"chat": 2, "mcp/request": 1}
    assert (tally.first_ns, tally.last_ns) == (parse_time(times[0]), parse_time(times[3]))
    assert tally.rate is None, "three messages have no rate"
    assert tally.recent(tally.last_ns) == 2  # the first one is more than a minute older
    assert [(w.text, w.form, w.messages, w.first) for w in notations_of(document.analysis, tally)] == [
        ("a", "path", 2, 0), ("/a/", "path", 1, 3),
    ]  # fmt: skip


def test_nothing_is_said_of_a_context_that_only_others_imply() -> None:
    tally = tally_of(document_of(said("a/b")), "a")
    assert told(tally)[:7] == (0, 0, -1, -1, -1, NO_TIME, NO_TIME)
    assert tally.rate is None


def test_one_message_has_no_rate_and_neither_have_two_at_once() -> None:
    assert tally_of(document_of(said("a")), "a").rate is None
    once = {"ts": "2026-01-05T09:00:00.000Z"}
    assert tally_of(document_of(said("a", **once), said("a", **once)), "a").rate is None


def test_a_rate_takes_ten_messages_and_a_second() -> None:
    def rate(*milliseconds: int) -> float | None:
        lines = (said("a", ts=f"2026-01-05T09:00:{ms // 1000:02d}.{ms % 1000:03d}Z") for ms in milliseconds)
        return tally_of(document_of(*lines), "a").rate

    assert rate(*range(0, 10_000, 1_000)) == 1
    assert rate(*range(0, 9_000, 1_000)) is None, "nine"
    assert rate(*range(0, 999, 100)) is None, "less than a second"
    assert rate(*range(0, 1_001, 100)) == 10


def test_the_main_context_is_that_of_its_space() -> None:
    other = {"space_id": "other"}
    gap = {"t": parse_time("2026-01-05T09:00:00Z"), "src": 0, "mark": "rotated"}
    document = document_of(received(said(None)), received(said(None), **other), received(said("a")), gap)
    contexts = document.analysis.contexts
    for space in contexts.spaces:
        tally = ContextTally(document.analysis, space, MAIN)
        tally.update()
        assert tally.messages == contexts.main_counts[space]


def test_a_context_that_another_one_merges_into_is_counted_again() -> None:
    log = GrowingLog()
    log.write(said("x/y"), said("x/y"))
    document, space = log.document, log.document.analysis.contexts.spaces[0]
    before = ContextTally(document.analysis, space, node(document, "x/y"))
    before.update()
    assert before.messages == 2
    # The whole string is the id of a start.
    log.write(said(None, "reasoning/start", {"message": "why"}, id="x/y"), said("x/y"))
    merged = node(document, "x%2Fy")
    before.update()
    assert (before.node, before.messages) == (merged, 3)


WAYS = st.sampled_from([None, "a", "a/b", "a/b/c", "b", {"id": "b", "parent": "a"}, {"id": "c", "parent": "b"}])


@given(st.lists(st.tuples(WAYS, st.sampled_from(["lead", "files", None])), max_size=25), st.integers(1, 9))
def test_tallies_do_not_depend_on_how_messages_come(messages: list[tuple[Any, str | None]], step: int) -> None:
    lines = [said(context, sender=sender) for context, sender in messages]
    document = document_of(*lines)
    analysis = document.analysis
    nodes = analysis.contexts.nodes()
    for number in [MAIN, *analysis.contexts.tree.alive()] if analysis.contexts.spaces else []:
        tally = ContextTally(analysis, analysis.contexts.spaces[0], number)
        tally.update()
        rows = np.flatnonzero(nodes == number)
        assert tally.messages == len(rows)
        assert tally.senders == Counter(document.capture.columns["sender"][rows].tolist())
        piecewise = ContextTally(analysis, analysis.contexts.spaces[0], number)
        for start in range(0, len(analysis), step):
            piecewise._take(piecewise._rows(start, min(len(analysis), start + step)))
        assert told(piecewise) == told(tally)
    document.close()


def test_forms_in_which_a_context_is_written() -> None:
    document = document_of(
        said({"id": "job", "type": "plan"}),
        said({"operation": "push", "topic": "job"}, "meup/context"),
        said("job"),
        said({"operation": "push", "topic": "deep"}, "meup/context"),
        said({"operation": "pop"}, "meup/context"),
    )
    analysis = document.analysis
    assert notations_of(analysis, tally_of(document, "job")) == [
        Notation("job", "object", 2, 0), Notation("job", "path", 1, 2),
    ]  # fmt: skip
    assert notations_of(analysis, tally_of(document, "job/deep")) == [
        Notation("deep", "push", 1, 3), Notation("", "pop", 1, 4),
    ]  # fmt: skip


@given(st.lists(st.integers(5, 9), min_size=1, max_size=40))
def test_counting_many_is_counting_few(values: list[int]) -> None:
    few, many = Counter[int](), Counter[int]()
    context_summary._count(np.array(values), few)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context_summary, "_SORTED_UP_TO", 0)
        context_summary._count(np.array(values), many)
    assert list(few.items()) == list(many.items()) == list(Counter(values).items())


def test_no_more_ways_to_write_it_than_anybody_reads() -> None:
    document = document_of(*(said("/" * n + "a") for n in range(MAX_NOTATIONS + 5)))
    assert len(notations_of(document.analysis, tally_of(document, "a"))) == MAX_NOTATIONS


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(st.lists(PATHS, min_size=1, max_size=20))
def test_what_lies_below(paths: list[str]) -> None:
    document = document_of(*map(said, paths))
    tree = document.analysis.contexts.tree
    for one in tree.alive():
        path = tree.path(one)
        expected = {n for n in tree.alive() if tree.path(n) == path or tree.path(n).startswith(f"{path}/")}
        assert set(np.flatnonzero(subtree_mask(document.analysis, one)).tolist()) == expected
    assert np.flatnonzero(subtree_mask(document.analysis, MAIN)).tolist() == [len(tree)]
    document.close()


@pytest.mark.parametrize("path", sorted(DIALECTS.glob("*.json*")), ids=lambda path: path.name)
def test_the_page_and_the_command_line_say_the_same(path: Path) -> None:
    document = CaptureDocument()
    document.load(path)
    tree = document.analysis.contexts.tree
    nodes = [n for space in document.analysis.contexts.spaces for n in tree.walk(space)]
    for entry, number in zip(context_nodes(document), nodes, strict=True):
        tally = ContextTally(document.analysis, tree.space[number], number)
        tally.update()
        strings = document.capture.strings
        assert (entry["messages"], entry["bytes"]) == (tally.messages, tally.size)
        assert (entry["first"] or 0, entry["last"] or 0) == (tally.first + 1, tally.last + 1)
        assert entry["participants"] == [strings[code] for code in tally.senders if code]
        assert entry["odd"] == [code.check.code for code in sorted(
            naming_problems(document.analysis.contexts, number), key=lambda odd: entry["odd"].index(odd.check.code)
        )]  # fmt: skip
    document.close()


def test_findings_below_and_children() -> None:
    document = document_of(said("a/b//c"), said("a"), said(7), said("b//x"), said("b"))
    analysis, space = document.analysis, document.analysis.contexts.spaces[0]

    def codes(path: str) -> dict[str, tuple[int, int]]:
        found = findings_below(analysis, space, node(document, path))
        return {check.code: (count, row) for check, count, row in found}

    assert codes("a")["context-malformed"] == (1, 0)
    assert codes("a/b/c")["context-malformed"] == (1, 0)
    assert codes("b")["context-malformed"] == (1, 3)
    assert "context-malformed" not in codes("")
    assert codes("")["context-wrong-type"] == (1, 2)
    severities = [check.severity for check, _, _ in findings_below(analysis, space, node(document, "a"))]
    assert severities == sorted(severities, reverse=True)
    assert children_of(analysis, space, MAIN, 1) == ([node(document, "a")], 2)
    assert children_of(analysis, space, node(document, "a"), 5) == ([node(document, "a/b")], 1)
    assert children_of(analysis, space, node(document, "a/b/c"), 5) == ([], 0)
