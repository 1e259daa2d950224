"""`query`: runs a SQL query over logs with DuckDB (tables: docs/tables.md)."""

from __future__ import annotations

import csv
import errno
import shutil
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from itertools import chain, count, islice
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from inspector.cli.arguments import AS_USUAL, JUDGED, Reading, fail, takes_reading
from inspector.cli.interrupting import interrupted_by_ctrl_c
from inspector.cli.opening import opened
from inspector.cli.printing import csv_cell, dump, echo, escape_hostile, plain, print_array, printable
from inspector.document.document import CaptureDocument
from inspector.export.files import refuse_source_files, write_error_words
from inspector.store.files.spool import temporary_folder
from inspector.tables import Database, QueryError, QueryInputs, QueryResult
from inspector.tables.parquet import parquet_file
from inspector.tables.result_values import to_json_value
from inspector.tokens.counter import TOKENIZER


class Format(StrEnum):
    """Output format of `query`."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"


_MAX_WIDTH = 60
_WIDTH_SAMPLE = 1_000  # rows that decide the column widths


@takes_reading(*JUDGED, "idle_after", "prices")
def query_command(
    files_and_sql: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE... SQL",
            help="Any readable logs, as for `list`, merged; then the query: one SELECT, quoted for the "
            "shell. The tables are in docs/tables.md; columns named like a SQL keyword need double quotes, "
            "as in 'SELECT \"from\", count(*) FROM messages GROUP BY 1'.",
        ),
    ],
    format_: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.table,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="parquet: file to write. Default: standard output.")
    ] = "-",
    reading: Reading = AS_USUAL,
) -> None:
    """Run a SQL query over logs: count and group messages by tool, sender, context or time."""
    *files, sql = files_and_sql
    if not files:
        fail("Name a log before the query: query FILE 'SELECT ...'.")
    if output != "-" and format_ is not Format.parquet:
        fail("-o requires --format parquet; the other formats are printed.")
    if format_ is Format.parquet and output == "-" and sys.stdout.isatty():
        fail("Parquet is binary: name a file with -o, or redirect the output.")
    with closing(Database()) as database:
        try:
            # DuckDB computes in native code, so Ctrl+C needs help to interrupt it.
            with interrupted_by_ctrl_c(database.interrupt):
                needed = database.plan_inputs(sql)  # before reading a log, so that errors in the query come at once
            with opened(files, reading, checked=needed.checked, counted=needed.counted) as log:
                # DuckDB reads the columns while it prints, so this command works on the document itself.
                document = log.document
                if format_ is Format.parquet:
                    _write_parquet(document, sql, needed, output)
                    return
                with interrupted_by_ctrl_c(database.interrupt):
                    database.load(document, needed)
                    _PRINTERS[format_](database.run_query(sql))
        except QueryError as error:
            _exit_with_error(error, sql)
    if needed.counted and format_ is Format.table:  # on standard error, since scripts count the rows
        typer.echo(f"tokens: estimate ({TOKENIZER})", err=True)


def _exit_with_error(error: QueryError, sql: str) -> NoReturn:
    """Exits with the error of a query and a caret below its place."""
    if error.position is None:
        fail(escape_hostile(error.sentence))
    start = sql.rfind("\n", 0, error.position) + 1
    line = sql[start:].partition("\n")[0]
    place = error.position - start
    before, wrong = escape_hostile(line[:place]), escape_hostile(line[place : place + error.length])
    caret = " " * len(before) + "^" * max(1, len(wrong))
    fail(
        f"{escape_hostile(error.sentence)}\n  {before}{wrong}{escape_hostile(line[place + error.length :])}\n  {caret}"
    )


def _print_csv(result: QueryResult) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow([csv_cell(name, _cell) for name in result.names])
    for row in _rows(result):
        writer.writerow([csv_cell(value, _cell) for value in row])


def _print_json(result: QueryResult) -> None:
    names = _unique_names(result.names)
    print_array(dict(zip(names, row, strict=True)) for row in _rows(result))


def _print_table(result: QueryResult) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    lines = ([printable(_cell(value), 200) for value in row] for row in _rows(result))
    first = [[printable(name, 200) for name in result.names], *islice(lines, _WIDTH_SAMPLE)]
    widths = [min(max(map(len, column), default=0), _MAX_WIDTH) for column in zip(*first, strict=True)]
    for line in chain(first, lines):
        cells = [
            cell if place == len(line) - 1 else printable(cell, one).ljust(one)
            for place, (cell, one) in enumerate(zip(line, widths, strict=True))
        ]
        text = "  ".join(cells).rstrip()
        echo(text if len(text) <= width or not sys.stdout.isatty() else text[: width - 1] + "…")


_PRINTERS = {Format.csv: _print_csv, Format.json: _print_json, Format.table: _print_table}


def _rows(result: QueryResult) -> Iterator[list[object]]:
    for row in result:
        yield [to_json_value(value, type_) for value, type_ in zip(row, result.types, strict=True)]


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return dump(value) if isinstance(value, dict | list) and not _is_flat(value) else plain(value)


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _unique_names(names: Iterable[str]) -> list[str]:
    """Numbers repeated column names, so that they can be the keys of an object."""
    found: dict[str, None] = {}
    for name in names:
        numbers = (f"{name}_{number}" for number in count(1))
        found[next(one for one in chain([name], numbers) if one not in found)] = None
    return list(found)


@contextmanager
def _interruptible_file(target: Path) -> Generator[tuple[Database, str]]:
    """Wraps `parquet_file` so that Ctrl+C interrupts it."""
    with (
        parquet_file(target) as (database, written),
        interrupted_by_ctrl_c(database.interrupt, lambda: Path(written).unlink(missing_ok=True)),
    ):
        yield database, written


def _write_parquet(document: CaptureDocument, sql: str, needed: QueryInputs, output: str) -> None:
    """Writes a Parquet file; for standard output by way of a temporary file."""
    try:
        if output != "-":
            refuse_source_files(document, Path(output))
            with _interruptible_file(Path(output)) as (database, written):
                database.load(document, needed)
                database.write(sql, written)
            return
        with temporary_folder() as folder:
            target = folder / "answer.parquet"
            with _interruptible_file(target) as (database, written):
                database.load(document, needed)
                database.write(sql, written)
            with target.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
    except OSError as error:
        # A closed pipe ends every command in the same way, see `inspector/startup/program.py`.
        if output == "-" and error.errno == errno.EPIPE:
            raise
        fail(f"{escape_hostile(output)} cannot be written: {write_error_words(error)}")
