"""The second front end: the same questions from a script, with the same filter and the same answers (design.md 5).

No Qt. Exit codes: 0 fine (also when nothing matches), 1 findings at or above the level asked for, 2 bad
usage, unknown field, bad filter or unreadable input.
"""

from __future__ import annotations

import asyncio
import csv
import json
import math
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import typer

from inspector import version
from inspector.analysis.findings import CHECK_BY_CODE, FindingPass, Severity
from inspector.capture.exact import save_message
from inspector.document import CaptureDocument
from inspector.fields import FIELD_BY_NAME, Field, FieldType, payload_field
from inspector.filters import DisplayFilter, FilterError, compile_filter
from inspector.filters.ast import Presence
from inspector.filters.parse import parse
from inspector.protocol.secrets import mask_secrets, mask_text, mask_value
from inspector.protocol.times import format_time
from inspector.reading import UnknownFormatError
from inspector.sources.connection import AddressError, Connection, Secret, normal_url
from inspector.sources.inputs import is_stream
from inspector.summary import context_nodes, finding_entries, message_story, participant_stories, summary

app = typer.Typer(
    name="context-inspector", no_args_is_help=False, add_completion=False, pretty_exceptions_enable=False,
    subcommand_metavar="[FILE | ws://...]... | COMMAND [ARGS]...",
    help="See who thinks what, where, because of what, and what it costs: an inspector for multi-agent workspaces.\n\n"
    "Without a command it opens the window: on each log FILE (- for standard input), with the question how to join the "
    "gateway at each ws:// or wss:// address, or on the start page when nothing is named.",
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
    try:
        try:
            _load(document, Path(file))
        except UnknownFormatError as error:
            fail(str(error))
        except OSError as error:
            fail(f"{document.name or file} cannot be read: {error.strerror or error}.")
        for sentence in document.troubles:
            typer.echo(_visible(sentence), err=True)
        yield document
    finally:
        document.close()


def _load(document: CaptureDocument, path: Path) -> None:
    """Read to the end; Ctrl+C ends a stream that has none, and what it brought by then is answered for."""
    if not is_stream(path) or threading.current_thread() is not threading.main_thread():
        document.load(path)
        return

    def end(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)  # a second one ends the program
        for source in document.capture.sources:
            if source.feed is not None:
                source.feed.stop()
        typer.echo(f"{document.name} goes on; this is about what came until now.", err=True)

    before = signal.signal(signal.SIGINT, end)
    try:
        document.load(path)
    finally:
        signal.signal(signal.SIGINT, before)


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
        counted = summary(document, file)
    found = {**mask_secrets(counted), "findings": counted["findings"]}  # some codes read as if they named a secret
    if as_json:
        _echo(_dump(found))
        return
    _say(f"{found['file']}: {found['format'] or 'nothing known'}")
    _say(f"  {found['messages']:,} messages in {found['records']:,} records, {found['unreadable']:,} unreadable")
    _say(f"  spaces        {_some(found['spaces']) or 'none named'}")
    _say(f"  participants  {_some(found['participants']) or 'none'}")
    _say(f"  contexts      {found['contexts']:,}; {found['main']:,} messages in main")
    by_code = ", ".join(f"{count:,} {code}" for code, count in found["findings"].items())
    _say(f"  findings      {by_code or 'none'}")
    badges = ", ".join(f"{count} {name}" for name, count in found["badges"].items())
    _say(f"  tool results  {badges}")
    _say_latencies(found["latency"])
    for kind, count in islice(found["kinds"].items(), _MOST_LISTED):
        _say(f"  {count:>9,}  {_printable(kind, 120) or '(no readable kind)'}")
    if len(found["kinds"]) > _MOST_LISTED:
        _say(f"  and {len(found['kinds']) - _MOST_LISTED:,} more kinds")


def _say_latencies(found: dict[str, dict[str, dict[str, float]]]) -> None:
    for title, rows in found.items():
        if not rows:
            continue
        heads = "".join(f"{part:>11}" for part in ("p50", "p95", "p99"))
        _say(f"  {f'latency in ms, by {title[:-1]}':38}{heads}{'answers':>10}")
        for name, one in islice(rows.items(), _MOST_LATENCIES):
            percentiles = "".join(f"{one[part]:>11,.1f}" for part in ("p50", "p95", "p99"))
            _say(f"    {_printable(name, 36):36}{percentiles}{one['count']:>10,}")
        if len(rows) > _MOST_LATENCIES:
            _say(f"    and {len(rows) - _MOST_LATENCIES:,} more")


_MOST_LATENCIES = 20
_MOST_LISTED = 200


def _some(names: list[str]) -> str:
    """Names for people to read: so many, each of them cut."""
    more = f", and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(_printable(name, 120) for name in names[:_MOST_LISTED]) + more


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
        columns = [field.column(document.analysis) for field in chosen]
        values = (
            {n: json_value(f, c.value(row)) for n, f, c in zip(names, chosen, columns, strict=True)}
            for row in islice(_matching(document, filter_), limit)
        )
        _PRINTERS[format_](names, values)


def _matching(document: CaptureDocument, filter_: DisplayFilter) -> Iterator[int]:
    """Messages a filter lets through, in capture order, asked for in parts, so that `--limit` ends it early."""
    start, step = 0, _FIRST_ASKED
    while start < len(document.capture):
        rows = np.arange(start, min(start + step, len(document.capture)))
        yield from rows[filter_.mask(document.analysis, rows)].tolist()
        start, step = start + step, min(step * 2, _MOST_ASKED)


_FIRST_ASKED, _MOST_ASKED = 1_000, 1 << 17


def _print_jsonl(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    for row in rows:
        _echo(_dump(row))


def _print_csv(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(names)
    for row in rows:
        writer.writerow([_visible(_plain(value)) for value in row.values()])


_WIDTHS_FROM = 1_000  # lines that decide how wide columns are; the others come as they are read


def _print_table(names: list[str], rows: Iterable[dict[str, object]]) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    lines = ([_printable(_plain(value), 200) for value in row.values()] for row in rows)
    first = [names, *islice(lines, _WIDTHS_FROM)]
    widths = [min(max(map(len, column), default=0), 32) for column in zip(*first, strict=True)]
    for line in chain(first, lines):
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
        # One by one: a log may have a million contexts, and paths of thousands of segments.
        nodes = (mask_secrets(node) for node in context_nodes(document))
        if as_json:
            _print_array(nodes)
            return
        found = False
        for node in nodes:
            found = True
            indent = "  " * min(node["depth"] - 1, 40)
            about = [f"{node['subtree_messages']} messages", node["state"]]
            about += [f"{node['type']} ({node['type_reason'].rstrip('.')})"] if node["type"] else []
            about += [f"{key}={_plain(value)}" for key, value in node["metadata"].items()]
            _say(indent + _printable(node["label"], 100) + "  " + _printable(", ".join(about), 400))
        if not found:
            _say("All messages are in the main context.")


@app.command("participants")
def participants_command(file: LogFile, as_json: Json = False) -> None:
    """Say who took part, what each may do, and what a gateway refused."""
    with opened(file) as document:
        stories = (mask_secrets(story) for story in participant_stories(document))
        if as_json:
            _print_array(stories)
            return
        for story in stories:
            _say_participant(story)


_PRESENCE = {True: "here", False: "left", None: "never announced"}


def _say_participant(story: dict[str, Any]) -> None:
    space = f" in {_printable(story['space'], 60)}" if story["space"] else ""
    since = f" since {story['since']}" if story["since"] else ""
    _say(f"{_printable(story['name'], 120)}{space}: {_PRESENCE[story['here']]}{since}, {story['messages']:,} messages")
    for one in islice(story["capabilities"] or (), _MOST_LISTED):
        note = "" if one["confirmed"] else f"  granted by No. {one['no']}, not confirmed"
        _say(f"  may      {_printable(_words(one['capability']), 160)}{note}")
    for one in islice(story["revoked"], _MOST_LISTED):
        what = ", ".join(map(_words, one["capabilities"])) or one["grant_id"] or "nothing named"
        _say(f"  revoked  {_printable(what, 160)}  by No. {one['no']}, not confirmed")
    for one in islice(story["refused"], _MOST_LISTED):
        _say(f"  refused  No. {one['no']}: {_printable(_plain(one['missing']) or 'a capability', 160)} is missing")


def _words(capability: object) -> str:
    return capability if isinstance(capability, str) else _dump(capability)


def _print_array(values: Iterable[Any]) -> None:
    """A JSON array on one line, item by item."""
    typer.echo("[", nl=False)
    for place, value in enumerate(values):
        typer.echo((", " if place else "") + _dump(value), nl=False)
    typer.echo("]")


class FailOn(StrEnum):
    """From which severity on `check` fails."""

    warning = "warning"
    error = "error"


@app.command("check")
def check_command(
    file: LogFile,
    as_json: Json = False,
    fail_on: Annotated[
        FailOn | None, typer.Option("--fail-on", help="End with exit code 1 when there is such a finding, or a worse.")
    ] = None,
) -> None:
    """Say what is wrong with the traffic in a log: every finding, with what to do about it."""
    with opened(file) as document:
        findings = document.analysis.findings
        worst = int(findings.found.severities[findings.columns["set"]].max(initial=0))
        if as_json:
            _print_array(map(mask_secrets, finding_entries(document)))
        else:
            _print_findings(findings, file)
    if fail_on is not None and worst >= Severity[fail_on.name.upper()]:
        raise typer.Exit(1)


def _print_findings(findings: FindingPass, file: str) -> None:
    """The findings for people: the worst first, of each code some, and once what to do about it."""
    counts = findings.found.counts()
    if not counts:
        _say(f"{file}: nothing found.")
        return
    for severity in sorted(Severity, reverse=True):
        codes = [CHECK_BY_CODE[code] for code in counts if CHECK_BY_CODE[code].severity is severity]
        if not codes:
            continue
        total = sum(counts[check.code] for check in codes)
        _say(f"{total:,} {severity.word}{'' if total == 1 else 's'}")
        for check in codes:
            _say(f"  {check.code} ({counts[check.code]:,}): {check.title}")
            for found in islice(findings.found.each(check), _MOST_LISTED):
                text = mask_text(findings.in_words(found).text)
                _say(f"    No. {found.row + 1:<7,} {_printable(text, 400)}")
            if counts[check.code] > _MOST_LISTED:
                _say(f"    and {counts[check.code] - _MOST_LISTED:,} more")
            hint = next(findings.found.each(check))
            _say(f"    -> {_printable(mask_text(findings.hint(hint)), 400)}")


@app.command("show")
def show_command(
    file: LogFile,
    number: Annotated[int, typer.Argument(metavar="NO", help="Number of the message, as listed.")],
    as_json: Json = False,
    save: Annotated[Path | None, typer.Option("--save", metavar="PATH", help="Write its exact bytes here.")] = None,
) -> None:
    """Show one message: its fields, envelope, causes, effects and lifecycle."""
    with opened(file) as document:
        if not 1 <= number <= len(document.capture):
            fail(f"There is no message {number}; {file} has 1 to {len(document.capture):,}.")
        if save is not None:
            _save(document, number - 1, save)
            return
        story = message_story(document, number - 1)
        is_big, size = document.capture.is_big(number - 1), int(document.capture.columns["size"][number - 1])
    story["fields"] = {name: json_value(FIELD_BY_NAME[name], value) for name, value in story["fields"].items()}
    story["envelope"] = mask_secrets(story["envelope"])
    story["raw"] = mask_text(story["raw"])
    story["lifecycle"] = mask_secrets(story["lifecycle"])
    story["links"], story["capability"] = mask_secrets(story["links"]), mask_secrets(story["capability"])
    story["findings"] = mask_secrets(story["findings"])
    if as_json:
        _echo(_dump(story))
        return
    for name, value in story["fields"].items():
        if value not in (None, []):
            _say(f"{name:17} {_printable(_plain(value), 2_000)}")
    for name in ("causes", "effects"):
        if story[name]:
            _say(f"{name:17} {', '.join(f'No. {n}' for n in story[name])}")
    for link in story["links"]:
        if "no" not in link:
            where = link.get("context") or link.get("stream") or ""
            _say(f"{'names':17} {_printable(link['id'], 200)}: {link['names']} {_printable(where, 200)}".rstrip())
    if story["capability"]["differs"]:
        decided = ", ".join(str(verdict["result"]) for verdict in story["capability"]["verdicts"])
        _say(f"{'capability':17} the gateway decided {decided}; as specified it is {story['capability']['predicted']}")
    if story["odd"]:
        _say(f"{'link':17} {story['odd']}")
    for step in story["chain"] if len(story["chain"]) > 1 else ():
        took = "" if step["took_ms"] is None else f", {step['took_ms']:,.1f} ms after No. {step['after']}"
        _say(f"{'chain':17} No. {step['no']} {_printable(step['relation'], 80)}{took}")
    for found in story["findings"]:
        _say(f"{found['severity']:17} {found['code']}: {_printable(found['text'], 400)}")
    _say(_dump(story["envelope"], indent=2) if story["envelope"] else story["raw"])
    if is_big:
        _say(f"This is how it begins: all of it has {size:,} bytes, which --save PATH writes.")


def _save(document: CaptureDocument, message: int, path: Path) -> None:
    try:
        written = save_message(document.capture, message, path)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror or error}.")
    _say(f"{written:,} bytes are written to {path}.")


@app.command("record")
def record_command(
    url: Annotated[str, typer.Argument(metavar="URL", help="Address of the gateway, such as ws://127.0.0.1:8080.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File to make; a .ctxcap.")],
    space: Annotated[str, typer.Option("--space", help="Space to watch; else the address names it.")] = "",
    token_env: Annotated[str, typer.Option("--token-env", metavar="VAR", help="Variable that holds the token.")] = "",
    seconds: Annotated[float | None, typer.Option("--seconds", min=0, help="End so long after the welcome.")] = None,
    messages: Annotated[int | None, typer.Option("--messages", min=1, help="End after so many received.")] = None,
) -> None:
    """Record a gateway into a file without a window, until Ctrl+C, SIGTERM or the limit asked for."""
    from inspector.recording import Recorded, Recording, RecordingProgress
    from inspector.sources.state import SourceState

    connection = _connection(url, space, token_env)
    shown = sys.stderr.isatty()

    def wipe() -> None:
        if shown:
            typer.echo("\r\x1b[K", err=True, nl=False)

    def noted(state: SourceState, sentence: str) -> None:
        if state is not SourceState.FAILED:  # that is said at the end
            wipe()
            typer.echo(_visible(sentence), err=True)

    def progressed(now: RecordingProgress) -> None:
        if shown:
            wipe()
            size = f"{now.size_bytes / 1e6:,.1f} MB"
            line = f"{now.messages:,} messages, {now.rate:,.0f}/s, {size}, {now.elapsed_s:.0f} s"
            typer.echo(line, err=True, nl=False)

    async def run() -> Recorded:
        return await Recording(
            connection, output, seconds=seconds, messages=messages, on_state=noted, on_progress=progressed
        ).run()

    try:
        with asyncio.Runner() as runner:
            done = runner.run(run())
    except FileExistsError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}.")
    wipe()
    if done.messages:
        size = f"{done.size_bytes / 1e6:,.1f} MB" if done.size_bytes >= 100_000 else f"{done.size_bytes:,} bytes"
        typer.echo(f"{output}: {done.messages:,} messages received, {size}.", err=True)
    if done.trouble:
        fail(_visible(done.trouble))
    if not done.messages:
        typer.echo(f"Nothing was received; {output} was removed.", err=True)


def _connection(url: str, space: str, token_env: str) -> Connection:
    """Where to and as whom; ends the command when that cannot be."""
    try:
        address = normal_url(url)
    except AddressError as error:
        fail(str(error))
    named = dict(parse_qsl(urlsplit(address).query))
    space = space or named.get("space", "") or named.get("topic", "")
    if not space:
        fail("Which space? Name it with --space, such as --space demo.")
    if token_env and token_env not in os.environ:
        fail(f"There is no environment variable {token_env}, which is to hold the token.")
    return Connection(url=address, space=space, token=Secret(os.environ.get(token_env, "") if token_env else ""))


@app.callback(invoke_without_command=True)
def _root(
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        typer.echo(f"context-inspector {version()}")
        raise typer.Exit
