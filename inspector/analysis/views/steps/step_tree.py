"""Arranges steps as a tree of rows: turns, agents and contexts, joined calls, steps. No text is read.

All work is by whole arrays; the number of passes grows with the depth of the tree.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.steps.intervals import overlap_counts, union_lengths
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]
Flags = NDArray[np.bool_]

Grouping = Literal["turn", "agent", "tool", "step"]
"""Rows at the top: turns of a conversation, agents, tools, or all steps in one list."""
SortBy = Literal["started", "took", "tokens", "cost"]

UNKNOWN = -1
"""In place of an unknown duration or number of tokens."""


class RowKind(enum.IntEnum):
    """Kind of a row."""

    STEP = 0
    TURN = 1
    AGENT = 2
    """All steps of one agent."""
    TOOL = 3
    """All calls of one tool, or all outputs of models."""
    JOINED = 4
    """Equal calls, or outputs of one sub-agent."""
    CONTEXT = 5
    """A context without a call or span that began it."""


class Bar(enum.IntEnum):
    """Class of a bar in the waterfall."""

    NONE = 0
    """No bar of its own: a mark at its time."""
    MODEL = 1
    TOOL = 2
    PERSON = 3
    WHOLE = 4
    """A row with steps below it, which have their own bars."""
    ALLOWED = 5
    """A tool and a person's permission."""


@dataclass(frozen=True, slots=True)
class StepTree:
    """Rows in display order, each followed by the rows below it.

    Attributes:
        kinds: (n,) uint8, `RowKind`.
        steps: (n,) int64, its step; of a group the first one, of a turn its prompt.
        depths: (n,) int64, 0 at the top.
        ends: (n,) int64, the row after the last one below it.
        counts: (n,) int64, number of steps of a group; 1 for a step.
        states: (n,) uint8, `StepState`; of a group that of its only step.
        bars: (n,) uint8, `Bar`.
        starts_ns, stops_ns: (n,) int64, NO_TIME if unknown.
        took_ns: (n,) int64, duration; of a group the time in which any of its steps ran. UNKNOWN if unknown.
        tokens: (n,) int64, output of models; of calls the estimated tokens of results. UNKNOWN if unknown.
        dollars: (n,) float64, NaN if unknown.
        failed: (n,) int64, failed calls and spans, itself included.
        at_once: (n,) int64, calls that ran at the same time, itself included; of a group the greatest number.
    """

    kinds: NDArray[np.uint8]
    steps: Array
    depths: Array
    ends: Array
    counts: Array
    states: NDArray[np.uint8]
    bars: NDArray[np.uint8]
    starts_ns: Array
    stops_ns: Array
    took_ns: Array
    tokens: Array
    dollars: NDArray[np.float64]
    failed: Array
    at_once: Array

    def __len__(self) -> int:
        return len(self.kinds)


class TreeFacts(NamedTuple):
    """Values of messages and contexts that a tree needs beside the steps.

    Attributes:
        targets: (m,) int64, equal for requests to one tool, or with one method if they call no tool.
        result_tokens: (m,) int64, estimated tokens of each message; UNKNOWN until counted.
        parents: (c,) parent node of each context.
        shown: (m,) bool, messages that a filter shows; None for all.
    """

    targets: Array
    result_tokens: Array
    parents: Array
    shown: Flags | None = None


def step_tree(
    table: StepTable, facts: TreeFacts, grouping: Grouping = "turn", sort_by: SortBy = "started", *,
    reverse: bool = False,
) -> StepTree:  # fmt: skip
    """Returns the rows. A filter keeps steps with a shown message, and the rows above them."""
    return _Builder(table, facts).build(grouping, sort_by, reverse=reverse)


