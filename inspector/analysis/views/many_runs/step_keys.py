"""Keys of equal steps of many runs, and calls with other outcomes or arguments in each run.

RULE: an argument does not count in a key if at least five runs have it and fewer than half of its values are shared by
two runs. Such arguments are free texts, such as thoughts and messages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from inspector.analysis.views.many_runs.run_chain import ChainStep, RunChain
from inspector.analysis.views.steps.step_columns import StepState
from inspector.store.columns.hashes import hash_values

_LEAST_RUNS = 5


class VaryingArgument(NamedTuple):
    """An argument that differs from run to run.

    Attributes:
        tool, name: of the argument.
        values: number of different values.
        runs: number of runs with the argument.
    """

    tool: str
    name: str
    values: int
    runs: int


class ChangingCall(NamedTuple):
    """A call with equal arguments whose outcome differs from run to run.

    Attributes:
        text: the call in short.
        runs: number of runs with an answer to it; the first such call of a run counts.
        failed: number of these with a failure of it.
        results: number of different results.
        example: index of a run and message, where it failed if it did.
    """

    text: str
    runs: int
    failed: int
    results: int
    example: tuple[int, int]

    @property
    def is_flaky(self) -> bool:
        """True if it failed in some runs only."""
        return 0 < self.failed < self.runs


class StepKeys(NamedTuple):
    """Keys of the steps of all runs.

    Attributes:
        chains: hashes of the steps of each run.
        varying: arguments that do not count.
    """

    chains: list[list[int]]
    varying: list[VaryingArgument]


def step_keys(runs: Sequence[RunChain]) -> StepKeys:
    """Returns the keys of all steps. O(steps)."""
    values: dict[tuple[int, str], dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    names: dict[int, str] = {}
    for place, run in enumerate(runs):
        for step in run.steps:
            names[step.group] = step.name
            for one in step.arguments:
                values[step.group, one.name][one.value].add(place)
    uncounted: set[tuple[int, str]] = set()
    varying: list[VaryingArgument] = []
    for key, places in values.items():
        among = len(set[int]().union(*places.values()))
        shared = sum(len(one) > 1 for one in places.values())
        if among >= _LEAST_RUNS and 2 * shared < len(places):
            uncounted.add(key)
            varying.append(VaryingArgument(names[key[0]], key[1], len(places), among))
    chains = [[_key(step, uncounted) for step in run.steps] for run in runs]
    return StepKeys(chains, sorted(varying, key=lambda one: (-one.runs, one.tool, one.name)))


def _key(step: ChainStep, uncounted: set[tuple[int, str]]) -> int:
    if not any((step.group, one.name) in uncounted for one in step.arguments):
        return step.act
    return hash_values(step.group, *(one.value for one in step.arguments if (step.group, one.name) not in uncounted))


def changing_calls(runs: Sequence[RunChain]) -> list[ChangingCall]:
    """Returns calls of at least two runs whose outcome differs, flaky ones first. O(steps)."""
    firsts: dict[int, dict[int, ChainStep]] = defaultdict(dict)
    for place, run in enumerate(runs):
        for step in run.steps:
            if step.state in (StepState.OK, StepState.FAILED):
                firsts[step.act].setdefault(place, step)
    found: list[ChangingCall] = []
    for among in firsts.values():
        states = Counter(step.state for step in among.values())
        results = len({step.result for step in among.values()})
        if len(among) > 1 and (results > 1 or len(states) > 1):
            place, step = min(among.items(), key=lambda one: one[1].state != StepState.FAILED)
            found.append(ChangingCall(step.text, len(among), states[StepState.FAILED], results, (place, step.row)))
    return sorted(found, key=lambda one: (not one.is_flaky, -one.runs, one.text))
