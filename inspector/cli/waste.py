"""`waste`: lists tokens of a context window that could have been avoided."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import dump, echo, print_line, printable
from inspector.engine.request import RequestError
from inspector.engine.requests.waste import ListWaste, WasteList
from inspector.tokens.counter import TOKENIZER

NOTHING = "No waste found."


@takes_reading(*JUDGED)
def waste_command(
    files: LogFiles,
    as_json: Json = False,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=0, help="Maximum number of entries; 0 for all.")
    ] = 50,
    participant: Annotated[
        str | None, typer.Option("--participant", "-p", metavar="NAME", help="Only entries of this participant.")
    ] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """List avoidable tokens: results that were never used, repeated calls, tools that were never called.

    The most expensive come first. Tokens are an estimate; entries with a question mark may have had a reason.
    """
    with opened(files, reading, counted=True) as log:
        try:
            found = log.answer_to(ListWaste(participant, limit=limit or None))
        except RequestError as error:
            fail(str(error))
    if as_json:
        echo(dump(found.figures))
    else:
        _print_waste(found)


def _print_waste(found: WasteList) -> None:
    figures = found.figures
    if figures["count"]:
        perhaps = figures["tokens"] - figures["sure"]
        part = f", {perhaps:,} of them likely" if perhaps and figures["sure"] else ""
        print_line(
            f"{figures['tokens']:,} tokens {'might be' if perhaps else 'are'} avoidable{part}. Estimate ({TOKENIZER})."
        )
    else:
        print_line(NOTHING)
    if found.reported is not None:
        print_line(f"{found.reported}.")
    for note in figures["notes"]:
        print_line(note)
    for one in figures["wastes"]:
        mark = " " if one["sure"] else "?"
        print_line(f"{one['tokens']:>9,} {mark} No. {one['no']:<7,} {one['kind']:<19} {printable(one['text'], 400)}")
        print_line(f"{'':42}{printable(one['advice'], 400)}")
    if len(figures["wastes"]) < figures["count"]:
        print_line(f"and {figures['count'] - len(figures['wastes']):,} more; --limit 0 prints all.")
