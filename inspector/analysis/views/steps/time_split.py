"""Splits the time of steps between models, tools and people, each moment once."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepTable
from inspector.formats import registry
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW
from inspector.store.messages.capture import Capture

_LONGEST_NS = 1 << 55
"""About a year; longer steps have a wrong clock and are left out."""
_TOGETHER_NS = 2_000_000_000
"""Time between results that a session logs together; hooks run between them."""


class TimeSplit(NamedTuple):
    """Nanoseconds in which a model worked; a tool but no model; only a person was waited for; only `allowed` calls.

    Where no tool is called, `tools` are other requests.
    A compaction is work of the model.
    """

    model: int
    tools: int
    person: int
    allowed: int = 0

    @property
    def total(self) -> int:
        """Sum of all."""
        return sum(self)


def split_time(table: StepTable, steps: NDArray[np.int64]) -> TimeSplit:
    """Splits the time of some steps. A call that started an agent counts by the steps of the agent. O(n log n)."""
    return TimeSplit(*split_times(table, steps, np.zeros(len(steps), np.int64), 1)[0].tolist())


def have_own_times(capture: Capture, table: StepTable) -> NDArray[np.bool_]:
    """(n,) bool: True for calls whose duration the log tells. O(n log n).

    RULE: a call of an agent with logged outputs counts by the steps of that agent.
    """
    found = (table.kinds == StepKind.CALL) & ~_has_steps(table, np.arange(len(table)))
    return found & ~are_bounded_by_agents(capture, table)


def are_bounded_by_agents(capture: Capture, table: StepTable) -> NDArray[np.bool_]:
    """(n,) bool: True for calls whose duration is an upper bound. O(n log n).

    RULE: a session may log the result of a call beside an agent only when the agent ends: within 2 s of its result, the
    duration is unknown.
    """
    found = np.zeros(len(table), np.bool_)
    agents = np.flatnonzero((table.kinds == StepKind.CALL) & (table.opens != NO_NODE) & (table.ends != NO_ROW))
    sessions = [code for name in registry.groups().agents if (code := capture.strings.find(name))]
    timed = (table.ends != NO_ROW) & (table.stops_ns != NO_TIME) & ~table.of_person
    calls = np.flatnonzero((table.kinds == StepKind.CALL) & timed & (table.opens == NO_NODE))
    calls = calls[np.isin(capture.columns["protocol"][table.ends[calls]], sessions)]
    if not len(agents) or not len(calls):
        return found
    calls = calls[capture.extracted.tool_durations_ns(table.ends[calls]) < 0]
    times = capture.columns["time_ns"]
    for agent in agents.tolist():
        begun, ended = int(times[table.rows[agent]]), int(times[table.ends[agent]])
        if ended - begun <= _TOGETHER_NS:
            continue  # it works in the background
        beside = calls[(table.nodes[calls] == table.nodes[agent]) & (table.spaces[calls] == table.spaces[agent])]
        beside = beside[(times[table.rows[beside]] < ended) & (table.ends[beside] > table.rows[agent])]
        apart = times[table.ends[beside]].astype(float) - ended
        found[beside[np.abs(apart) <= _TOGETHER_NS]] = True
    return found


def clipped(table: StepTable, first_ns: int, last_ns: int) -> StepTable:
    """Cuts the times of steps and of their waits to a range."""

    def cut(times: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(times == NO_TIME, times, np.clip(times, first_ns, last_ns))

    waits = table.approvals
    return replace(
        table, starts_ns=cut(table.starts_ns), stops_ns=cut(table.stops_ns),
        approvals=waits._replace(starts_ns=cut(waits.starts_ns), stops_ns=cut(waits.stops_ns)),
    )  # fmt: skip


def split_times(
    table: StepTable, steps: NDArray[np.int64], groups: NDArray[np.int64], count: int
) -> NDArray[np.int64]:  # fmt: skip
    """Splits the times of groups of steps, each group alone: (count, 4) int64, columns as in `TimeSplit`. O(n log n).

    Args:
        table: the steps.
        steps: (n,) int64, indexes of steps.
        groups: (n,) int64, group of each, from 0.
        count: number of groups.
    """
    kinds = table.kinds[steps]
    is_model = np.isin(kinds, (StepKind.MODEL, StepKind.COMPACTION))
    # Classes in order of precedence: each moment counts for the first one that is active.
    classes = np.where(is_model, 0, np.where(table.of_person[steps], 2, np.where(table.allowed[steps], 3, 1)))
    classes[~is_model & ((kinds != StepKind.CALL) | _has_steps(table, steps))] = -1
    if table.calls_tools:
        classes[table.is_request[steps]] = -1
    # A permission counts as the person's also where its question is not among the steps.
    parts, starts, stops = table.approvals.split(steps, table.starts_ns[steps], table.stops_ns[steps])
    is_wait, parts = parts < 0, np.where(parts < 0, ~parts, parts)
    classes, groups = np.where(is_wait & (classes[parts] >= 0), 2, classes[parts]), groups[parts]
    known = (starts != NO_TIME) & (stops != NO_TIME) & (stops > starts) & (stops < starts.astype(float) + _LONGEST_NS)
    known &= classes >= 0
    classes, groups = classes[known], groups[known]
    found = np.zeros((count, 4), np.int64)
    if not len(groups):
        return found
    times, ranks = np.unique(np.concatenate((starts[known], stops[known])), return_inverse=True)
    # All groups on one axis, one after the other. No step extends over two groups.
    edges, places = np.unique(np.tile(groups, 2) * len(times) + ranks.reshape(-1), return_inverse=True)
    places = places.reshape(-1)
    of_edges, lengths = edges[:-1] // len(times), np.diff(times[edges % len(times)])
    taken = np.zeros(len(lengths), np.bool_)
    for number in (0, 1, 3, 2):
        chosen = classes == number
        begun, ended = places[: len(groups)][chosen], places[len(groups) :][chosen]
        change = np.bincount(begun, minlength=len(edges)) - np.bincount(ended, minlength=len(edges))
        active = (np.cumsum(change)[:-1] > 0) & ~taken
        np.add.at(found[:, number], of_edges[active], lengths[active])
        taken |= active
    return found


def _has_steps(table: StepTable, steps: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,) bool: True for steps that opened a context which has outputs of a model."""
    opens = table.opens[steps]
    return (opens != NO_NODE) & np.isin(opens, sorted_unique(table.nodes[table.kinds == StepKind.MODEL]))
