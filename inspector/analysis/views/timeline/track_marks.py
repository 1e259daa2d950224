"""Marks of a track within a visible `Window`: single messages, counts where they touch, else density."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.scale import TimeScale
from inspector.analysis.views.timeline.segments import Segment

CELL_PX = 28
"""Maximum width of a count, in pixels."""
TOUCH_PX = 9
"""Distance in pixels at which marks touch. A track with more messages than fit side by side is dense."""
DENSE_PX = 4
"""Width of a cell of a dense track, in pixels."""


class Mark(msgspec.Struct, array_like=True, gc=False):
    """One mark.

    Attributes:
        x: centre, in pixels from the left.
        count: number of messages.
        row: the first message.
        one_family: True if all messages are of one family.
        hidden: True if the table shows none of them.
        first_x, last_x: positions of the outermost messages.
        dense: True for a cell of a density strip.
    """

    x: float
    count: int
    row: int
    one_family: bool
    hidden: bool
    first_x: float
    last_x: float
    dense: bool = False

    @property
    def half(self) -> float:
        """Half the width, in pixels at 100 %."""
        return DENSE_PX / 2 if self.dense else half_width(self.count)


# Cached: merging asks for the same few counts at each pair of marks.
@lru_cache(maxsize=1 << 14)
def half_width(count: int) -> float:
    """Returns half the width of a mark for a number of messages, in pixels."""
    return TOUCH_PX / 2 if count == 1 else (5 + 3.25 * len(short_count(count)))


def short_count(count: int) -> str:
    """Formats a count in at most four characters: "12", "1.2k", "31k", "2M"."""
    for unit, word in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit:
            tenths = count * 10 // unit
            return f"{tenths / 10:.1f}{word}" if tenths < 100 and tenths % 10 else f"{tenths // 10}{word}"
    return str(count)


UNBROKEN = TimeScale()


@dataclass(slots=True)
class Window:
    """A part of the time axis and its painted width.

    Attributes:
        left_ns, right_ns: its times.
        width: pixels.
        scale: mapping of times to positions.
        left, right: positions of both ends.
        ns_per_px: nanoseconds per pixel outside of breaks.
    """

    left_ns: int
    right_ns: int
    width: int
    scale: TimeScale = UNBROKEN
    left: int = field(init=False)
    right: int = field(init=False)
    ns_per_px: float = field(init=False)

    def __post_init__(self) -> None:
        self.left, self.right = self.scale.place(self.left_ns), self.scale.place(self.right_ns)
        self.ns_per_px = max(1.0, (self.right - self.left) / max(1, self.width))

    def x(self, ns: int) -> float:
        """Returns the x of a time, in pixels from the left."""
        return (self.scale.place(ns) - self.left) / self.ns_per_px

    def xs(self, times: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the x of times, clipped to some place outside of the window."""
        places, span = self.scale.places(times), self.right - self.left
        if span > _LONG_NS:  # differences may exceed 64 bits
            return (places.astype(np.float64) - self.left) / self.ns_per_px
        # Clipped to one window beside it, so that the difference below fits into 64 bits.
        near = np.clip(places, np.int64(_clipped_ns(self.left - span)), np.int64(_clipped_ns(self.right + span)))
        return (near - np.int64(self.left)) / self.ns_per_px


FamilyOf = Callable[[int], object]


def marks_of(
    segments: Sequence[Segment], track: int, window: Window, family: FamilyOf, zoom: float = 1.0
) -> list[Mark]:
    """Returns the marks of a track, from left to right. O(pixels log messages).

    Args:
        segments: all messages.
        track: number of the track.
        window: visible part.
        family: returns the family of a message.
        zoom: scale of marks relative to 100 %.
    """
    margin = round(window.ns_per_px * CELL_PX * zoom)
    left, right = _clipped_ns(window.left - margin), _clipped_ns(window.right + margin)
    begin, stop = (_clipped_ns(window.scale.time(place)) for place in (left, right))
    parts = [(segment, *segment.between(track, begin, stop)) for segment in segments]
    parts = [part for part in parts if part[1] < part[2]]
    if sum(high - low for _, low, high in parts) * TOUCH_PX * zoom <= window.width:
        return _without_overlap(_singles(parts, window), zoom, family)
    return _cells(parts, window, left, right, zoom, family)


