"""Aligns the steps of two runs: conversations, then the steps of each, then the sub-agents that paired calls started.

The order of calls that were made at once does not count. Participants that act by themselves in one space are aligned
each for itself, since the order in which they take turns depends on time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.compare.sequences import Features, align
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind
from inspector.base.slices import SlicedWork
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]

ABSENT = -1
"""In place of a step that only one run has."""
_NO_STEPS: Array = np.zeros(0, np.int64)
_DEEPEST = 64


class Aligned(NamedTuple):
    """Rows of two aligned runs, in display order.

    Attributes:
        one, other: (n,) int64, index in each run's steps; ABSENT.
        depths: (n,) int64, 0 for a step of a conversation, 1 for one of its sub-agents.
        moved: (n,) bool, pairs that stand in another order.
    """

    one: Array
    other: Array
    depths: Array
    moved: NDArray[np.bool_]


def align_runs(one: RunSteps, other: RunSteps) -> SlicedWork[Aligned]:
    """Aligns two runs. O(steps log steps) while most steps are equal, else bounded as in `sequences`."""
    work = _Work(one, other)
    yield from work.align_conversations()
    return work.result()


@dataclass(slots=True)
class RunSide:
    """A run as conversations: lists of steps, each with the sub-agents that its steps started."""

    run: RunSteps
    roots: list[Array] = field(default_factory=list)
    below: dict[int, Array] = field(default_factory=dict)  # by step, the steps of the context that it started


def divide_run(run: RunSteps) -> RunSide:
    """Divides a run into conversations."""
    found = RunSide(run)
    nodes, spaces = run.table.nodes[run.steps], run.table.spaces[run.steps]
    opener = {int(node): place for place, node in enumerate(run.opens.tolist()) if node != NO_NODE}
    keys = np.where(np.isin(nodes, list(opener)), nodes + 1, -1 - (spaces << 32 | nodes + 1))
    order = np.argsort(keys, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []
    for group in groups:
        place = opener.get(int(nodes[group[0]])) if keys[group[0]] > 0 else None
        # A context inside of itself would never be reached.
        if place is None or (nodes[place] == nodes[group[0]]):
            found.roots.append(group)
        else:
            found.below[place] = np.concatenate((found.below.get(place, _NO_STEPS), group))
    found.roots.sort(key=lambda group: int(group[0]))
    return found


class _Work:
    def __init__(self, one: RunSteps, other: RunSteps) -> None:
        self._one, self._other = divide_run(one), divide_run(other)
        self._rows: list[tuple[int, int, int, bool]] = []

    def result(self) -> Aligned:
        """Returns the rows."""
        rows = np.array(self._rows, np.int64).reshape(-1, 4)
        return Aligned(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3].astype(np.bool_))

    def align_conversations(self) -> SlicedWork[None]:
        """Aligns conversations by their first acts, then the steps of each pair."""
        one, other = self._one.roots, self._other.roots
        for left, right in _merged(
            _paired_conversations(self._one.run, one, self._other.run, other), len(one), len(other)
        ):
            yield from self._align_level(
                one[left] if left != ABSENT else _NO_STEPS, other[right] if right != ABSENT else _NO_STEPS, 0
            )

    def _align_level(self, one: Array, other: Array, depth: int) -> SlicedWork[None]:
        """Adds the rows of two lists of steps, each with the sub-agents below it."""
        yield
        for left, right, moved in self._level(one, other):
            self._rows.append((left, right, depth, moved))
            below = (
                self._one.below.get(left, _NO_STEPS) if left != ABSENT else _NO_STEPS,
                self._other.below.get(right, _NO_STEPS) if right != ABSENT else _NO_STEPS,
            )
            if depth < _DEEPEST and (len(below[0]) or len(below[1])):
                yield from self._align_level(*below, depth + 1)

    def _level(self, one: Array, other: Array) -> list[tuple[int, int, bool]]:
        """Returns the rows of one level in display order."""
        sides = self._one.run, self._other.run
        lanes = [_lanes(run, steps) for run, steps in zip(sides, (one, other), strict=True)]
        pairs: list[tuple[int, int]] = []
        for left, right in _paired_lanes(*lanes):
            pairs += self._pairs(left, right)
        paired = dict(pairs)
        rest = [step for step in one.tolist() if step not in paired]
        taken = set(paired.values())
        moved = self._moved(rest, [step for step in other.tolist() if step not in taken])
        paired |= moved
        return [(a, b, a in moved) for a, b in _display_order(one.tolist(), other.tolist(), paired)]

    def _pairs(self, one: Array, other: Array) -> list[tuple[int, int]]:
        """Aligns the steps of one participant or conversation."""
        left, right = in_plain_order(self._one.run, one), in_plain_order(self._other.run, other)
        pairs = align(self._one.run.features.at_places(left.steps), self._other.run.features.at_places(right.steps))
        found = [(int(left.steps[i]), int(right.steps[j])) for i, j in pairs]
        return found + self._pairs_at_once(left, right, pairs)

    def _pairs_at_once(
        self, left: Ordered, right: Ordered, pairs: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:  # fmt: skip
        """Pairs the rest of calls made at once, where others of them are pairs: the plain order parts changed ones."""
        mine, theirs = np.zeros(len(left.steps), np.bool_), np.zeros(len(right.steps), np.bool_)
        partner: dict[int, int] = {}
        for i, j in pairs:
            mine[i] = theirs[j] = True
            if left.groups[i] >= 0 and right.groups[j] >= 0:
                partner.setdefault(int(left.groups[i]), int(right.groups[j]))
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        for j in np.flatnonzero(~theirs & (right.groups >= 0)).tolist():
            waiting[int(right.groups[j]), int(self._other.run.groups[right.steps[j]])].append(int(right.steps[j]))
        found: list[tuple[int, int]] = []
        for i in np.flatnonzero(~mine & (left.groups >= 0)).tolist():
            step = int(left.steps[i])
            key = partner.get(int(left.groups[i]), -1), int(self._one.run.groups[step])
            if waiting.get(key):
                found.append((step, waiting[key].pop(0)))
        return found

    def _moved(self, one: list[int], other: list[int]) -> dict[int, int]:
        """Pairs equal steps that no alignment in order could pair."""
        waiting: dict[int, list[int]] = defaultdict(list)
        for step in other:
            waiting[int(self._other.run.acts[step])].append(step)
        found: dict[int, int] = {}
        for step in one:
            if waiting.get(int(self._one.run.acts[step])):
                found[step] = waiting[int(self._one.run.acts[step])].pop(0)
        return found


class Ordered(NamedTuple):
    """Steps with calls made at once in a plain order.

    Attributes:
        steps: (n,) int64.
        groups: (n,) int64, number of the calls made at once; -1 for other steps.
    """

    steps: Array
    groups: Array


def in_plain_order(run: RunSteps, steps: Array) -> Ordered:
    """Sorts calls that were made before any of them was answered by their content.

    A call without an answer belongs to the other calls of its output: nobody knows how long it waited.
    """
    groups = np.full(len(steps), -1, np.int64)
    calls = run.kinds[steps] == StepKind.CALL
    rows, ends = run.rows[steps].tolist(), run.ends[steps].tolist()
    outputs = run.outputs[steps].tolist()
    start, first_end = -1, 0
    for place, is_call in enumerate(calls.tolist()):
        end = rows[place] if ends[place] == NO_ROW else ends[place]
        of_output = is_call and start >= 0 and outputs[place] == outputs[start]
        together = of_output and outputs[place] >= 0
        together |= is_call and start >= 0 and rows[place] < first_end and (of_output or outputs[place] < 0)
        if together:
            groups[start], groups[place] = start, start
            first_end = min(first_end, end)
        elif is_call:
            start, first_end = place, end
        else:
            start = -1
    if not (groups >= 0).any():
        return Ordered(steps, groups)
    ranks = np.where(groups >= 0, groups, np.arange(len(steps)))
    order = np.lexsort((np.where(groups >= 0, run.acts[steps], 0), np.where(groups >= 0, run.groups[steps], 0), ranks))
    return Ordered(steps[order], groups[order])


# Conversations and participants


def _lanes(run: RunSteps, steps: Array) -> dict[str, Array]:
    """Returns the steps by participant if several act by themselves; else all together."""
    if not len(steps):
        return {}
    strings, senders = run.analysis.capture.strings, run.senders[steps]
    flags = run.analysis.capture.columns["flags"][run.rows[steps]]
    acting = run.acting[steps] & (flags & np.uint32(Flag.DERIVED.value) == 0)
    if len(np.unique(senders[acting])) < 2:
        return {"": steps}
    return {strings[code]: steps[senders == code] for code in np.unique(senders).tolist()}


def _paired_lanes(one: dict[str, Array], other: dict[str, Array]) -> Iterator[tuple[Array, Array]]:
    """Pairs lanes by name, then the rest in the order of their first steps."""
    left, right = dict(one), dict(other)
    for name in list(left):
        if name in right:
            yield left.pop(name), right.pop(name)
    rest = [sorted(some.values(), key=lambda steps: int(steps[0])) for some in (left, right)]
    yield from zip(*rest, strict=False)


def _paired_conversations(
    one: RunSteps, mine: list[Array], other: RunSteps, theirs: list[Array]
) -> list[tuple[int, int]]:  # fmt: skip
    """Aligns conversations by their first prompts and steps."""
    if len(mine) == len(theirs) == 1:
        return [(0, 0)]
    return align(_conversation_features(one, mine), _conversation_features(other, theirs))


def _conversation_features(run: RunSteps, groups: list[Array]) -> Features:
    members = np.zeros((len(groups), 4), np.int64)
    acts = np.zeros(len(groups), np.int64)
    for place, steps in enumerate(groups):
        first = run.acts[steps[:4]]
        members[place, : len(first)] = first
        acts[place] = hash(tuple(first.tolist()))
    return Features(acts, np.zeros(len(groups), np.int64), members)


# Display order


def _merged(pairs: list[tuple[int, int]], count: int, other_count: int) -> Iterator[tuple[int, int]]:
    """Yields pairs with the places that have none before them."""
    i = j = 0
    for left, right in [*pairs, (count, other_count)]:
        yield from ((place, ABSENT) for place in range(i, left))
        yield from ((ABSENT, place) for place in range(j, right))
        if left < count:
            yield left, right
        i, j = left + 1, right + 1


def _display_order(one: list[int], other: list[int], paired: dict[int, int]) -> list[tuple[int, int]]:
    """Returns the rows in the order of the first run; steps of the other alone come before its next pair."""
    partner = {b: a for a, b in paired.items()}
    before: dict[int, list[int]] = defaultdict(list)
    following = ABSENT
    for step in reversed(other):
        if step in partner:
            following = partner[step]
        else:
            before[following].append(step)
    rows: list[tuple[int, int]] = []
    for step in one:
        rows += [(ABSENT, extra) for extra in reversed(before.get(step, ()))]
        rows.append((step, paired.get(step, ABSENT)))
    return rows + [(ABSENT, extra) for extra in reversed(before[ABSENT])]
