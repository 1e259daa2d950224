"""Runs of a file with several, as an evaluation has them; each is a source of its own.

A run's path treats the file as a folder: `evaluation.eval/rye-1`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from inspector.formats import registry
from inspector.formats.file_conversion import Conversion, FileConverter, RunFacts
from inspector.formats.line_reading import read_line_as
from inspector.sources.agent_sessions.line_files import LINES
from inspector.sources.conversion_table import HEAD_BYTES, converter_for


class RunMember(NamedTuple):
    """A run in a file.

    Attributes:
        file: the file.
        conversion: converts the run.
        container: name of a document of such a file.
    """

    file: Path
    conversion: Conversion
    container: str | None


def run_facts(path: Path) -> Iterator[RunFacts]:
    """Yields the facts of the runs in a file; none for a file of another kind.

    Raises:
        OSError: it cannot be read.
        NotConvertedError: it is damaged; the runs before that come first.
    """
    converter = _converter_of(path)
    if converter is not None and converter.runs is not None:
        yield from converter.runs(path)


def may_have_runs(path: Path) -> bool:
    """Returns True for a file of a kind that may have several runs, by its first bytes. Raises OSError."""
    converter = _converter_of(path)
    return converter is not None and converter.runs is not None


def file_of_run(path: Path) -> Path:
    """Returns the file of a run, or the path itself for any other."""
    return path.parent if not path.exists() and path.parent.is_file() else path


def run_at(path: Path) -> RunMember | None:
    """Returns the run that a path names; None for other paths. Raises OSError."""
    file = file_of_run(path)
    converter = _converter_of(file) if file != path else None
    if converter is None or converter.convert_run is None:
        return None
    return RunMember(file, converter.convert_run(file, path.name), converter.container)


def _converter_of(path: Path) -> FileConverter | None:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return None if session_format(path, head) else converter_for(head)


def session_format(path: Path, head: bytes) -> str:
    """Returns the format of an agent's session by the first line of its file; "" for other files.

    A line is read in a tenth of the time in which all converters look at the beginning of a file.
    """
    if path.suffix != LINES:
        return ""
    for line in head.split(b"\n", _FIRST_LINES)[:_FIRST_LINES]:
        name = read_line_as(line.strip())[1] if line.strip() else None
        if name in registry.groups().agents:
            return name or ""
    return ""


_FIRST_LINES = 3
"""Number of lines that may name the format: some begin with a line of another kind."""
