"""Lists untrusted folders within limits and reads the ends of files, without following links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

import zstandard

END_BYTES = 64 << 10
"""Limit in bytes of each end of a file."""
MOST_ENTRIES = 200_000
"""Limit of entries below one folder; an agent's own folder has a few thousand."""

_OPENED = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class Found(NamedTuple):
    """A regular file."""

    path: str
    name: str
    """Name without folder."""
    modified: float
    """Seconds since the epoch."""
    size: int


class Listing:
    """Lists folders with a limit on entries, so that a hostile folder ends the lookup and not the program."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._left = most
        self.unreadable: list[str] = []
        """Folders that could not be listed."""

    @property
    def exhausted(self) -> bool:
        """Returns True if the limit was reached."""
        return self._left <= 0

    def files(self, folder: str, depth: int = 0) -> Iterator[Found]:
        """Yields the regular files of a folder, down to `depth` levels below it. Never raises OSError."""
        below: list[str] = []
        for entry in self._entries(folder):
            try:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    facts = entry.stat(follow_symlinks=False)
                    yield Found(entry.path, entry.name, facts.st_mtime, facts.st_size)
            except OSError:
                continue
        if depth:
            for path in below:
                yield from self.files(path, depth - 1)

    def folders(self, folder: str) -> Iterator[tuple[str, str]]:
        """Yields path and name of the folders in a folder, without links."""
        for entry in self._entries(folder):
            try:
                if entry.is_dir(follow_symlinks=False):
                    yield entry.path, entry.name
            except OSError:
                continue

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self._left <= 0:
                        return
                    # Each entry counts, also folders and files of no interest.
                    self._left -= 1
                    yield entry
        except FileNotFoundError:
            return
        except OSError:
            self.unreadable.append(folder)


def read_ends(path: str, most: int = END_BYTES) -> tuple[list[bytes], list[bytes]]:
    """Returns the complete lines at the start of a file, and the other complete lines at its end.

    Of a compressed file (`.zst`) only the start is read. A file that is not regular or not readable has no lines.
    """
    with FileEnds(path, most) as ends:
        head = ends.read_head(most)
        return _lines(head), _lines(ends.tail)


def read_head(path: str, most: int = END_BYTES) -> list[bytes]:
    """Returns the complete lines at the start of a file; none of a file that is not regular or not readable."""
    with FileEnds(path, 0) as ends:
        return _lines(ends.read_head(most))


def read_whole(path: str, most: int) -> bytes:
    """Returns a file of at most `most` bytes; empty for a larger, not regular or not readable one."""
    with FileEnds(path, 0) as ends:
        return ends.read_head(most) if ends.size <= most else b""


class FileEnds:
    """Reads the start of a file step by step, and its end, in complete lines. Never raises OSError.

    Attributes:
        size: bytes of the file; 0 if it is not regular or not readable.
        tail: complete lines at its end; without the start if that reaches them.
    """

    def __init__(self, path: str, tail_bytes: int) -> None:
        """Opens the file.

        Args:
            path: a file. A compressed one (`.zst`) has no tail.
            tail_bytes: limit of the tail.
        """
        self._packed = path.endswith(".zst")
        self._tail_bytes = tail_bytes
        self._head, self._tail = b"", None if tail_bytes and not self._packed else b""
        self._file: int | None = None
        self.size = 0
        try:
            # The flags refuse links, and do not wait for the writer of a pipe.
            self._file = os.open(path, _OPENED)
            facts = os.fstat(self._file)
            # Checked on the open file: the name may change between a check and the opening.
            self.size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
        except OSError:
            pass

    def __enter__(self) -> FileEnds:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def read_head(self, most: int) -> bytes:
        """Returns complete lines of the first `most` bytes; the whole file if it is not longer."""
        if len(self._head) < min(most, self.size):
            self._head += self._read(len(self._head), most - len(self._head))
        if self._packed:
            return _whole_lines(_unpacked(self._head, most))
        return self._head if len(self._head) >= self.size else _whole_lines(self._head)

    @property
    def tail(self) -> bytes:
        if self._tail is None:
            # The ends must not overlap, or lines would be read twice.
            begun = self._head.rfind(b"\n") + 1 if len(self._head) < self.size else self.size
            start = max(self.size - self._tail_bytes, begun)
            data = self._read(start, self.size - start) if start < self.size else b""
            self._tail = data if start == begun else data.partition(b"\n")[2]
        return self._tail

    def _read(self, start: int, count: int) -> bytes:
        if self._file is None or not self.size:
            return b""
        try:
            os.lseek(self._file, start, os.SEEK_SET)
            return os.read(self._file, count)
        except OSError:
            return b""


def _whole_lines(data: bytes) -> bytes:
    """Drops the last line, which may be cut."""
    return data[: data.rfind(b"\n") + 1]


def _unpacked(packed: bytes, most: int) -> bytes:
    """Decompresses the start of a Zstandard file."""
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            packed, read_across_frames=True
        ) as reader:
            return reader.read(most)
    except zstandard.ZstdError:
        return b""


def _lines(data: bytes) -> list[bytes]:
    return [line for line in data.split(b"\n") if line.strip()]
