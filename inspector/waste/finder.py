"""Goes through a capture for what could have been spared, a little at a time.

Each result is listed once: what was fetched again as that, and of the rest what was never consumed, then what nobody
referred to. Passages copied into arguments are tokens of the arguments, so that nothing is counted twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.tokens import NOT_COUNTED
from inspector.waste.definitions import MOST_LISTS, Definitions
from inspector.waste.repeats import Repeats
from inspector.waste.results import Results, Traffic
from inspector.waste.traces import MOST_SAYINGS, Traces
from inspector.waste.unconsumed import unconsumed
from inspector.waste.wasted import Waste

MOST_RESULTS = 10_000
"""Results that are looked at closely, the largest."""


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes:
        wastes: what costs most first.
        notes: sentences on what was not looked at.
        stop: messages it is about.
    """

    wastes: tuple[Waste, ...]
    notes: tuple[str, ...]
    stop: int

    @property
    def tokens(self) -> int:
        """All that could be spared, estimate."""
        return sum(one.tokens for one in self.wastes)

    @property
    def sure_tokens(self) -> int:
        """Of these, what the traffic shows."""
        return sum(one.tokens for one in self.wastes if one.sure)


class WasteFinder:
    """Looks at the messages there are when it is made; nothing happens until `go_on` is called.

    Attributes:
        found: the outcome; None until all is done.
    """

    def __init__(self, analysis: Analysis, *, most: int = MOST_RESULTS) -> None:
        """Prepare.

        Args:
            analysis: its tokens should be counted; what is not counted is not looked at.
            most: results that are looked at closely.
        """
        self._analysis = analysis
        self._most = most
        self._notes: list[str] = []
        self._steps = self._run()
        self.found: Found | None = None

    def go_on(self, until: float) -> bool:
        """Look further until a time, by `time.perf_counter`; whether all is done."""
        while self.found is None:
            if next(self._steps, True) is True or time.perf_counter() >= until:
                break
        return self.found is not None

    def _run(self) -> Iterator[bool]:
        """Each step is a few milliseconds at most, but for the columns of a very large capture."""
        analysis = self._analysis
        traffic = Traffic(analysis)
        yield False
        wastes: list[Waste] = []
        definitions = Definitions(traffic)
        yield False
        for place in range(len(definitions.results)):
            definitions.take(place)
            yield False
        wastes += definitions.judge()
        if definitions.unread:
            self._notes.append(f"Of lists of tools the first {MOST_LISTS:,} were looked at.")
        results = self._largest(traffic.answers("tools/call"))
        yield False
        repeats = Repeats(traffic, results, definitions.read_only)
        for place in repeats.places:
            repeats.take(place)
            yield False
        for places in repeats.groups:
            wastes += repeats.judge(places)
            yield False
        listed = repeats.listed
        left = [place for place, row in enumerate(results.rows.tolist()) if row not in listed]
        for place in left:
            one = unconsumed(traffic, results, place)
            if one is not None:
                wastes.append(one)
                listed.add(one.message)
            yield False
        yield from self._trace(traffic, results, listed, wastes)
        wastes.sort(key=lambda one: (-one.tokens, one.message))
        self.found = Found(tuple(one for one in wastes if one.tokens > 0), tuple(self._notes), traffic.stop)

    def _largest(self, results: Results) -> Results:
        """The largest results that are counted, ascending."""
        uncounted = int(np.count_nonzero(results.tokens == NOT_COUNTED))
        if uncounted:
            self._notes.append(f"{uncounted:,} results are not counted, and were not looked at.")
        order = np.argsort(-results.tokens, kind="stable")[: len(results) - uncounted]
        if len(order) > self._most:
            self._notes.append(f"Of {len(order):,} results the {self._most:,} largest were looked at closely.")
        return results.those(np.sort(order[: self._most]))

    def _trace(self, traffic: Traffic, results: Results, listed: set[int], wastes: list[Waste]) -> Iterator[bool]:
        apart = traffic.collapsed(results.rows) | np.isin(results.rows, list(listed))
        traces = Traces(traffic, results, np.flatnonzero(~apart))
        yield False
        for place in traces.places:
            traces.take(place)
            yield False
        for _ in traces.settle():
            yield False
        for row in traces.sayings:
            traces.hear(row)
            yield False
        if traces.unkept:
            self._notes.append(
                f"Of {traces.unkept:,} results there was no room to see whether somebody refers to them."
            )
        if traces.unread:
            self._notes.append(
                f"What was said after results was searched in {MOST_SAYINGS:,} messages; {traces.unread:,} more were "
                "not, so that nothing is said of results nobody referred to."
            )
        wastes += traces.unreferred
        wastes += traces.copied
