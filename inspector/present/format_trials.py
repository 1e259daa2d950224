"""Results of trying a declared format on a log, as text, and the declarations that a user edits."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from inspector.formats import registry
from inspector.formats.declared.declaration import DeclarationError, Fault, parse_declaration
from inspector.formats.declared.folder import (
    SUFFIX,
    DeclarationFileError,
    declarations_folder,
    read_declaration,
    register_folder,
)
from inspector.formats.declared.format_maker import make_format, register_declaration
from inspector.formats.declared.guessing import SAMPLE_BYTES, guess_declaration
from inspector.formats.format import Format, Origin
from inspector.present.formats import count_of
from inspector.protocol.escaped_text import escape_hostile
from inspector.protocol.timestamps import log_time
from inspector.reading.files.format_trial import Trial, TrialRow, try_format, wait_for_bytes
from inspector.sources.inputs import open_source

_HEAD = ("record", "event", "time", "from", "to", "kind", "text")
_MAX_CELL = 100
_PREVIEWED_BYTES = 1 << 19
"""Bytes of a log that a preview reads; a trial of so many takes a fraction of a second."""


def trial_table(rows: Sequence[TrialRow], columns: Sequence[str] = _HEAD) -> list[str]:
    """Returns the rows of a trial as aligned lines with a head; empty without rows.

    Args:
        rows: the rows.
        columns: names of the shown columns.
    """
    places = [_HEAD.index(name) for name in columns]
    cells = [_cells_of(row) for row in rows]
    table = [tuple(line[place] for place in places) for line in (_HEAD, *cells)]
    widths = [min(_MAX_CELL, max(len(line[place]) for line in table)) for place in range(len(places))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    ] if rows else []  # fmt: skip


def _cells_of(row: TrialRow) -> tuple[str, ...]:
    cells = (str(row.record), row.event, log_time(row.time_ns) or "", row.sender, row.to, row.kind, row.text)
    return tuple(map(escape_hostile, cells))


def share_sentence(trial: Trial, title: str = "") -> str:
    """Returns the share of records that a format reads, as a sentence."""
    beginning = "" if trial.is_whole else " of its beginning"
    share = 100 * trial.matched // trial.records if trial.records else 0
    words = f" as {title}" if title else ""
    return f"{trial.matched:,} of {count_of(trial.records, 'record')}{beginning} matched{words} ({share} %)."


def unmatched_lines(trial: Trial) -> list[str]:
    """Returns a line about each of the first records that a format does not read."""
    lines = [escape_hostile(f"record {number}: {text} ({reason})") for number, text, reason in trial.unmatched]
    left = trial.records - trial.matched - len(trial.unmatched)
    return [*lines, f"and {count_of(left, 'other record')}"] if left > 0 else lines


@dataclass(frozen=True, slots=True)
class DeclarationPreview:
    """Faults of a declaration, or its rows on the beginning of a log.

    Attributes:
        faults: by place; empty for a valid declaration.
        sentence: the share of records that match, or the reason why there is none.
        lines: the first rows as a table, then the records that do not match.
    """

    faults: tuple[Fault, ...] = ()
    sentence: str = ""
    lines: tuple[str, ...] = ()


def preview_declaration(path: Path, text: str) -> DeclarationPreview:
    """Tries a declaration on the beginning of a log. Never raises."""
    try:
        tried = make_format(parse_declaration(text))
    except DeclarationError as error:
        return DeclarationPreview(error.faults)
    try:
        with contextlib.closing(open_source(path)) as source:
            trial = try_format(source, tried, max_bytes=_PREVIEWED_BYTES)
    except OSError as error:
        return DeclarationPreview(sentence=f"{path.name} cannot be read: {error.strerror or error}.")
    if trial.problem:
        return DeclarationPreview(sentence=trial.problem)
    lines = trial_table(trial.rows, ("record", "event", "from", "text"))
    others = unmatched_lines(trial)
    return DeclarationPreview((), share_sentence(trial), (*lines, *([""] if lines and others else []), *others))


def first_declaration(path: Path, name: str | None) -> str:
    """Returns the text to edit: the declaration of the log's format, else a guess from its beginning.

    Args:
        path: the log.
        name: its format, if known.

    Raises:
        OSError: if the log cannot be read.
    """
    declared = declaration_file(registry.format_named(name or ""))
    if declared is not None:
        with contextlib.suppress(DeclarationFileError):
            return read_declaration(declared)
    with contextlib.closing(open_source(path)) as source:
        wait_for_bytes(source, SAMPLE_BYTES)
        data = source.read(0, SAMPLE_BYTES)
        return guess_declaration(data, path.name, is_whole=source.size <= SAMPLE_BYTES)


def declaration_file(found: Format | None) -> Path | None:
    """Returns the file of a declared format in the settings folder."""
    if found is None or found.origin is not Origin.DECLARED:
        return None
    files = register_folder()
    return next((one.path for one in reversed(files) if one.format is not None and one.format.name == found.name), None)


def save_declaration(text: str) -> str:
    """Writes a declaration into the settings folder, adds its format, and returns the name.

    It replaces an earlier declaration of the same name.

    Raises:
        DeclarationError: if it has faults.
        OSError: if it cannot be written.
    """
    name = parse_declaration(text).name
    folder = declarations_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = declaration_file(registry.format_named(name)) or folder / f"{name}{SUFFIX}"
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)
    register_declaration(text)
    return name
