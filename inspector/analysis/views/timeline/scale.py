"""Maps times to an axis that leaves out long silences. No Qt.

A position is an int64 like a time. Both are equal before the first break; after it, positions are smaller by the time
left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]

MIN_SPAN_DIVISOR = 3
"""A long silence takes more than 1 / MIN_SPAN_DIVISOR of the span."""
_MIN_AVERAGE_FACTOR = 2
"""A long silence is longer than this multiple of the average silence, so three messages have none."""
_BREAK_DIVISOR = 20
"""A break takes 1 / _BREAK_SHARE of the remaining axis."""
# Each takes a twentieth of the axis, so twenty would leave no more than their own width.
_MAX_BREAKS = 12
_CANDIDATES = 64
_MAX_ABS_NS = 2**62 - 1
_LARGEST_FLOAT = 2.0**63 - 1024  # of a signed integer of 64 bits
"""Clip bound of times, so that differences fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class Break:
    """A long silence.

    Attributes:
        start_ns, end_ns: times of the messages before and after it.
        width: length on the axis.
    """

    start_ns: int
    end_ns: int
    width: int

    @property
    def silence_ns(self) -> int:
        """Length in nanoseconds."""
        return self.end_ns - self.start_ns


class TimeScale:
    """Maps times to positions and back. Both ascend, and agree except within breaks.

    Attributes:
        breaks: ascending.
    """

    def __init__(self, breaks: Sequence[Break] = ()) -> None:
        self.breaks = tuple(breaks)
        self._times = [ns for one in self.breaks for ns in (one.start_ns, one.end_ns)]
        self._places: list[int] = []
        shift = 0
        for one in self.breaks:
            self._places += [one.start_ns - shift, one.start_ns - shift + one.width]
            shift += one.silence_ns - one.width

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimeScale) and self.breaks == other.breaks

    def __hash__(self) -> int:
        return hash(self.breaks)

    def place(self, ns: int) -> int:
        """Returns the position of a time."""
        return _mapped(ns, self._times, self._places)

    def time(self, place: int) -> int:
        """Returns the time at a position."""
        return _mapped(place, self._places, self._times)

    def places(self, ns: Array) -> Array:
        """(n,) int64, positions of times."""
        return _all_mapped(ns, self._times, self._places)

    def times(self, places: Array) -> Array:
        """(n,) int64, times at positions."""
        return _all_mapped(places, self._places, self._times)

    def breaks_between(self, left: int, right: int) -> list[Break]:
        """Returns the breaks within a range of times."""
        return [one for one in self.breaks if one.start_ns < right and one.end_ns > left]

    def unbroken_parts(self, left: int, right: int) -> Iterator[tuple[int, int]]:
        """Yields the parts of a time range outside of breaks, ascending, ends included."""
        for one in self.breaks_between(left, right):
            if left <= one.start_ns:
                yield left, one.start_ns
            left = one.end_ns
        if left <= right:
            yield left, right


def _mapped(value: int, given: Sequence[int], wanted: Sequence[int]) -> int:
    """Maps a value from one side of the scale to the other, exactly."""
    if not given:
        return value
    corner = bisect_right(given, value)
    if corner % 2 == 0:  # outside of breaks both sides advance alike
        near = max(corner - 1, 0)
        return wanted[near] + value - given[near]
    length, reach = given[corner] - given[corner - 1], wanted[corner] - wanted[corner - 1]
    return wanted[corner - 1] + (value - given[corner - 1]) * reach // max(1, length)


def _all_mapped(values: Array, given: Sequence[int], wanted: Sequence[int]) -> Array:
    """Maps many values."""
    if not given:
        return values
    near = np.clip(values, -_MAX_ABS_NS, _MAX_ABS_NS)
    sides = np.array((given, wanted), np.int64)
    corners = sides[0].searchsorted(near, side="right")
    befores = np.maximum(corners - 1, 0)
    since = near - sides[0][befores]
    lengths = np.diff(sides, append=sides[:, -1:] + 1).astype(np.float64)
    inside = corners % 2 == 1
    # Outside of breaks a product may exceed 64 bits, and a rounded one inside as well.
    squeezed = np.where(inside, since, 0) * (lengths[1] / np.maximum(lengths[0], 1))[befores]
    squeezed = np.minimum(squeezed, _LARGEST_FLOAT).astype(np.int64)
    return sides[1][befores] + np.where(inside, squeezed, since)