def outputs_of(table: StepTable) -> Array:
    """(n,) int64, the MODEL step whose output contains each text, thought and call; -1 for other steps."""
    conversation = table.spaces << 32 | table.nodes + 1
    order = np.argsort(conversation, kind="stable")
    kinds, rows = table.kinds[order], table.rows[order]
    last = np.maximum.accumulate(np.where(kinds == StepKind.MODEL, np.arange(len(order)), -1))
    models = order[np.maximum(last, 0)]
    inside = (last >= 0) & (conversation[models] == conversation[order]) & (rows <= table.ends[models])
    inside &= np.isin(kinds, (StepKind.ANSWER, StepKind.THOUGHT, StepKind.CALL))
    found = np.full(len(order), -1, np.int64)
    found[order[inside]] = models[inside]
    return found


def running_times(table: StepTable, steps: Array, groups: Array, count: int) -> Array:
    """Returns (count,) the time of each group with a running step, without waits for a permission; UNKNOWN.

    Args:
        table: the steps.
        steps: (n,) indexes of steps.
        groups: (n,) group of each, from 0; below 0 without one.
        count: number of groups.
    """
    worked = np.unique(table.nodes[table.kinds == StepKind.MODEL])
    counting = (table.opens[steps] == NO_NODE) | ~np.isin(table.opens[steps], worked)
    index, starts, stops = table.working_times(steps)
    counted = np.flatnonzero(counting[index] & (groups[index] >= 0) & (stops > starts) & (starts != NO_TIME))
    index, starts, stops = index[counted], starts[counted], stops[counted]
    lengths = union_lengths(groups[index], starts, stops, count)
    return np.where(lengths > 0, lengths, UNKNOWN)


class _Rows(NamedTuple):
    """Rows before they are ordered; the first ones are steps, in the order of `leaves`."""

    kinds: Array
    steps: Array
    parents: Array
    counts: Array


