"""Finds the first match of an expression in each of many records in one buffer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # the start page masks texts without numpy
    import numpy as np
    from numpy.typing import NDArray

Offsets: TypeAlias = "NDArray[np.integer[Any]]"


def first_matches(
    find: Callable[[bytes, int, int], Iterable[Any]], data: bytes, starts: Offsets, ends: Offsets
) -> Iterator[tuple[int, int, int]]:
    """Yields the first match that begins in each record, as its number, start and end.

    Args:
        find: yields the matches between two offsets, none of them empty.
        data: bytes with all records.
        starts, ends: (k,) integer, offsets of the records, ascending; they do not overlap.
    """
    position, stop = (int(starts[0]), int(ends[-1])) if len(starts) else (0, 0)
    firsts, lasts = list[int](), list[int]()
    while position < stop:
        undecided, position = position, stop
        for match in find(data, undecided, stop):
            start, end = match.span()
            if start < undecided:
                # The next record is searched from its start, since matches do not overlap.
                position = undecided
                break
            if not firsts:  # most buffers have no match
                firsts, lasts = starts.tolist(), ends.tolist()
            row = bisect_right(firsts, start) - 1
            if start < lasts[row]:
                yield row, start, end
            undecided = firsts[row + 1] if row + 1 < len(firsts) else stop
