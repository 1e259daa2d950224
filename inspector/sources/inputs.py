"""Opens a FILE argument as a source: a log, an archive, a pipe or standard input."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.formats.file_conversion import GrowingConversion
from inspector.sources.bundle import member_at
from inspector.sources.conversion_table import HEAD_BYTES, converter_for, store_at
from inspector.sources.decoders import is_compressed
from inspector.sources.run_members import run_at
from inspector.sources.stream_feed import StreamFeed
from inspector.sources.threaded_feed import ConvertingFeed
from inspector.store.files.source_files import SourceFile

STANDARD_INPUT = Path("-")
"""FILE for standard input; a file of that name needs its whole path."""

STANDARD_INPUT_NAME = "standard input"

_LOG_PLACES = ("envelope-history.jsonl", "logs/envelope-history.jsonl", ".mew/logs/envelope-history.jsonl")
"""Places of a gateway's log in a folder."""


def open_source(path: Path, name: str | None = None, *, parts: Sequence[Path] = ()) -> SourceFile:
    """Returns a source, complete or filling.

    Args:
        path: a log, an archive, a pipe or device such as a shell's `<(...)`, or STANDARD_INPUT.
        name: display name, if it differs from the file's name.
        parts: rotated parts of the log, oldest first, read before it as one file.

    Raises:
        OSError: it cannot be read, or there is no space for a spool.
    """
    if is_stream(path):
        if path == STANDARD_INPUT and sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed", STANDARD_INPUT_NAME)
        name = name or (STANDARD_INPUT_NAME if path == STANDARD_INPUT else path.name)
        return SourceFile(path, name, feed=StreamFeed(name, None if path == STANDARD_INPUT else path))
    member = member_at(path) if not path.exists() else None
    if member is not None:
        return SourceFile(path, name, feed=StreamFeed(path.name, member, total=member.size))
    run = run_at(path)
    if run is not None:
        size = run.file.stat().st_size
        return SourceFile(path, name, feed=ConvertingFeed(path.name, run.conversion, run.container, size=size))
    place = store_at(path)
    if place is not None:
        size = place.path.stat().st_size
        feed = ConvertingFeed(place.path.name, place.conversion(), place.container, size=size)
        return SourceFile(place.path, name or path.name, feed=feed)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, _folder_words(path), str(path))
    if parts:
        total = sum(part.stat().st_size for part in (*parts, path))
        return SourceFile(path, name, feed=StreamFeed(path.name, parts, total=total, log=_open_descriptor(path)))
    plain = SourceFile(path, name)
    head, size = plain.read(0, HEAD_BYTES), plain.size
    if is_compressed(head):
        plain.close()
        return SourceFile(path, name, feed=StreamFeed(path.name, path, total=size))
    kind = converter_for(head)
    if kind is None:
        return plain
    plain.close()
    conversion = kind.convert(path)
    log = _open_descriptor(path) if isinstance(conversion, GrowingConversion) else None
    return SourceFile(path, name, feed=ConvertingFeed(path.name, conversion, kind.container, size=size, log=log))


def _open_descriptor(log: Path) -> int:
    return os.open(log, os.O_RDONLY | getattr(os, "O_BINARY", 0))


def holds_lines(path: Path) -> bool:
    """Returns True if a file is read as its own lines: neither compressed nor converted.

    Raises:
        OSError: it cannot be read.
    """
    if is_stream(path) or path.is_dir() or store_at(path) is not None:
        return False
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return not is_compressed(head) and converter_for(head) is None


def may_grow(source: SourceFile) -> bool:
    """Returns True if appended lines can be read: the file is not compressed, and its conversion can go on."""
    feed = source.feed
    return feed is None or (isinstance(feed, ConvertingFeed) and isinstance(feed.conversion, GrowingConversion))


def _folder_words(folder: Path) -> str:
    """Returns advice for a folder: a gateway's log has the same name everywhere."""
    try:
        found = next((path for place in _LOG_PLACES if (path := folder / place).is_file()), None)
        if found is not None:
            return f"it is a folder; open {found}"
        if next(folder.iterdir(), None) is None:
            return "the folder is empty; open a log, or a folder with logs"
    except OSError:
        pass
    return "it is a folder; open a log in it"


def waiting_words(path: Path) -> str:
    """Words the wait for the first bytes of a stream, such as for a writer of a named pipe."""
    if path.is_fifo():
        return f"Waiting until somebody writes to {path.name}..."
    return f"Waiting for {STANDARD_INPUT_NAME if path == STANDARD_INPUT else path.name}..."


def is_stream(path: Path) -> bool:
    """Returns True if it can only be read once, from start to end."""
    return path == STANDARD_INPUT or (path.exists() and not path.is_file() and not path.is_dir())