class _Builder:
    def __init__(self, table: StepTable, facts: TreeFacts) -> None:
        self._table, self._facts = table, facts
        self._outputs = outputs_of(table)
        self._opener = np.full(max(len(facts.parents), 1), -1, np.int64)
        opening = np.flatnonzero(table.opens != NO_NODE)[::-1]
        known = opening[table.opens[opening] < len(self._opener)]
        self._opener[table.opens[known]] = known

    def build(self, grouping: Grouping, sort_by: SortBy, *, reverse: bool) -> StepTree:
        leaves = self._leaves()
        if grouping == "turn" and (sort_by != "started" or reverse):
            grouping = "step"  # a list answers which step was slow; turns have an order of their own
        rows, at_once = self._arranged(leaves, grouping)
        return self._valued(rows, leaves, at_once, sort_by, reverse=reverse)

    # Choice of steps

    def _leaves(self) -> Array:
        """Returns the steps that have rows, ascending."""
        table = self._table
        texts = np.isin(table.kinds, (StepKind.ANSWER, StepKind.THOUGHT, StepKind.PROMPT)) & (self._outputs < 0)
        texts[table.prompts] = False
        inside = table.nodes >= 0
        texts &= ~(inside & (table.kinds == StepKind.PROMPT) & (self._opener[np.maximum(table.nodes, 0)] >= 0))
        wanted = texts | np.isin(table.kinds, (StepKind.CALL, StepKind.SPAN, StepKind.MODEL, StepKind.COMPACTION))
        wanted |= table.opens != NO_NODE
        shown = self._facts.shown
        if shown is not None:
            seen = shown[table.rows] | (table.ends != NO_ROW) & shown[np.maximum(table.ends, 0)]
            # An output is shown with one of its texts, or with all of its calls.
            within = np.flatnonzero(self._outputs >= 0)
            models = self._outputs[within]
            hidden, texts = ~seen[within], table.kinds[within] != StepKind.CALL
            seen[table.kinds == StepKind.MODEL] = True
            seen[models[hidden]] = False
            seen[models[texts & ~hidden]] = True
            wanted &= seen
            self._keep_openers(wanted)
        return np.flatnonzero(wanted)

    def _keep_openers(self, wanted: Flags) -> None:
        """Adds the steps that began the contexts of kept ones."""
        fresh = np.flatnonzero(wanted)
        while len(fresh):
            nodes = self._table.nodes[fresh]
            above = self._opener[nodes[nodes >= 0]]
            above = np.unique(above[above >= 0])
            fresh = above[~wanted[above]]
            wanted[fresh] = True

    # Arrangement

    def _arranged(self, leaves: Array, grouping: Grouping) -> tuple[_Rows, Array]:
        """Returns rows with parents, and the number of calls at once of each leaf."""
        count, table = len(leaves), self._table
        steps_only = _Rows(np.zeros(count, np.int64), leaves, np.full(count, -1, np.int64), np.ones(count, np.int64))
        if grouping == "step":
            return steps_only, np.ones(count, np.int64)
        if grouping == "tool":
            return self._by_key(steps_only, self._keys(leaves), RowKind.TOOL), np.ones(count, np.int64)
        if grouping == "agent":
            agents = table.spaces[leaves] << 32 | table.nodes[leaves] + 1
            rows = self._by_key(steps_only, agents, RowKind.AGENT)
            at_once = self._at_once(leaves, rows.parents[:count])
            return self._joined(rows, count, np.zeros(len(rows.kinds), np.bool_)), at_once
        rows = self._by_turn(steps_only)
        at_once = self._at_once(leaves, rows.parents[:count])
        is_agent = (rows.kinds == RowKind.STEP) & (table.kinds[rows.steps] == StepKind.CALL)
        return self._joined(rows, count, is_agent), at_once

    def _keys(self, leaves: Array) -> Array:
        """(n,) int64, equal for calls of one tool and for outputs of models; unique for other steps."""
        table = self._table
        keys = -2 - leaves
        called = table.kinds[leaves] == StepKind.CALL
        keys[called] = self._facts.targets[table.rows[leaves[called]]]
        keys[table.kinds[leaves] == StepKind.MODEL] = -1
        return keys

    def _by_key(self, rows: _Rows, keys: Array, kind: RowKind) -> _Rows:
        """Adds a group for each key, in the order of their first steps."""
        _, firsts, group, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        base = len(rows.kinds)
        if kind is RowKind.TOOL:  # a group of one is the step itself
            made = counts > 1
            place = np.where(made, base + np.cumsum(made) - 1, -1)
        else:
            made, place = np.ones(len(firsts), np.bool_), base + np.arange(len(firsts))
        n = int(np.count_nonzero(made))
        kinds = np.full(n, kind.value)
        if kind is RowKind.TOOL:
            kinds[self._table.is_request[rows.steps[firsts[made]]]] = RowKind.JOINED
        return _Rows(
            np.append(rows.kinds, kinds), np.append(rows.steps, rows.steps[firsts[made]]),
            np.append(place[group.reshape(-1)], np.full(n, -1)), np.append(rows.counts, counts[made]),
        )  # fmt: skip

    def _by_turn(self, rows: _Rows) -> _Rows:
        """Puts steps below the calls and spans that began their context, or into contexts; the rest into turns."""
        table, leaves = self._table, rows.steps
        place = np.full(len(table), -1, np.int64)
        place[leaves] = np.arange(len(leaves))
        turns = self._turns_of(leaves)
        base = len(leaves)
        parents = np.where(table.turns[leaves] >= 0, base + np.searchsorted(turns, table.turns[leaves]), -1)
        nodes = table.nodes[leaves]
        within = np.flatnonzero(nodes >= 0)
        opener = self._opener[nodes[within]]
        above = np.where(opener >= 0, place[np.maximum(opener, 0)], -1)
        above[above == within] = -1
        begun = above >= 0
        parents[within[begun]] = above[begun]
        bare, firsts, group, counts = np.unique(
            nodes[within[~begun]], return_index=True, return_inverse=True, return_counts=True
        )
        contexts = base + len(turns) + np.arange(len(bare))
        first_leaves = within[~begun][firsts]
        context_parents = self._context_parents(bare, contexts, place, parents[first_leaves])
        parents[within[~begun]] = contexts[group.reshape(-1)]
        groups = np.repeat((RowKind.TURN.value, RowKind.CONTEXT.value), (len(turns), len(bare)))
        return _Rows(
            np.append(rows.kinds, groups),
            np.concatenate((leaves, table.prompts[turns], leaves[first_leaves])),
            np.concatenate((parents, np.full(len(turns), -1), context_parents)),
            np.concatenate((rows.counts, np.bincount(
                np.searchsorted(turns, table.turns[leaves[table.turns[leaves] >= 0]]), minlength=len(turns)), counts)),
        )  # fmt: skip

    def _turns_of(self, leaves: Array) -> Array:
        """Returns the turns with a row: with shown steps or a shown prompt, ascending."""
        table, shown = self._table, self._facts.shown
        if shown is None:
            return np.arange(len(table.prompts))
        seen = np.flatnonzero(shown[table.rows[table.prompts]])
        with_steps = table.turns[leaves]
        return np.unique(np.concatenate((seen, with_steps[with_steps >= 0])))

    def _context_parents(self, nodes: Array, rows: Array, place: Array, else_parents: Array) -> Array:
        """Returns the row above each context without a beginning."""
        row_of = dict(zip(nodes.tolist(), rows.tolist(), strict=True))
        found = else_parents.copy()
        for at, node in enumerate(nodes.tolist()):
            above = int(self._facts.parents[node]) if node < len(self._facts.parents) else -1
            for _ in range(256):
                if above < 0:
                    break
                opener = int(self._opener[above])
                if above in row_of or (opener >= 0 and place[opener] >= 0):
                    found[at] = row_of.get(above, int(place[opener]))
                    break
                above = int(self._facts.parents[above])
        return found

    def _joined(self, rows: _Rows, leaves: int, is_agent: Flags) -> _Rows:
        """Joins equal steps: all of a sub-agent, elsewhere neighbouring calls."""
        table, steps, parents = self._table, rows.steps[:leaves], rows.parents[:leaves]
        keys = self._keys(steps)
        keys[table.opens[steps] != NO_NODE] = -2 - steps[table.opens[steps] != NO_NODE]
        in_agent = (parents >= 0) & is_agent[np.maximum(parents, 0)]
        order = np.lexsort((np.arange(leaves), parents))
        # Outputs between two calls of a tool do not part them, but only calls of one output join elsewhere.
        changes = (np.diff(keys[order], prepend=-1) != 0) | (np.diff(parents[order], prepend=-2) != 0)
        changes |= keys[order] < 0
        run = np.empty(leaves, np.int64)
        run[order] = np.cumsum(changes)
        shifted = np.where(keys >= -1, keys + 2, 0)
        alone = keys < -1
        ids = np.where(in_agent & ~alone, -1 - shifted, run)
        pairs = np.stack((parents, ids), axis=1)
        _, firsts, group, counts = np.unique(pairs, axis=0, return_index=True, return_inverse=True, return_counts=True)
        made = counts > 1
        where = np.where(made, len(rows.kinds) + np.cumsum(made) - 1, -1)[group.reshape(-1)]
        n = int(np.count_nonzero(made))
        new_parents = rows.parents.copy()
        new_parents[:leaves] = np.where(where >= 0, where, parents)
        return _Rows(
            np.append(rows.kinds, np.full(n, RowKind.JOINED.value)), np.append(rows.steps, steps[firsts[made]]),
            np.append(new_parents, parents[firsts[made]]), np.append(rows.counts, counts[made]),
        )  # fmt: skip

    def _at_once(self, leaves: Array, parents: Array) -> Array:
        """Counts the calls below the same row that ran at the same time as each."""
        table = self._table
        found = np.ones(len(leaves), np.int64)
        starts, stops = table.starts_ns[leaves], table.stops_ns[leaves]
        # A person decides about a call, and does not run beside it. Polls of a task belong to its call.
        runs = (table.kinds[leaves] == StepKind.CALL) & ~table.of_person[leaves] & ~table.is_request[leaves]
        calls = np.flatnonzero(runs & (starts != NO_TIME) & (stops > starts))
        found[calls] = overlap_counts(parents[calls], starts[calls], stops[calls])
        return found

    # Values

    def _valued(self, rows: _Rows, leaves: Array, at_once: Array, sort_by: SortBy, *, reverse: bool) -> StepTree:
        table, count, total = self._table, len(leaves), len(rows.kinds)
        levels = _levels(rows.parents)
        starts, stops = np.full(total, NO_TIME, np.int64), np.full(total, NO_TIME, np.int64)
        starts[:count], stops[:count] = table.starts_ns[leaves], table.stops_ns[leaves]
        turns = np.flatnonzero(rows.kinds == RowKind.TURN)
        prompts, shown = rows.steps[turns], self._facts.shown
        starts[turns] = table.starts_ns[prompts]
        if shown is not None:  # a turn whose prompt is hidden begins with its first shown step
            starts[turns[~shown[table.rows[prompts]]]] = NO_TIME
        written, brought = np.full(total, UNKNOWN, np.int64), np.full(total, UNKNOWN, np.int64)
        written[:count], brought[:count] = table.tokens[leaves, 1], self._brought(leaves)
        dollars, known = np.zeros(total), np.zeros(total, np.bool_)
        known[:count] = np.isfinite(table.dollars[leaves])
        dollars[:count] = np.where(known[:count], table.dollars[leaves], 0.0)
        failed, most = np.zeros(total, np.int64), np.ones(total, np.int64)
        failed[:count] = table.states[leaves] == StepState.FAILED
        most[:count] = at_once
        own_brought = brought.copy()
        for level in reversed(levels[1:]):
            above = rows.parents[level]
            _extend(starts, stops, level, above)
            np.add.at(failed, above, failed[level])
            np.add.at(dollars, above, dollars[level])
            known[above[known[level]]] = True
            np.maximum.at(most, above, np.where(rows.kinds[above] == RowKind.JOINED, most[level], 1))
            for values in (written, brought):
                has = values[level] >= 0
                values[above[has]] = np.maximum(values[above[has]], 0)
                np.add.at(values, above[has], values[level][has])
        took = np.where((starts != NO_TIME) & (stops != NO_TIME) & (stops >= starts), stops - starts, UNKNOWN)
        took[:count] = table.took_ns[leaves]
        self._set_unions(rows, count, leaves, took)
        tokens = np.where(written >= 0, written, np.where(rows.kinds == RowKind.STEP, own_brought, brought))
        dollars[~known] = np.nan
        order, depths, ends = _ordered(
            rows.parents, levels, _sort_keys(sort_by, reverse, starts, took, tokens, dollars, rows)
        )
        bars, states = self._bars(rows, count, leaves, ends, order), np.zeros(total, np.uint8)
        states[:count] = table.states[leaves]
        return StepTree(
            rows.kinds[order].astype(np.uint8), rows.steps[order], depths, ends, rows.counts[order], states[order],
            bars, starts[order], stops[order], took[order], tokens[order], dollars[order], failed[order], most[order],
        )  # fmt: skip

    def _brought(self, leaves: Array) -> Array:
        """(n,) estimated tokens of the results of calls; UNKNOWN for other steps."""
        table = self._table
        ends = table.ends[leaves]
        answered = (table.kinds[leaves] == StepKind.CALL) & (ends != NO_ROW)
        return np.where(answered, self._facts.result_tokens[np.maximum(ends, 0)], UNKNOWN)

    def _set_unions(self, rows: _Rows, count: int, leaves: Array, took: Array) -> None:
        """Replaces the durations of groups by the time in which any of their steps ran."""
        roots = _roots(rows.parents)[:count]
        for kinds, groups in (
            ((RowKind.TURN, RowKind.AGENT, RowKind.TOOL), roots), ((RowKind.JOINED,), rows.parents[:count]),
        ):  # fmt: skip
            times = running_times(self._table, leaves, groups, len(rows.kinds))
            chosen = np.isin(rows.kinds, kinds)
            took[chosen] = times[chosen]

    def _bars(self, rows: _Rows, count: int, leaves: Array, ends: Array, order: Array) -> NDArray[np.uint8]:
        table = self._table
        bars = np.full(len(rows.kinds), Bar.WHOLE.value, np.uint8)
        kinds = table.kinds[leaves]
        bars[:count] = Bar.NONE
        timed = table.stops_ns[leaves] != NO_TIME
        bars[:count][timed & np.isin(kinds, (StepKind.MODEL, StepKind.COMPACTION))] = Bar.MODEL
        bars[:count][timed & np.isin(kinds, (StepKind.CALL, StepKind.SPAN))] = Bar.TOOL
        bars[:count][timed & table.of_person[leaves]] = Bar.PERSON
        bars[:count][timed & table.allowed[leaves]] = Bar.ALLOWED
        bars = bars[order]
        parents = (ends > np.arange(len(ends)) + 1) & (rows.kinds[order] != RowKind.JOINED)
        bars[parents] = Bar.WHOLE
        return bars


