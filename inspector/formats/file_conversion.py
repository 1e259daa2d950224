"""Types for the conversion of files and stores to lines, as declared by `Format.conversion` and `Format.store`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from inspector.protocol.timestamps import NO_TIME

LEAST_BOUND_BYTES = 1 << 30
"""Output in bytes that a file of any size may produce."""
MOST_FOLD = 100
"""Ratio of output to file size allowed beyond that; well compressed logs reach 30."""


class NotConvertedError(ValueError):
    """A conversion stops; the text is the reason, as the end of a sentence."""


class Conversion(Protocol):
    """Converts a file to lines.

    Attributes:
        progress: bytes or records read, and their total.
    """

    progress: tuple[int, int]

    def lines(self) -> Iterator[bytes]:
        """Yields lines with their line ends. Raises OSError and NotConvertedError."""
        ...


@runtime_checkable
class GrowingConversion(Conversion, Protocol):
    """Conversion of a file that may grow."""

    @property
    def can_grow(self) -> bool:
        """Returns True if the whole file was converted, and appended data can be too."""
        ...

    def convert_more(self, data: bytes) -> bytes:
        """Converts the next bytes of the file, up to its last complete record."""
        ...

    def finish(self) -> bytes:
        """Returns the incomplete last record as a line, when another file replaces this one."""
        ...


class RunFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts that a file states about one of its runs.

    Attributes:
        name: unique in its file.
        title: of a conversation.
        task: its task.
        score: as stated by the evaluation, if it is a number.
        passed: True for a solved task.
        error: reason for its end, if it failed to run.
        model: the model, if it is one.
        began_ns: its start, nanoseconds since the epoch.
        seconds: its duration.
        cost: in dollars.
        input_tokens, output_tokens: of all its model calls, caches included in the input.
    """

    name: str
    title: str | None = None
    task: str | None = None
    score: float | None = None
    passed: bool | None = None
    error: str | None = None
    model: str | None = None
    began_ns: int = NO_TIME
    seconds: float | None = None
    cost: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileConverter:
    """Recognizes files of a format by their first bytes, and converts them.

    Attributes:
        head_bytes: number of first bytes needed for detection.
        begins_file: returns True for the first bytes of such a file.
        may_begin_file: returns True if too few bytes have arrived, and they are no beginning of a JSON object.
        convert: returns the conversion of a file. Raises OSError.
        container: name of a document of such a file; None for the format of its lines.
        convert_stream: converts a stream in blocks, with None at pauses, for output at each pause. None if only the
            whole stream can be converted.
        runs: yields the facts of the runs in a file, if the format has several in one. Raises OSError and
            NotConvertedError.
        convert_run: returns the conversion of one of them by name.
    """

    head_bytes: int
    begins_file: Callable[[bytes], bool]
    may_begin_file: Callable[[bytes], bool] = lambda _: False
    convert: Callable[[Path], Conversion]
    container: str | None
    convert_stream: Callable[[Iterable[bytes | None]], Iterator[bytes]] | None = None
    runs: Callable[[Path], Iterator[RunFacts]] | None = None
    convert_run: Callable[[Path, str], Conversion] | None = None


class SessionStore(Protocol):
    """A database, or a folder of small files, that is read as one source.

    Attributes:
        path: the database or folder.
        container: name of a document of it.
    """

    @property
    def path(self) -> Path: ...

    @property
    def container(self) -> str: ...

    def files(self) -> list[Path]:
        """Returns the paths that change if the store is written to, without files inside of a folder."""
        ...

    def conversion(self) -> Conversion:
        """Returns the conversion of its records."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRecord:
    """A kind of record in the original of a converted line.

    Attributes:
        key: member of a line with the record.
        id_key: member of the record with its id; "" if it has none.
        noun: the record, for a sentence, as `request`.
    """

    key: str
    id_key: str
    noun: str
