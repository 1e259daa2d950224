"""Original lines of a message in its file: one line, or all the lines it was reassembled from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from inspector.store.messages.capture import Capture

# The number of context pieces in `piece_masks`.
_AROUND = 512


class LoggedLines:
    """The lines of one message in its file, as one continuous text.

    Attributes:
        places: offset and length of each line in the file.
        length: bytes of all lines with a line end between two.
    """

    def __init__(self, capture: Capture, message: int) -> None:
        columns = capture.columns
        self._source = capture.sources[int(columns["source"][message])]
        self.places = self._source.original_places(int(columns["offset"][message]), int(columns["length"][message]))
        self._begins = list(accumulate((length + 1 for _, length in self.places), initial=0))
        self.length = max(self._begins[-1] - 1, 0)

    def __iter__(self) -> Iterator[bytes]:
        """Yields each line without its end."""
        return (self._source.read(offset, length) for offset, length in self.places)

    def lines(self, start: int, stop: int) -> Iterator[bytes]:
        """Returns the lines within a byte range, with some lines around it."""
        first = max(0, bisect_right(self._begins, max(start, 0)) - 1 - _AROUND)
        last = min(len(self.places), bisect_right(self._begins, stop) + _AROUND)
        return (self._source.read(offset, length) for offset, length in self.places[first:last])

    def read(self, start: int, length: int) -> bytes:
        """Returns bytes from an offset on, fewer at the end; reads no other part of the file."""
        parts: list[bytes] = []
        stop = min(max(start, 0) + length, self.length)
        start = max(start, 0)
        # A binary search finds the first line, since the parts may number thousands.
        number = bisect_right(self._begins, start) - 1
        while start < stop:
            offset, whole = self.places[number]
            inside = start - self._begins[number]
            wanted = min(whole - inside, stop - start)
            parts.append(self._source.read(offset + inside, wanted))
            number += 1
            start = self._begins[number]
        return b"\n".join(parts)
