"""The files a capture's records lie in, read with `pread` and never mapped (docs/design.md 4)."""

from __future__ import annotations

import enum
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from inspector.protocol.formats import FRAME_LABEL, capture_file, http_lines
from inspector.store.columns.block import RUNNING, Block
from inspector.store.files.elements import BLANK, ElementScanner, Span, trimmed

_ENDS = 1 << 12
"""Bytes of an overlong element that are read at each end."""
_LOOKED_AT = 1 << 16
"""Bytes that are looked through at a time for the end of a line."""


Place = tuple[int, int]
"""Where a line lies: its offset, and its length in bytes."""
JOINED_FROM = 1 << 50
"""Offsets from here on are of reassembled lines, not of a file (`reading.reassembly.joined_lines`)."""


class Joined(Protocol):
    """Lines of a source that are read otherwise: put together of several, or with what is known of them.

    Attributes:
        left_out: lines that they stand for, less themselves.
    """

    left_out: int

    @property
    def path(self) -> Path | None:
        """The file they lie in; None before the first."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset, JOINED_FROM or greater."""
        ...

    def known(self, offset: int, length: int) -> Mapping[str, Any]:
        """What is known of a line, by its offset and its length."""
        ...

    def places(self, offset: int, length: int) -> list[Place]:
        """Offset and length of the lines in the source that a line stands for."""
        ...

    def close(self) -> None:
        """Remove them."""
        ...