def _extend(starts: Array, stops: Array, level: Array, above: Array) -> None:
    """Extends rows to the times of the rows below them."""
    has = starts[level] != NO_TIME
    rows, target = level[has], above[has]
    unknown = starts[target] == NO_TIME
    starts[target[unknown]] = np.iinfo(np.int64).max
    np.minimum.at(starts, target, starts[rows])
    np.maximum.at(stops, target, np.maximum(stops[rows], starts[rows]))


def _levels(parents: Array) -> list[Array]:
    """Returns the rows of each depth. Rows in a cycle are put at the top, in `parents` too."""
    depths = np.where(parents < 0, 0, -1)
    while True:
        waiting = np.flatnonzero(depths < 0)
        if not len(waiting):
            break
        above = depths[parents[waiting]]
        placed = waiting[above >= 0]
        if not len(placed):
            parents[waiting], depths[waiting] = -1, 0
            break
        depths[placed] = above[above >= 0] + 1
    order = np.argsort(depths, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depths))[:-1]) if len(parents) else [order]


def _roots(parents: Array) -> Array:
    """(n,) the row at the top above each row, or itself."""
    roots = np.arange(len(parents))
    while True:
        above = parents[roots]
        moving = above >= 0
        if not moving.any():
            return roots
        roots[moving] = above[moving]


