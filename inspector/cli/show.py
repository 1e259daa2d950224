"""`show`: prints one message with its fields, envelope, causes, effects and lifecycle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import named, opened
from inspector.cli.printing import dump, echo, plain, print_line, printable
from inspector.engine.log import Log
from inspector.engine.requests.log_facts import DescribeLog
from inspector.engine.requests.stories import SaveMessage, TellMessage


@takes_reading(*JUDGED, "prices")
def show_command(
    files: LogFiles,
    number: Annotated[int, typer.Argument(metavar="NO", help="Number of the message, as listed.")],
    as_json: Json = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="PATH", help="Write its exact bytes to this file.")
    ] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """Show one message: its fields, envelope, causes, effects and lifecycle."""
    with opened(files, reading, checked=True) as log:
        count = log.answer_to(DescribeLog()).messages
        if not 1 <= number <= count:
            fail(f"There is no message {number}; {named(files)} has {f'1 to {count:,}' if count else 'none'}.")
        if save is not None:
            _save(log, number - 1, save)
            return
        told = log.answer_to(TellMessage(number - 1))
    story = told.facts
    if as_json:
        echo(dump(story))
        return
    for name, value in story["fields"].items():
        if value not in (None, []):
            print_line(f"{name:17} {printable(plain(value), 2_000)}")
    for name in ("causes", "effects"):
        if story[name]:
            print_line(f"{name:17} {', '.join(f'No. {n}' for n in story[name])}")
    for one in story["sightings"]:
        there = f", where it says {printable(one['differs'], 2_000)}" if one["differs"] is not None else ""
        print_line(f"{'seen by':17} {printable(one['source'], 80)} at {one['time'] or 'no known time'}{there}")
    for link in story["links"]:
        if "no" not in link:
            where = link.get("context") or link.get("stream") or ""
            print_line(f"{'names':17} {printable(link['id'], 200)}: {link['names']} {printable(where, 200)}".rstrip())
    if story["capability"]["differs"]:
        decided = ", ".join(str(verdict["result"]) for verdict in story["capability"]["verdicts"])
        print_line(
            f"{'capability':17} the gateway decided {decided}; as specified it is {story['capability']['predicted']}"
        )
    if story["odd"]:
        print_line(f"{'link':17} {story['odd']}")
    for step in story["chain"] if len(story["chain"]) > 1 else ():
        since = "" if step["since_ms"] is None else f", {step['since_ms']:,.1f} ms after No. {step['after']}"
        print_line(f"{'chain':17} No. {step['no']} {printable(step['relation'], 80)}{since}")
    for link in story["likely"]:
        sentence = f"No. {link['no']} probably {link['relation']} No. {link['of']}: {link['why']}"
        print_line(f"{'likely':17} {printable(sentence, 400)}")
    for sentence in _lifecycle_sentences(story["lifecycle"]):
        print_line(f"{'lifecycle':17} {printable(sentence, 400)}")
    for found in story["findings"]:
        print_line(f"{found['severity']:17} {found['code']}: {printable(found['text'], 400)}")
    print_line(dump(story["envelope"], indent=2) if story["envelope"] else story["raw"])
    if told.is_big:
        print_line(f"This is the beginning; --save PATH writes all {told.size_bytes:,} bytes.")


def _lifecycle_sentences(life: dict[str, Any]) -> Iterator[str]:
    """Yields sentences about the life of a result, in order of time."""
    if life["hint"] is not None:
        step = "" if life["hint"]["step"] is None else f", step {life['hint']['step']}"
        yield f"No. {life['hint']['no']}{step}, paired {life['hint']['tool']} with {life['hint']['consumer']}"
    for one in life["attempts"]:
        yield f"No. {one['no']}, {one['tool']}, did not collapse it. {one['why']}"
    if life["attempts_total"] > len(life["attempts"]):
        yield f"{life['attempts_total'] - len(life['attempts']):,} more consumers did not collapse it"
    if life["collapsed_by"] is not None:
        yield f"No. {life['collapsed_by']} consumed it, so that only its summary is left"
    elif "transient" in life["badges"]:
        yield f"Still pending; {', '.join(life['consumers']) or 'no tool'} could consume it"
    for pair in life["pairs"]:
        yield (
            f"{pair['tool']} with {pair['consumer']}: {pair['collapsed_total']:,} collapsed since, "
            f"{pair['waiting']:,} waiting"
        )
    if life["tokens"] is not None and life["tokens"]["saved"] is not None:
        verb = "saved" if life["collapsed_by"] is not None else "to be saved"
        yield f"{life['tokens']['saved']:,} tokens {verb}, an estimate by {life['tokens']['estimate']}"
    if life["note"]:
        yield life["note"]


def _save(log: Log, message: int, path: Path) -> None:
    try:
        written = log.answer_to(SaveMessage(message, path))
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror or error}.")
    print_line(f"{written:,} bytes written to {path}.")
