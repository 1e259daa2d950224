"""The answer about many runs as plain data: for each task the tree, facts that part groups of runs, and odd ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from inspector.analysis.views.many_runs.distances import Distances, Outlier, distances, outliers
from inspector.analysis.views.many_runs.facts import LEVEL, Fact, Separation, separate
from inspector.analysis.views.many_runs.run_chain import MOST_STEPS, RunChain
from inspector.analysis.views.many_runs.run_tree import TreeRow, run_tree, way_count
from inspector.analysis.views.many_runs.step_keys import StepKeys, changing_calls, step_keys
from inspector.base.optional_dependencies import STATS
from inspector.base.slices import SlicedWork
from inspector.present.formats import count_of
from inspector.present.run_chains import FAILED, OTHERS, PASSED
from inspector.protocol.secrets.masking import mask_text

UNKNOWN = "unknown"
TEST = "Fisher's exact test, two-sided; corrected by Holm's method"
_MOST_STEPS = 50
_MOST_FACTS = 200
_FIRST = (PASSED, FAILED)


class Example(msgspec.Struct, frozen=True):
    """A run, and the index of a message in it; None without one."""

    run: str
    row: int | None = None


class Branch(msgspec.Struct, frozen=True):
    """A row of the tree.

    Attributes:
        depth: number of rows above it; `parent` is the nearest, -1 for the first.
        steps: texts of its first steps, by the representative run.
        count: number of steps.
        runs: number of runs.
        groups: number of runs by group.
        ended: number of runs that ended here.
        representative: the run nearest to the others, at the first step.
    """

    depth: int
    parent: int
    steps: list[str]
    count: int
    runs: int
    groups: dict[str, int]
    ended: int
    representative: Example


class FactAnswer(msgspec.Struct, frozen=True):
    """A fact: runs with and without it by group, and values of its test; None if it was not tested."""

    kind: str
    text: str
    groups: dict[str, dict[str, int]]
    p: float | None
    corrected: float | None
    same: list[str]
    example: str


class OutlierAnswer(msgspec.Struct, frozen=True):
    """A run unlike the others, with its group and the reason in words."""

    run: str
    group: str
    steps: int
    distance: float
    reason: str


class VaryingAnswer(msgspec.Struct, frozen=True):
    """An argument that differs from run to run, and does not count in the tree."""

    tool: str
    argument: str
    values: int
    runs: int


class ChangingAnswer(msgspec.Struct, frozen=True):
    """A call with equal arguments whose outcome differs: runs with it, failures, different results."""

    text: str
    runs: int
    failed: int
    results: int
    example: Example


class TaskAnswer(msgspec.Struct, frozen=True):
    """The runs of one task.

    Attributes:
        task: None if the logs name none.
        runs, groups, ways: number of runs, by group, and of different chains.
        usual: the representative run.
        tree: rows, parents before children.
        compared: the two groups of the facts; empty if there are not two.
        can_tell: False if the groups are too small for any claim.
        sentence: if and how far facts part the groups, with counts.
        tests: number of tests corrected for; 0 without any.
        facts: at most 200, the strongest first.
        outliers: runs unlike the others.
        flaky: calls that failed in some runs only.
        changing: calls that had other results.
        varying: arguments that do not count.
    """

    task: str | None
    runs: int
    groups: dict[str, int]
    ways: int
    usual: str
    tree: list[Branch]
    compared: list[str]
    can_tell: bool
    sentence: str
    tests: int
    facts: list[FactAnswer]
    outliers: list[OutlierAnswer]
    flaky: list[ChangingAnswer]
    changing: list[ChangingAnswer]
    varying: list[VaryingAnswer]


def by_task(runs: Sequence[RunChain]) -> list[tuple[str | None, list[RunChain]]]:
    """Returns the runs of each task, in the order of their first run."""
    found: dict[str | None, list[RunChain]] = {}
    for run in runs:
        found.setdefault(run.task, []).append(run)
    return list(found.items())


class GrownTree(NamedTuple):
    """The tree of the runs of a task.

    Attributes:
        keys: keys of their steps.
        spread: their distances.
        names: group of each run.
        rows: rows of the tree, parents before children.
    """

    keys: StepKeys
    spread: Distances
    names: list[str]
    rows: list[Branch]

    @property
    def groups(self) -> dict[str, int]:
        """Number of runs by group."""
        return _counts(self.names)


def grow_tree(runs: Sequence[RunChain]) -> SlicedWork[GrownTree]:
    """Aligns the runs of a task, at least one, and makes their tree."""
    keys = step_keys(runs)
    yield
    spread = yield from distances(keys.chains)
    names = [run.group if run.group is not None else UNKNOWN for run in runs]
    rows = run_tree(keys.chains, spread.nearest)
    yield
    return GrownTree(keys, spread, names, [_branch(row, runs, names) for row in rows])


def answer_about(task: str | None, runs: Sequence[RunChain]) -> SlicedWork[TaskAnswer]:
    """Compares the runs of a task; at least one."""
    keys, spread, names, tree = yield from grow_tree(runs)
    usual = spread.nearest(range(len(runs)))
    compared, first, second = _compared(names)
    separation = separate(runs, first, second)
    sentence = _sentence(separation, compared, is_known=set(names) != {UNKNOWN}) + _pooled(runs) + _cut(runs)
    yield
    changing = changing_calls(runs)
    calls = [
        (one.is_flaky, ChangingAnswer(one.text, one.runs, one.failed, one.results, _example(runs, *one.example)))
        for one in changing
    ]
    return TaskAnswer(
        task, len(runs), _counts(names), way_count(keys.chains), runs[usual].path, tree, compared,
        separation.can_tell, sentence, separation.tests,
        [_fact(one, compared, runs) for one in separation.facts[:_MOST_FACTS]],
        [
            OutlierAnswer(runs[one.run].path, names[one.run], one.steps, round(one.distance, 3), _reason(one))
            for one in outliers(keys.chains, usual)
        ],
        [one for flaky, one in calls if flaky], [one for flaky, one in calls if not flaky],
        [VaryingAnswer(*one) for one in keys.varying],
    )  # fmt: skip


def _counts(names: Sequence[str]) -> dict[str, int]:
    """Returns the number of runs by group: passed and failed first, unknown last, others by number."""
    counts = Counter(names)
    order = [*(name for name in _FIRST if name in counts), *(name for name, _ in counts.most_common())]
    return {name: counts[name] for name in dict.fromkeys([*(one for one in order if one != UNKNOWN), *order])}


def _compared(names: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
    """Returns two groups and their runs: the only two that are known, or the largest and all others."""
    known = [name for name in _counts(names) if name != UNKNOWN]
    if len(known) < 2:
        return [], [], []
    one, other = (known[0], known[1]) if len(known) == 2 else (known[0], OTHERS)
    first = [run for run, name in enumerate(names) if name == one]
    second = [run for run, name in enumerate(names) if name not in (one, UNKNOWN)]
    return [one, other], first, second


def _branch(row: TreeRow, runs: Sequence[RunChain], names: Sequence[str]) -> Branch:
    steps = runs[row.representative].steps[row.start : row.stop]
    example = Example(runs[row.representative].path, steps[0].row if steps else None)
    return Branch(
        row.depth, row.parent, [one.text for one in steps[:_MOST_STEPS]], len(steps), len(row.runs),
        _counts([names[run] for run in row.runs]), row.ended, example,
    )  # fmt: skip


def _example(runs: Sequence[RunChain], run: int, row: int) -> Example:
    return Example(runs[run].path, row)


def _fact(one: Fact, compared: Sequence[str], runs: Sequence[RunChain]) -> FactAnswer:
    groups = {
        name: {"with": one.counts[2 * place], "without": one.counts[2 * place + 1]}
        for place, name in enumerate(compared)
    }
    return FactAnswer(
        one.kind, one.text, groups, one.p, one.corrected, list(one.same[:_MOST_STEPS]), runs[one.example].path
    )


def _reason(one: Outlier) -> str:
    words = [f"{one.distance:.0%} of its steps differ from the usual run"] if one.is_far else []
    words += [f"{one.steps:,} steps, over three times the median"] if one.is_long else []
    return "; ".join(words)


def _sentence(found: Separation, compared: Sequence[str], *, is_known: bool) -> str:
    """Returns a sentence on the facts; it claims no more than their counts allow."""
    if not is_known:
        return "The logs state no outcome of their runs; --by groups them by a field or a filter."
    if not compared:
        return "All runs with a known outcome are of one group, so there is nothing to compare."
    sizes = " and ".join(f"{size:,} {name}" for size, name in zip(found.sizes, compared, strict=True))
    if not found.can_tell:
        return (
            f"Nothing can be told by {sizes}: even a fact that parts them completely could be chance "
            f"(p at least {value_words(found.best)})."
        )
    if not found.is_tested:
        return f"{sizes}. Only counts: {STATS.missing_message('Their test')}"
    surest = found.facts[0].corrected if found.facts else None
    parting = sum(one.corrected is not None and one.corrected < LEVEL for one in found.facts)
    tests = f"{TEST} over {count_of(found.tests, 'test')}"
    if not parting:
        least = f"; the least corrected p is {value_words(surest)}" if surest is not None else ""
        return f"No fact parts {sizes}{least}. {tests}."
    return f"{count_of(parting, 'fact')} part{'s' if parting == 1 else ''} {sizes}. {tests}."


def _cut(runs: Sequence[RunChain]) -> str:
    """Returns a sentence about runs with more steps than are compared."""
    cut = sum(bool(run.cut) for run in runs)
    return f" Of {count_of(cut, 'run')}, only the first {MOST_STEPS:,} steps are compared." if cut else ""


def _pooled(runs: Sequence[RunChain]) -> str:
    """Returns a caveat for runs of several tasks."""
    tasks = len({run.task for run in runs})
    return f" The runs are of {tasks:,} tasks: a fact may only tell the tasks apart." if tasks > 1 else ""


def value_words(p: float | None) -> str:
    """Returns a value of a test: 0.04, 1.2e-05."""
    return "" if p is None else f"{p:.2g}"


def parts(one: FactAnswer) -> bool:
    """Returns True if a fact parts the groups, corrected."""
    return one.corrected is not None and one.corrected < LEVEL


def as_json(
    answers: Sequence[TaskAnswer], failures: Sequence[tuple[str, str]], by: str, limit: int | None = None
) -> dict[str, Any]:
    """Returns answers as JSON; numbers of messages begin with 1.

    Args:
        answers: for each task.
        failures: path and reason of logs that cannot be read.
        by: the field or filter that groups the runs; "" for passed and failed.
        limit: most items of each list of a task; None for all.
    """

    def numbered(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                "no" if key == "row" else key: None if one is None else one + 1 if key == "row" else numbered(one)
                for key, one in value.items()
            }
        return [numbered(one) for one in value] if isinstance(value, list) else value

    return {
        "runs": sum(one.runs for one in answers), "by": mask_text(by) or "run.passed", "test": TEST, "level": LEVEL,
        "failures": [{"path": path, "text": text} for path, text in failures],
        "tasks": [
            {key: value[:limit] if isinstance(value, list) else value
             for key, value in numbered(msgspec.to_builtins(one)).items()}
            for one in answers
        ],
    }  # fmt: skip
