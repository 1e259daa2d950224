"""`list`: prints filtered messages and chosen fields as a table, JSON Lines or CSV."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Iterable
from enum import StrEnum
from itertools import chain, islice
from typing import Annotated

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, LogFiles, Reading, fail, takes_reading
from inspector.cli.opening import asks_for_findings, asks_for_tokens, compiled, opened, require_field
from inspector.cli.printing import csv_cell, dump, echo, plain, printable
from inspector.engine.requests.stories import ListMessages
from inspector.export.options import DEFAULT_FIELDS
from inspector.filters.naming import names_in
from inspector.tokens.counter import TOKENIZER

TABLE_FIELDS = (*DEFAULT_FIELDS[:-1], "info")
"""Default fields of the table: row texts as in the window. Other formats default to `DEFAULT_FIELDS`."""


class Format(StrEnum):
    """Output format of `list`."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"


@takes_reading(*JUDGED, "idle_after", "prices")
def list_command(
    files: LogFiles,
    display_filter: Annotated[str, typer.Option("-Y", "--filter", metavar="FILTER", help="Display filter.")] = "",
    fields: Annotated[
        list[str] | None, typer.Option("-e", "--field", metavar="FIELD", help="Field; repeatable, or with commas.")
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.table,
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="Maximum number of messages.")] = None,
    reading: Reading = AS_USUAL,
) -> None:
    """List messages, filtered, with the chosen fields."""
    usual = TABLE_FIELDS if format_ is Format.table else DEFAULT_FIELDS
    names = list(dict.fromkeys(name for part in fields or usual for name in names_in(part)))  # removes duplicates
    if not names:
        fail("Name a field, such as -e no,from,text.")
    for name in names:
        require_field(name)
    filter_ = compiled(display_filter)
    checked, counted = asks_for_findings(filter_, names), asks_for_tokens(filter_, names)
    with opened(files, reading, checked=checked, counted=counted) as log:
        _PRINTERS[format_](names, log.rows(ListMessages(tuple(names), display_filter, limit=limit)))
    if "tokens" in names and format_ is Format.table:  # on standard error, since scripts count the rows
        typer.echo(f"tokens: estimate ({TOKENIZER})", err=True)


def _print_jsonl(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    for row in rows:
        echo(dump(row))


def _print_csv(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(names)
    for row in rows:
        writer.writerow([csv_cell(value, plain) for value in row.values()])


_WIDTH_SAMPLE = 1_000  # lines that decide the column widths; later lines are printed as they are read


def _print_table(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    lines = ([printable(plain(value), 200) for value in row.values()] for row in rows)
    first = [names, *islice(lines, _WIDTH_SAMPLE)]
    widths = [min(max(map(len, column), default=0), 32) for column in zip(*first, strict=True)]
    for line in chain(first, lines):
        cells = [
            # The last column takes the rest of the line, so it is neither cut nor padded.
            cell if i == len(line) - 1 else printable(cell, w).ljust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        echo(_printable_end("  ".join(cells).rstrip(), width))


def _printable_end(line: str, width: int) -> str:
    # Only a terminal gets cut lines; a pipe gets them whole.
    return line if len(line) <= width or not sys.stdout.isatty() else line[: width - 1] + "…"


_PRINTERS = {Format.jsonl: _print_jsonl, Format.csv: _print_csv, Format.table: _print_table}
