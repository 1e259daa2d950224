"""Maintains latencies of a growing capture incrementally, with the results of `latency`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.latency.latency import Latency, latency_ms, model_times, tools_of

HISTOGRAM_BOUNDS_MS = tuple(10 ** (half / 2) for half in range(11))
"""Bounds of the latency histogram in milliseconds: half decades from 1 ms to 100 s."""
_MESSAGES_PER_STEP = 1 << 16
"""Messages per step: some milliseconds."""


_LATENCY, _TOOL, _SENDER, _MODEL_TIME, _MODEL = range(5)
"""Columns of a message's figures."""
_GROUPS = {"tool": (_TOOL, _LATENCY), "participant": (_SENDER, _LATENCY), "model": (_MODEL, _MODEL_TIME)}
"""By grouping: columns of its string id and its milliseconds."""


@dataclass(frozen=True, slots=True)
class GroupLatency:
    """Latency of one tool, participant or model.

    Attributes:
        code: string id of its name.
        name: its name.
        latency: count and percentiles, in milliseconds.
        slowest: the slowest response.
        spread: histogram: number of answers below the first HISTOGRAM_BOUNDS_MS, below the next..., and above the last.
    """

    code: int
    name: str
    latency: Latency
    slowest: int
    spread: tuple[int, ...] = ()


class _Group:
    """Answers of one group: (n,) float64 milliseconds, ascending, and new unsorted ones."""

    def __init__(self) -> None:
        self._sorted: NDArray[np.float64] = np.empty(0)
        self._new: list[NDArray[np.float64]] = []
        self._slowest = (-np.inf, -1)

    def add(self, latency: NDArray[np.float64], rows: NDArray[np.int64]) -> None:
        self._new.append(latency)
        place = int(latency.argmax())
        self._slowest = max(self._slowest, (float(latency[place]), int(rows[place])), key=lambda one: one[0])

    def summarize(self) -> tuple[Latency, int, tuple[int, ...]]:
        if self._new:
            new = np.sort(np.concatenate(self._new))
            self._new.clear()
            # Merging keeps the array sorted; sorting everything again would cost more with each step.
            self._sorted = np.insert(self._sorted, self._sorted.searchsorted(new), new)
        p50, p95, p99 = map(self._percentile, (0.50, 0.95, 0.99))
        latency = Latency(len(self._sorted), p50, p95, p99, float(self._sorted[-1]))
        ends = [0, *self._sorted.searchsorted(HISTOGRAM_BOUNDS_MS).tolist(), len(self._sorted)]
        return latency, self._slowest[1], tuple(stop - start for start, stop in pairwise(ends))

    def _percentile(self, part: float) -> float:
        """Returns an interpolated percentile, as in `latency`."""
        place = (len(self._sorted) - 1) * part
        low = int(place)
        below, above = float(self._sorted[low]), float(self._sorted[min(low + 1, len(self._sorted) - 1)])
        return below + (above - below) * (place - low)


class LatencyTally:
    """Latencies by tool, participant and model, in steps.

    Works only in `step`. A change to a counted answer, such as a late request, restarts the count in steps; the former
    results stay until it is complete.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._by: dict[str, list[GroupLatency]] = {name: [] for name in _GROUPS}
        self._restart()

    def _restart(self) -> None:
        self._fed = 0
        self._groups: dict[str, dict[int, _Group]] = {name: {} for name in _GROUPS}
        self._rows: list[NDArray[np.int64]] = []
        self._figures: list[NDArray[np.float64]] = []

    @property
    def is_behind(self) -> bool:
        """True if messages are pending."""
        return self._fed < len(self._analysis)

    def note_changed(self, changed: Rows) -> None:
        """Checks changed messages; if counted answers differ, restarts the count. O(changed)."""
        changed = changed[changed < self._fed]
        if not len(changed):
            return
        now = self._figures_of(changed)
        # Percentiles cannot be corrected by subtraction, so a real change restarts the count.
        if not np.array_equal(now, self._counted_figures(changed), equal_nan=True):
            self._restart()

    def step(self) -> bool:
        """Processes further messages. Returns True if none is pending."""
        start, stop = self._fed, min(len(self._analysis), self._fed + _MESSAGES_PER_STEP)
        if start < stop:
            rows = np.arange(start, stop)
            said = self._figures_of(rows)
            counted = np.flatnonzero((~np.isnan(said[:, [_LATENCY, _MODEL_TIME]])).any(axis=1))
            rows, said = rows[counted], said[counted]
            if len(rows):
                self._rows.append(rows)
                self._figures.append(said)
                for name, (code, took) in _GROUPS.items():
                    self._add_to_groups(self._groups[name], said[:, code].astype(np.int64), said[:, took], rows)
            self._fed = stop
        return not self.is_behind

    def by(self, what: str) -> list[GroupLatency]:
        """Returns the latest figures, most answers first; the former ones during a recount.

        Args:
            what: tool, participant or model.
        """
        if not self.is_behind:
            strings: Sequence[str] = self._analysis.capture.strings
            found = [(code, *group.summarize()) for code, group in self._groups[what].items()]
            made = [
                GroupLatency(code, strings[code], latency, slowest, spread) for code, latency, slowest, spread in found
            ]
            self._by[what] = sorted(made, key=lambda one: (-one.latency.count, one.name))
        return self._by[what]

    def _figures_of(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """(k, 5) latency, tool, sender, model time and model of some messages; NaN and 0 for other messages."""
        analysis = self._analysis
        latency, tools = latency_ms(analysis, rows), tools_of(analysis, rows)
        took, models = model_times(analysis, rows)
        senders = analysis.capture.columns["sender"][rows]
        said = np.stack((latency, tools, senders, took, models), axis=1, dtype=np.float64, casting="unsafe")
        said[np.isnan(latency), 1:_MODEL_TIME] = 0
        return said

    def _counted_figures(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Returns the counted values of some messages, in the form of `_figures_of`."""
        found = np.zeros((len(rows), _MODEL + 1))
        found[:, [_LATENCY, _MODEL_TIME]] = np.nan
        if self._rows:
            self._rows, self._figures = [np.concatenate(self._rows)], [np.concatenate(self._figures)]
            known = self._rows[0]
            places = np.minimum(known.searchsorted(rows), len(known) - 1)
            same = known[places] == rows
            found[same] = self._figures[0][places[same]]
        return found

    @staticmethod
    def _add_to_groups(
        groups: dict[int, _Group], codes: NDArray[np.int64], latency: NDArray[np.float64], rows: NDArray[np.int64]
    ) -> None:
        order = np.argsort(codes, kind="stable")
        codes, latency, rows = codes[order], latency[order], rows[order]
        starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
        for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(codes)], strict=True):
            code = int(codes[start])
            if code:
                groups.setdefault(code, _Group()).add(latency[start:stop], rows[start:stop])
