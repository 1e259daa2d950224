"""`waste`: lists tokens of a context window that could have been avoided."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from inspector.analysis.views.waste import Waste, WasteReport
from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import MOST_LISTED, dump, echo, print_line, printable
from inspector.document.document import CaptureDocument
from inspector.present.answers import waste_answer, waste_of
from inspector.present.token_facts import reported_words
from inspector.protocol.secrets.masking import mask_text
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
    with opened(files, reading, counted=True) as document:
        found = waste_of(document)
    if participant is not None:
        _check_participant(document, participant, found)
        of_one = tuple(one for one in found.wastes if one.participant == participant)
        found = WasteReport(of_one, found.notes, found.stop, found.reported)
    shown = found.wastes[: limit or None]
    if as_json:
        echo(dump(waste_answer(found, shown)))
    else:
        _print_waste(found, shown)


def _check_participant(document: CaptureDocument, name: str, found: WasteReport) -> None:
    """Exits if there is no participant of that name."""
    known = dict.fromkeys(known for _, known in document.analysis.participants.all)
    if name not in known and not any(one.participant == name for one in found.wastes):
        names = ", ".join(printable(mask_text(known), 60) for known in islice(known, MOST_LISTED))
        fail(f"{document.name} has no participant {printable(name, 60)}. It has: {names or 'none'}.")


def _print_waste(found: WasteReport, shown: tuple[Waste, ...]) -> None:
    if found.wastes:
        perhaps = found.tokens - found.sure_tokens
        part = f", {perhaps:,} of them likely" if perhaps and found.sure_tokens else ""
        print_line(
            f"{found.tokens:,} tokens {'might be' if perhaps else 'are'} avoidable{part}. Estimate ({TOKENIZER})."
        )
    else:
        print_line(NOTHING)
    if found.reported is not None:
        print_line(f"{reported_words(found.reported)}.")
    for note in found.notes:
        print_line(note)
    for one in shown:
        mark = " " if one.sure else "?"
        print_line(f"{one.tokens:>9,} {mark} No. {one.message + 1:<7,} {one.kind.value:<19} {_words(one.sentence)}")
        print_line(f"{'':42}{_words(one.advice)}")
    if len(shown) < len(found.wastes):
        print_line(f"and {len(found.wastes) - len(shown):,} more; --limit 0 prints all.")


def _words(text: str) -> str:
    return printable(mask_text(text), 400)
