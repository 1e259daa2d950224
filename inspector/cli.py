"""The second front end: the same questions from a script, with the same filter and the same answers (design.md 5).

No Qt. Exit codes: 0 fine (also when nothing matches), 2 bad usage, unknown field, bad filter or unreadable input.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any, NoReturn

import numpy as np
import typer

from inspector import version
from inspector.document import CaptureDocument, UnknownFormatError
from inspector.fields import FIELD_BY_NAME, Field, FieldType, payload_field
from inspector.filters import DisplayFilter, FilterError, compile_filter
from inspector.filters.ast import Presence
from inspector.filters.parse import parse
from inspector.protocol.secrets import mask_secrets, mask_text, mask_value
from inspector.protocol.times import format_time
from inspector.sources.spool import readable
from inspector.summary import context_nodes, message_story, summary

app = typer.Typer(
    name="context-inspector", no_args_is_help=False, add_completion=False, pretty_exceptions_enable=False,
    help="See who thinks what, where, because of what, and what it costs: an inspector for multi-agent workspaces.",
)  # fmt: skip

DEFAULT_FIELDS = "no,time,from,to,kind,context,text"

LogFile = Annotated[str, typer.Argument(metavar="FILE", help="Any readable log; - for standard input.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Format(StrEnum):
    """How `list` prints."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"


def fail(sentence: str) -> NoReturn:
    """Say what is wrong and end with exit code 2."""
    typer.echo(sentence, err=True)
    raise typer.Exit(2)


@contextmanager
def opened(file: str) -> Generator[CaptureDocument]:
    """The document of a log; ends the command with a sentence when it cannot be read."""
    document = CaptureDocument()
    with readable(file) as (path, name):
        try:
            try:
                document.load(path, name=name)
            except UnknownFormatError as error:
                fail(str(error))
            except OSError as error:
                fail(f"{name or file} cannot be read: {error.strerror or error}.")
            yield document
        finally:
            document.close()


def compiled(text: str) -> DisplayFilter:
    """A filter, or the end of the command with the place of its fault."""
    try:
        return compile_filter(text)
    except FilterError as error:
        caret = " " * error.position + "^" * max(1, error.length)
        fail(f"{error}\n  {text}\n  {caret}")


def field_named(name: str) -> Field:
    """A field by its name, `payload.<path>` included; ends the command when there is none."""
    found = FIELD_BY_NAME.get(name)
    if found is not None:
        return found
    try:
        compile_filter(name)
        expression = parse(name)
    except FilterError as error:
        fail(str(error))
    if not isinstance(expression, Presence):
        fail(f"{name} is no field.")
    return payload_field(expression.field.path[1:])


def json_value(field: Field, value: object) -> object:
    """A field's value as JSON shows it: times in RFC 3339, UTC; secrets masked."""
    if field.type is FieldType.TIME:
        return format_time(value) if isinstance(value, int) else None
    if field.secret is not None:
        return mask_value(field.secret, value)
    return mask_text(value) if isinstance(value, str) else mask_secrets(value)


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


# Control, bidi and invisible characters, and halves of surrogate pairs: they would act on the terminal.
_HOSTILE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def _visible(text: str) -> str:
    """Text from the wire with what would act on a terminal written out; inside JSON the same is its escape."""
    return _HOSTILE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _printable(text: str, width: int) -> str:
    """One line without control characters, cut to a width."""
    line = _visible(" ".join(text[: 20 * width].split()))
    return line if len(line) <= width else line[: width - 1] + "…"


