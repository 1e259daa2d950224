"""Goes through a capture for what could have been spared, a little at a time.

Each result is listed once: what was fetched again as that, and of the rest what was never consumed, then what nobody
referred to. Passages copied into arguments are tokens of the arguments, so that nothing is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings.hints import PENDING_AFTER_S
from inspector.analysis.tokens import NOT_COUNTED
from inspector.analysis.waste.definitions import MOST_LISTS, Definitions
from inspector.analysis.waste.losses import Losses
from inspector.analysis.waste.repeats import Repeats
from inspector.analysis.waste.results import Results, Traffic
from inspector.analysis.waste.traces import MOST_SAYINGS, Traces
from inspector.analysis.waste.unconsumed import unconsumed
from inspector.analysis.waste.wasted import Waste
from inspector.base.slices import Steps, go_on
from inspector.protocol.times import NO_TIME

MOST_RESULTS = 10_000
"""Results that are looked at closely, the largest."""
YOUNG_S = PENDING_AFTER_S
"""While traffic goes on nothing is said of a result younger than this: it may still be consumed, or spoken of."""


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

    def __init__(
        self, analysis: Analysis, *, most: int = MOST_RESULTS, ongoing: bool = False, now_ns: int | None = None
    ) -> None:  # fmt: skip
        """Prepare.

        Args:
            analysis: its tokens should be counted; what is not counted is not looked at.
            most: results that are looked at closely.
            ongoing: traffic goes on, so that what was not done yet may still be.
            now_ns: what time it is then; by default as the traffic tells.
        """
        self._analysis = analysis
        self._most = most
        self._ongoing = ongoing
        self._now_ns = analysis.now_ns if now_ns is None else now_ns
        self._notes: list[str] = []
        self._steps = self._run()
        self.found: Found | None = None

    def go_on(self, until: float) -> bool:
        """Look further until a time, by `time.perf_counter`; whether all is done."""
        return go_on(self._steps, until)

    def _run(self) -> Steps[None]:
        """Each step is a few milliseconds at most, but for the columns of a very large capture."""
        analysis = self._analysis
        traffic = Traffic(analysis)
        yield
        wastes: list[Waste] = []
        definitions = Definitions(traffic, ongoing=self._ongoing)
        yield
        for place in range(len(definitions.results)):
            definitions.take(place)
            yield
        wastes += definitions.judge()
        if definitions.unread:
            self._notes.append(f"Of lists of tools the first {MOST_LISTS:,} were looked at.")
        results = self._largest(traffic.answers("tools/call"))
        yield
        losses = Losses(traffic)
        yield
        repeats = Repeats(traffic, results, definitions.read_only, losses)
        for place in repeats.places:
            repeats.take(place)
            yield
        for places in repeats.groups:
            wastes += repeats.judge(places)
            yield
        listed = repeats.listed | self._young(results)
        left = [place for place, row in enumerate(results.rows.tolist()) if row not in listed]
        for place in left:
            one = unconsumed(traffic, results, place, losses, ongoing=self._ongoing)
            if one is not None:
                wastes.append(one)
                listed.add(one.message)
            yield
        yield from self._trace(traffic, results, listed, wastes)
        wastes.sort(key=lambda one: (-one.tokens, one.message))
        self.found = Found(tuple(one for one in wastes if one.tokens > 0), tuple(self._notes), traffic.stop)

    def _largest(self, results: Results) -> Results:
        """The largest results that are counted, ascending."""
        uncounted = int(np.count_nonzero(results.tokens == NOT_COUNTED))
        if uncounted:
            one = uncounted == 1
            words = "1 result is not counted, and was" if one else f"{uncounted:,} results are not counted, and were"
            self._notes.append(f"{words} not looked at.")
        order = np.argsort(-results.tokens, kind="stable")[: len(results) - uncounted]
        if len(order) > self._most:
            self._notes.append(f"Of {len(order):,} results the {self._most:,} largest were looked at closely.")
        return results.those(np.sort(order[: self._most]))

    def _young(self, results: Results) -> set[int]:
        """Results of which it is too early to say anything."""
        if not self._ongoing:
            return set()
        analysis, times = self._analysis, self._analysis.capture.columns["time_ns"][results.rows]
        now = analysis.contexts.clock_ns if self._now_ns is None else self._now_ns
        young = (times == NO_TIME) | (times > now - YOUNG_S * 1_000_000_000)
        return set(results.rows[young].tolist())

    def _trace(self, traffic: Traffic, results: Results, listed: set[int], wastes: list[Waste]) -> Steps[None]:
        apart = traffic.collapsed(results.rows) | np.isin(results.rows, list(listed))
        traces = Traces(traffic, results, np.flatnonzero(~apart))
        yield
        for place in traces.places:
            traces.take(place)
            yield
        yield from traces.settle()
        for row in traces.sayings:
            traces.hear(row)
            yield
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