class Silences:
    """The longest silences of a growing capture.

    Messages may arrive in any order; one within a silence splits it.
    """

    def __init__(self) -> None:
        self._first = self._last = 0
        self._count = 0
        self._starts: Array = np.zeros(0, np.int64)  # of the longest, ascending
        self._ends: Array = np.zeros(0, np.int64)

    def feed(self, times: Array) -> None:
        """Takes in the times of messages. O(messages given)."""
        if not len(times):
            return
        near = times
        if (near[1:] < near[:-1]).any():
            near = np.sort(near)
        if near[0] < -_MAX_ABS_NS or near[-1] > _MAX_ABS_NS:
            near = np.clip(near, -_MAX_ABS_NS, _MAX_ABS_NS)
        first, last = int(near[0]), int(near[-1])
        known, self._count = self._count, self._count + len(near)
        if not known:
            longest = _longest(near)
            self._take(near[longest], near[longest + 1])
            self._first, self._last = first, last
            return
        # Only silences that contain a new message change.
        held = np.flatnonzero(near.searchsorted(self._starts, side="right") < near.searchsorted(self._ends))
        ends: list[Array] = []
        if first < self._first:
            ends.append(np.append(near[: near.searchsorted(self._first)], self._first))
        if last > self._last:
            ends.append(np.append(np.int64(self._last), near[near.searchsorted(self._last, side="right") :]))
        for place in held.tolist():
            start, end = self._starts[place], self._ends[place]
            inside = near[near.searchsorted(start, side="right") : near.searchsorted(end)]
            ends.append(np.concatenate(([start], inside, [end])))
        stay = np.ones(len(self._starts), np.bool_)
        stay[held] = False
        self._take(
            np.concatenate((self._starts[stay], *(one[:-1] for one in ends))),
            np.concatenate((self._ends[stay], *(one[1:] for one in ends))),
        )
        self._first, self._last = min(first, self._first), max(last, self._last)

    def _take(self, starts: Array, ends: Array) -> None:
        # More than are drawn, as later messages may split some of them.
        if len(starts) > _CANDIDATES:
            longest = np.argpartition(starts - ends, _CANDIDATES)[:_CANDIDATES]
            starts, ends = starts[longest], ends[longest]
        order = np.argsort(starts, kind="stable")
        self._starts, self._ends = starts[order], ends[order]

    def breaks(self) -> tuple[Break, ...]:
        """Returns silences too long to draw, ascending.

        Each takes more than a third of the span that remains without the longer ones.
        """
        lengths = self._ends - self._starts
        span, others = self._last - self._first, self._count - 1
        long: list[int] = []
        for place in np.argsort(-lengths, kind="stable").tolist():
            length = int(lengths[place])
            rest, others = span - length, others - 1
            if (
                rest <= 0
                or others <= 0
                or length * MIN_SPAN_DIVISOR <= span
                or length * others <= _MIN_AVERAGE_FACTOR * rest
            ):
                break
            long.append(place)
            span = rest
            if len(long) == _MAX_BREAKS:
                break
        width = max(1, span // _BREAK_DIVISOR)
        return tuple(Break(int(self._starts[n]), int(self._ends[n]), width) for n in sorted(long))


_BLOCK = 256


def _longest(times: Array) -> Array:
    """Returns indexes before the longest silences in ascending times, at least `_CANDIDATES`, unordered.

    The longest silences lie in the blocks with the largest maximum, so other blocks need no sorting.
    """
    lengths = np.diff(times)
    whole = len(lengths) // _BLOCK * _BLOCK
    if whole <= _CANDIDATES * _BLOCK:
        return np.arange(len(lengths))
    most = lengths[:whole].reshape(-1, _BLOCK).max(axis=1)
    blocks = np.argpartition(-most, _CANDIDATES)[:_CANDIDATES]
    within = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
    return np.concatenate((within, np.arange(whole, len(lengths))))
