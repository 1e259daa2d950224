"""Decompresses gzip and Zstandard streams, and converts UTF-16, by their first bytes; reports damage.

Sans I/O. Pieces stay small whatever the compression ratio, and all valid data is delivered before an error. Members of
a gzip file and frames of a Zstandard file are joined.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Generator, Iterator
from typing import Protocol

import zstandard

PIECE_BYTES = 1 << 20
"""Limit of a piece in bytes, except where one kilobyte of Zstandard expands to more."""

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_MAGIC = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f: a frame without data
_SLICES = (32, 1 << 10)
"""Compressed bytes per step, minimum and maximum: limits the loss before an error, and the size of a bomb."""
_STEP_BYTES = 1 << 18
_WINDOW_BYTES = 1 << 31
MAGIC_BYTES = 4
"""Number of first bytes needed for detection."""


class DamagedError(ValueError):
    """The bytes cannot be decompressed further; the text is the reason, as the end of a sentence."""


class Decoder(Protocol):
    """Decompresses bytes given in order."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the plain bytes for these and earlier ones. Raises DamagedError."""
        ...

    def finish(self) -> None:
        """Ends the input. Raises DamagedError if data is missing."""
        ...


def is_compressed(head: bytes) -> bool:
    """Returns True if the first bytes are of a compressed file, or of UTF-16."""
    return head.startswith((_GZIP, _ZSTD)) or _is_utf_16(head) or _is_skipped_frame(head)


def _is_skipped_frame(head: bytes) -> bool:
    return head[1:4] == _SKIPPABLE_MAGIC and head[0] & 0xF0 == 0x50


def _is_utf_16(head: bytes) -> bool:
    """Detects UTF-16 as PowerShell's `>` writes it: a byte order mark and an ASCII character, as in every log."""
    return (head[:2] == codecs.BOM_UTF16_LE and head[3:4] == b"\0") or (
        head[:2] == codecs.BOM_UTF16_BE and head[2:3] == b"\0"
    )


def decoder_for(head: bytes) -> Decoder:
    """Returns a decoder for the first bytes; plain bytes pass unchanged."""
    if head.startswith(_GZIP):
        return GzipDecoder()
    if _is_utf_16(head):
        return Utf16Decoder()
    return ZstdDecoder() if is_compressed(head) else PlainDecoder()


class PlainDecoder:
    """Passes bytes unchanged."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None: ...


class Utf16Decoder:
    """Converts UTF-16 with a byte order mark to UTF-8; invalid data becomes replacement characters."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def feed(self, data: bytes) -> Iterator[bytes]:
        text = self._decoder.decode(data)
        if text:
            yield text.encode()

    def finish(self) -> None:
        """Raises DamagedError if half a character is left."""
        if self._decoder.getstate()[0]:
            raise DamagedError("it ends in the middle of a character")


class SniffingDecoder:
    """Detects the format first, since a stream's first bytes may come one by one."""

    def __init__(self) -> None:
        self._head = b""
        self._decoder: Decoder | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._decoder is None:
            self._head += data
            # A line of text is passed on at once; it may be the last one for a long time.
            if len(self._head) < MAGIC_BYTES and self._head[:1] not in b'{["# \r\n\t':
                return
            self._decoder, data = decoder_for(self._head), self._head
        yield from self._decoder.feed(data)

    def finish(self) -> None:
        if self._decoder is not None:
            self._decoder.finish()

    @property
    def rest(self) -> bytes:
        """Input so far if it was too short for detection."""
        return self._head if self._decoder is None else b""


class GzipDecoder:
    """RFC 1952: members in sequence, then zeros."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._between = True  # between two members
        self._first = True
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        data, self._held = self._held + data, b""
        while data:
            if self._between and not self._first:
                # Archives on tape are padded with zeros.
                data = data.lstrip(b"\0")
                if len(data) < len(_GZIP) and _GZIP.startswith(data):
                    self._held = data
                    return
                if not data.startswith(_GZIP):
                    raise DamagedError("the bytes after the last member are not gzip")
                self._member = zlib.decompressobj(wbits=31)
            self._between = self._first = False
            data = yield from self._unpack(data)

    def _unpack(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yields pieces of one member; returns the bytes after it."""
        while True:
            # zlib returns no data of a failing call, so it is repeated byte by byte.
            before = self._member.copy()
            try:
                piece = self._member.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                yield from _bytewise(before, data)
                raise DamagedError(str(error).partition(": ")[2] or str(error)) from None
            if piece:
                yield piece
            if self._member.eof:
                self._between = True
                return self._member.unused_data
            data = self._member.unconsumed_tail
            if not data and len(piece) < PIECE_BYTES:
                return b""

    def finish(self) -> None:
        if self._held:
            raise DamagedError("the bytes after the last member are not gzip")
        if not self._between:
            raise DamagedError("it ends in the middle")


class _Member(Protocol):
    """Decompressor of a member."""

    def decompress(self, data: bytes, /) -> bytes: ...


def _bytewise(member: _Member, data: bytes) -> Iterator[bytes]:
    """Yields as much of a member as possible before its error."""
    try:
        for place in range(len(data)):
            piece = member.decompress(data[place : place + 1])
            if piece:
                yield piece
    except zlib.error:
        return


class ZstdDecoder:
    """RFC 8878: frames in sequence, including skippable ones."""

    def __init__(self) -> None:
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._held = b""
        self._skip = 0
        self._slice = _SLICES[0]

    def feed(self, data: bytes) -> Iterator[bytes]:
        data, self._held = self._held + data, b""
        place = 0
        while place < len(data):
            if self._skip:
                step = min(self._skip, len(data) - place)
                place, self._skip = place + step, self._skip - step
            elif self._frame is None:
                step = self._begin(data[place : place + 8])
                if not step:
                    self._held = data[place:]
                    return
                place += step - 1
            else:
                part = data[place : place + self._slice]
                try:
                    piece = self._frame.decompress(part)
                except zstandard.ZstdError as error:
                    raise DamagedError(str(error).rpartition(": ")[2]) from None
                if piece:
                    yield piece
                place += len(part)
                # The library has no output limit, so the input per step adapts to the ratio.
                wanted = self._slice * 2 if len(piece) < _STEP_BYTES else self._slice // 4
                self._slice = max(_SLICES[0], min(_SLICES[1], wanted))
                if self._frame.eof:
                    # The slice reached into the next frame.
                    place -= len(self._frame.unused_data)
                    self._frame = None

    def _begin(self, head: bytes) -> int:
        """Begins a frame; returns 1 more than the bytes to skip, 0 if more input is needed."""
        if head.startswith(_ZSTD):
            self._frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES).decompressobj()
            return 1
        if len(head) >= MAGIC_BYTES and not _is_skipped_frame(head):
            raise DamagedError("the bytes after the last frame are not Zstandard")
        if len(head) < 8:
            return 0
        self._skip = int.from_bytes(head[4:8], "little")
        return 9

    def finish(self) -> None:
        if self._frame is not None or self._held or self._skip:
            raise DamagedError("it ends in the middle")
