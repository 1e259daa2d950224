"""Streams the exact bytes of a message to a file, unmasked and complete, in parts where possible."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path

from inspector.base.atomic_files import open_replacement
from inspector.formats.line_reading import read_line
from inspector.protocol.truncated_json import complete_json
from inspector.store.columns.large_headers import HEAD_BYTES, MAX_WHOLE_BYTES
from inspector.store.files.source_files import DERIVED_OFFSET, read_at
from inspector.store.messages.capture import Capture

_PART_BYTES = 1 << 20
_CAPTURE_FRAME = re.compile(
    rb'\{"t":\d{1,20},"dir":"(?:in|out|client->server|server->client)","src":\d{1,9}(?:,"bin":true)?,"frame":'
)


class ExactMessage:
    """The bytes of one message, even if its capture moves meanwhile.

    Created on the thread that owns the capture; read on any thread. It keeps its own descriptor of the file.
    """

    def __init__(self, capture: Capture, message: int) -> None:
        """Records the place of the message. Raises OSError if its bytes are lost."""
        columns = capture.columns
        source = capture.sources[int(columns["source"][message])]
        self._name = source.name
        self._offset, self._length, self._size = (int(columns[name][message]) for name in ("offset", "length", "size"))
        if self._offset < source.lost_to:
            raise self._truncation_error()
        self._places = source.original_places(self._offset, self._length) if self._offset >= DERIVED_OFFSET else None
        # The capture may move to another file while a worker thread saves the message.
        self._file = source.duplicate()
        # Closed by the finalizer, since a worker thread may read on after the creator has disappeared.
        weakref.finalize(self, os.close, self._file)

    def read_parts(self) -> Iterator[bytes]:
        """Yields the bytes of the envelope, JSON-RPC message or frame as written, in parts.

        An unreadable message yields its whole line, a reassembled one all its lines.

        Raises:
            OSError: if the log cannot be read, or was truncated.
        """
        if self._places is not None:
            for place, (offset, length) in enumerate(self._places):
                yield b"\n" * bool(place) + self._read_at(offset, length)
            return
        span = self._span() if self._length > MAX_WHOLE_BYTES else None
        if span is None:
            yield read_line(self._read(0, self._length)).raw
            return
        # In parts, so that saving a message of gigabytes takes little memory.
        for start in range(span[0], span[1], _PART_BYTES):
            yield self._read(start, min(_PART_BYTES, span[1] - start))

    def save(self, path: Path) -> int:
        """Writes the message to a file, replacing it, and returns the number of bytes.

        Raises:
            OSError: if the file cannot be written or the log cannot be read; the old file stays.
        """
        written = 0
        with open_replacement(path) as file:
            for part in self.read_parts():
                written += file.write(part)
        return written

    def _span(self) -> tuple[int, int] | None:
        """Returns the span in its line if it is known without a full read: the whole line, or a capture's frame."""
        length, size = self._length, self._size
        if length == size:
            return 0, length
        head = self._read(0, min(HEAD_BYTES, length))
        frame = _CAPTURE_FRAME.match(head)
        if frame is not None and frame.end() + size + 1 == length and complete_json(head) is not None:
            return frame.end(), length - 1
        return None

    def _read(self, start: int, length: int) -> bytes:
        """Returns bytes of its line."""
        return self._read_at(self._offset + start, length)

    def _read_at(self, offset: int, length: int) -> bytes:
        data = read_at(self._file, offset, length)
        if len(data) < length:
            raise self._truncation_error()
        return data

    def _truncation_error(self) -> OSError:
        return OSError(f"{self._name} has become shorter")
