"""Facts about runs that part two groups of them, such as passed and failed runs.

Each fact is a question about one run with the answer yes or no. Its counts are tested with Fisher's exact test (1922),
two-sided, and the values corrected by Holm's method (1979). Facts with equal answers in all runs are one test. Facts
that could not reach the level by their totals alone are not tested (Tarone, 1990).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.many_runs.run_chain import RunChain
from inspector.analysis.views.steps.step_columns import StepState
from inspector.base.optional_dependencies import STATS

LEVEL = 0.05
"""Limit of the corrected value of a fact that parts the groups."""
_LEAST = 2
"""Least number of runs with a fact, and without it."""
_TIMES = (2, 3, 5, 10)
_MOST_ORDERED = 24
"""Tools whose order is a fact, the most frequent ones."""
_MOST_FACTS = 20_000


class Fact(NamedTuple):
    """A fact with its counts in both groups.

    Attributes:
        kind: called, failed, rejected, argument, calls, order, first, last, repeated or steps.
        text: in words, masked.
        counts: runs of the first group with and without it, then of the second.
        p, corrected: values of the test; None if it was not tested.
        same: texts of facts with equal answers.
        example: index of a run with it.
    """

    kind: str
    text: str
    counts: tuple[int, int, int, int]
    p: float | None
    corrected: float | None
    same: tuple[str, ...]
    example: int

    @property
    def difference(self) -> float:
        """Share of runs with it in the first group, less that in the second."""
        return self.counts[0] / sum(self.counts[:2]) - self.counts[2] / sum(self.counts[2:])


class Separation(NamedTuple):
    """Facts that part two groups of runs.

    Attributes:
        sizes: number of runs of each group.
        best: least value that any fact could have with such groups; 1 if one group is empty.
        facts: by value, then by difference.
        tests: number of tests corrected for.
        is_tested: False if the library is missing.
    """

    sizes: tuple[int, int]
    best: float
    facts: list[Fact]
    tests: int
    is_tested: bool

    @property
    def can_tell(self) -> bool:
        """False if there are too few runs for any claim."""
        return self.best < LEVEL


def separate(runs: Sequence[RunChain], first: Sequence[int], second: Sequence[int]) -> Separation:
    """Returns the facts that part two groups of runs.

    Args:
        runs: all runs.
        first, second: indices of the runs of each group.
    """
    sizes = len(first), len(second)
    best = (1 + (sizes[0] == sizes[1])) / math.comb(sum(sizes), sizes[0]) if all(sizes) else 1.0
    if not all(sizes):
        return Separation(sizes, best, [], 0, False)
    answers: dict[tuple[str, str, int], set[int]] = defaultdict(set)
    among = [*first, *second]
    shared = _Shared([runs[run] for run in among])
    for place, run in enumerate(among):
        for fact in shared.facts_of(runs[run]):
            answers[fact].add(place)
    by_answer: dict[frozenset[int], list[tuple[str, str]]] = defaultdict(list)
    for fact, places in answers.items():
        if _LEAST <= len(places) <= len(among) - _LEAST:
            by_answer[frozenset(places)].append(fact[:2])
    is_tested = best < LEVEL and not STATS.missing_modules()
    facts = [_fact(same, places, sizes, among) for places, same in by_answer.items()]
    facts.sort(key=lambda one: (-abs(one.difference), _RANK[one.kind], one.text))
    if is_tested:
        facts = corrected(facts)  # before facts are left out, since each one counts as a test
    tests = sum(one.p is not None for one in facts)
    return Separation(sizes, best, facts[:_MOST_FACTS], tests, is_tested)


def _fact(same: list[tuple[str, str]], places: frozenset[int], sizes: tuple[int, int], among: list[int]) -> Fact:
    same.sort(key=lambda one: (_RANK[one[0]], one[1]))
    kind, text = same[0]
    with_first = sum(place < sizes[0] for place in places)
    with_second = len(places) - with_first
    counts = with_first, sizes[0] - with_first, with_second, sizes[1] - with_second
    return Fact(kind, text, counts, None, None, tuple(one[1] for one in same[1:]), among[min(places)])


def corrected(facts: Iterable[Fact]) -> list[Fact]:
    """Returns facts with values of Fisher's test, corrected by Holm's method; the least first."""
    known = list(facts)
    tested = [one for one in known if _could_part(one.counts)]
    rest = [one for one in known if not _could_part(one.counts)]
    values = sorted(((_fisher(one.counts), one) for one in tested), key=lambda one: one[0])
    found: list[Fact] = []
    least = 0.0
    for place, (p, one) in enumerate(values):
        least = max(least, min(1.0, p * (len(values) - place)))
        found.append(one._replace(p=p, corrected=least))
    return found + rest


def _could_part(counts: tuple[int, int, int, int]) -> bool:
    """Returns True if the totals of a fact allow a value below the level."""
    first, second, having = counts[0] + counts[1], counts[2] + counts[3], counts[0] + counts[2]
    extremes = (min(first, having), max(0, having - second))
    return min(_fisher((one, first - one, having - one, second - having + one)) for one in extremes) < LEVEL


@lru_cache(maxsize=1 << 16)
def _fisher(counts: tuple[int, int, int, int]) -> float:
    from scipy.stats import fisher_exact  # optional: the extra `stats`

    found: Any = fisher_exact([counts[:2], counts[2:]])
    return float(found.pvalue)


_RANK = {
    kind: rank for rank, kind in enumerate(
        ("failed", "rejected", "called", "argument", "calls", "repeated", "first", "last", "order", "steps")
    )
}  # fmt: skip
"""Of facts with equal answers, the one that is named."""


class _Shared:
    """Knowledge about all runs that bounds their facts."""

    def __init__(self, runs: Sequence[RunChain]) -> None:
        used = Counter(name for run in runs for name in {step.name for step in run.steps})
        self._ordered = {name for name, _ in used.most_common(_MOST_ORDERED)}
        values = Counter(
            one for run in runs for one in {
                (step.group, each.name, each.value) for step in run.steps for each in step.arguments
            }
        )  # fmt: skip
        self._values = {one for one, count in values.items() if count >= _LEAST}
        counts: NDArray[np.float64] = np.quantile([len(run.steps) for run in runs], [0.25, 0.5, 0.75])
        self._steps = sorted({int(one) + 1 for one in counts.tolist()})

    def facts_of(self, run: RunChain) -> Iterator[tuple[str, str, int]]:
        """Yields kind, text and value of each fact of a run; a fact may come twice. Texts of values may be cut."""
        times: Counter[str] = Counter()
        acts: set[int] = set()
        firsts: dict[str, int] = {}
        for place, step in enumerate(run.steps):
            times[step.name] += 1
            firsts.setdefault(step.name, place)
            if step.state == StepState.FAILED:
                yield "failed", f"{step.name} fails", 0
            if step.state == StepState.REJECTED:
                yield "rejected", f"{step.name} is not allowed", 0
            if step.act in acts and step.arguments:
                yield "repeated", f"{step.name} again with equal arguments", 0
            acts.add(step.act)
            for one in step.arguments:
                if (step.group, one.name, one.value) in self._values:
                    yield "argument", f"{step.name} with {one.name or 'argument'} {one.text}", one.value
        for name, count in times.items():
            yield "called", f"{name}", 0
            for least in _TIMES:
                if count >= least:
                    yield "calls", f"{name} {least} times or more", 0
        if run.steps:
            yield "first", f"{run.steps[0].name} first", 0
            yield "last", f"{run.steps[-1].name} last", 0
        for least in self._steps:
            if len(run.steps) >= least:
                yield "steps", f"{least:,} steps or more", 0
        ordered = [name for name in firsts if name in self._ordered]
        for place, name in enumerate(ordered):
            for later in ordered[place + 1 :]:
                yield "order", f"{name} before {later}", 0
