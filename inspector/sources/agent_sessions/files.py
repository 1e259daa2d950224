"""Lists untrusted folders within limits and reads the ends of files, without following links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
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


def home_in(environment: Mapping[str, str]) -> Path:
    """Returns the user's home folder."""
    return Path(environment.get("HOME") or Path.home())


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
    try:
        # The flags refuse links, and do not wait for the writer of a pipe.
        file = os.open(path, _OPENED)
    except OSError:
        return [], []
    try:
        facts = os.fstat(file)
        # Checked on the open file: the name may change between a check and the opening.
        if not stat.S_ISREG(facts.st_mode):
            return [], []
        head = os.read(file, most)
        if path.endswith(".zst"):
            return _lines(_unpacked(head, most), whole=False), []
        if facts.st_size <= len(head):
            return _lines(head, whole=True), []
        # The ends must not overlap, or lines would be read twice.
        start = max(facts.st_size - most, len(head))
        os.lseek(file, start, os.SEEK_SET)
        tail = os.read(file, most)
    except OSError:
        return [], []
    finally:
        os.close(file)
    if start > len(head):
        return _lines(head, whole=False), _lines(tail.partition(b"\n")[2], whole=True)
    lines = _lines(head + tail, whole=True)
    return lines, []


def _unpacked(packed: bytes, most: int) -> bytes:
    """Decompresses the start of a Zstandard file."""
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            packed, read_across_frames=True
        ) as reader:
            return reader.read(most)
    except zstandard.ZstdError:
        return b""


def _lines(data: bytes, *, whole: bool) -> list[bytes]:
    """Splits into lines; drops the last one if it may be cut."""
    lines = data.split(b"\n")
    if not whole:
        lines.pop()
    return [line for line in lines if line.strip()]
