"""Frames of the pipe and the greeting. Imports little, so that an engine answers the greeting before it is ready."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

SCHEMA = 4
"""Rises with each change of a message or of a request."""
MAX_FRAME_BYTES = 1 << 30
"""Limit of one frame from the engine; a longer one ends the connection."""
MAX_REQUEST_BYTES = 1 << 26
"""Limit of one frame from the window."""
_LENGTH = struct.Struct("<I")


class WireError(ValueError):
    """A frame is malformed; the text is a sentence."""


class Hello(msgspec.Struct, frozen=True, tag="hello"):
    """First message of each side."""

    schema: int
    program: str


class Failure(msgspec.Struct, frozen=True, tag="failure"):
    """Failure of a question, or of reading a document if `id` is 0.

    Attributes:
        id, document: the question or the document.
        kind: request, cancelled, unreadable, format or internal.
        sentence: for the user, secrets masked.
    """

    id: int
    kind: str
    sentence: str
    document: int = 0


def framed(body: bytes) -> bytes:
    """Returns an encoded message with its length in front."""
    return _LENGTH.pack(len(body)) + body


class FrameSplitter:
    """Splits a stream of bytes into the bodies of frames, however it is cut.

    Args:
        limit: bytes of one frame.
    """

    def __init__(self, limit: int = MAX_FRAME_BYTES) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields complete bodies. Raises WireError for a frame above the limit."""
        self._buffer += data
        place = 0
        try:
            while len(self._buffer) - place >= _LENGTH.size:
                (length,) = _LENGTH.unpack_from(self._buffer, place)
                if length > self._limit:
                    raise WireError(f"A frame of {length:,} bytes exceeds the limit of {self._limit:,}.")
                stop = place + _LENGTH.size + length
                if len(self._buffer) < stop:
                    return
                body = bytes(memoryview(self._buffer)[place + _LENGTH.size : stop])
                place = stop
                yield body
        finally:
            # Once for all frames of a read: each deletion moves the rest.
            del self._buffer[:place]
