"""What is read by the hundred, before it is asked for one by one.

`ReadAhead`: lines that were just read, with one call to the system and not one a line. `Whole`: what
`inspector.store.messages.decoding` decodes of envelopes beforehand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.store.files.source_files import SourceFile


class Whole(NamedTuple):
    """An envelope, a JSON-RPC message or a frame, as far as fields are read from it.

    Attributes:
        identifier: the envelope's id as a text; None for JSON-RPC.
        correlation: the ids it names; None where it may name them in another way than the usual one.
        context: as written; None where there is none.
        payload: `{}` where there is none.
        data: of a frame.
    """

    identifier: str | None
    correlation: list[str] | None
    context: Any
    payload: dict[str, Any]
    data: bytes = b""


_MOST = 1 << 20  # bytes held at a time; a larger buffer is new memory each time, which costs as much as reading


class ReadAhead:
    """Reads from a stretch of one source, all of it at the first call.

    A call to the system costs 5 to 90 us, a megabyte of a file just read 100 us; a pass reads every thirtieth line.

    Args:
        start, stop: offsets in bytes; nothing outside is held.
    """

    def __init__(self, source: SourceFile, start: int, stop: int) -> None:
        self._source = source
        self._stop = stop
        self._at = start
        self._data = b""

    def read(self, source: SourceFile, offset: int, length: int) -> bytes:
        """Bytes at an offset, as the source itself gives them."""
        if source is not self._source or offset + length > self._stop or length > _MOST // 4:
            return source.read(offset, length)
        place = offset - self._at
        if place < 0 or place + length > len(self._data):
            self._at = offset if place < 0 or place + length > _MOST else self._at
            self._data = source.read(self._at, min(self._stop - self._at, _MOST))
            place = offset - self._at
        return self._data[place : place + length]
