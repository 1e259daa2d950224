"""Stores derived lines of a source in a spool: reassembled ones, and lines with facts from earlier lines.

The spool's offsets lie beyond any file, so a reader by offset need not distinguish the two. Facts from other lines are
stored after the line, since inside it any sender could forge them. After them follow the spans of the original lines:

    {"jsonrpc":"2.0","id":4,"result":{}}
    {"method":"session/prompt"}
    [1702,36]
"""

from __future__ import annotations

import contextlib
import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from inspector.formats.entry_builders import decoded_object
from inspector.protocol.record import Record
from inspector.protocol.tolerant_encoder import to_json
from inspector.store.files.source_files import DERIVED_OFFSET, LinePlace, read_at
from inspector.store.files.spool import Spool

_STEP = 1 << 12
_decode_places = msgspec.json.Decoder(list[int]).decode


class OrderedLine(NamedTuple):
    """A line that was processed in the order of its source."""

    data: bytes
    offset: int
    """Offset in the source, or from DERIVED_OFFSET on."""
    length: int
    """Length in the source, in bytes."""
    known_facts: Mapping[str, Any] | None = None
    """Facts from earlier lines, if any."""
    decoded_record: tuple[Record, str | None] | None = None
    """Record and format, if already decoded."""


class DerivedLineSpool:
    """Derived lines of one source. Written and read by the thread that owns the capture.

    Attributes:
        replaced_count: number of original lines that are no records, as derived lines replace them.
    """

    def __init__(self, name: str) -> None:
        """Creates no file before the first line.

        Args:
            name: of the source.
        """
        self._name = name
        self.replaced_count = 0
        self._spool: Spool | None = None
        self._file = -1
        self._late_originals: dict[int, array[int]] = {}

    @property
    def path(self) -> Path | None:
        """The spool's file, once there is a line."""
        return self._spool.path if self._spool is not None else None

    def store_line(self, line: bytes, known: Mapping[str, Any], places: Sequence[int]) -> int:
        """Stores a line and returns its offset.

        Args:
            line: the line to read.
            known: facts from earlier lines.
            places: offset and length of each original line, flat; a derived line stands for its own originals.

        Raises:
            OSError: if there is no room for it.
        """
        if self._spool is None:
            self._spool = Spool(self._name)
            self._file = os.open(self._spool.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        offset = self._spool.size
        if any(place >= DERIVED_OFFSET for place in places[::2]):
            places = [number for place in self._flattened(places) for number in place]
        self._spool.write(b"\n".join((line, to_json(dict(known)), msgspec.json.encode(list(places)), b"")))
        return DERIVED_OFFSET + offset

    def add_original(self, offset: int, place: LinePlace) -> None:
        """Adds one more original line that came after the derived one was read."""
        self._late_originals.setdefault(offset, array("q")).extend(place)

    def read(self, offset: int, length: int) -> bytes:
        """Returns bytes at an offset returned by `put`."""
        return read_at(self._file, offset - DERIVED_OFFSET, length) if self._file >= 0 else b""

    def known_facts(self, offset: int, length: int) -> Mapping[str, Any]:
        """Returns the facts about a line."""
        return facts_after(self.read, offset + length)

    def original_places(self, offset: int, length: int) -> list[LinePlace]:
        """Returns offset and length of the original lines of a derived one."""
        end = offset + length + 1
        end += len(_line_at(self.read, end)) + 1
        flat = [*_decode_places(_line_at(self.read, end)), *self._late_originals.get(offset, ())]
        return list(zip(flat[::2], flat[1::2], strict=True))

    def _flattened(self, places: Sequence[int]) -> Iterator[LinePlace]:
        """Yields places in the source; a derived line yields its originals."""
        for offset, length in zip(places[::2], places[1::2], strict=True):
            if offset >= DERIVED_OFFSET:
                yield from self.original_places(offset, length)
            else:
                yield offset, length

    def close(self) -> None:
        """Deletes the spool."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        if self._spool is not None:
            self._spool.close()


def facts_after(read: Callable[[int, int], bytes], end: int) -> Mapping[str, Any]:
    """Returns the facts about a line that ends at an offset of a spool.

    Args:
        read: returns bytes of the spool by offset and length.
        end: of the line, without its line end.
    """
    return decoded_object(_line_at(read, end + 1)) or {}


def _line_at(read: Callable[[int, int], bytes], start: int) -> bytes:
    """Returns a line of the spool without its end."""
    step = _STEP
    while True:
        data = read(start, step)
        line, found, _ = data.partition(b"\n")
        if found or len(data) < step:
            return line
        step *= 4
