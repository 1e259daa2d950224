"""Finding and reading the files of an MSP document; what cannot be read is a problem with its place."""

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
from inspector.msp.json_layout import decoded, whole_value
from inspector.msp.json_patch import UNREAD, lines_of
from inspector.msp.problems import Problem
from inspector.msp.sniffing import HEAD_BYTES, is_msp, is_msp_value

SUFFIXES = (".json", ".jsonl", ".ndjson", ".msp")
"""Of the files taken from a folder, also with `.gz` or `.zst` behind."""

LINES_SUFFIXES = (".jsonl", ".ndjson")

COMPRESSED = (".gz", ".zst")
"""Read, never written."""

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BOX_BYTES = 1 << 30
"""Of a compressed file no more is unpacked."""


class NotMspError(ValueError):
    """None of the files holds an MSP object."""


class Stamp(NamedTuple):
    """What tells quickly that a file is not the one that was read."""

    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The stamp of a file as it is now; OSError when it cannot be told."""
        found = path.stat()
        return cls(found.st_size, found.st_mtime_ns, found.st_ino)


@dataclass(eq=False)
class MspFile:
    """One file as it was read, and the value it is to have."""

    path: Path
    original: bytes
    """What was read, unpacked: whatever is written is made from it."""
    value: Any
    """The decoded value; of JSON Lines a list with one item a line, `UNREAD` where a line is none."""
    lines: bool = False
    """Whether it is JSON Lines."""
    numbers: list[int] = field(default_factory=list)
    """Of the lines that were read."""
    stamp: Stamp | None = None
    """None: it is not on the disk yet."""
    digest: str = ""
    """Of what is on the disk."""
    compressed: bool = False
    like: MspFile | None = None
    """Of a new one the file beside which it goes: who may read that one may read it."""
    holds: bool = False
    """Whether there is an MSP object in it."""
    name: str = ""
    """What problems call it."""
    problems: list[Problem] = field(default_factory=list)

    def roots(self) -> Iterator[tuple[Any, str]]:
        """Each value of the file and its JSON path."""
        if not self.lines:
            yield self.value, "$"
            return
        for value, number in zip(self.value, self.numbers, strict=False):
            if value is not UNREAD:
                yield value, f"line {number} $"


def found_files(paths: Sequence[Path]) -> list[tuple[Path, str, bool]]:
    """Files to read, each with the name it is called by and whether it was found in a folder.

    Raises:
        OSError: a path cannot be read.
    """
    found: dict[Path, tuple[Path, str, bool]] = {}
    for path in paths:
        if not path.is_dir():
            found.setdefault(path.resolve(), (path, path.name, False))
            continue
        for inner in sorted(_walk(path)):
            found.setdefault(inner.resolve(), (inner, inner.relative_to(path).as_posix(), True))
    return list(found.values())


def folder_times(folders: Iterable[Path]) -> dict[Path, int]:
    """When something was put into or taken out of each of some folders; those that are gone are left out."""
    times: dict[Path, int] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            times[folder] = folder.stat().st_mtime_ns
    return times


def folders_in(path: Path) -> Iterator[Path]:
    """A folder and those below it in which files are looked for."""
    for place, folders, _ in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield Path(place)


def looks_like_msp(path: Path) -> bool:
    """Whether a file begins as a document of sessions does; of a compressed one its name has to do."""
    try:
        with path.open("rb") as file:
            return path.suffix in COMPRESSED or is_msp(file.read(HEAD_BYTES))
    except OSError:
        return False


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=_raised):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and plain_name(name).endswith(SUFFIXES):
                yield Path(place, name)


def plain_name(name: str) -> str:
    """A file's name without what says that it is compressed."""
    return name.removesuffix(".gz").removesuffix(".zst")


def _raised(error: OSError) -> None:
    raise error


def read_files(paths: Sequence[Path]) -> list[MspFile]:
    """Read files and folders; what is wrong with a file is among its problems.

    Raises:
        OSError: a path cannot be read, or a file that was named; one that was found in a folder is a problem.
    """
    files: list[MspFile] = []
    for path, name, found in found_files(paths):
        try:
            if not found or _may_be_msp(path):
                files.append(read_file(path, name))
                continue
            code, text = problems.SKIPPED, f"{name} holds no session and no sub-session."
        except OSError as error:
            if not found:
                raise
            code, text = problems.UNREADABLE, f"{name} cannot be read: {error.strerror or error}."
        problem = Problem(code, text, "", None, name)
        files.append(MspFile(path, b"", UNREAD, name=name, problems=[problem]))
    return files


def _may_be_msp(path: Path) -> bool:
    """Whether a file of a folder is worth reading whole: a large one must show at its beginning what it is."""
    if path.suffix in COMPRESSED or path.stat().st_size <= HEAD_BYTES:
        return True
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return is_packed(head) or is_msp(head)


def read_file(path: Path, name: str) -> MspFile:
    """Read and decode one file; what is wrong with it is among its problems.

    Raises:
        OSError: it cannot be read.
    """
    stamp = Stamp.of(path)
    data = path.read_bytes()
    compressed = path.suffix in COMPRESSED or is_packed(data)
    file = MspFile(path, data, UNREAD, stamp=stamp, digest=digest_of(data), compressed=compressed, name=name)
    try:
        text = _unpacked(path, data) if compressed else data  # whatever its name is
        file.original = text
        _decode(file)
    except (ValueError, RecursionError, zlib.error, EOFError, OSError, zstandard.ZstdError, MemoryError) as error:
        file.value = UNREAD
        file.problems.append(Problem(problems.UNREADABLE, _why(name, error), "", None, name))
    return file


def is_packed(head: bytes) -> bool:
    """Whether what begins so is compressed."""
    return head.startswith((_GZIP, _ZSTD))


def digest_of(data: bytes) -> str:
    """What tells whether two files hold the same bytes."""
    return xxhash.xxh3_128_hexdigest(data)


def _decode(file: MspFile) -> None:
    text = decoded(file.original).text
    named_lines = plain_name(file.path.name).endswith(LINES_SUFFIXES)
    whole: ValueError | None = None
    if not named_lines:
        try:
            file.value = whole_value(text)
            return
        except json.JSONDecodeError as error:
            whole = error
    values, numbers = lines_of(text)
    if not any(is_msp_value(value) for value in values):
        if whole is not None:
            raise whole
        with contextlib.suppress(ValueError, RecursionError):  # one object over many lines, whatever it is called
            if is_msp_value(value := whole_value(text)):
                file.value = value
                return
    file.lines, file.value, file.numbers = True, values, numbers
    for value, number in zip(values, numbers, strict=True):
        if value is UNREAD:
            place = f"{file.name} line {number}"
            file.problems.append(Problem(problems.UNREADABLE, f"{place} is no JSON.", "", None, place))


def _unpacked(path: Path, data: bytes) -> bytes:
    stream: Any
    if data.startswith(_GZIP) or (path.suffix == ".gz" and not data.startswith(_ZSTD)):
        stream = gzip.GzipFile(fileobj=io.BytesIO(data))
    else:
        stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    text = cast(bytes, stream.read(_BOX_BYTES + 1))
    if len(text) > _BOX_BYTES:
        raise ValueError("it holds more than 1 GB")
    return text


def _why(name: str, error: BaseException) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{name} is no JSON: {error.msg} in line {error.lineno}, column {error.colno}."
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
