"""Decompresses HTTP bodies up to a length limit. No I/O."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import zstandard

# The limit of zstd's own decoders by default; the memory of a larger window would be at the sender's choice.
_LARGEST_WINDOW = 1 << 27


class TooLongError(Exception):
    """The decoded body exceeds its limit."""


class Decoder:
    """Decodes the content encoding of one body.

    Attributes:
        is_readable: the encoding is known, and all data so far could be decoded.
        size: decoded bytes so far.
    """

    def __init__(self, encoding: str, longest_bytes: int) -> None:
        """Creates a decoder.

        Args:
            encoding: value of `Content-Encoding`.
            longest_bytes: limit of the decoded size.
        """
        self.size = 0
        self._longest = longest_bytes
        name = encoding.strip().lower()
        self._decode = _DECODERS[name]() if name in _DECODERS else None
        self.is_readable = self._decode is not None

    def feed(self, data: bytes) -> bytes:
        """Returns the decoded bytes; empty after a decoding error.

        Raises:
            TooLongError: if the limit is exceeded.
        """
        if self._decode is None:
            return b""
        try:
            found = self._decode(data, self._longest - self.size)
        except (zlib.error, zstandard.ZstdError):
            # Later bytes of a broken body make no sense, and the traffic itself is passed on as it is.
            self.is_readable, self._decode = False, None
            return b""
        self.size += len(found)
        return found


Decode = Callable[[bytes, int], bytes]


def _identity() -> Decode:
    def decode(data: bytes, most: int) -> bytes:
        if len(data) > most:
            raise TooLongError
        return data

    return decode


def _zlib(*windows: int) -> Callable[[], Decode]:
    def made() -> Decode:
        engines = [zlib.decompressobj(window) for window in windows]

        def decode(data: bytes, most: int) -> bytes:
            try:
                # One byte above the limit tells a text that is too long from one of exactly that
                # length.
                found = engines[0].decompress(data, most + 1)
            except zlib.error:
                if len(engines) == 1:
                    raise
                del engines[0]  # "deflate" without its header, as some servers send it
                found = engines[0].decompress(data, most + 1)
            if len(found) > most:
                raise TooLongError
            return found

        return decode

    return made


class _LimitedBuffer:
    """Collects decoded bytes up to a limit."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.left = 0

    def write(self, data: bytes) -> int:
        self.left -= len(data)
        if self.left < 0:
            raise TooLongError
        self.parts.append(bytes(data))
        return len(data)


def _zstd() -> Decode:
    taken = _LimitedBuffer()
    # The limit is in the writer: this library has none for its output.
    writer = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_writer(taken)  # pyright: ignore[reportArgumentType] - write is all it needs

    def decode(data: bytes, most: int) -> bytes:
        taken.left = most
        writer.write(data)
        found = b"".join(taken.parts)
        taken.parts.clear()
        return found

    return decode


_DECODERS: dict[str, Callable[[], Decode]] = {
    "": _identity,
    "identity": _identity,
    "gzip": _zlib(zlib.MAX_WBITS | 16),
    "x-gzip": _zlib(zlib.MAX_WBITS | 16),
    "deflate": _zlib(zlib.MAX_WBITS, -zlib.MAX_WBITS),
    "zstd": _zstd,
}
