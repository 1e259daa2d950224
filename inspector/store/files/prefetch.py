"""Prefetches lines and decoded envelopes in batches for callers that read one at a time.

`ReadAhead` reads adjacent lines with one system call. `inspector.store.messages.batch_decoding` decodes `Whole` in
batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.store.files.source_files import SourceFile


class Whole(NamedTuple):
    """Decoded fields of an envelope, a JSON-RPC message or a frame.

    Attributes:
        identifier: the envelope's id as a text; None for JSON-RPC.
        correlation: the ids it names; None if they may be written in an irregular way.
        context: as written, if any.
        payload: `{}` if absent.
        data: of a frame.
    """

    identifier: str | None
    correlation: list[str] | None
    context: Any
    payload: dict[str, Any]
    data: bytes = b""


_MOST = 1 << 20  # bytes per buffer; larger ones are freshly allocated each time, as slow as reading


class ReadAhead:
    """Buffers a range of one source, filled at the first call.

    A system call costs 5 to 90 us, a megabyte of a recently read file 100 us; a pass reads every thirtieth line.

    Args:
        start, stop: offsets in bytes; reads outside bypass the buffer.
    """

    def __init__(self, source: SourceFile, start: int, stop: int) -> None:
        self._source = source
        self._stop = stop
        self._at = start
        self._data = b""

    def read(self, source: SourceFile, offset: int, length: int) -> bytes:
        """Returns bytes at an offset, as `SourceFile.read` does."""
        if source is not self._source or offset + length > self._stop or length > _MOST // 4:
            return source.read(offset, length)
        place = offset - self._at
        if place < 0 or place + length > len(self._data):
            self._at = offset if place < 0 or place + length > _MOST else self._at
            self._data = source.read(self._at, min(self._stop - self._at, _MOST))
            place = offset - self._at
        return self._data[place : place + length]
