"""The exact bytes of a message to a file: nothing masked, nothing left out, all of it in memory only where it must."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path

from inspector.base.whole_file import in_place_of
from inspector.protocol.cut import completed
from inspector.protocol.formats import read_line
from inspector.store.columns.large_headers import HEAD, MAX_WHOLE
from inspector.store.files.source_files import JOINED_FROM, read_at
from inspector.store.messages.capture import Capture

_PART = 1 << 20
_OUR_FRAME = re.compile(
    rb'\{"t":\d{1,20},"dir":"(?:in|out|client->server|server->client)","src":\d{1,9}(?:,"bin":true)?,"frame":'
)


class ExactMessage:
    """The bytes of one message, wherever its capture moves meanwhile.

    Made on the thread that owns the capture; read on any. The file it lies in is kept open as long as this is.
    """

    def __init__(self, capture: Capture, message: int) -> None:
        """Note where it lies. Raises OSError when that cannot be read any more."""
        columns = capture.columns
        source = capture.sources[int(columns["source"][message])]
        self._name = source.name
        self._offset, self._length, self._size = (int(columns[name][message]) for name in ("offset", "length", "size"))
        if self._offset < source.lost_to:
            raise self._shorter()
        self._places = source.places_of(self._offset, self._length) if self._offset >= JOINED_FROM else None
        self._file = source.duplicate()
        # Not closed by whoever asked: who waits for a thread may be gone while the thread still reads.
        weakref.finalize(self, os.close, self._file)

    def parts(self) -> Iterator[bytes]:
        """The bytes of the envelope, JSON-RPC message or frame as written, part by part.

        Of what could not be read it is the whole line, and of what was put together they are all its lines.

        Raises:
            OSError: the log cannot be read, or has become shorter.
        """
        if self._places is not None:
            for place, (offset, length) in enumerate(self._places):
                yield b"\n" * bool(place) + self._read_at(offset, length)
            return
        span = self._span() if self._length > MAX_WHOLE else None
        if span is None:
            yield read_line(self._read(0, self._length)).raw
            return
        for start in range(span[0], span[1], _PART):
            yield self._read(start, min(_PART, span[1] - start))

    def save(self, path: Path) -> int:
        """Write it to a file, in place of what is there, and return how many bytes there were.

        Raises:
            OSError: the file cannot be written or the log cannot be read; what was there before stays.
        """
        written = 0
        with in_place_of(path) as file:
            for part in self.parts():
                written += file.write(part)
        return written

    def _span(self) -> tuple[int, int] | None:
        """Where it lies in its line, if that is known without reading it: all of it, or a capture's frame."""
        length, size = self._length, self._size
        if length == size:
            return 0, length
        head = self._read(0, min(HEAD, length))
        frame = _OUR_FRAME.match(head)
        if frame is not None and frame.end() + size + 1 == length and completed(head) is not None:
            return frame.end(), length - 1
        return None

    def _read(self, start: int, length: int) -> bytes:
        """So many bytes of its line."""
        return self._read_at(self._offset + start, length)

    def _read_at(self, offset: int, length: int) -> bytes:
        data = read_at(self._file, offset, length)
        if len(data) < length:
            raise self._shorter()
        return data

    def _shorter(self) -> OSError:
        return OSError(f"{self._name} has become shorter")


def save_message(capture: Capture, message: int, path: Path) -> int:
    """Write a message's exact bytes to a file, as `ExactMessage.save` says."""
    return ExactMessage(capture, message).save(path)
