"""Lines of a source that are read otherwise than they lie there: put together of several, or with what is known too.

What is read lies in a spool beside the source, behind all that a file may hold: so whoever reads a line by its offset
need not know which of the two it is. What others tell of a line never stands within it, where anybody could have
written it, but in the spool behind it; and behind that, where the lines lie in the source that it stands for:

    {"jsonrpc":"2.0","id":4,"result":{}}
    {"protocol":"acp","method":"session/prompt"}
    [1702,36]
"""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from inspector.protocol.formats.entries import decoded_object
from inspector.protocol.record import Record
from inspector.protocol.written_json import to_json
from inspector.store.files.source_files import JOINED_FROM, Place, read_at
from inspector.store.files.spool import Spool

_STEP = 1 << 12
_decode_places = msgspec.json.Decoder(list[int]).decode


class OrderedLine(NamedTuple):
    """A line that was looked at in the order of its source."""

    data: bytes
    offset: int
    """Where it lies: in the source, or from JOINED_FROM on."""
    length: int
    """Bytes of it in the source."""
    known: Mapping[str, Any] | None = None
    """What lines before it tell of it; None for nothing."""
    read: tuple[Record, str | None] | None = None
    """Its record and the format that knew it, where it was read already."""


class JoinedLines:
    """The lines of one source that are read otherwise. Written and read by the thread that owns the capture.

    Attributes:
        left_out: lines of the source that are no records, as those here stand for them.
    """

    def __init__(self, name: str) -> None:
        """Prepare; nothing is created before the first line.

        Args:
            name: of the source.
        """
        self._name = name
        self.left_out = 0
        self._spool: Spool | None = None
        self._file = -1
        self._late: dict[int, array[int]] = {}

    @property
    def path(self) -> Path | None:
        """The file they lie in; None before the first."""
        return self._spool.path if self._spool is not None else None

    def put(self, line: bytes, known: Mapping[str, Any], places: Sequence[int]) -> int:
        """Keep a line, and return its offset.

        Args:
            line: as it is read.
            known: what is known of it beside.
            places: offset and length of each line in the source that it stands for, one behind the other.

        Raises:
            OSError: there is no room for it.
        """
        if self._spool is None:
            self._spool = Spool(self._name)
            self._file = os.open(self._spool.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        offset = self._spool.size
        self._spool.write(b"\n".join((line, to_json(dict(known)), msgspec.json.encode(list(places)), b"")))
        return JOINED_FROM + offset

    def put_late(self, offset: int, place: Place) -> None:
        """Note that a line stands for one more of the source, which came after it was read."""
        self._late.setdefault(offset, array("q")).extend(place)

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset, as `put` gave it."""
        return read_at(self._file, offset - JOINED_FROM, length) if self._file >= 0 else b""

    def known(self, offset: int, length: int) -> Mapping[str, Any]:
        """What is known of a line."""
        return known_behind(self.read, offset + length)

    def places(self, offset: int, length: int) -> list[Place]:
        """Offset and length of the lines in the source that a line stands for."""
        end = offset + length + 1
        end += len(_line_at(self.read, end)) + 1
        flat = [*_decode_places(_line_at(self.read, end)), *self._late.get(offset, ())]
        return list(zip(flat[::2], flat[1::2], strict=True))

    def close(self) -> None:
        """Remove the spool."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        if self._spool is not None:
            self._spool.close()


def known_behind(read: Callable[[int, int], bytes], end: int) -> Mapping[str, Any]:
    """What is known of a line that ends at a place in a spool.

    Args:
        read: bytes of the spool, from a place on.
        end: of the line, without its end.
    """
    return decoded_object(_line_at(read, end + 1)) or {}


def _line_at(read: Callable[[int, int], bytes], start: int) -> bytes:
    """A line of the spool, without its end."""
    step = _STEP
    while True:
        data = read(start, step)
        line, found, _ = data.partition(b"\n")
        if found or len(data) < step:
            return line
        step *= 4
