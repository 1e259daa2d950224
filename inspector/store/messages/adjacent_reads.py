"""Reads the lines of many messages in adjacent ranges."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.store.files import long_lines
from inspector.store.messages.capture import Capture

_GAP = 16 << 10
"""Bytes of other lines between two messages that are read along; a gateway's log repeats each message."""
_MAX_READ = 1 << 20
"""Bytes per read, few enough to stay in the processor's cache during a search."""


class LineRange(NamedTuple):
    """Adjacent lines of a source."""

    data: bytes
    starts: NDArray[np.int64]
    """(k,) start of each line in `data`, ascending."""
    ends: NDArray[np.int64]
    """(k,) end of each line; sooner at the file's end, or at the end of an overlong line's head."""

    def records(self, places: NDArray[np.integer[Any]]) -> list[bytes]:
        """Returns lines by their place in the range."""
        spans = zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True)
        return [self.data[start:end] for start, end in spans]


def is_ascending(rows: NDArray[np.integer[Any]]) -> bool:
    return bool((rows[1:] > rows[:-1]).all())


def read_line_ranges(capture: Capture, rows: NDArray[np.integer[Any]]) -> Iterator[LineRange]:
    """Yields the lines of messages in adjacent ranges of `k` messages.

    Args:
        capture: has the sources and columns.
        rows: (n,) integer, message indices, ascending.
    """
    sources = capture.columns["source"][rows].astype(np.int64)
    starts = capture.columns["offset"][rows].astype(np.int64)
    ends = starts + capture.columns["length"][rows]
    # Lines before `lost_to` are gone from the disk, so they must not share a read with present
    # ones.
    lost = starts < np.array([source.lost_to for source in capture.sources] or [0])[sources]
    # A small gap is read along: one system call is cheaper than two.
    apart = (starts[1:] < ends[:-1]) | (starts[1:] > ends[:-1] + _GAP)
    apart |= (sources[1:] != sources[:-1]) | (lost[1:] != lost[:-1])
    for first, last in pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), len(rows)]):
        at = first
        while at < last:
            base = int(starts[at])
            until = max(at + 1, at + int(ends[at:last].searchsorted(base + _MAX_READ)))
            length = int(ends[until - 1]) - base
            if length > long_lines.MAX_LINE_BYTES:  # a single line: only one alone exceeds _MOST
                length = long_lines.SHOWN_HEAD_BYTES
            data = capture.sources[int(sources[at])].read(base, length)
            yield LineRange(data, *(np.minimum(place[at:until] - base, len(data)) for place in (starts, ends)))
            at = until
