"""Finds, decompresses and reads the files of an MSP document; unreadable ones become problems."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import xxhash
import zstandard

from inspector.msp import problems
from inspector.msp.json_layout import decode_text, whole_value
from inspector.msp.json_patch import UNREAD, lines_of
from inspector.msp.problems import Problem
from inspector.msp.sniffing import HEAD_BYTES, is_msp, is_msp_value

SUFFIXES = (".json", ".jsonl", ".ndjson", ".msp")
"""Extensions of files in a folder, also followed by `.gz` or `.zst`."""

LINES_SUFFIXES = (".jsonl", ".ndjson")

COMPRESSED = (".gz", ".zst")
"""Extensions that are read but never written."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
# A small compressed file can expand without end.
_BOX_BYTES = 1 << 30
"""Limit of a decompressed file in bytes."""


class NotMspError(ValueError):
    """No file contains an MSP object."""


class Stamp(NamedTuple):
    """Quick check for a changed file."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of_file(cls, path: Path) -> Stamp:
        """Returns the stamp of a file. Raises OSError if it is not accessible."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(eq=False)
class MspFile:
    """One file as read, and its new value."""

    path: Path
    original: bytes
    """Decompressed original content, the base of all writes."""
    value: Any
    """The decoded value; for JSON Lines a list with one item per line, `UNREAD` for an invalid line."""
    lines: bool = False
    """The file is JSON Lines."""
    numbers: list[int] = field(default_factory=list)
    """Line numbers of the items."""
    stamp: Stamp | None = None
    """Stamp on the disk, if it is there already."""
    digest: str = ""
    """Digest of the content on the disk."""
    compressed: bool = False
    like: MspFile | None = None
    """For a new file, the file beside it; the new one gets its read permissions."""
    holds: bool = False
    """It contains an MSP object."""
    name: str = ""
    """Name for problems."""
    problems: list[Problem] = field(default_factory=list)

    def roots(self) -> Iterator[tuple[Any, str]]:
        """Yields each value of the file with its JSON path."""
        if not self.lines:
            yield self.value, "$"
            return
        for value, number in zip(self.value, self.numbers, strict=False):
            if value is not UNREAD:
                yield value, f"line {number} $"


def found_files(paths: Sequence[Path]) -> list[tuple[Path, str, bool]]:
    """Returns the files to read: path, display name, and True if found in a folder.

    Raises:
        OSError: a path cannot be read.
    """
    found: dict[Path, tuple[Path, str, bool]] = {}
    for path in paths:
        if not path.is_dir():
            # A file that is named and also in a named folder is read once.
            found.setdefault(path.resolve(), (path, path.name, False))
            continue
        for inner in sorted(_walk_files(path)):
            found.setdefault(inner.resolve(), (inner, inner.relative_to(path).as_posix(), True))
    return list(found.values())


def folder_times(folders: Iterable[Path]) -> dict[Path, int]:
    """Returns modification times of folders, without missing ones."""
    times: dict[Path, int] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            times[folder] = folder.stat().st_mtime_ns
    return times


def folders_in(path: Path) -> Iterator[Path]:
    """Yields a folder and its visible subfolders."""
    for place, folders, _ in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield Path(place)


def looks_like_msp(path: Path) -> bool:
    """Returns True if a file begins like a session document; a compressed one is judged by its name."""
    try:
        with path.open("rb") as file:
            return path.suffix in COMPRESSED or is_msp(file.read(HEAD_BYTES))
    except OSError:
        return False


def _walk_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and plain_name(name).endswith(SUFFIXES):
                yield Path(place, name)


def plain_name(name: str) -> str:
    """Removes a compression extension from a file name."""
    return name.removesuffix(".gz").removesuffix(".zst")


def _raise(error: OSError) -> None:
    raise error


