"""`model-sees`: prints a model's context at a message, or its difference to another moment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Json, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import opened
from inspector.cli.printing import dump, escape_hostile, print_line, printable
from inspector.engine.log import Log
from inspector.engine.request import RequestError, RowT
from inspector.engine.requests.log_facts import DescribeLog
from inspector.engine.requests.model_contexts import (
    CompareModelContext,
    ContextView,
    EntryLine,
    FindModel,
    ListModelContext,
    ModelContextHead,
    ShowModelContext,
    WriteModelContext,
)
from inspector.tokens.counter import TOKENIZER


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
    with opened(files, reading, counted=True) as log:
        view = ContextView(participant, _message(log, at), not whole, others)
        _require_model(log, view)
        if as_messages and since is not None:
            fail("--messages and --since cannot be combined; use --at.")
        if as_messages:
            for part in log.parts(WriteModelContext(view)):
                # Part by part: a conversation may be larger than memory allows as one text.
                typer.echo(escape_hostile(part), nl=False)
        elif since is not None:
            _print_difference(log, _message(log, since) or 0, view, as_json=as_json)
        elif as_json:
            head, entries = _head_and_rows(log.parts(ListModelContext(view, out)))
            typer.echo(dump(head.figures | {"entries": list(entries)}))
        else:
            _print_context(*_head_and_rows(log.parts(ShowModelContext(view, out))))


def _require_model(log: Log, view: ContextView) -> None:
    """Exits with the list of contexts if there is none for the view."""
    found = log.answer_to(FindModel(view))
    if not found.titles:
        fail(f"{log.name} has no participant with a model context.")
    if not found.is_found:
        fail(f"{log.name} has no model context of {view.participant}. It has contexts of: {'; '.join(found.titles)}.")


def _message(log: Log, number: int | None) -> int | None:
    """Returns the index of a message; exits if there is no such number."""
    if number is None:
        return None
    count = log.answer_to(DescribeLog()).messages
    if not 1 <= number <= count:
        fail(f"{log.name} has no message No. {number}; its messages are No. 1 to {count:,}.")
    return number - 1


def _head_and_rows(parts: Iterator[ModelContextHead | list[RowT]]) -> tuple[ModelContextHead, Iterator[RowT]]:
    head = next(parts)
    assert isinstance(head, ModelContextHead)
    return head, (row for part in parts if isinstance(part, list) for row in part)


def _print_context(head: ModelContextHead, entries: Iterable[EntryLine]) -> None:
    print_line(f"{printable(head.title, 80)} at No. {head.message + 1:,}: {head.headline}.")
    for note in head.notes:
        print_line(note)
    for word, count, tokens in head.roles:
        noun = "entry  " if count == 1 else "entries"
        print_line(f"  {word:<10} {count:>7,} {noun} {tokens:>10,} tokens")
    for entry in entries:
        mark = " " if entry.included else "-"
        star = "*" if entry.assumed else " "
        cached = f" Cache mark: {entry.cache}." if entry.cache is not None else ""
        print_line(
            f"{mark} {entry.message + 1:>7,} {entry.role:<9} {entry.tokens or 0:>7,} {star} "
            f"{printable(entry.words, 60):<60}  {entry.reason}{cached}".rstrip()
        )


def _print_difference(log: Log, since: int, view: ContextView, *, as_json: bool) -> None:
    try:
        found = log.answer_to(CompareModelContext(since, view))
    except RequestError as error:
        fail(str(error))
    figures = found.figures
    if as_json:
        typer.echo(dump(figures))
        return
    ends = (
        f"No. {no:,} ({total:,} tokens)"
        for no, total in zip((figures["since"], figures["no"]), found.totals, strict=True)
    )
    print_line(f"From {' to '.join(ends)}: {figures['tokens']:+,} tokens. Estimate ({TOKENIZER}).")
    for name in ("came", "went", "collapsed"):
        for entry in figures[name]:
            text = printable(entry["content"], 60)
            print_line(f"{name:<10} {entry['no']:>7,} {entry['change']:>+7,} {text:<60}  {entry['reason']}")
