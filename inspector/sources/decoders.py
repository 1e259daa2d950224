"""Compressed bytes to plain ones, piece by piece: gzip and Zstandard, told by their first bytes; UTF-16 to UTF-8, too.

Sans I/O. Pieces stay small however much a byte stands for, and whatever was good before a fault comes out before the
fault is reported. Members of a gzip file and frames of a Zstandard file follow each other as one.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Generator, Iterator
from typing import Protocol

import zstandard

PIECE_BYTES = 1 << 20
"""No piece is much larger, but where a kilobyte of Zstandard unpacks to more."""

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPED = b"\x2a\x4d\x18"  # behind a byte from 0x50 to 0x5f: a frame that holds no data
_SLICES = (32, 1 << 10)
"""Compressed bytes unpacked at once, at least and at most: so much may be lost before a fault, and unpack to a bomb."""
_STEP_BYTES = 1 << 18
_WINDOW_BYTES = 1 << 31
MAGIC_BYTES = 4
"""So many first bytes tell."""


class DamagedError(ValueError):
    """The bytes cannot be unpacked any further; the text says why, as a sentence's end."""


class Decoder(Protocol):
    """Unpacks bytes given in order."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bytes that these, with those before, stand for. Raises DamagedError."""
        ...

    def finish(self) -> None:
        """Nothing more comes. Raises DamagedError when something is missing."""
        ...


def is_compressed(head: bytes) -> bool:
    """Whether a file that begins with these bytes is compressed, or written in UTF-16."""
    return head.startswith((_GZIP, _ZSTD)) or _is_utf_16(head) or _is_skipped_frame(head)


def _is_skipped_frame(head: bytes) -> bool:
    return head[1:4] == _SKIPPED and head[0] & 0xF0 == 0x50


def _is_utf_16(head: bytes) -> bool:
    """Whether it begins as PowerShell's `>` writes: a mark, and an ASCII character behind it as every log has."""
    return (head[:2] == codecs.BOM_UTF16_LE and head[3:4] == b"\0") or (
        head[:2] == codecs.BOM_UTF16_BE and head[2:3] == b"\0"
    )


def decoder_for(head: bytes) -> Decoder:
    """A decoder for what begins with these bytes; plain bytes come out as they are."""
    if head.startswith(_GZIP):
        return GzipDecoder()
    if _is_utf_16(head):
        return Utf16Decoder()
    return ZstdDecoder() if is_compressed(head) else PlainDecoder()


class PlainDecoder:
    """For what is not compressed."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The same bytes."""
        yield data

    def finish(self) -> None:
        """Nothing can be missing."""


class Utf16Decoder:
    """For text in UTF-16 with a byte order mark; what is no text comes out as the mark for that."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `Decoder.feed` says."""
        text = self._decoder.decode(data)
        if text:
            yield text.encode()

    def finish(self) -> None:
        """Raises DamagedError where half a character is left."""
        if self._decoder.getstate()[0]:
            raise DamagedError("it ends in the middle of a character")


class SniffingDecoder:
    """Finds out what the bytes are first: a stream's first bytes may come one by one."""

    def __init__(self) -> None:
        self._head = b""
        self._decoder: Decoder | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `Decoder.feed` says."""
        if self._decoder is None:
            self._head += data
            if len(self._head) < MAGIC_BYTES and self._head[:1] not in b'{["# \r\n\t':
                return
            self._decoder, data = decoder_for(self._head), self._head
        yield from self._decoder.feed(data)

    def finish(self) -> None:
        """What `Decoder.finish` says."""
        if self._decoder is not None:
            self._decoder.finish()

    @property
    def rest(self) -> bytes:
        """What came, when it was too little to tell."""
        return self._head if self._decoder is None else b""


class GzipDecoder:
    """RFC 1952: members one after the other, zeros behind them."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._between = True  # two members
        self._first = True
        self._held = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `Decoder.feed` says."""
        data, self._held = self._held + data, b""
        while data:
            if self._between and not self._first:
                data = data.lstrip(b"\0")
                if len(data) < len(_GZIP) and _GZIP.startswith(data):
                    self._held = data
                    return
                if not data.startswith(_GZIP):
                    raise DamagedError("what follows the last member is no gzip")
                self._member = zlib.decompressobj(wbits=31)
            self._between = self._first = False
            data = yield from self._unpack(data)

    def _unpack(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Pieces of one member; returns the bytes behind it."""
        while True:
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
        """What `Decoder.finish` says."""
        if self._held:
            raise DamagedError("what follows the last member is no gzip")
        if not self._between:
            raise DamagedError("it ends in the middle")


class _Member(Protocol):
    """What zlib unpacks a member with."""

    def decompress(self, data: bytes, /) -> bytes: ...


def _bytewise(member: _Member, data: bytes) -> Iterator[bytes]:
    """As much as a member gives before its fault."""
    try:
        for place in range(len(data)):
            piece = member.decompress(data[place : place + 1])
            if piece:
                yield piece
    except zlib.error:
        return


class ZstdDecoder:
    """RFC 8878: frames one after the other, skippable ones among them."""

    def __init__(self) -> None:
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._held = b""
        self._skip = 0
        self._slice = _SLICES[0]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `Decoder.feed` says."""
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
                wanted = self._slice * 2 if len(piece) < _STEP_BYTES else self._slice // 4
                self._slice = max(_SLICES[0], min(_SLICES[1], wanted))
                if self._frame.eof:
                    place -= len(self._frame.unused_data)
                    self._frame = None

    def _begin(self, head: bytes) -> int:
        """Begin a frame: 1 more than the bytes to pass over, 0 when more of them must come first."""
        if head.startswith(_ZSTD):
            self._frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES).decompressobj()
            return 1
        if len(head) >= MAGIC_BYTES and not _is_skipped_frame(head):
            raise DamagedError("what follows the last frame is no Zstandard")
        if len(head) < 8:
            return 0
        self._skip = int.from_bytes(head[4:8], "little")
        return 9

    def finish(self) -> None:
        """What `Decoder.finish` says."""
        if self._frame is not None or self._held or self._skip:
            raise DamagedError("it ends in the middle")
