"""Outcomes of single events equal the replay of all events of the node."""

from __future__ import annotations

from itertools import product

import pytest

from inspector.analysis.passes.contexts.reasoning_sequences import ALL_SENDERS, CANCELLED, CONCLUDED, ReasoningSequences

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


def test_a_long_context_that_lost_its_starts_still_ends() -> None:
    found = sequences(20)
    for row in range(12):
        found.note_start(0, row, A)
    for row in range(1, 12):
        found.move_start(row, 0, row)
    assert found.note_end(0, 12, CONCLUDED, A) == (0, CONCLUDED, 12)
    assert found.replay(0).state == CONCLUDED
