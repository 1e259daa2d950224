"""Converts a file of traces, and its growth if it has one document per line.

Facts from earlier spans carry over to appended ones (`KnownSpans`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import FileConverter
from inspector.formats.otlp.conversion import HEAD_BYTES, SpanMemory, holds_traces, lines_in_order, may_be_protobuf
from inspector.formats.otlp.stream_conversion import KnownSpans, as_they_come, begins_with_line, lines_of

_STEP = 1 << 22


class OtlpFile:
    """Spans of a file (a `GrowingConversion`).

    Attributes:
        progress: bytes read, and the file's size.
        can_grow: it was read to its end, and appended lines can be converted.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, path.stat().st_size)
        self.can_grow = False
        self._known = KnownSpans()
        self._rest = b""  # an unfinished line
        self._is_row = False  # the unfinished line was already output

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        parts: list[bytes] = []
        memory = SpanMemory()
        with self._path.open("rb") as file:
            while part := file.read(_STEP):
                memory.add(part)
                parts.append(part)
                self.progress = (self.progress[0] + len(part), self.progress[1])
                yield b""  # lets the caller cancel
        data = b"".join(parts)
        if not begins_with_line(data):
            yield from lines_in_order(data)
            return
        yield from lines_of(data, self._known)
        rest = data[data.rfind(b"\n") + 1 :]
        self._rest, self._is_row = (b"", False) if decoded_object(rest) is not None else (rest, True)
        self.can_grow = True

    def convert_more(self, data: bytes) -> bytes:
        """Returns the lines for appended data; an unfinished line waits for its end.

        A line that was already output unfinished is output again, complete; the earlier row stays.
        """
        whole, end, rest = (self._rest + data).rpartition(b"\n")
        if rest.rstrip().endswith(b"}") and decoded_object(rest) is not None:  # the last line may lack its line end
            whole, rest = whole + end + rest, b""
        self._is_row = self._is_row and not end and bool(rest)
        self._rest = rest
        return b"".join(lines_of(whole, self._known))

    def finish(self) -> bytes:
        """Returns the rest of this file as a line when another file replaces it."""
        rest, self._rest = self._rest, b""
        return rest + b"\n" if rest and not self._is_row else b""


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES,
    begins_file=lambda head: holds_traces(head[:HEAD_BYTES]),
    may_begin_file=may_be_protobuf,
    convert=OtlpFile,
    container=None,
    convert_stream=as_they_come,
)