class Feed(Protocol):
    """What fills a file of ours from elsewhere: an archive, standard input, a pipe."""

    @property
    def path(self) -> Path:
        """The file it fills."""
        ...

    @property
    def growing(self) -> bool:
        """Whether more bytes may come."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes taken in, and of how many; (n, 0) where nobody knows."""
        ...

    @property
    def container(self) -> str | None:
        """The format of a file that is converted to lines; None where it is these lines'."""
        ...

    @property
    def unopened(self) -> bool:
        """Whether it is a pipe that nobody writes to yet."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why it ended before its time, as a sentence for the user."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait for more bytes or the end."""
        ...

    def stop(self) -> None:
        """Take in no more; what came stays."""
        ...

    def close(self) -> None:
        """Stop, and remove the file."""
        ...


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements of a JSON array, as they lie in a file."""

    data: bytes
    spans: list[Span]
    """Where in the bytes each element lies."""
    offset: int
    """Where the bytes lie in the file."""
    overlong_to: int | None = None
    """Where in the file the only one of these ends, when it is longer than may be read: its head is all there is."""


class ClockBasis(enum.StrEnum):
    """Where the clock offset of a source is from."""

    OWN = "own clock"
    """Nothing it shares with others tells; it is 0."""
    ESTIMATED = "estimated"
    """From messages that another source has as well."""
    SET = "set"
    """By the user."""


class SourceFile:
    """One file of records.

    Attributes:
        path: the file as the user knows it.
        data_path: the file the bytes are read from: `path`, or a file of ours.
        name: what the `source` field shows.
        feed: what fills the file, or None for a file that lies there as it is.
        elements: finds the records of a JSON array; None where records are lines.
        limit: no bytes behind this offset are read, when set: a line is still being written there.
        lost_to: bytes before this offset are gone from the disk.
        formats: lines each format knew; None counts unreadable ones.
        origin: a capture's own first line, when it is one.
        ended: how the server behind a tap ended, when it has.
        read_to: offset in bytes up to which records were read.
        reading: the format that was chosen for it; None for the one that knows each line.
        clock_offset_ns: what is added to its times beside other sources, as it is by another clock.
        clock: where that is from.
        trouble: why it is read no further, as a sentence; None while all is well.
        space: what its records are of where they name none; "" where nobody knows.
        joined: lines that are read otherwise than they lie in it; None while there are none.
    """

    def __init__(self, path: Path, name: str | None = None, *, feed: Feed | None = None) -> None:
        """Open the file for reading. Raises OSError when it cannot be."""
        self.path = path
        self.name = name or path.name
        self.feed = feed
        self.elements: ElementScanner | None = None
        self._spans: list[Span] = []  # of elements that were found behind an overlong one, and not read yet
        self.limit: int | None = None
        self.lost_to = 0
        self.formats: Counter[str | None] = Counter()
        self.origin: dict[str, Any] = {}
        self.ended = RUNNING
        self.read_to = 0
        self.reading: str | None = None
        self.space = ""
        self.clock_offset_ns = 0
        self.clock = ClockBasis.OWN
        self.trouble: str | None = None
        self.joined: Joined | None = None
        self.data_path = path if feed is None else feed.path
        self._file = self.data_path.open("rb", buffering=0)

    @property
    def size(self) -> int:
        """Bytes that can be read now."""
        return os.fstat(self._file.fileno()).st_size if self.limit is None else self.limit

    @property
    def identity(self) -> tuple[int, int]:
        """Which file it is, whatever its path names by now: device and number."""
        found = os.fstat(self._file.fileno())
        return found.st_dev, found.st_ino

    @property
    def cut_off(self) -> bool:
        """Whether it was read to its end and is a JSON array that is not closed."""
        array = self.elements
        if array is None or not array.bracketed:
            return False
        return array.closed_at is None and not self.growing and array.position >= self.size

    @property
    def growing(self) -> bool:
        """Whether the file is still being filled, by us."""
        return self.feed is not None and self.feed.growing

    @property
    def container(self) -> str | None:
        """The format of the file its records came in, where that is another than theirs; None."""
        return self.feed.container if self.feed is not None else None

    @property
    def format(self) -> str | None:
        """The format most lines are in; None where no format has as many as there are lines of none."""
        known = self.known_format
        if known is None or self.container is not None:
            return known and self.container
        return known if self.formats[known] >= self.formats[None] else None

    @property
    def known_format(self) -> str | None:
        """Of the formats of its lines the most frequent; None when no line is known."""
        known = [(count, name) for name, count in self.formats.items() if name not in (None, FRAME_LABEL)]
        return max(known)[1] if known else None

    @property
    def is_recording(self) -> bool:
        """Whether a recorder wrote all that was read of it, so that what it says of itself is to be believed.

        What others said lies within its lines; in a log of what others said they may write lines that look like its.
        """
        known = self.formats.keys() - {None}
        # A tap over HTTP writes such lines into a capture, between its own marks.
        return known == {http_lines.LABEL} or (bool(self.origin) and known <= {capture_file.LABEL, http_lines.LABEL})

    def note(self, block: Block) -> None:
        """Take in what a block says of its source beside messages."""
        self.formats.update(block.formats)
        if block.origin is not None:
            self.origin = block.origin
        if block.ended is not None and self.is_recording:
            self.ended = block.ended

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset; fewer where the file has become shorter, none where they are lost."""
        if offset < self.lost_to:
            return b""
        if offset >= JOINED_FROM:
            return self.joined.read(offset, length) if self.joined is not None else b""
        if self.limit is not None:
            length = min(length, self.limit - offset)
        return read_at(self._file.fileno(), offset, length)

    def known(self, offset: int, length: int) -> Mapping[str, Any] | None:
        """What lines before it tell of a line, by its offset and its length; None for nothing."""
        return self.joined.known(offset, length) if offset >= JOINED_FROM and self.joined is not None else None

    def places_of(self, offset: int, length: int) -> list[Place]:
        """Offset and length of the lines, as they lie in the file, that a line is read from: itself, or several."""
        if offset >= JOINED_FROM and self.joined is not None:
            return self.joined.places(offset, length)
        return [(offset, length)]

    def next_elements(self, size: int, *, at_end: bool, longest: int) -> Elements | None:
        """The next elements of a JSON array; None at the end.

        Moves `read_to` on. An element that ends in a later block makes this one empty.

        Args:
            size: bytes to look at.
            at_end: the file gains no more: what is left without an end is an element too.
            longest: bytes of an element that is read whole; no fewer than `size`.
        """
        scanner = self.elements
        if scanner is None:
            return None
        offset, data = scanner.position, b""
        spans, self._spans = self._spans, []
        if not spans:
            data = self.read(offset, size)
            spans = scanner.scan(data) if data else []
            if at_end and len(data) < size:
                spans += scanner.finish()
            self.read_to = scanner.position
        if not spans:
            return Elements(b"", [], self.read_to) if data else None
        if spans[0][1] - spans[0][0] > longest:  # the first, as it began in an earlier block
            self._spans = spans[1:]
            return self._overlong(*spans[0])
        if spans[0][0] < offset:
            offset = spans[0][0]
            data = self.read(offset, spans[-1][1] - offset)
        cut = (trimmed(data, (start - offset, stop - offset)) for start, stop in spans)
        return Elements(data, [span for span in cut if span is not None], offset)

    def _overlong(self, start: int, stop: int) -> Elements:
        head, tail = self.read(start, _ENDS), self.read(stop - _ENDS, _ENDS)
        blanks = len(head) - len(head.lstrip(BLANK))
        stop -= len(tail) - len(tail.rstrip(BLANK + b","))
        return Elements(head[blanks:], [(0, len(head) - blanks)], start + blanks, stop)

    def duplicate(self) -> int:
        """A file descriptor of one's own on the same open file. Raises OSError."""
        return os.dup(self._file.fileno())

    def file_of(self, offset: int) -> tuple[Path, tuple[int, int], int]:
        """The file that a line lies in, which one that is (`identity`), and from where its offsets count there."""
        path = self.joined.path if offset >= JOINED_FROM and self.joined is not None else None
        if path is None:
            return self.data_path, self.identity, 0
        found = path.stat()
        return path, (found.st_dev, found.st_ino), JOINED_FROM

    def move_to(self, path: Path, *, lost_to: int = 0) -> None:
        """Read from a copy from now on, in which everything lies at the same offset. Raises OSError.

        Args:
            path: the copy.
            lost_to: bytes before this offset could not be copied; reading goes on behind them.
        """
        file = path.open("rb", buffering=0)
        self._file.close()
        self._file, self.data_path, self.lost_to = file, path, lost_to
        self.read_to = max(self.read_to, lost_to)

    def close(self) -> None:
        """Close the file; what was read stays in the columns."""
        self._file.close()
        if self.joined is not None:
            self.joined.close()
        if self.feed is not None:
            self.feed.close()


