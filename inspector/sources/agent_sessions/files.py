"""Files in folders that may hold anything: listed within bounds, their ends read, links never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import zstandard

END_BYTES = 64 << 10
"""Read of each end of a file, at most."""
MOST_ENTRIES = 200_000
"""Looked at below one folder: an agent's own folder has some thousands."""

_OPENED = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


def home_in(environment: Mapping[str, str]) -> Path:
    """The user's own folder."""
    return Path(environment.get("HOME") or Path.home())


class Found(NamedTuple):
    """A regular file."""

    path: str
    name: str
    """Without its folder."""
    modified: float
    """Seconds since the epoch."""
    size: int


class Listing:
    """Lists folders, and counts what it was shown, so that a hostile folder ends the lookup and not the program."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._left = most
        self.unreadable: list[str] = []
        """Folders that could not be listed."""

    @property
    def exhausted(self) -> bool:
        """More entries than the program looks at."""
        return self._left <= 0

    def files(self, folder: str, depth: int = 0) -> Iterator[Found]:
        """The regular files of a folder and of those down to `depth` levels below it. Never raises OSError."""
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
        """The folders in a folder, links left out: path and name."""
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
                    self._left -= 1
                    yield entry
        except FileNotFoundError:
            return
        except OSError:
            self.unreadable.append(folder)


def read_ends(path: str, most: int = END_BYTES) -> tuple[list[bytes], list[bytes]]:
    """The whole lines at the beginning of a file, and those at its end that are not among them.

    Of a compressed file (`.zst`) only the beginning is known. What is no regular file, or cannot be read, has no lines.
    """
    try:
        file = os.open(path, _OPENED)
    except OSError:
        return [], []
    try:
        facts = os.fstat(file)
        if not stat.S_ISREG(facts.st_mode):
            return [], []
        head = os.read(file, most)
        if path.endswith(".zst"):
            return _lines(_unpacked(head, most), whole=False), []
        if facts.st_size <= len(head):
            return _lines(head, whole=True), []
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
    """The beginning of what the beginning of a Zstandard file stands for."""
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            packed, read_across_frames=True
        ) as reader:
            return reader.read(most)
    except zstandard.ZstdError:
        return b""


def _lines(data: bytes, *, whole: bool) -> list[bytes]:
    """Its lines; the last one only where it is not cut, or where the file ends with it."""
    lines = data.split(b"\n")
    if not whole:
        lines.pop()
    return [line for line in lines if line.strip()]
