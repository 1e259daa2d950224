"""Many records that lie in one piece of bytes, and what the bytes leave open about their texts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

_BACKSLASH = 0x5C
_NEWLINE = 0x0A
_LETTER_U = 0x75
_FEW = 0.5
"""Of so great a part of all records the others are passed over rather than left out."""
_LONGEST_ESCAPE = 6
r"""Bytes of `\u0000`."""


class Records:
    """Records to be searched together. What is asked of all of them is found out once, by arrays.

    Args:
        data: bytes in which the records lie.
        starts: (k,) integer, places in `data` where they begin, ascending; no record overlaps another.
        ends: (k,) integer, places where they end.
    """

    def __init__(self, data: bytes, starts: Offsets, ends: Offsets) -> None:
        self.data = data
        self.starts = np.asarray(starts, np.int64)
        self.ends = np.asarray(ends, np.int64)
        self.bytes: NDArray[np.uint8] = np.frombuffer(data, np.uint8)

    def __len__(self) -> int:
        return len(self.starts)

    def record(self, row: int) -> bytes:
        """The bytes of one."""
        return self.data[int(self.starts[row]) : int(self.ends[row])]

    def between(self, first: int, last: int) -> Records:
        """A run of them, by number."""
        return Records(self.data, self.starts[first:last], self.ends[first:last])

    def some(self, rows: NDArray[np.intp]) -> Records:
        """Some of them, by number, ascending; where they are few, without the bytes of the others."""
        if len(rows) == len(self):
            return self
        some = Records(self.data, self.starts[rows], self.ends[rows])
        return some if len(rows) > _FEW * len(self) else some.each()

    def each(self) -> Records:
        """The same in a piece of bytes of their own, each in a line, with nothing between them."""
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        lengths = self.ends - self.starts
        ends = (lengths + 1).cumsum() - 1
        return Records(b"\n".join([self.data[start:end] for start, end in places]), ends - lengths, ends)

    @cached_property
    def is_ascii(self) -> bool:
        """Whether all bytes are."""
        return self.data.isascii()

    @cached_property
    def _backslashes(self) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Where backslashes stand, and what follows each."""
        if b"\\" not in self.data:
            return np.zeros(0, np.intp), np.zeros(0, np.uint8)
        at = np.flatnonzero(self.bytes == _BACKSLASH)
        after = self.bytes.take(at + 1, mode="clip")
        if at[-1] + 1 == len(self.bytes):
            after[-1] = 0
        return at, after

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """Where escapes by number begin."""
        at, after = self._backslashes
        return at[after == _LETTER_U]

    def follows_newline(self) -> Mask:
        """Which stand at the beginning of a line, or of all."""
        if not len(self.bytes):
            return np.ones(len(self), np.bool_)
        before = self.bytes.take(np.maximum(self.starts - 1, 0))
        return (self.starts == 0) | (before == _NEWLINE)

    def row_at(self, places: list[int] | NDArray[Any]) -> NDArray[np.intp]:
        """The last record that begins at or before each place; -1 for places before the first."""
        return self.starts.searchsorted(places, "right") - 1

    def mark(self, mask: Mask, places: list[int] | NDArray[Any]) -> None:
        """Set the records in which places lie."""
        if len(places):
            at = np.asarray(places, np.int64)
            rows = self.row_at(at)
            inside = (rows >= 0) & (at < self.ends[rows])
            mask[rows[inside]] = True

    def holding(self, places: list[int] | NDArray[Any]) -> Mask:
        """Which records any of some places lies in."""
        mask = np.zeros(len(self), np.bool_)
        self.mark(mask, places)
        return mask

    def with_escapes(self, letters: bytes | None) -> Mask:
        """Which hold a backslash before one of some letters, or before anything where None is given."""
        at, after = self._backslashes
        if letters is not None and len(at):
            at = at[np.isin(after, np.frombuffer(letters, np.uint8))] if letters else at[:0]
        return self.holding(at)

    @cached_property
    def beyond_ascii(self) -> Mask:
        """Which hold characters beyond ASCII, as they are or by their numbers."""
        mask = self.holding(self.numbers)
        if not self.is_ascii:
            for row in np.flatnonzero(~mask).tolist():
                mask[row] = not self.record(row).isascii()
        return mask

    def after_escape(self, places: NDArray[Any]) -> Mask:
        """Where the first letter at a place may belong to an escape that begins before it."""
        found = np.zeros(len(places), np.bool_)
        if len(self._backslashes[0]) and len(places):
            found |= (places > 0) & (self.bytes.take(places - 1, mode="clip") == _BACKSLASH)
            if len(self.numbers):
                before = self.numbers.searchsorted(places) - 1
                last = self.numbers.take(np.maximum(before, 0))
                found |= (before >= 0) & (places - last < _LONGEST_ESCAPE)
        return found
