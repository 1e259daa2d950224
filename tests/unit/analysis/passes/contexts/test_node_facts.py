"""What is noted of nodes does not depend on the order of merges."""

from __future__ import annotations

import numpy as np

from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.protocol.timestamps import NO_TIME


def facts_of(nodes: int) -> NodeFacts:
    facts = NodeFacts()
    facts.fit(nodes)
    return facts


def test_a_new_node_knows_nothing() -> None:
    facts = facts_of(2)
    assert [*facts.first_row, *facts.last_ns, *facts.end] == [-1, -1, NO_TIME, NO_TIME, 0, 0]
    facts.reach(1)
    assert len(facts.has_reasoning) == 2
    facts.fit(1)
    assert len(facts.has_reasoning) == 1


def test_merged_nodes_hand_everything_on() -> None:
    facts = facts_of(2)
    facts.note_messages(np.array([0, 1, 1, 0]), np.array([3, 5, 7, 9]), np.array([50, 60, 20, 40]))
    facts.note_end(0, CONCLUDED, 8)
    facts.note_type(0, 9, "review")
    facts.has_reasoning[0] = True
    facts.note_start(0, 2)
    facts.inherit(0, 1)
    assert (facts.first_row[1], facts.last_row[1], facts.last_ns[1]) == (3, 9, 60)
    assert (facts.end[1], facts.concluded_by[1], facts.started_by[1], facts.has_reasoning[1]) == (CONCLUDED, 8, 2, True)
    assert facts.declared[1] == (9, "review")


def test_messages_of_a_node_come_in_several_batches() -> None:
    facts = facts_of(2)
    for rows in ([2, 3], [7, 8]):
        facts.note_messages(np.array([1, 1]), np.array(rows), np.array([30 - rows[0], 10]))
    assert (facts.first_row[1], facts.last_row[1], facts.last_ns[1], facts.last_row[0]) == (2, 8, 28, -1)


def test_reasoning_is_noted_once() -> None:
    facts = facts_of(3)
    facts.has_reasoning[1] = True
    assert facts.nodes_without_reasoning(np.array([2, 1, 2, 0])).tolist() == [0, 2]


def test_the_first_conclusion_counts_and_a_cancel_overrules_it() -> None:
    facts = facts_of(1)
    ends = []
    for end, row in ((CONCLUDED, 5), (CONCLUDED, 3), (CONCLUDED, 9), (CANCELLED, 7), (CONCLUDED, 1), (CANCELLED, 8)):
        facts.note_end(0, end, row)
        ends.append((facts.end[0], facts.concluded_by[0]))
    assert ends == [(1, 5), (1, 3), (1, 3), (2, 7), (2, 7), (2, 7)]


def test_the_first_type_declared_stands() -> None:
    facts = facts_of(1)
    for row, declared in ((5, "b"), (3, "c"), (9, "a")):
        facts.note_type(0, row, declared)
    assert facts.declared[0] == (3, "c")
