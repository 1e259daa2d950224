"""`model-sees`: prints a model's context at a message, or its difference to another moment."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from inspector.analysis.views.model_context import ModelContext, Moment, Options, Reader, find_reader, readers
from inspector.analysis.views.model_context.chat_messages import content_of_entry
from inspector.analysis.views.model_context.difference import difference
from inspector.analysis.views.model_context.json_export import conversation_parts
from inspector.analysis.views.model_context.request_change import request_at
from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import dump, escape_hostile, print_line, printable
from inspector.document.document import CaptureDocument
from inspector.present.answers import entry_answer, entry_answers, model_context_answer
from inspector.present.context_figures import estimate_words, headline_words, outside_words
from inspector.present.entry_words import entry_words
from inspector.present.request_words import cache_words, change_words
from inspector.protocol.secrets.masking import mask_secrets, mask_text
from inspector.tokens.counter import TOKENIZER

_MAX_NAMES = 20


@takes_reading(*JUDGED)
def model_sees_command(
    files: LogFiles,
    participant: Annotated[
        str | None,
        typer.Option(
            "--participant",
            "-p",
            metavar="NAME",
            help="Participant, or words of its conversation. Default: that of --at, or the busiest.",
        ),
    ] = None,
    at: Annotated[int | None, typer.Option("--at", metavar="NO", help="Show the context after this message.")] = None,
    since: Annotated[
        int | None, typer.Option("--since", metavar="NO", help="Show the changes since this message instead.")
    ] = None,
    out: Annotated[bool, typer.Option("--out", help="Also list entries outside the context.")] = False,
    whole: Annotated[bool, typer.Option("--no-collapsing", help="Show the context without collapsing.")] = False,
    others: Annotated[bool, typer.Option("--others-reasoning", help="Include the reasoning of others.")] = False,
    as_messages: Annotated[
        bool, typer.Option("--messages", help="Print messages and tools as one JSON object, ready to send.")
    ] = False,
    as_json: Json = False,
    reading: Reading = AS_USUAL,
) -> None:
    """Print the conversation in a model's context at a message: each entry with its tokens and the reason.

    No client reports this, so it is derived from the traffic; assumptions are marked with a star. Tokens are an
    estimate.
    """
    with opened(files, reading, counted=True) as document:
        last = _message(document, at, len(document.analysis) - 1)
        reader = _reader(document, participant, last if at is not None else None)
        if as_messages and since is not None:
            fail("--messages and --since cannot be combined; use --at.")
        context = ModelContext(document.analysis, reader, Options(collapsing=not whole, others_reasoning=others))
        moment = context.moment_at(last)
        if as_messages:
            for part in conversation_parts(moment):
                # Part by part: a conversation may be larger than memory allows as one text.
                typer.echo(escape_hostile(part), nl=False)
        elif since is not None:
            _print_difference(context.moment_at(_message(document, since, 0)), moment, as_json=as_json)
        elif as_json:
            typer.echo(dump(model_context_answer(moment) | {"entries": entry_answers(moment, out=out)}))
        else:
            _print_moment(document, moment, out=out)


def _reader(document: CaptureDocument, name: str | None, message: int | None) -> Reader:
    """Returns the participant asked for; exits with the list of participants if there is no such model."""
    found = find_reader(document.analysis, name, message)
    if found is None:
        known = readers(document.analysis)
        if not known:
            fail(f"{document.name} has no participant with a model context.")
        titles = "; ".join(mask_text(reader.title) for reader in known[:_MAX_NAMES])
        fail(f"{document.name} has no model context of {name}. It has contexts of: {titles}.")
    return found


def _message(document: CaptureDocument, number: int | None, default: int) -> int:
    count = len(document.analysis)
    if number is None:
        return default
    if not 1 <= number <= count:
        fail(f"{document.name} has no message No. {number}; its messages are No. 1 to {count:,}.")
    return number - 1


def _print_moment(document: CaptureDocument, moment: Moment, *, out: bool) -> None:
    title = printable(mask_text(moment.context.reader.title), 80)
    print_line(f"{title} at No. {moment.message + 1:,}: {headline_words(moment)}.")
    for words in (estimate_words(moment), outside_words(moment)):
        if words:
            print_line(f"{words}.")
    status = moment.reported()
    if status is not None and status.messages is not None:
        print_line(f"It reported {status.words} with No. {status.message + 1:,}.")
    change = request_at(moment)
    if change is not None:
        read, why = cache_words(change)
        print_line(f"{change_words(change)}.")
        print_line(f"{read}. {why}")
    for role, (count, tokens) in moment.by_role().items():
        entries = "entry  " if count == 1 else "entries"
        print_line(f"  {role.word:<10} {count:>7,} {entries} {tokens:>10,} tokens")
    for entry in moment.entries(out=out):
        mark = " " if entry.included else "-"
        star = "*" if entry.assumed else " "
        place = int(np.searchsorted(moment.context.rows, entry.message))
        text = printable(mask_text(entry_words(document, moment, place)), 60)
        cached = f" Cache mark: {entry.cache}." if entry.cache is not None else ""
        print_line(
            f"{mark} {entry.message + 1:>7,} {entry.role.word:<9} {entry.tokens or 0:>7,} {star} "
            f"{text:<60}  {entry.reason}{cached}".rstrip()
        )


def _print_difference(earlier: Moment, later: Moment, *, as_json: bool) -> None:
    if earlier.message > later.message:
        fail(f"The first message must come before the second: {earlier.message + 1}, {later.message + 1}.")
    found = difference(earlier, later)
    parts = (("came", found.came), ("went", found.went), ("collapsed", found.collapsed))
    if as_json:
        made: dict[str, Any] = {
            name: [entry_answer(later, later.entry(p)) | {"change": int(found.by_entry[p])} for p in places]
            for name, places in parts
        }
        made |= {"tokens": found.tokens, "since": earlier.message + 1, "no": later.message + 1}
        typer.echo(dump(mask_secrets(made)))
        return
    ends = (f"No. {one.message + 1:,} ({one.total:,} tokens)" for one in (earlier, later))
    print_line(f"From {' to '.join(ends)}: {found.tokens:+,} tokens. Estimate ({TOKENIZER}).")
    for name, places in parts:
        for place in places.tolist():
            entry = later.entry(place)
            text = printable(mask_text(content_of_entry(later, entry)), 60)
            print_line(
                f"{name:<10} {entry.message + 1:>7,} {int(found.by_entry[place]):>+7,} {text:<60}  {entry.reason}"
            )
