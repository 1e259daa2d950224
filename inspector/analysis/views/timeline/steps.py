"""Reduces step lines to the pixel columns they are drawn in, for any number of steps. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.track_marks import Window

Array = NDArray[np.int64]
_BOUNDS = np.iinfo(np.int64)


@dataclass(frozen=True, slots=True)
class Columns:
    """Pixel columns that contain steps, and the values of each line there.

    Attributes:
        x: (k,) int64, columns, ascending.
        before: (lines,) int64, values at the left edge.
        low, high, last: (lines, k) int64, minimum, maximum and final value of each line per column.
        steps: number of steps.
    """

    x: Array
    before: Array
    low: Array
    high: Array
    last: Array
    steps: int


def column_edges(window: Window) -> Array:
    """(width + 1,) int64, start of each pixel column of a window, and end of the last one."""
    width = max(1, window.width)
    since = np.ceil(np.arange(width + 1) * ((window.right - window.left) / width))
    room = float(_BOUNDS.max - max(window.left, 0) - 1024)  # a float may round up
    return window.scale.times(np.minimum(since, room).astype(np.int64) + np.int64(window.left))


def columns_of(times: Array, lines: Array, window: Window) -> Columns:
    """Reduces lines to pixel columns. O(steps in the window) in numpy.

    Args:
        times: (n,) int64, times of the steps, ascending, shared by the lines.
        lines: (lines, n) int64, value of each line from this step on; 0 before the first.
        window: visible part.
    """
    places = np.searchsorted(times, column_edges(window))
    start, stop = int(places[0]), int(places[-1])
    x = np.flatnonzero(np.diff(places))
    before = lines[:, start - 1] if start else np.zeros(len(lines), np.int64)
    if not len(x):
        none = np.zeros((len(lines), 0), np.int64)
        return Columns(x, before, none, none, none, 0)
    begins = places[x]
    shown = lines[:, start:stop]
    # `reduceat` needs only columns with steps; an empty range would give a wrong value.
    low = np.minimum.reduceat(shown, begins - start, axis=1)
    high = np.maximum.reduceat(shown, begins - start, axis=1)
    last = lines[:, np.append(begins[1:], stop) - 1]
    return Columns(x, before, low, high, last, stop - start)


def outline(columns: Columns, line: int, left: float, right: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns the corners of a line between two positions: (p,) pixels and (p,) values.

    A column with one step has two corners; one with several spans from minimum to maximum.
    """
    last, low, high = columns.last[line], columns.low[line], columns.high[line]
    entry = np.append(columns.before[line], last[:-1]) if len(last) else last
    plain = bool(((low == high) & (low == last)).all())
    values = np.stack((entry, last) if plain else (entry, low, high, last), axis=1).ravel()
    x = np.repeat(columns.x, 2 if plain else 4)
    ends = (int(columns.before[line]), int(last[-1] if len(last) else columns.before[line]))
    places = np.concatenate(([left], np.clip(x, left, right), [right]))
    return places.astype(np.float64), np.concatenate(([ends[0]], values, [ends[1]])).astype(np.float64)


def nice_ticks(most: float, room: int) -> list[int]:
    """Returns round values from 0 to at least `most`, about `room` many: 0, 5,000, 10,000..."""
    decade = 1
    while True:
        for factor in (1, 2, 5):
            step = decade * factor
            if step * room >= most:
                return [step * n for n in range(max(1, math.ceil(most / step)) + 1)]
        decade *= 10
