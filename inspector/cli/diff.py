"""`diff`: compares two runs: where they part, and why."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Reading, fail, takes_reading
from inspector.cli.diff_many import ManyOptions, compare_many
from inspector.cli.many_runs import Scheduler, Workers
from inspector.cli.opening import opened
from inspector.cli.printing import dump, echo, print_line
from inspector.engine.comparing import IgnoreError, compared
from inspector.present import formats
from inspector.present.comparison_reports import html_page, junit
from inspector.present.run_comparison import ComparisonAnswer, Place, RunTotals, Verdict, noise_words
from inspector.protocol.secrets.masking import mask_text

_MOST_PRINTED = 200


class Shape(Enum):
    """Format of the answer."""

    text = "text"
    json = "json"
    html = "html"
    junit = "junit"


@takes_reading(*JUDGED, "prices")
def diff_command(
    logs: Annotated[
        list[str],
        typer.Argument(
            metavar="A B | PATH",
            help="Two readable logs; FILE/RUN for a run of an evaluation. With --many logs, evaluations, folders, "
            "surveys and globs.",
        ),
    ],
    many: Annotated[
        bool, typer.Option("--many", help="Compare all runs: the tree of their steps, and facts that part them.")
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="FIELD",
            help="With --many: group runs by a field, such as model, or by a filter that one "
            "of their messages matches. Default: passed and failed.",
        ),
    ] = "",
    task: Annotated[str | None, typer.Option("--task", help="With --many: only runs of this task.")] = None,
    pool: Annotated[bool, typer.Option("--pool", help="With --many: all runs as of one task.")] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="FIELD|PATTERN",
            help="A field of arguments and results, such as seed or options.seed, or a regular expression whose "
            "matches do not count; repeatable.",
        ),
    ] = None,
    shape: Annotated[Shape, typer.Option("--format", help="Format of the answer.")] = Shape.text,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with code 1 if the runs differ.")] = False,
    scheduler: Scheduler = None,
    workers: Workers = None,
    reading: Reading = AS_USUAL,
) -> None:
    """Compare two runs: the first step where they part, its cause, and all differences.

    Steps are equal if kind, tool and arguments are. Ids, times, temporary paths, the order of JSON keys and of parallel
    calls do not count. The cause is the first difference in what the model received before. With --many, facts are
    tested with Fisher's exact test; their counts are always shown.
    """
    if many:
        if shape is Shape.junit or exit_code:
            fail("--many cannot be combined with --format junit or --exit-code.")
        compare_many(logs, ManyOptions(by, task, pool, tuple(ignore or ()), shape.value, scheduler, workers), reading)
        return
    if len(logs) != 2 or by or task is not None or pool:
        fail("Name two logs, or use --many." if len(logs) != 2 else "--by, --task and --pool need --many.")
    one, other = logs
    if one == other == "-":
        fail("A and B cannot both be standard input.")
    with opened([one], reading) as left, opened([other], reading) as right:
        try:
            answer = compared(left.document, right.document, ignore or [])
        except IgnoreError as error:
            fail(str(error))
        verdict = answer.verdict()
        if shape is Shape.json:
            echo(dump(answer.as_json((one, other))))
        elif shape is Shape.html:
            echo(html_page(answer.as_json((one, other))))
        elif shape is Shape.junit:
            echo(junit(answer.as_json((one, other))))
        else:
            _print(answer, verdict, one, other)
    if exit_code and not verdict.equal:
        raise typer.Exit(1)


def _print(answer: ComparisonAnswer, verdict: Verdict, one: str, other: str) -> None:
    print_line(f"A  {mask_text(one)}")
    print_line(f"B  {mask_text(other)}")
    print_line(verdict.sentence)
    if verdict.equal:
        return
    for place in verdict.evidence:
        print_line(f"  also received before: {_line(place)}")
    for noise in answer.noise():
        print_line(noise_words(noise.item, noise.pairs))
    print_line(_totals_words(verdict.a, verdict.b))
    print_line(
        ", ".join(f"{count:,} {name}" for name, count in sorted(verdict.counts.items(), key=lambda one: -one[1]))
    )
    rows = answer.differing()
    for row in rows[:_MOST_PRINTED]:
        print_line(f"  {_line(answer.place(row))}")
    if len(rows) > _MOST_PRINTED:
        print_line(f"and {len(rows) - _MOST_PRINTED:,} more; --format json prints all.")


def _line(place: Place) -> str:
    numbers = " ".join(f"{'' if no is None else f'{no + 1:,}':>7}" for no in (place.a, place.b))
    return f"{numbers}  {place.kind:<10} {place.text}"


def _totals_words(a: RunTotals, b: RunTotals) -> str:
    parts: list[str] = []
    for name in ("messages", "calls", "failed", "files", "input", "output", "score"):
        values = getattr(a, name), getattr(b, name)
        if any(values):
            parts.append(f"{name} {' / '.join('unknown' if one is None else f'{one:,}' for one in values)}")
    if a.cost is not None or b.cost is not None:
        costs = ("unknown" if one is None else formats.dollars(one) for one in (a.cost, b.cost))
        parts.append(f"cost {' / '.join(costs)}")
    if a.seconds or b.seconds:
        times = ("unknown" if one is None else formats.duration(round(one * 1e9)) for one in (a.seconds, b.seconds))
        parts.append(f"time {' / '.join(times)}")
    return f"A / B: {', '.join(parts)}"
