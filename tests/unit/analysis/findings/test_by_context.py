"""Findings counted by context: as a slow count says, in any batches, while contexts move and findings go away."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.findings import Severity
from inspector.analysis.findings.by_context import NO_FINDINGS, Tally
from inspector.analysis.findings.check_table import CHECKS
from inspector.analysis.findings.naming_problems import naming_problems
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, document_of, envelope, received
from tests.findings import answer, ask, at, later

CONTEXTS: tuple[Any, ...] = (
    None, "a", "a/b", "a/b/c", "b//c/", "/", "x y",
    {"id": "b"}, {"id": "b", "parent": "a"}, {"id": "c", "parent": "b"}, {"id": "a", "parent": "c"}, {"type": "task"},
)  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Messages in contexts that move, several of them odd, some of them mended by later ones."""
    lines: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 14))):
        context, space = draw(st.sampled_from(CONTEXTS)), draw(st.sampled_from(["demo", "other"]))
        kind = draw(st.sampled_from(["chat", "odd/kind", "mcp/request", "mcp/response", "reasoning/start"]))
        identifier = draw(st.sampled_from([f"m{number}", "a", "b", "m1"]))
        time = at(draw(st.integers(0, 100)))
        named = [draw(st.sampled_from(["m0", "m1", "m2"]))] if kind == "mcp/response" else None
        fields = {"context": context, "id": identifier, "ts": time, "correlation_id": named}
        lines.append(received(envelope(kind, **fields), space_id=space))
    return lines


def slow(document: CaptureDocument) -> dict[Any, Tally]:
    """The tallies of all contexts and spaces, counted one by one."""
    analysis, capture = document.analysis, document.capture
    tree, counts, problems = analysis.contexts.tree, {}, set()

    def add(key: Any, severity: Severity) -> None:
        counts.setdefault(key, [0, 0, 0, 0])[severity - 1] += 1
        if severity >= Severity.WARNING and (key, found.row) not in problems:
            problems.add((key, found.row))
            counts[key][-1] += 1

    for found in analysis.findings.all():
        space, node = int(capture.columns["space"][found.row]), analysis.contexts.node_of(found.row)
        add(("space", space), found.severity)
        if node == MAIN:
            add(("main", space), found.severity)
        for above in tree.ancestry(node):
            add(above, found.severity)
    return {key: Tally(*numbers) for key, numbers in counts.items()}


def counted(document: CaptureDocument) -> dict[Any, Tally]:
    """The same as the pass has it."""
    analysis = document.analysis
    tallies = analysis.findings.by_context
    spaces = analysis.contexts.spaces
    found: dict[Any, Tally] = {("space", space): tallies.in_space(space) for space in spaces}
    found |= {("main", space): tallies.in_main(space) for space in spaces}
    found |= {node: tallies.subtree_tally(node) for node in analysis.contexts.tree.alive()}
    return {key: tally for key, tally in found.items() if tally != NO_FINDINGS}


@given(logs(), st.data())
def test_counts_are_those_of_a_slow_count_at_any_time(lines: list[dict[str, Any]], data: st.DataObject):
    log = GrowingLog()
    start = 0
    while start < len(lines):
        stop = data.draw(st.integers(start + 1, len(lines)))
        log.write(*lines[start:stop])
        if data.draw(st.booleans()):
            assert counted(log.document) == slow(log.document)
        start = stop
    log.document.end_live()
    assert counted(log.document) == slow(log.document)


def test_a_finding_that_is_mended_is_no_longer_counted():
    log = GrowingLog()
    log.write(received(ask(context="job-7f3a9b/step")), received(later(31)))
    document = log.document
    document.analysis.catch_up()
    node = document.analysis.contexts.tree.find(int(document.capture.columns["space"][0]), "job-7f3a9b")
    tallies = document.analysis.findings.by_context
    assert tallies.subtree_tally(node) == Tally(warnings=1, problems=1)
    log.write(received(answer(context="job-7f3a9b/step", ts=at(32))))
    document.analysis.catch_up()
    assert tallies.subtree_tally(node).problems == 0


def test_a_chain_of_thousands_of_contexts_is_summed_up():
    lines = [
        envelope("chat", context={"id": f"c{n}", "parent": f"c{n - 1}"} if n else {"id": "c0"}) for n in range(2_300)
    ]
    document = document_of(*lines, envelope("odd/kind", context={"id": "c2299"}))
    tallies = document.analysis.findings.by_context
    expected = slow(document)
    tree = document.analysis.contexts.tree
    assert tallies.subtree_tally(tree.find(0, "c0")) == expected[tree.find(0, "c0")]
    assert tallies.subtree_tally(tree.find(0, "c2299")) == expected[tree.find(0, "c2299")]
    assert (tallies.recent(tree.find(0, "c0")), tallies.is_behind) == (expected[tree.find(0, "c0")], False)


def test_a_message_with_two_problems_counts_as_one():
    document = document_of(received(ask(context="job")), received(later(31)))
    found, tallies = document.analysis.findings.found, document.analysis.findings.by_context
    other = next(check for check in CHECKS if check.severity is Severity.ERROR)
    found.add(other, [0])
    tallies.note(np.array([0]))
    node = document.analysis.contexts.node_of(0)
    assert tallies.subtree_tally(node)[1:] == (1, 1, 1)
    assert tallies.in_space(int(document.capture.columns["space"][0])).problems == 1


def test_worst_and_problems():
    assert Tally(1, 0, 0).worst is Severity.NOTE
    assert Tally(1, 1, 0).worst is Severity.WARNING
    assert Tally(1, 1, 1).worst is Severity.ERROR
    assert NO_FINDINGS.worst is None
    assert NO_FINDINGS.problems == 0


def test_oddities_of_a_context_say_what_first_and_how_often():
    document = document_of(
        envelope(context={"id": "a", "type": "task"}), envelope(context={"id": "b", "parent": "a"}),
        envelope(context={"id": "b", "parent": "c"}), envelope(context={"id": "b", "parent": "d"}),
        envelope(context="ok"),
    )  # fmt: skip
    contexts = document.analysis.contexts
    found = naming_problems(contexts, contexts.tree.find(0, "b"))
    assert [(odd.check.code, odd.row, odd.times) for odd in found] == [("context-parent-conflict", 2, 2)]
    assert naming_problems(contexts, contexts.tree.find(0, "ok")) == []
    assert naming_problems(contexts, MAIN) == []


def test_a_malformed_path_is_odd():
    contexts = document_of(envelope(context="why//fs?/")).analysis.contexts
    node = contexts.node_of(0)
    assert [odd.check.code for odd in naming_problems(contexts, node)] == ["context-malformed", "context-characters"]
