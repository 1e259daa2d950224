"""Source files of records: reads bytes and array elements; interfaces of feeds and derived lines."""

from __future__ import annotations

import enum
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from inspector.formats.capture import reader as capture_file
from inspector.formats.line_reading import FRAME_LABEL
from inspector.formats.wire_recording import reader as wire_recording
from inspector.protocol.array_elements import BLANK, ElementScanner, Span, trim_span
from inspector.store.columns.block import RUNNING, Block

_END_BYTES = 1 << 12
"""Bytes read at each end of an overlong element."""
_SEARCH_BYTES = 1 << 16
"""Bytes per step of the search for a line end."""


LinePlace = tuple[int, int]
"""Offset and length of a line in bytes."""
# A petabyte.
DERIVED_OFFSET = 1 << 50
"""First offset of reassembled lines, beyond any file (`reading.reassembly.derived_lines`)."""


class DerivedLines(Protocol):
    """Derived lines of a source: reassembled from several, or with facts from earlier lines.

    Attributes:
        replaced_count: number of replaced lines minus the derived ones.
    """

    replaced_count: int

    @property
    def path(self) -> Path | None:
        """The file of the derived lines, if there are any."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """Returns bytes at an offset of DERIVED_OFFSET or greater."""
        ...

    def known_facts(self, offset: int, length: int) -> Mapping[str, Any]:
        """Returns the known facts of a line, by its offset and length."""
        ...

    def original_places(self, offset: int, length: int) -> list[LinePlace]:
        """Returns the original lines in the source behind a derived line."""
        ...

    def close(self) -> None:
        """Deletes the derived lines."""
        ...


class Feed(Protocol):
    """Fills a file of this program from an archive, standard input or a pipe."""

    @property
    def path(self) -> Path:
        """The filled file."""
        ...

    @property
    def is_growing(self) -> bool:
        """True if more bytes may come."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """Received and total bytes; (n, 0) if the total is unknown."""
        ...

    @property
    def container(self) -> str | None:
        """The format of a converted file; None if the lines have their own."""
        ...

    @property
    def is_unopened(self) -> bool:
        """True for a pipe without a writer yet."""
        ...

    @property
    def problem(self) -> str | None:
        """Reason of an early end, as a sentence for the user."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Waits for more bytes or the end."""
        ...

    def stop(self) -> None:
        """Stops reading; received bytes stay."""
        ...

    def close(self) -> None:
        """Stops, and deletes the file."""
        ...


@dataclass(frozen=True, slots=True)
class ElementBlock:
    """Elements of a JSON array with their place in the file."""

    data: bytes
    spans: list[Span]
    """Spans of the elements in `data`."""
    offset: int
    """Offset of `data` in the file."""
    overlong_to: int | None = None
    """End of a single overlong element in the file; `data` contains only its head."""


class ClockBasis(enum.StrEnum):
    """Origin of a source's clock offset."""

    OWN_CLOCK = "own clock"
    """No shared messages; the offset is 0."""
    ESTIMATED = "estimated"
    """From messages that another source has as well."""
    SET_BY_USER = "set"
    """Set by the user."""