def space_of_origin(header: Mapping[str, Any]) -> str | None:
    """The space that was joined for a capture, by its first line; None where it names none."""
    origin = header.get("origin", header)
    space = origin.get("space") if isinstance(origin, Mapping) else None
    return space if isinstance(space, str) and space else None


def last_end(read: Callable[[int, int], bytes], start: int, stop: int) -> int:
    """Where the last line ends that does between two offsets; `start` where none does.

    Args:
        read: gives so many bytes from an offset on.
        start, stop: the offsets, the second exclusive.
    """
    while stop > start:
        begin = max(start, stop - _LOOKED_AT)
        place = read(begin, stop - begin).rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        stop = begin
    return start


def read_at(file: int, offset: int, length: int) -> bytes:
    """Bytes of an open file at an offset; fewer where it ends before. For any thread. Raises OSError."""
    read = getattr(os, "pread", _seek_and_read)
    parts: list[bytes] = []
    while length > 0:
        part = read(file, length, offset)
        if not part:
            break
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


_seeking = threading.Lock()
"""A descriptor and its duplicates share one place in the file, so nobody else may move it between a seek and a read."""


def _seek_and_read(file: int, length: int, offset: int) -> bytes:
    """What `os.pread` does, for Windows."""
    with _seeking:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, length)
