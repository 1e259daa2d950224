"""Counts messages per family and time interval, for captures of any size. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.track_marks import Window
from inspector.formats.kind_families import family_of
from inspector.protocol.kinds import Family
from inspector.store.messages.capture import Capture

Array = NDArray[np.int64]
FAMILIES = tuple(Family)
_MS, _SECOND = 1_000_000, 1_000_000_000
_MINUTE, _HOUR = 60 * _SECOND, 3600 * _SECOND
# Round widths only, so that bars begin at full seconds, minutes and hours.
BIN_WIDTHS_NS = (
    *(_MS * n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(_SECOND * n for n in (1, 2, 5, 10, 15, 30)),
    *(_MINUTE * n for n in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12, 24)),
)
"""Allowed widths of a bar in nanoseconds; above the last one, whole days."""
MIN_BIN_PX = 7
_UNKNOWN = 255


@dataclass(frozen=True, slots=True)
class Bins:
    """Message counts in intervals of equal width.

    Attributes:
        edges: (b + 1,) int64, starts of the intervals, and the end of the last one.
        counts: (families, b) int64, in the order of FAMILIES.
        width_ns: length of an interval; one with a break is longer.
    """

    edges: Array
    counts: Array
    width_ns: int

    @property
    def totals(self) -> Array:
        """(b,) sums over all families."""
        return self.counts.sum(axis=0)


def bin_width(span_ns: int, width_px: int) -> int:
    """Returns the shortest round width whose bars stay distinguishable."""
    least = span_ns * MIN_BIN_PX / max(1, width_px)
    day = BIN_WIDTHS_NS[-1]
    return next((width for width in BIN_WIDTHS_NS if width >= least), day * int(-(-least // day)))


class FamilyTimes:
    """Times of messages by family. 8 bytes a message.

    Attributes:
        counts: number of messages by family, in the order of FAMILIES.
        message_count: number of messages taken in.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._codes = np.zeros(0, np.uint8)  # by string id of the kind
        self._times = [np.zeros(0, np.int64) for _ in FAMILIES]
        self.counts = [0] * len(FAMILIES)
        self.message_count = 0

    def update(self, times: Array) -> None:
        """Takes in further messages. O(new messages); all of a family after one out of order."""
        start, self.message_count = self.message_count, len(times)
        families = self._families(self._capture.columns["kind"][start : self.message_count])
        added = times[start : self.message_count]
        for place in np.unique(families).tolist():
            self._add(place, np.sort(added[families == place]))

    def _add(self, place: int, times: Array) -> None:
        held, count = self._times[place], self.counts[place]
        stop = count + len(times)
        if stop > len(held):
            grown = np.empty(max(stop, len(held) * 3 // 2), np.int64)
            grown[:count] = held[:count]
            held = self._times[place] = grown
        held[count:stop] = times
        self.counts[place] = stop
        # Messages mostly arrive in order, so that sorting is rare.
        if count and times[0] < held[count - 1]:
            held[:stop].sort(kind="stable")

    def _families(self, kinds: NDArray[np.uint32]) -> NDArray[np.uint8]:
        strings = self._capture.strings
        if len(strings) > len(self._codes):
            new = np.full(len(strings) - len(self._codes), _UNKNOWN, np.uint8)
            self._codes = np.concatenate((self._codes, new))
        for kind in np.unique(kinds[self._codes[kinds] == _UNKNOWN]).tolist():
            self._codes[kind] = FAMILIES.index(family_of(strings[kind]))
        return self._codes[kinds]

    def bins(self, window: Window, origin_ns: int, width_ns: int) -> Bins:
        """Counts messages per interval within a window. O(intervals log messages).

        Args:
            window: visible part.
            origin_ns: start of an interval, so that bars keep their places when the window moves.
            width_ns: length of an interval.
        """
        origin = window.scale.place(origin_ns)
        first = (window.left - origin) // width_ns
        last = -((origin - window.right) // width_ns)
        edges = window.scale.times(np.array([origin + n * width_ns for n in range(first, last + 1)], np.int64))
        rows = [np.diff(np.searchsorted(held[:n], edges)) for held, n in zip(self._times, self.counts, strict=True)]
        return Bins(edges, np.array(rows, np.int64).reshape(len(FAMILIES), -1), width_ns)
