"""Outcomes of single events equal the replay of all events of the node."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from inspector.analysis.passes.contexts.node_facts import NodeFacts
from inspector.analysis.passes.contexts.reasoning_sequences import (
    ALL_SENDERS,
    CANCELLED,
    CONCLUDED,
    STARTED,
    STARTED_OWN,
    ReasoningSequences,
)

A, B = 1, 2
_EVENTS = (
    ("start", A, -1), ("start", B, -1), ("own", A, -1), ("mark", A, -1), (CONCLUDED, A, -1), (CANCELLED, B, -1),
    (CONCLUDED, A, ALL_SENDERS), (CANCELLED, A, 0), (CONCLUDED, B, 1), (CONCLUDED, A, 3),
)  # fmt: skip


def sequences(nodes: int) -> ReasoningSequences:
    made = ReasoningSequences()
    for values in (made.last, made.first_end):
        values.extend([-1] * nodes)
    return made


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_each_outcome_is_that_of_a_replay(length: int) -> None:
    for events in product(_EVENTS, repeat=length):
        found, states = sequences(1), dict[int, int]()
        for row, (what, sender, target) in enumerate(events):
            if isinstance(what, int):
                outcome = found.note_end(0, row, what, sender, target)
            else:
                outcome = found.note_start(0, row, sender, own=what == "own", mark=what == "mark")
                states[row] = 0
            replay = found.replay(0)
            assert outcome == replay.outcome, events
            assert found.first_end[0] == (replay.changes[0].row if replay.changes else -1), events
        states.update(found.changed_starts)
        assert states == dict(zip(found._starts, found._states, strict=True)), events


@pytest.mark.parametrize("length", [1, 3, 4])
def test_events_of_several_nodes_may_come_together(length: int) -> None:
    codes = (STARTED, STARTED_OWN, CONCLUDED, CANCELLED)
    for events in product(product((0, 1), codes), repeat=length):
        one_by_one, together = facts_of(2), facts_of(2)
        nodes, kinds = np.array(events).T
        for row, (node, code) in enumerate(events):
            if code < STARTED:
                one_by_one.note_end(node, code, row, A, -1)
            else:
                one_by_one.note_start(node, row, A, own=code == STARTED_OWN)
        rows = np.arange(length)
        for some in (slice(0, 1), slice(1, None)):
            if len(rows[some]):
                together.note_events(nodes[some], rows[some], kinds[some], rows[some] * 0 + A)
        assert state_of(together) == state_of(one_by_one), events


def facts_of(nodes: int) -> NodeFacts:
    facts = NodeFacts()
    facts.fit(nodes)
    return facts


def state_of(facts: NodeFacts) -> tuple[object, ...]:
    found = facts.sequences
    replays = [found.replay(node) for node in (0, 1)]
    ended = np.array([node for node in (0, 1) if found.first_end[node] >= 0], np.int64)
    plain, ends, states = found.plain_ends(ended)
    told = iter(zip(ends.tolist(), states.tolist(), strict=True))
    for node in ended[plain].tolist():
        end, state = next(told)
        assert replays[node].changes == [(end, state, end)]
        assert [*replays[node].again, *replays[node].unopened] == []
    starts = sorted(zip(found._starts, found._start_nodes, found._states, strict=True))
    derived = [list(values[:2]) for values in (facts.started_by, facts.end, facts.concluded_by, found.first_end)]
    return starts, derived, [(one.outcome, one.changes, one.again, one.unopened) for one in replays]


def test_a_long_context_that_lost_its_starts_still_ends() -> None:
    found = sequences(20)
    for row in range(12):
        found.note_start(0, row, A)
    for row in range(1, 12):
        found.move_start(row, 0, row)
    assert found.note_end(0, 12, CONCLUDED, A) == (0, CONCLUDED, 12)
    assert found.replay(0).state == CONCLUDED