def _dump(value: Any, *, indent: int | None = None) -> str:
    """JSON that every reader takes: NaN and infinities, which are no JSON, as strings."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, indent=indent)
    return _visible(text)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _echo(text: str) -> None:
    """Print text; what comes from the wire went through `_visible` or `_dump` before."""
    typer.echo(text)


def _say(text: str) -> None:
    """Print a line for people."""
    _echo(_visible(text))


@app.command("summary")
def summary_command(file: LogFile, as_json: Json = False) -> None:
    """Say what a log holds: messages, participants, kinds, contexts, badges."""
    with opened(file) as document:
        found = mask_secrets(summary(document, file))
    if as_json:
        _echo(_dump(found))
        return
    _say(f"{found['file']}: {found['format'] or 'nothing known'}")
    _say(f"  {found['messages']:,} messages in {found['records']:,} records, {found['unreadable']:,} unreadable")
    _say(f"  spaces        {', '.join(found['spaces']) or 'none named'}")
    _say(f"  participants  {', '.join(found['participants']) or 'none'}")
    _say(f"  contexts      {found['contexts']:,}; {found['main']:,} messages in main")
    badges = ", ".join(f"{count} {name}" for name, count in found["badges"].items())
    _say(f"  tool results  {badges}")
    for kind, count in found["kinds"].items():
        _say(f"  {count:>9,}  {kind or '(no readable kind)'}")


_NAMES = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
"""Field names between commas; a quoted key may hold commas of its own."""


@app.command("list")
def list_command(
    file: LogFile,
    display_filter: Annotated[str, typer.Option("-Y", "--filter", help="Display filter.")] = "",
    fields: Annotated[list[str] | None, typer.Option("-e", "--field", help="Field; repeated or with commas.")] = None,
    format_: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.table,
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="Print at most so many.")] = None,
) -> None:
    """List messages, filtered, with the fields asked for."""
    names = [name.strip() for part in fields or [DEFAULT_FIELDS] for name in _NAMES.findall(part) if name.strip()]
    chosen = [field_named(name) for name in names]
    filter_ = compiled(display_filter)
    with opened(file) as document:
        rows = np.arange(len(document.capture))
        rows = rows[filter_.mask(document.analysis, rows)][:limit]
        columns = [field.column(document.analysis) for field in chosen]
        values = (
            {n: json_value(f, c.value(row)) for n, f, c in zip(names, chosen, columns, strict=True)}
            for row in rows.tolist()
        )
        _PRINTERS[format_](names, values)


def _print_jsonl(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    for row in rows:
        _echo(_dump(row))


def _print_csv(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(names)
    for row in rows:
        writer.writerow([_visible(_plain(value)) for value in row.values()])


def _print_table(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    lines = [[_printable(_plain(value), 200) for value in row.values()] for row in rows]
    widths = [min(max(map(len, column), default=0), 32) for column in zip(names, *lines, strict=True)]
    for line in [names, *lines]:
        cells = [
            cell if i == len(line) - 1 else _printable(cell, w).ljust(w)
            for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        ]
        _echo(_printable_end("  ".join(cells).rstrip(), width))


def _printable_end(line: str, width: int) -> str:
    return line if len(line) <= width or not sys.stdout.isatty() else line[: width - 1] + "…"


_PRINTERS = {Format.jsonl: _print_jsonl, Format.csv: _print_csv, Format.table: _print_table}


@app.command("contexts")
def contexts_command(file: LogFile, as_json: Json = False) -> None:
    """Print the context tree of a log."""
    with opened(file) as document:
        nodes = mask_secrets(context_nodes(document))
    if as_json:
        _echo(_dump(nodes))
        return
    for node in nodes:
        indent = "  " * min(node["depth"] - 1, 40)
        _say(indent + _printable(node["label"], 100) + f"  {node['subtree_messages']} messages, {node['state']}")
    if not nodes:
        _say("All messages are in the main context.")


@app.command("show")
def show_command(
    file: LogFile,
    number: Annotated[int, typer.Argument(metavar="NO", help="Number of the message, as listed.")],
    as_json: Json = False,
) -> None:
    """Show one message: its fields, envelope, causes, effects and lifecycle."""
    with opened(file) as document:
        if not 1 <= number <= len(document.capture):
            fail(f"There is no message {number}; {file} has 1 to {len(document.capture):,}.")
        story = message_story(document, number - 1)
    story["fields"] = {name: json_value(FIELD_BY_NAME[name], value) for name, value in story["fields"].items()}
    story["envelope"] = mask_secrets(story["envelope"])
    story["raw"] = mask_text(story["raw"])
    story["lifecycle"] = mask_secrets(story["lifecycle"])
    if as_json:
        _echo(_dump(story))
        return
    for name, value in story["fields"].items():
        if value not in (None, []):
            _say(f"{name:14} {_printable(_plain(value), 2_000)}")
    for name in ("causes", "effects"):
        if story[name]:
            _say(f"{name:14} {', '.join(f'No. {n}' for n in story[name])}")
    _say(_dump(story["envelope"], indent=2) if story["envelope"] else story["raw"])


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        typer.echo(f"context-inspector {version()}")
        raise typer.Exit
