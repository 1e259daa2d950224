"""`diff --many`: prints the tree of many runs, facts that part groups of them, and odd runs and calls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from inspector.analysis.views.many_runs.run_chain import RunChain
from inspector.base.slices import run_to_end
from inspector.cli.arguments import Reading, fail
from inspector.cli.diff_many_page import html_page
from inspector.cli.many_runs import read_paths
from inspector.cli.printing import MOST_LISTED, dump, echo, escape_hostile, print_line, printable
from inspector.present.formats import count_of
from inspector.present.many_runs import (
    Branch,
    ChangingAnswer,
    FactAnswer,
    TaskAnswer,
    answer_about,
    as_json,
    by_task,
    parts,
    value_words,
)
from inspector.present.run_chains import ChainQuestion

_MOST_TASKS = 3
"""Tasks whose trees are printed for people without `--task`."""
_MOST_FACTS, _MOST_UNSURE, _MOST_ODD = 20, 5, 10
_MOST_SAME = 2
_DEEPEST = 30


class ManyOptions(NamedTuple):
    """Options of `diff --many`.

    Attributes:
        by: field or filter that groups runs; "" for passed and failed.
        task: the only task; None for all.
        pool: all runs are of one task.
        ignore: fields and expressions that do not count.
        shape: text, json or html.
        scheduler, workers: processes that read the runs.
    """

    by: str
    task: str | None
    pool: bool
    ignore: tuple[str, ...]
    shape: str
    scheduler: str | None
    workers: int | None


def compare_many(paths: Sequence[str], options: ManyOptions, reading: Reading) -> None:
    """Prints the comparison; exits with code 2 if there is no run."""
    asked = ChainQuestion(by=options.by, ignore=list(options.ignore))
    found = read_paths(paths, asked, reading, options.scheduler, options.workers)
    runs = list(chain.from_iterable(found.by_path))
    tasks: list[tuple[str | None, list[RunChain]]] = [(None, runs)] if options.pool and runs else by_task(runs)
    if options.task is not None:
        known = ", ".join(str(name) for name, _ in tasks[:_MOST_ODD])
        tasks = [(name, some) for name, some in tasks if name == options.task]
        if not tasks:
            fail(escape_hostile(f"No run is of the task {options.task}; tasks: {known}."))
    if not tasks:
        fail(escape_hostile("\n".join(f"{path}: {text}" for path, text in found.failures) or "There are no runs."))
    answers = [run_to_end(answer_about(name, some)) for name, some in tasks]
    if options.shape == "json":
        echo(dump(as_json(answers, found.failures, options.by)))
    elif options.shape == "html":
        echo(html_page(answers, found.failures))
    else:
        _print(answers, found.failures)


def _print(answers: Sequence[TaskAnswer], failures: Sequence[tuple[str, str]]) -> None:
    if len(answers) > _MOST_TASKS:
        for answer in answers[:MOST_LISTED]:
            print_line(f"{_title(answer)}, {count_of(answer.ways, 'way')}")
        if len(answers) > MOST_LISTED:
            print_line(f"and {len(answers) - MOST_LISTED:,} more tasks; --format json prints all.")
        print_line("--task shows the runs of one task, --pool those of all as one.")
    else:
        for answer in answers:
            _print_task(answer)
    for path, text in failures[:_MOST_ODD]:
        print_line(f"not read: {printable(path, 300)}: {printable(text, 300)}")
    if len(failures) > _MOST_ODD:
        print_line(f"and {len(failures) - _MOST_ODD:,} more that could not be read")


def _title(answer: TaskAnswer) -> str:
    name = "" if answer.task is None else f"Task {answer.task}: "
    return f"{name}{count_of(answer.runs, 'run')}: {_groups(answer.groups)}"


def _groups(groups: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in groups.items())


def _print_task(answer: TaskAnswer) -> None:
    print_line(f"{_title(answer)}. {count_of(answer.ways, 'different way')}; usual run: {answer.usual}")
    names = list(answer.groups)
    print_line("".join(f"{_column(name):>11}" for name in ("runs", *names)) + "  steps")
    for row in answer.tree[:MOST_LISTED]:
        print_line(_tree_line(row, names))
    if len(answer.tree) > MOST_LISTED:
        print_line(f"and {len(answer.tree) - MOST_LISTED:,} more rows; --format json prints all.")
    print_line(answer.sentence)
    _print_facts(answer)
    for one in answer.outliers[:_MOST_ODD]:
        print_line(f"  unlike the others: {one.run} ({one.group}): {one.reason}")
    for title, calls in (("flaky", answer.flaky), ("other results", answer.changing)):
        for call in calls[:_MOST_ODD]:
            print_line(f"  {title}: {_call_line(call)}")
        if len(calls) > _MOST_ODD:
            print_line(f"  and {len(calls) - _MOST_ODD:,} more with {title}")
    for arg in answer.varying[:_MOST_ODD]:
        name = f"{arg.tool} {arg.argument}".rstrip()
        print_line(f"  not counted: {name}, {arg.values:,} values in {count_of(arg.runs, 'run')}")
    print_line("")


def _column(name: str) -> str:
    return name if len(name) <= 9 else f"{name[:8]}\N{HORIZONTAL ELLIPSIS}"


def _tree_line(row: Branch, names: Sequence[str]) -> str:
    figures = "".join(f"{count:>11,}" for count in (row.runs, *(row.groups.get(name, 0) for name in names)))
    text = row.steps[0] if row.steps else "start"
    more = f"  and {count_of(row.count - 1, 'more step')}" if row.count > 1 else ""
    ended = f"  ({row.ended:,} end here)" if row.ended and row.ended < row.runs else ""
    single = f"  [{row.representative.run}]" if row.runs == 1 else ""
    return f"{figures}  {'  ' * min(row.depth, _DEEPEST)}{text}{more}{ended}{single}"


def _print_facts(answer: TaskAnswer) -> None:
    if not answer.can_tell:
        return
    sure = [one for one in answer.facts if parts(one)]
    unsure = [one for one in answer.facts if not parts(one)][:_MOST_UNSURE]
    for one in sure[:_MOST_FACTS]:
        print_line(f"  {_fact_line(one)}")
    if len(sure) > _MOST_FACTS:
        print_line(f"  and {len(sure) - _MOST_FACTS:,} more facts; --format json prints them.")
    if sure and unsure:
        print_line("Maybe chance:")
    for one in unsure:
        print_line(f"  {_fact_line(one)}")


def _fact_line(one: FactAnswer) -> str:
    counts = ", ".join(
        f"{each['with']:,} of {each['with'] + each['without']:,} {name}" for name, each in one.groups.items()
    )
    values = f"; p {value_words(one.p)}, corrected {value_words(one.corrected)}" if one.p is not None else ""
    more = f"; {len(one.same) - _MOST_SAME:,} more" if len(one.same) > _MOST_SAME else ""
    same = f" (in the same runs: {'; '.join(one.same[:_MOST_SAME])}{more})" if one.same else ""
    return f"{one.text}: {counts}{values}{same}"


def _call_line(one: ChangingAnswer) -> str:
    failed = (
        f"failed in {one.failed:,} of {count_of(one.runs, 'run')}" if one.failed else f"in {count_of(one.runs, 'run')}"
    )
    return f"{one.text}: {failed}, {count_of(one.results, 'different result')}"
