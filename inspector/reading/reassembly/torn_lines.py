"""Joins lines that a program broke: an event with a raw line end in a string, and output below a line of a log.

Copilot CLI writes some texts with unescaped line ends, so that an event extends over several lines. They are read as
one event if together they are JSON and no single one is.

Claude Desktop, VS Code and mcp-remote log objects and the output of a server over several lines. They belong to the
line above them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inspector.formats.entry_builders import decoded_object
from inspector.formats.prefixed import reader as prefixed_lines
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

IN_ORDER = (b'"session.start"', *prefixed_lines.LOG_MARKS)
"""Substrings in the beginning of a source with such lines."""
_EVENT = re.compile(rb'\{"type": ?"[\w.]{1,80}", ?"data": ?')
"""Beginning of an event of Copilot CLI."""
_BROKEN = re.compile(rb'(?:^|\n)\{"type": ?"[\w.]{1,80}", ?"data": ?[^\n]*[^}\s][ \t\r]*(?:\n|$)')
_MOST_LINES, _MOST_BYTES = 256, 1 << 20
"""Limits of one event."""


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
        if any(mark in data for mark in prefixed_lines.LOG_MARKS):
            return True
        return b'"data":' in data and data.count(b"}\n") != data.count(b"\n") and _BROKEN.search(data) is not None

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
        if self._above is not None and prefixed_lines.is_continuation(line.data):
            self._joined.add_original(self._above, (line.offset, line.length))
            return
        self._above = None
        if _EVENT.match(line.data) and not line.data.rstrip().endswith(b"}"):
            self._event, self._ends, self._bytes = [line], [], len(line.data)
            return
        if prefixed_lines.is_log_line(line.data):
            self._above = self._joined.store_line(line.data, {}, (line.offset, line.length))
            line = line._replace(offset=self._above)
        yield line

    def _may_continue(self, line: OrderedLine) -> bool:
        """Returns True if a line may belong to the event before it: it is no event, and no JSON."""
        if len(self._event) >= _MOST_LINES or self._bytes + len(line.data) > _MOST_BYTES:
            return False
        return _EVENT.match(line.data) is None and decoded_object(line.data) is None

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


def _escape_line_end(end: bytes) -> bytes:
    """Returns the end of a line, escaped for a JSON string."""
    return end.replace(b"\t", b"\\t").replace(b"\r", b"\\r").replace(b"\n", b"\\n")