_Part = tuple[Segment, int, int]


def _singles(parts: list[_Part], window: Window) -> list[Mark]:
    found: list[Mark] = []
    for segment, low, high in parts:
        xs = window.xs(segment.times[low:high]).tolist()
        for place, (x, row) in enumerate(zip(xs, segment.rows[low:high].tolist(), strict=True), low):
            found.append(Mark(x, 1, row, True, segment.hidden(place, place + 1), x, x))
    found.sort(key=lambda mark: (mark.x, mark.row))
    return found


def _cells(parts: list[_Part], window: Window, left: int, right: int, zoom: float, family: FamilyOf) -> list[Mark]:
    """Returns one mark per cell with messages. Cells keep their places when the window moves."""
    cell = max(1, round(window.ns_per_px * DENSE_PX * zoom))
    first = left // cell
    # Cells are multiples of their width from zero, so that marks do not flicker while scrolling.
    edges = window.scale.times(np.array([_clipped_ns(n * cell) for n in range(first, right // cell + 2)], np.int64))
    found: dict[int, Mark] = {}
    for segment, low, high in parts:
        places = low + segment.times[low:high].searchsorted(edges)
        held = np.flatnonzero(places[1:] > places[:-1])
        begins, ends = places[held], places[held + 1]
        middles = ((first + held + 0.5) * cell - window.left) / window.ns_per_px
        first_xs, last_xs = window.xs(segment.times[begins]), window.xs(segment.times[ends - 1])
        same = segment.changes[begins] == segment.changes[ends - 1]
        hidden = (
            np.zeros(len(held), np.bool_) if segment.shown is None else segment.shown[ends] == segment.shown[begins]
        )
        columns = (held, middles, ends - begins, segment.rows[begins], same, hidden, first_xs, last_xs)
        for n, *values in zip(*(column.tolist() for column in columns), strict=True):
            mark, known = Mark(*values, dense=True), found.get(n)
            found[n] = mark if known is None else _merged_pair(known, mark, family)
    return [found[n] for n in sorted(found)]


def _merged_pair(one: Mark, other: Mark, family: FamilyOf) -> Mark:
    first = one if one.first_x <= other.first_x else other
    same = one.one_family and other.one_family and family(one.row) == family(other.row)
    return Mark(
        one.x, one.count + other.count, first.row, same, one.hidden and other.hidden,
        min(one.first_x, other.first_x), max(one.last_x, other.last_x), one.dense,
    )  # fmt: skip


def _without_overlap(marks: list[Mark], zoom: float, family: FamilyOf) -> list[Mark]:
    """Merges or moves marks until no two touch; a merged mark is at most a cell wide."""
    found: list[Mark] = []
    for mark in marks:
        here = mark
        while found and here.x - found[-1].x < (reach := (here.half + found[-1].half) * zoom):
            last = found[-1]
            both = _merged_pair(last, here, family)
            if both.last_x - both.first_x <= CELL_PX * zoom:
                both.x = (both.first_x + both.last_x) / 2
            elif here.count == 1 or last.count == 1:  # a single mark joins the count beside it
                both.x = last.x if last.count > here.count else here.x
            elif reach - (here.x - last.x) <= CELL_PX * zoom / 2:
                here.x = last.x + reach
                break
            else:
                both.x = (last.x * last.count + here.x * here.count) / both.count
            here = both
            found.pop()
        found.append(here)
    return found


# 52 days; a pixel of so wide a window is longer than the error of a float.
_LONG_NS = 2**52
# The least number itself means that there is no time (NO_TIME).
_MIN_NS, _MAX_NS = -(2**63) + 1, 2**63 - 1


def _clipped_ns(ns: int) -> int:
    """Clips a time to 64 bits."""
    return min(max(ns, _MIN_NS), _MAX_NS)
