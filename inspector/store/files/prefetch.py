"""Prefetches lines and decoded envelopes in batches for callers that read one at a time.

`PrefetchReader` reads adjacent lines with one system call. `inspector.store.messages.batch_decoding` decodes
`DecodedFields` in batches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.store.files.source_files import SourceFile


class DecodedFields(NamedTuple):
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


_BUFFER_BYTES = 1 << 20  # bytes per buffer; larger ones are freshly allocated each time, as slow as reading


class PrefetchReader:
    """Buffers a range of one source, filled at the first call.

    A system call costs 5 to 90 us, a megabyte of a recently read file 100 us; a pass reads every thirtieth line.

    Args:
        start, stop: offsets in bytes; reads outside bypass the buffer.
    """

    def __init__(self, source: SourceFile, start: int, stop: int) -> None:
        self._source = source
        self._stop = stop
        self._data_offset = start
        self._data = b""

    def read(self, source: SourceFile, offset: int, length: int) -> bytes:
        """Returns bytes at an offset, as `SourceFile.read` does."""
        # A long line would replace the whole buffer for itself alone.
        if source is not self._source or offset + length > self._stop or length > _BUFFER_BYTES // 4:
            return source.read(offset, length)
        place = offset - self._data_offset
        if place < 0 or place + length > len(self._data):
            self._data_offset = offset if place < 0 or place + length > _BUFFER_BYTES else self._data_offset
            self._data = source.read(self._data_offset, min(self._stop - self._data_offset, _BUFFER_BYTES))
            place = offset - self._data_offset
        return self._data[place : place + length]
