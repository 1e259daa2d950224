"""Joins lines that a program broke: a record with a raw line end in a string, and output below a line of a log.

Some programs write texts with unescaped line ends, so that a record extends over several lines (`Format.torn_record`).
They are read as one record if together they are JSON and no single one is.

Others log objects and the output of a server over several lines (`Format.log_lines`). They belong to the line above
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.formats.entry_builders import decoded_object
from inspector.formats.table import FORMATS
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

_TORN = tuple(one.torn_record for one in FORMATS if one.torn_record is not None)
_LOGS = tuple(one.log_lines for one in FORMATS if one.log_lines is not None)
_LOG_MARKS = tuple(mark for log in _LOGS for mark in log.marks)
_MOST_LINES, _MOST_BYTES = 256, 1 << 20
"""Limits of one record."""


class TornLines:
    """Joins the broken lines of one source, each line once, in order."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._event: list[OrderedLine] = []  # lines of an event that is not complete
        self._ends: list[bytes] = []  # bytes between each of them and the next
        self._data, self._start, self._rest = b"", 0, b""
        self._bytes = 0
        self._above: int | None = None  # line of a log, by its offset in the spool

    def may_matter(self, data: bytes) -> bool:
        """Returns True if some lines have to be joined, among themselves or to a line before them."""
        if self._event or self._above is not None:
            return True
        if any(mark in data for mark in _LOG_MARKS):
            return True
        torn = [one for one in _TORN if one.mark in data]
        if not torn or data.count(b"}\n") == data.count(b"\n"):
            return False
        return any(one.broken.search(data) is not None for one in torn)

    def process_lines(self, lines: Sequence[OrderedLine], data: bytes) -> list[OrderedLine]:
        """Returns the lines to read instead.

        Args:
            lines: without blank ones.
            data: the same bytes in the source.

        Raises:
            OSError: if there is no room for the lines.
        """
        if not lines:
            self._rest += data if self._event else b""
            return []
        self._data, self._start = data, lines[0].offset - data.find(lines[0].data)
        found = [found for line in lines for found in self._line(line)]
        last = lines[-1]
        self._rest = data[last.offset + last.length - self._start :] if self._event else b""
        self._data = b""
        return found

    def end(self) -> list[OrderedLine]:
        """Returns the lines of an incomplete event at the end of the source."""
        left, self._event, self._above = self._event, [], None
        return left

    def _line(self, line: OrderedLine) -> Iterator[OrderedLine]:
        if self._event and self._may_continue(line):
            self._ends.append(self._bytes_between(self._event[-1], line))
            self._event.append(line)
            self._bytes += len(line.data)
            # Only a closing brace can complete an event, so the joined lines are rarely decoded.
            joined = self._joined_event() if line.data.rstrip().endswith(b"}") else None
            if joined is not None:
                yield joined
            return
        yield from self._event
        self._event = []
        if self._above is not None and any(log.is_continuation(line.data) for log in _LOGS):
            self._joined.add_original(self._above, (line.offset, line.length))
            return
        self._above = None
        if _begins_record(line.data) and not line.data.rstrip().endswith(b"}"):
            self._event, self._ends, self._bytes = [line], [], len(line.data)
            return
        if any(log.is_log_line(line.data) for log in _LOGS):
            self._above = self._joined.store_line(line.data, {}, (line.offset, line.length))
            line = line._replace(offset=self._above)
        yield line

    def _may_continue(self, line: OrderedLine) -> bool:
        """Returns True if a line may belong to the event before it: it is no event, and no JSON."""
        if len(self._event) >= _MOST_LINES or self._bytes + len(line.data) > _MOST_BYTES:
            return False
        return not _begins_record(line.data) and decoded_object(line.data) is None

    def _joined_event(self) -> OrderedLine | None:
        """Returns the event in one line if it is complete."""
        ends = [*map(_escape_line_end, self._ends), b""]
        data = b"".join(line.data + end for line, end in zip(self._event, ends, strict=True))
        if decoded_object(data) is None:
            return None
        places = [number for line in self._event for number in (line.offset, line.length)]
        self._event = []
        return OrderedLine(data, self._joined.store_line(data, {}, places), len(data))

    def _bytes_between(self, before: OrderedLine, line: OrderedLine) -> bytes:
        """Returns the bytes between two lines: the end of the first, and blank lines."""
        start, stop = before.offset + before.length - self._start, line.offset - self._start
        return self._data[start:stop] if start >= 0 else self._rest + self._data[:stop]


def _begins_record(line: bytes) -> bool:
    return any(one.begins.match(line) is not None for one in _TORN)


def _escape_line_end(end: bytes) -> bytes:
    """Returns the end of a line, escaped for a JSON string."""
    return end.replace(b"\t", b"\\t").replace(b"\r", b"\\r").replace(b"\n", b"\\n")
