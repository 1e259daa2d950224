"""Converts a file of traces, and its growth if it has one document per line, or indented ones one after another.

Facts from earlier spans carry over to appended ones (`KnownSpans`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.formats.entry_builders import decoded_object
from inspector.formats.file_conversion import FileConverter
from inspector.formats.otlp.conversion import (
    HEAD_BYTES,
    Restate,
    SpanMemory,
    holds_traces,
    lines_in_order,
    may_be_protobuf,
)
from inspector.formats.otlp.printed import as_otlp
from inspector.formats.otlp.stream_conversion import KnownSpans, as_they_come, lines_of, record_end

_STEP = 1 << 22


class OtlpFile:
    """Spans of a file (a `GrowingConversion`).

    Attributes:
        progress: bytes read, and the file's size.
        can_grow: it was read to its end, and appended lines can be converted.
    """

    def __init__(self, path: Path, restate: Restate = as_otlp) -> None:
        self._path, self._restate = path, restate
        self.progress = (0, path.stat().st_size)
        self.can_grow = False
        self._known = KnownSpans()
        self._end = b"\n"  # of a record
        self._rest = b""  # an unfinished record
        self._is_row = False  # the unfinished record was already output

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
        self._end = record_end(data)
        if not self._end:
            yield from lines_in_order(data, self._restate)
            return
        yield from lines_of(data, self._known, self._restate)
        rest = data.rpartition(self._end)[2]
        self._rest, self._is_row = (b"", False) if self._is_whole(rest) else (rest, True)
        self.can_grow = True

    def convert_more(self, data: bytes) -> bytes:
        """Returns the lines for appended data; an unfinished record waits for its end.

        A record that was already output unfinished is output again, complete; its earlier rows stay.
        """
        whole, end, rest = (self._rest + data).rpartition(self._end)
        whole += end
        if rest.rstrip().endswith(b"}") and self._is_whole(rest):  # the last line may lack its line end
            whole, rest = whole + rest, b""
        self._is_row = self._is_row and not end and bool(rest)
        self._rest = rest
        return b"".join(lines_of(whole, self._known, self._restate))

    def _is_whole(self, rest: bytes) -> bool:
        """Returns True for a record without its line end."""
        return rest.endswith(b"\n}") if self._end != b"\n" else decoded_object(rest) is not None

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
