"""Opens logs, compiles filters, and resolves fields, aliases and prices for commands; errors exit with code 2."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import typer

from inspector.analysis.passes.tokens.listed_prices import prices_in_force
from inspector.analysis.passes.tokens.price_table import PriceError, PriceTable, imported_lines
from inspector.base import gc_control
from inspector.base.targets import is_session, session_file, target_path
from inspector.cli.arguments import AS_USUAL, CollapseOrder, Reading, fail
from inspector.cli.printing import escape_hostile
from inspector.document.sources import Progress
from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.requests.log_facts import DescribeLog, ListSources
from inspector.filters import DisplayFilter, FilterError, compile_filter, naming
from inspector.filters.field import Field
from inspector.formats import guards, registry
from inspector.formats.declared.folder import DeclarationFileError, register_file
from inspector.formats.format import Format
from inspector.present.formats import count_of
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.tool_aliases import AliasError, ToolAliases, parse_alias
from inspector.reading.files.source_reader import UnknownFormatError
from inspector.settings.store import load_settings as load_settings
from inspector.settings.store import settings_path
from inspector.sources.inputs import is_stream, waiting_words
from inspector.sources.transcript_files import members_of

PATIENCE_S = 0.5
"""Seconds until a notice says that a pipe has no writer."""


def say_waiting(path: Path) -> None:
    typer.echo(escape_hostile(f"{waiting_words(path)} Ctrl+C ends it."), err=True)


@contextmanager
def opened(
    files: Sequence[str], reading: Reading = AS_USUAL, *, checked: bool = False, counted: bool | int = False,
    baseline: bool = False, masked: bool = True,
) -> Generator[Log]:  # fmt: skip
    """Opens logs as one document of an engine; exits with a sentence if they cannot be read.

    Args:
        files: the logs; several make one document.
        reading: options on how to read them.
        checked: also run the checks that read records again.
        counted: count tokens; a number counts them only in a log of at most that many bytes.
        baseline: compare tools of MCP servers with their last tapped lists.
        masked: hide fragments of secrets in records; the printing functions mask everything else.
    """
    aliases_of(reading.tool_alias or [])
    chosen_format = format_of(reading)
    paths = [path_at(file) for file in files]
    prices, dated = prices_of(reading.prices)
    if len(paths) > 1:
        _refuse_several(paths)
    options = OpenOptions(
        memory_mb=reading.memory, aliases=tuple(reading.tool_alias or ()), prices=tuple(prices), prices_dated=dated,
        newest_first=reading.collapses is CollapseOrder.newest, idle_after_s=reading.idle_after, baseline=baseline,
        checked=checked, counted_bytes=None if counted is True else int(counted), unmasked=not masked, marks=True,
    )  # fmt: skip
    targets = [Target(path, is_session(file), chosen_format) for file, path in zip(files, paths, strict=True)]
    log, steps = Log.begin(targets, options)
    try:
        try:
            with gc_control.defer_full_collection():
                _complete(log, steps, paths)
            gc_control.freeze_and_trim()  # else each full collection would visit all that was read
        except UnknownFormatError as error:
            _print_trips(guards.trips())  # the log may be one of a format that failed
            fail(str(error))
        except OSError as error:
            fail(f"{log.name or named(files)} cannot be read: {error.strerror or error}.")
        for sentence in log.answer_to(DescribeLog()).read_errors:
            typer.echo(escape_hostile(sentence), err=True)
        if len(paths) == 1 and not targets[0].is_session:
            _print_unread_sub_agents(log, paths[0])
        told = guards.trips()
        yield log
        _print_trips(guards.trips()[len(told) :])  # fields and payloads are read while they are printed
    finally:
        log.close()


def _print_unread_sub_agents(log: Log, path: Path) -> None:
    """Prints how to read the files of sub-agents if a session was opened by its file alone."""
    sources = log.answer_to(ListSources())
    if len(sources) > 1 or sources[0].format not in registry.groups().transcripts or not path.is_file():
        return
    members, _ = members_of(path)
    unread = {member.path for member in members} - {path, *(source.path for source in sources)}
    if not unread:
        return
    folder = path.with_suffix("")
    whole = str(folder) if folder.is_dir() else f"session:{path.absolute()}"
    words = f"This session has sub-agents in {count_of(len(unread), 'file')} that are not read."
    typer.echo(escape_hostile(mask_text(f"{words} Give {quote(whole)} instead to read them too.")), err=True)


def _print_trips(trips: Sequence[guards.Trip]) -> None:
    for trip in trips:
        typer.echo(escape_hostile(mask_text(trip.sentence)), err=True)


def named(files: Sequence[str]) -> str:
    """Returns the names of logs for people and reports, with secrets masked."""
    return mask_text(", ".join(files))


def aliases_of(texts: list[str]) -> ToolAliases:
    """Parses the rules of `--tool-alias`; exits if one is malformed."""
    try:
        return ToolAliases([parse_alias(text) for text in texts])
    except AliasError as error:
        fail(f"--tool-alias: {error}")


def prices_of(file: str | None) -> tuple[list[str], str]:
    """Returns price lines and their date, from `--prices` or else from the settings; exits if they are malformed."""
    if file is None:
        if not settings_path().exists():
            return prices_in_force((), "", listed=True)
        stored = load_settings().settings.prices
        return prices_in_force(stored.lines, stored.dated, listed=stored.listed)
    try:
        data = Path(file).read_bytes()
        # LiteLLM's list is a JSON object. Editors on Windows may add a byte order mark.
        lines = imported_lines(data) if data.lstrip().startswith(b"{") else data.decode("utf-8-sig").splitlines()
        PriceTable(lines)
    except OSError as error:
        fail(f"--prices: {escape_hostile(file)} cannot be read: {error.strerror or error}.")
    except UnicodeDecodeError:
        fail(f"--prices: {escape_hostile(file)} is not UTF-8 text.")
    except PriceError as error:
        fail(f"--prices: {escape_hostile(str(error))}")
    return lines, Path(file).name


def format_of(reading: Reading) -> str | None:
    """Returns the format of `--format-file` or `--read-as`; exits if it is none."""
    name, file = reading.read_as, reading.format_file
    if file is not None:
        if name is not None:
            fail("--format-file and --read-as cannot be combined.")
        return format_of_file(file).name
    known = registry.selectable_formats()
    if name is not None and name not in known:
        fail(f"--read-as: {escape_hostile(name)} is not a format. Formats: {', '.join(known)}.")
    return name


def format_of_file(file: str) -> Format:
    """Adds the format that a file declares; exits with its faults."""
    try:
        return register_file(Path(file))
    except DeclarationFileError as error:
        fail(f"--format-file: {error}")


def path_at(file: str) -> Path:
    """Resolves FILE or `session:ID` to a path; exits if there is no such session, or more than one."""
    if not is_session(file):
        return Path(file)
    from inspector.sources.agent_sessions.lookup import SessionNameError, session_named

    try:
        return session_file(file) or session_named(str(target_path(file))).path
    except SessionNameError as error:
        fail(escape_hostile(str(error)))


def _complete(log: Log, steps: Generator[object], paths: Sequence[Path]) -> None:
    """Reads logs to their ends. Ctrl+C ends an endless stream; the command then works on the messages received."""
    path = paths[0]
    # Only the main thread may set signal handlers.
    if not is_stream(path) or threading.current_thread() is not threading.main_thread():
        log.complete(steps)
        return
    unopened = True

    def end(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)  # a second Ctrl+C ends the program
        log.stop_stream()
        if unopened:
            typer.echo(escape_hostile(f"No program wrote to {log.name}."), err=True)
        else:
            typer.echo(escape_hostile(f"{log.name} continues; this covers the messages received so far."), err=True)

    before = signal.signal(signal.SIGINT, end)
    patient_until = time.monotonic() + PATIENCE_S
    said = False

    def note(progress: Progress) -> None:
        nonlocal said, unopened
        unopened = progress.unopened
        if not said and unopened and time.monotonic() > patient_until:
            said = True
            say_waiting(path)

    try:
        log.complete(steps, note)
    finally:
        signal.signal(signal.SIGINT, before)


def _refuse_several(paths: Sequence[Path]) -> None:
    """Exits if one of several logs is a stream or missing."""
    for path in paths:
        if is_stream(path):
            fail(
                f"{escape_hostile(str(path))} is a stream and cannot be read with other logs. Save it as a file first."
            )
        if not path.exists():
            fail(f"{escape_hostile(str(path))} cannot be read: there is no such file.")


def compiled(text: str, *, selected_context: str | None = None) -> DisplayFilter:
    """Compiles a filter; exits with a caret below its error."""
    with faults_shown(text):
        found = compile_filter(text, selected_context=selected_context)
    if found.note is not None:
        typer.echo(escape_hostile(str(found.note)), err=True)
    return found


@contextmanager
def faults_shown(text: str) -> Generator[None]:
    """Exits with a caret below the error of a filter."""
    try:
        yield
    except FilterError as error:
        line, stop = text.replace("\n", " "), error.position + error.length
        before, wrong = escape_hostile(line[: error.position]), escape_hostile(line[error.position : stop])
        caret = " " * len(before) + "^" * max(1, len(wrong))
        fail(f"{escape_hostile(str(error))}\n  {before}{wrong}{escape_hostile(line[stop:])}\n  {caret}")


def require_field(name: str) -> Field:
    """Finds a field by name, also `payload.<path>`; exits without one."""
    try:
        return naming.field_named(name)
    except FilterError as error:
        fail(str(error))


def asks_for_findings(filter_: DisplayFilter, names: Iterable[str] = ()) -> bool:
    """Returns True if a filter or a field needs findings, as for the states of requests."""
    return any(name.startswith("finding") or name == "state" for name in (*filter_.fields, *names))


def asks_for_tokens(filter_: DisplayFilter, names: Iterable[str] = ()) -> bool:
    """Returns True if a filter or a field needs token counts."""
    return "tokens" in (*filter_.fields, *names)