def _ordered(parents: Array, levels: list[Array], keys: Array) -> tuple[Array, Array, Array]:
    """Returns rows in display order, and the depth and end of each place. `keys` has the rank among siblings."""
    total = len(parents)
    sizes = np.ones(total, np.int64)
    for level in reversed(levels[1:]):
        np.add.at(sizes, parents[level], sizes[level])
    places, depths = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for depth, level in enumerate(levels):
        above = parents[level]
        chosen = level[np.lexsort((keys[level], above))]
        above = parents[chosen]
        before = np.cumsum(sizes[chosen]) - sizes[chosen]
        starts = np.diff(above, prepend=-2) != 0
        first = np.maximum.accumulate(np.where(starts, np.arange(len(chosen)), 0))
        offset = before - before[first]
        places[chosen] = offset + (np.where(above >= 0, places[np.maximum(above, 0)] + 1, 0))
        depths[chosen] = depth
    order = np.empty(total, np.int64)
    order[places] = np.arange(total)
    return order, depths[order], np.arange(total) + sizes[order]


def _sort_keys(
    sort_by: SortBy, reverse: bool, starts: Array, took: Array, tokens: Array, dollars: NDArray[np.float64], rows: _Rows
) -> Array:  # fmt: skip
    """(n,) rank of each row. Rows without a value come last; equal ones are in the order of their first steps."""
    by_step = np.lexsort((rows.kinds != RowKind.TURN, rows.steps))
    if sort_by == "started":
        times = starts[by_step]
        # A row without a time comes after the one before it.
        filled = np.maximum.accumulate(np.where(times == NO_TIME, np.iinfo(np.int64).min, times))
        values = np.where(times == NO_TIME, filled, times).astype(np.float64)
        order = by_step[np.lexsort((np.arange(len(by_step)), -values if reverse else values))]
    else:
        chosen = {"took": took, "tokens": tokens, "cost": np.where(np.isnan(dollars), -1.0, dollars)}[sort_by]
        values = chosen[by_step].astype(np.float64)
        order = by_step[np.lexsort((values if reverse else -values, values < 0))]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