class SourceFile:
    """One file of records.

    Attributes:
        path: the file as the user knows it.
        data_path: the file the bytes are read from: `path`, or a file of this program.
        name: value of the `source` field.
        feed: fills the file, unless it is an ordinary one.
        elements: scanner of a JSON array; None for lines.
        read_limit: exclusive end of reading if set: a line is still being written there.
        lost_to: bytes before this offset are gone from the disk.
        formats: number of lines per format; None counts unreadable lines.
        origin: a capture's own header line.
        server_end: end of the server behind a tap.
        read_to: offset in bytes up to which records were read.
        chosen_format: the chosen format; None to detect it per line.
        clock_offset_ns: added to its times, since other sources use another clock.
        clock_basis: origin of that offset.
        problem: reason for an early end of reading, as a sentence, if any.
        space: space of records that name none; "" if unknown.
        derived_lines: derived lines; None before the first.
    """

    def __init__(self, path: Path, name: str | None = None, *, feed: Feed | None = None) -> None:
        """Opens the file for reading. Raises OSError if it cannot be opened."""
        self.path = path
        self.name = name or path.name
        self.feed = feed
        self.elements: ElementScanner | None = None
        self._spans: list[Span] = []  # elements after an overlong one, still to be returned
        self.read_limit: int | None = None
        self.lost_to = 0
        self.formats: Counter[str | None] = Counter()
        self.origin: dict[str, Any] = {}
        self.server_end = RUNNING
        self.read_to = 0
        self.chosen_format: str | None = None
        self.space = ""
        self.clock_offset_ns = 0
        self.clock_basis = ClockBasis.OWN_CLOCK
        self.problem: str | None = None
        self.derived_lines: DerivedLines | None = None
        self.data_path = path if feed is None else feed.path
        # Unbuffered, since blocks are large and reads jump.
        self._file = self.data_path.open("rb", buffering=0)

    @property
    def size(self) -> int:
        """Bytes that can be read now."""
        return os.fstat(self._file.fileno()).st_size if self.read_limit is None else self.read_limit

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode of the open file, independent of its path."""
        found = os.fstat(self._file.fileno())
        return found.st_dev, found.st_ino

    @property
    def is_truncated(self) -> bool:
        """True if it is an unclosed JSON array, read to its end."""
        array = self.elements
        if array is None or not array.bracketed:
            return False
        return array.closed_at is None and not self.is_growing and array.position >= self.size

    @property
    def is_growing(self) -> bool:
        """True if this program still fills the file."""
        return self.feed is not None and self.feed.is_growing

    @property
    def container(self) -> str | None:
        """Format of the converted file."""
        return self.feed.container if self.feed is not None else None

    @property
    def main_format(self) -> str | None:
        """Format of most lines; None if unknown lines outnumber it."""
        known = self.known_format
        if known is None or self.container is not None:
            return known and self.container
        return known if self.formats[known] >= self.formats[None] else None

    @property
    def known_format(self) -> str | None:
        """Most frequent known format of its lines."""
        known = [(count, name) for name, count in self.formats.items() if name not in (None, FRAME_LABEL)]
        return max(known)[1] if known else None

    @property
    def is_recording(self) -> bool:
        """True if a recorder wrote every line read, so that statements about the source itself are trusted.

        Foreign messages lie inside a recorder's lines. In other logs, foreign text may imitate a recorder's line.
        """
        known = self.formats.keys() - {None}
        # A tap over HTTP writes such lines into a capture, between its own marks.
        return known == {wire_recording.LABEL} or (
            bool(self.origin) and known <= {capture_file.LABEL, wire_recording.LABEL}
        )

    def update_from_block(self, block: Block) -> None:
        """Updates formats, origin and end from a block."""
        self.formats.update(block.formats)
        if block.origin is not None:
            self.origin = block.origin
        if block.ended is not None and self.is_recording:
            self.server_end = block.ended

    def read(self, offset: int, length: int) -> bytes:
        """Returns bytes at an offset; fewer if the file was truncated, none if they are lost."""
        if offset < self.lost_to:
            return b""
        if offset >= DERIVED_OFFSET:
            return self.derived_lines.read(offset, length) if self.derived_lines is not None else b""
        if self.read_limit is not None:
            length = min(length, self.read_limit - offset)
        return read_at(self._file.fileno(), offset, length)

    def known_facts(self, offset: int, length: int) -> Mapping[str, Any] | None:
        """Returns facts about a line from earlier lines, by its offset and length, if any."""
        return (
            self.derived_lines.known_facts(offset, length)
            if offset >= DERIVED_OFFSET and self.derived_lines is not None
            else None
        )

    def original_places(self, offset: int, length: int) -> list[LinePlace]:
        """Returns the original lines in the file behind a line: itself, or several."""
        if offset >= DERIVED_OFFSET and self.derived_lines is not None:
            return self.derived_lines.original_places(offset, length)
        return [(offset, length)]

    def next_elements(self, size: int, *, at_end: bool, longest: int) -> ElementBlock | None:
        """Returns the next elements of a JSON array, or None at the end.

        Advances `read_to`. An element that ends in a later block makes this one empty.

        Args:
            size: bytes to scan.
            at_end: the file is complete; an unfinished rest is an element too.
            longest: limit in bytes of a whole element; at least `size`.
        """
        scanner = self.elements
        if scanner is None:
            return None
        offset, data = scanner.position, b""
        spans, self._spans = self._spans, []
        if not spans:
            # The scanner keeps its state, so earlier bytes are not read again.
            data = self.read(offset, size)
            spans = scanner.scan(data) if data else []
            if at_end and len(data) < size:
                spans += scanner.finish()
            self.read_to = scanner.position
        if not spans:
            return ElementBlock(b"", [], self.read_to) if data else None
        if spans[0][1] - spans[0][0] > longest:  # only the first can be overlong, as it began in an earlier block
            # A block has room for one overlong element, so the others wait for the next call.
            self._spans = spans[1:]
            return self._overlong(*spans[0])
        # The first element began in an earlier block, so its beginning is read again.
        if spans[0][0] < offset:
            offset = spans[0][0]
            data = self.read(offset, spans[-1][1] - offset)
        cut = (trim_span(data, (start - offset, stop - offset)) for start, stop in spans)
        return ElementBlock(data, [span for span in cut if span is not None], offset)

    def _overlong(self, start: int, stop: int) -> ElementBlock:
        # Only blanks and a comma lie between elements, so both ends decide its span.
        head, tail = self.read(start, _END_BYTES), self.read(stop - _END_BYTES, _END_BYTES)
        blanks = len(head) - len(head.lstrip(BLANK))
        stop -= len(tail) - len(tail.rstrip(BLANK + b","))
        return ElementBlock(head[blanks:], [(0, len(head) - blanks)], start + blanks, stop)

    def duplicate(self) -> int:
        """Returns a new file descriptor of the same open file. Raises OSError."""
        return os.dup(self._file.fileno())

    def file_of(self, offset: int) -> tuple[Path, tuple[int, int], int]:
        """Returns the file of a line, its `identity`, and the offset of its start."""
        path = self.derived_lines.path if offset >= DERIVED_OFFSET and self.derived_lines is not None else None
        if path is None:
            return self.data_path, self.identity, 0
        found = path.stat()
        return path, (found.st_dev, found.st_ino), DERIVED_OFFSET

    def move_to(self, path: Path, *, lost_to: int = 0) -> None:
        """Switches to a copy with equal offsets. Raises OSError.

        Args:
            path: the copy.
            lost_to: bytes before this offset could not be copied; reading continues after them.
        """
        file = path.open("rb", buffering=0)
        self._file.close()
        self._file, self.data_path, self.lost_to = file, path, lost_to
        self.read_to = max(self.read_to, lost_to)

    def close(self) -> None:
        """Closes the file; the columns stay."""
        self._file.close()
        if self.derived_lines is not None:
            self.derived_lines.close()
        if self.feed is not None:
            self.feed.close()


def space_of_origin(header: Mapping[str, Any]) -> str | None:
    """Returns the joined space from a capture's header."""
    origin = header.get("origin", header)
    space = origin.get("space") if isinstance(origin, Mapping) else None
    return space if isinstance(space, str) and space else None


def find_last_line_end(read: Callable[[int, int], bytes], start: int, stop: int) -> int:
    """Returns the offset after the last line end in a range, or `start`.

    Args:
        read: returns bytes by offset and length.
        start, stop: the range, `stop` exclusive.
    """
    while stop > start:
        begin = max(start, stop - _SEARCH_BYTES)
        place = read(begin, stop - begin).rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        stop = begin
    return start


def read_at(file: int, offset: int, length: int) -> bytes:
    """Returns bytes of an open file at an offset; fewer at its end. Thread-safe. Raises OSError."""
    # `pread` moves no file position, so that threads can share the descriptor.
    read = getattr(os, "pread", _seek_and_read)
    parts: list[bytes] = []
    while length > 0:
        part = read(file, length, offset)
        if not part:
            break
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


_seek_lock = threading.Lock()
"""Guards seek and read: a descriptor and its duplicates share one file position."""


def _seek_and_read(file: int, length: int, offset: int) -> bytes:
    """Replaces `os.pread` on Windows."""
    with _seek_lock:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, length)
