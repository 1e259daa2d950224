"""A file of traces, as lines: what lies in it in order of time, and, where it is one document a line, what it gains.

What spans tell of each other goes from what was there to what comes (`KnownSpans`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.protocol.formats.entries import decoded_object
from inspector.sources.otlp_arriving import KnownSpans, begins_with_line, lines_of
from inspector.sources.otlp_conversion import SpanMemory, in_order

_STEP = 1 << 22


class OtlpFile:
    """The spans of a file (a `GrowingConversion`).

    Attributes:
        progress: bytes taken in, and of how many.
        goes_on: it was read to its end, and more lines of it can be.
    """

    def __init__(self, path: Path) -> None:
        """Prepare.

        Args:
            path: the file.
        """
        self._path = path
        self.progress = (0, path.stat().st_size)
        self.goes_on = False
        self._known = KnownSpans()
        self._rest = b""  # of a line that has no end yet
        self._is_row = False  # the rest has been given on as it is

    def lines(self) -> Iterator[bytes]:
        """The lines, some at a time. Raises OSError and NotConvertedError."""
        parts: list[bytes] = []
        memory = SpanMemory()
        with self._path.open("rb") as file:
            while part := file.read(_STEP):
                memory.add(part)
                parts.append(part)
                self.progress = (self.progress[0] + len(part), self.progress[1])
                yield b""  # whoever has had enough says so
        data = b"".join(parts)
        if not begins_with_line(data):
            yield from in_order(data)
            return
        yield from lines_of(data, self._known)
        rest = data[data.rfind(b"\n") + 1 :]
        self._rest, self._is_row = (b"", False) if decoded_object(rest) is not None else (rest, True)
        self.goes_on = True

    def more(self, data: bytes) -> bytes:
        """The lines for what the file has gained; a line that it ends within waits for its end.

        One that was a row already, torn as it was, is read once more, whole; the row stays.
        """
        whole, end, rest = (self._rest + data).rpartition(b"\n")
        if rest.rstrip().endswith(b"}") and decoded_object(rest) is not None:  # nobody needs to end the last line
            whole, rest = whole + end + rest, b""
        self._is_row = self._is_row and not end and bool(rest)
        self._rest = rest
        return b"".join(lines_of(whole, self._known))

    def end(self) -> bytes:
        """Another file goes on: what is left of this one, as it is."""
        rest, self._rest = self._rest, b""
        return rest + b"\n" if rest and not self._is_row else b""
