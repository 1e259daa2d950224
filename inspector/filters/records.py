"""Many records in one buffer, with vectorized facts about escapes and non-ASCII text."""

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
_DENSE_SHARE = 0.5
"""Share of all records above which a subset keeps the buffer instead of a copy."""
_LONGEST_ESCAPE = 6
r"""Bytes of `\u0000`."""


class Records:
    """Records that are searched together; facts are computed once for all, with arrays.

    Args:
        data: bytes with all records.
        starts: (k,) integer, start offsets in `data`, ascending; records do not overlap.
        ends: (k,) integer, end offsets.
    """

    def __init__(self, data: bytes, starts: Offsets, ends: Offsets) -> None:
        self.data = data
        self.starts = np.asarray(starts, np.int64)
        self.ends = np.asarray(ends, np.int64)
        self.bytes: NDArray[np.uint8] = np.frombuffer(data, np.uint8)

    def __len__(self) -> int:
        return len(self.starts)

    def record(self, row: int) -> bytes:
        return self.data[int(self.starts[row]) : int(self.ends[row])]

    def slice_records(self, first: int, last: int) -> Records:
        """Returns a range of records by number."""
        return Records(self.data, self.starts[first:last], self.ends[first:last])

    def subset(self, rows: NDArray[np.intp]) -> Records:
        """Returns records by ascending number; copies their bytes if they are few."""
        if len(rows) == len(self):
            return self
        some = Records(self.data, self.starts[rows], self.ends[rows])
        # A copy of few records makes each further pass over the buffer shorter.
        return some if len(rows) > _DENSE_SHARE * len(self) else some.compacted()

    def compacted(self) -> Records:
        """Copies the records into a buffer of their own, one per line."""
        places = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        lengths = self.ends - self.starts
        # One more byte per record for the newline between them.
        ends = (lengths + 1).cumsum() - 1
        return Records(b"\n".join([self.data[start:end] for start, end in places]), ends - lengths, ends)

    @cached_property
    def is_ascii(self) -> bool:
        return self.data.isascii()

    @cached_property
    def _backslashes(self) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
        """Offsets of backslashes, and the byte after each."""
        if b"\\" not in self.data:
            return np.zeros(0, np.intp), np.zeros(0, np.uint8)
        at = np.flatnonzero(self.bytes == _BACKSLASH)
        # The last byte has no successor; its entry is cleared below.
        after = self.bytes.take(at + 1, mode="clip")
        if at[-1] + 1 == len(self.bytes):
            after[-1] = 0
        return at, after

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        r"""Start offsets of `\u` escapes."""
        at, after = self._backslashes
        return at[after == _LETTER_U]

    def follows_newline(self) -> Mask:
        """Returns a mask of records at the start of a line or of the data."""
        if not len(self.bytes):
            return np.ones(len(self), np.bool_)
        before = self.bytes.take(np.maximum(self.starts - 1, 0))
        return (self.starts == 0) | (before == _NEWLINE)

    def row_at(self, places: list[int] | NDArray[Any]) -> NDArray[np.intp]:
        """Returns the last record that begins at or before each offset; -1 before the first."""
        return self.starts.searchsorted(places, "right") - 1

    def mark(self, mask: Mask, places: list[int] | NDArray[Any]) -> None:
        """Sets the mask for records that contain any of the offsets."""
        if len(places):
            at = np.asarray(places, np.int64)
            rows = self.row_at(at)
            inside = (rows >= 0) & (at < self.ends[rows])
            mask[rows[inside]] = True

    def containing(self, places: list[int] | NDArray[Any]) -> Mask:
        """Returns a mask of records that contain any of the offsets."""
        mask = np.zeros(len(self), np.bool_)
        self.mark(mask, places)
        return mask

    def with_escapes(self, letters: bytes | None) -> Mask:
        """Returns a mask of records with a backslash before one of some letters; None for any backslash."""
        at, after = self._backslashes
        if letters is not None and len(at):
            at = at[np.isin(after, np.frombuffer(letters, np.uint8))] if letters else at[:0]
        return self.containing(at)

    @cached_property
    def beyond_ascii(self) -> Mask:
        """Mask of records with non-ASCII characters, plain or escaped by number."""
        mask = self.containing(self.numbers)
        if not self.is_ascii:
            for row in np.flatnonzero(~mask).tolist():
                mask[row] = not self.record(row).isascii()
        return mask

    def after_escape(self, places: NDArray[Any]) -> Mask:
        """Returns a mask of offsets whose character may belong to an escape that begins earlier."""
        found = np.zeros(len(places), np.bool_)
        if len(self._backslashes[0]) and len(places):
            found |= (places > 0) & (self.bytes.take(places - 1, mode="clip") == _BACKSLASH)
            if len(self.numbers):
                before = self.numbers.searchsorted(places) - 1
                last = self.numbers.take(np.maximum(before, 0))
                # The digits of `\u0041` look like plain text to a byte search.
                found |= (before >= 0) & (places - last < _LONGEST_ESCAPE)
        return found
