"""Finds the critical path of a trace: the spans that its end waited for.

RULE: as in Jaeger's `criticalPathForSpan` (jaeger-ui, TracePage/CriticalPath). From the end of a span back to its
start: the child that finished last is on the path, then the child that finished last before that one began. The span
itself is on the path where no such child ran. A child counts only within its parent's time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepTable

Array = NDArray[np.int64]
_MAX_DEPTH = 256


class CriticalPath(NamedTuple):
    """Sections of the paths of all traces.

    Attributes:
        steps: (k,) step of each section.
        starts_ns, stops_ns: (k,) its times.
        roots: (k,) outermost span of its trace.
    """

    steps: Array
    starts_ns: Array
    stops_ns: Array
    roots: Array


NO_PATH = CriticalPath(*(np.zeros(0, np.int64) for _ in range(4)))


def critical_path(table: StepTable, context_parents: Array) -> CriticalPath:
    """Returns the paths of all spans with timed steps below them and no span above them. O(n log n).

    Args:
        table: the steps.
        context_parents: (c,) parent node of each context.
    """
    took = table.took_ns
    if not (table.kinds == StepKind.SPAN).any():
        return NO_PATH
    above = _parents(table, context_parents)
    timed = took > 0
    children: dict[int, list[int]] = {}
    below = np.flatnonzero(timed & (above >= 0))
    # The last to finish comes first; of several the longest.
    for step in below[np.lexsort((-took[below], -table.stops_ns[below]))].tolist():
        children.setdefault(int(above[step]), []).append(step)
    roots = [step for step in children if above[step] < 0 and timed[step] and table.kinds[step] == StepKind.SPAN]
    found: list[tuple[int, int, int, int]] = []
    starts, stops = table.starts_ns, table.stops_ns
    for root in sorted(roots):
        waiting = [(root, int(starts[root]), int(stops[root]))]
        while waiting:
            span, low, high = waiting.pop()
            reached = high
            for child in children.get(span, ()):
                begin, end = max(int(starts[child]), low), min(int(stops[child]), high)
                if end > reached or begin >= end:
                    continue
                if end < reached:
                    found.append((span, end, reached, root))
                waiting.append((child, begin, end))
                reached = begin
            if low < reached:
                found.append((span, low, reached, root))
    return CriticalPath(*np.array(sorted(found, key=lambda one: one[1]), np.int64).reshape(-1, 4).T.copy())


def _parents(table: StepTable, context_parents: Array) -> Array:
    """(n,) the step that began the context around each step, or the nearest known one around that; -1 without one."""
    opener = np.full(max(len(context_parents), 1), -1, np.int64)
    opening = np.flatnonzero(table.opens != NO_NODE)[::-1]
    opening = opening[table.opens[opening] < len(opener)]
    opener[table.opens[opening]] = opening
    above, node = np.full(len(table), -1, np.int64), table.nodes.copy()
    own = np.arange(len(table))
    for _ in range(_MAX_DEPTH):
        open_ = np.flatnonzero((above < 0) & (node >= 0) & (node < len(opener)))
        if not len(open_):
            break
        found = opener[node[open_]]
        found[found == own[open_]] = -1
        above[open_] = found
        node[open_] = np.where(found < 0, context_parents[node[open_]], -1)
    return above
