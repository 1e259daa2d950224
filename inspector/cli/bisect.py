"""`bisect`: finds the first of several ordered runs with a behaviour."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, Reading, fail, takes_reading
from inspector.cli.many_runs import Scheduler, Workers, read_paths
from inspector.cli.printing import MOST_LISTED, dump, echo, escape_hostile, print_line, printable
from inspector.present.formats import count_of
from inspector.present.run_bisection import Version, bisected, one_each
from inspector.present.run_chains import ChainQuestion


class Shape(Enum):
    """Format of the answer."""

    text = "text"
    json = "json"


@takes_reading("tool_alias", "memory", "read_as", "format_file")
def bisect_command(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Runs in their order, such as one log of each version; the runs of a folder are sorted by name. Of "
            "several paths, each is one version with all its runs.",
        ),
    ],
    when: Annotated[
        str, typer.Option("--when", metavar="FILTER", help="The behaviour: a message of the run matches this filter.")
    ] = "",
    step: Annotated[
        str,
        typer.Option("--step", metavar="TEXT", help="The behaviour: a step of the run begins with this, as "
                     "`diff --many` prints it."),
    ] = "",
    shape: Annotated[Shape, typer.Option("--format", help="Format of the answer.")] = Shape.text,
    scheduler: Scheduler = None,
    workers: Workers = None,
    reading: Reading = AS_USUAL,
) -> None:  # fmt: skip
    """Find the first of several ordered runs with a behaviour.

    All runs are read, so the answer also holds if the behaviour comes and goes; then all changes are listed.
    """
    when = when.strip()
    if bool(when) == bool(step.strip()):
        fail("Name the behaviour by --when or --step.")
    found = read_paths(paths, ChainQuestion(when=when), reading, scheduler, workers)
    versions = one_each(found.by_path[0], step) if len(paths) == 1 else [
        Version.of_runs(path, runs, step) for path, runs in zip(paths, found.by_path, strict=True) if runs
    ]  # fmt: skip
    if not versions:
        fail(escape_hostile("\n".join(f"{path}: {text}" for path, text in found.failures) or "There are no runs."))
    answer = bisected(versions, when or step, len(found.failures))
    if shape is Shape.json:
        failures = [{"path": path, "text": text} for path, text in found.failures]
        echo(dump({**answer.as_json(), "failures": failures}))
        return
    print_line(answer.sentence)
    for one in versions[:MOST_LISTED]:
        number = f"  No. {one.row + 1:,}" if one.having == one.runs == 1 and one.row >= 0 else ""
        print_line(f"  {one.words:<12} {printable(one.name, 300)}{number}")
    if len(versions) > MOST_LISTED:
        print_line(f"and {count_of(len(versions) - MOST_LISTED, 'more version')}; --format json prints all.")
    for path, text in found.failures[:MOST_LISTED]:
        print_line(f"not read: {printable(path, 300)}: {printable(text, 300)}")