def read_files(paths: Sequence[Path]) -> list[MspFile]:
    """Reads files and folders; errors become problems of the file.

    Raises:
        OSError: a path or a named file cannot be read; for a file in a folder this is a problem.
    """
    files: list[MspFile] = []
    for path, name, found in found_files(paths):
        try:
            if not found or _may_be_msp(path):
                files.append(read_file(path, name))
                continue
            code, text = problems.SKIPPED, f"{name} contains no session or sub-session."
        except OSError as error:
            # A file that the user named must be readable; one in a folder may not be.
            if not found:
                raise
            code, text = problems.UNREADABLE, f"{name} cannot be read: {error.strerror or error}."
        problem = Problem(code, text, "", None, name)
        files.append(MspFile(path, b"", UNREAD, name=name, problems=[problem]))
    return files


def _may_be_msp(path: Path) -> bool:
    """Returns True if a file of a folder is worth reading; a large one must begin like a document."""
    # Small files are read whole, so that their problems are reported.
    if path.suffix in COMPRESSED or path.stat().st_size <= HEAD_BYTES:
        return True
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return is_packed(head) or is_msp(head)


def read_file(path: Path, name: str) -> MspFile:
    """Reads and decodes one file; decoding errors become its problems.

    Raises:
        OSError: it cannot be read.
    """
    stamp = Stamp.of_file(path)
    data = path.read_bytes()
    # Programs compress files without a change of their names, and the reverse.
    compressed = path.suffix in COMPRESSED or is_packed(data)
    file = MspFile(path, data, UNREAD, stamp=stamp, digest=digest_of(data), compressed=compressed, name=name)
    try:
        text = _unpacked(path, data) if compressed else data  # judged by content, not by name
        file.original = text
        _decode(file)
    except (ValueError, RecursionError, zlib.error, EOFError, OSError, zstandard.ZstdError, MemoryError) as error:
        file.value = UNREAD
        file.problems.append(Problem(problems.UNREADABLE, _error_words(name, error), "", None, name))
    return file


def is_packed(head: bytes) -> bool:
    """Returns True for the first bytes of a compressed file."""
    return head.startswith((_GZIP, _ZSTD))


def digest_of(data: bytes) -> str:
    """Returns a content hash."""
    return xxhash.xxh3_128_hexdigest(data)


def _decode(file: MspFile) -> None:
    text = decode_text(file.original).text
    named_lines = plain_name(file.path.name).endswith(LINES_SUFFIXES)
    whole: ValueError | None = None
    if not named_lines:
        try:
            file.value = whole_value(text)
            return
        except json.JSONDecodeError as error:
            whole = error
    values, numbers = lines_of(text)
    # A damaged JSON file has lines that look like JSON Lines, so they must hold objects of MSP.
    if not any(is_msp_value(value) for value in values):
        if whole is not None:
            raise whole
        with contextlib.suppress(ValueError, RecursionError):  # one object over many lines, despite its extension
            if is_msp_value(value := whole_value(text)):
                file.value = value
                return
    file.lines, file.value, file.numbers = True, values, numbers
    for value, number in zip(values, numbers, strict=True):
        if value is UNREAD:
            place = f"{file.name} line {number}"
            file.problems.append(Problem(problems.UNREADABLE, f"{place} is not JSON.", "", None, place))


def _unpacked(path: Path, data: bytes) -> bytes:
    stream: Any
    if data.startswith(_GZIP) or (path.suffix == ".gz" and not data.startswith(_ZSTD)):
        stream = gzip.GzipFile(fileobj=io.BytesIO(data))
    else:
        stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    # One byte more than allowed shows that the limit is exceeded, without reading on.
    text = cast(bytes, stream.read(_BOX_BYTES + 1))
    if len(text) > _BOX_BYTES:
        raise ValueError("it is larger than 1 GB")
    return text


def _error_words(name: str, error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
    if isinstance(error, RecursionError):
        return f"{name} is nested too deeply to be read."
    return f"{name} cannot be read: {error}."


__all__ = [
    "COMPRESSED",
    "MspFile",
    "NotMspError",
    "Stamp",
    "digest_of",
    "folder_times",
    "folders_in",
    "found_files",
    "is_msp",
    "is_packed",
    "looks_like_msp",
    "plain_name",
    "read_file",
    "read_files",
]
