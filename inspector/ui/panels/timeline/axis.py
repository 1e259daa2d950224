"""The time axis that lanes, plots and the strip below them share: what is shown, the cursor, and the range brushed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from inspector.present.time_ranges import since_words

LEAST_SPAN_NS = 1_000_000
"""Nothing shorter is shown: 1 ms."""

_SECOND = 1_000_000_000
_FARTHEST_NS = 2**62
"""The axis reaches from 1823 to 2116; what claims to be of another time stands outside of it."""
_LONG_NS = 2**52
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3600 * _SECOND, 86_400 * _SECOND
_LONG_STEPS = (
    *(_SECOND * n for n in (1, 2, 5, 10, 20, 30)),
    *(_MINUTE * n for n in (1, 2, 5, 10, 20, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
)
_TICK_PX = 100
"""Least distance of two ticks."""
_EDGE = 0.12
"""Zooming about a place so near to the end of the capture leaves the end in sight, so that the view goes on with it."""
_BEFORE, _AFTER = 0.008, 0.018
"""Air beside the first and the last message, as shares of what is shown."""


class TimeAxis(QObject):
    """Which part of a capture's time is shown, where the cursor stands, and what is brushed.

    All times are Unix nanoseconds as Python integers. Positions are pixels from the left edge of what is painted.

    Signals:
        range_changed(): another part is shown, or the capture has grown.
        cursor_changed(): the cursor moved, appeared or went.
        brush_changed(): the range that is brushed changed.
        brush_committed(int, int): a range was chosen; first and last nanosecond.
        brushing_changed(bool): dragging brushes, or moves what is shown.

    Attributes:
        first_ns, last_ns: of the whole capture.
        left_ns, right_ns: what is shown; it may reach a little past the capture.
        cursor_ns: the time pointed at, or None.
        brushed: the range being brushed, or None.
        brushing: dragging brushes a range without any key held, once.
    """

    range_changed = Signal()
    cursor_changed = Signal()
    brush_changed = Signal()
    brush_committed = Signal(object, object)  # no ints: Qt's have 32 bits
    brushing_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.first_ns, self.last_ns = 0, LEAST_SPAN_NS
        self.left_ns, self.right_ns = self._whole()
        self.cursor_ns: int | None = None
        self.brushed: tuple[int, int] | None = None
        self.brushing = False

    # What is shown

    def _whole(self) -> tuple[int, int]:
        length = max(LEAST_SPAN_NS, self.last_ns - self.first_ns)
        return self.first_ns - int(length * _BEFORE), self.first_ns + length + int(length * _AFTER)

    @property
    def span_ns(self) -> int:
        """How much time is shown."""
        return self.right_ns - self.left_ns

    @property
    def shows_all(self) -> bool:
        """Whether the whole capture is shown."""
        return self.left_ns <= self.first_ns and self.right_ns >= self.last_ns

    @property
    def at_end(self) -> bool:
        """Whether the end of the capture is in sight, so that the view goes on with it."""
        return self.right_ns >= self.last_ns

    def set_capture(self, first_ns: int, last_ns: int) -> None:
        """The capture reaches from here to there now.

        Where all of it was shown all of it is again, where its end was the view goes on with it; else nothing moves.
        """
        first_ns, last_ns = max(first_ns, -_FARTHEST_NS), min(last_ns, _FARTHEST_NS)
        if (first_ns, last_ns) == (self.first_ns, self.last_ns):
            return
        everything, end = self.shows_all, self.at_end
        grown = last_ns - self.last_ns
        self.first_ns, self.last_ns = first_ns, max(last_ns, first_ns)
        if everything:
            self.left_ns, self.right_ns = self._whole()
        elif end:
            self.left_ns, self.right_ns = self.left_ns + grown, self.right_ns + grown
        self.range_changed.emit()

    def show(self, left: int, right: int) -> None:
        """Show this range, as far as the capture reaches; never less than LEAST_SPAN_NS."""
        first, last = self._whole()
        span = min(max(right - left, LEAST_SPAN_NS), last - first)
        left = min(max((left + right - span) // 2, first), last - span)
        if (left, left + span) != (self.left_ns, self.right_ns):
            self.left_ns, self.right_ns = left, left + span
            self.range_changed.emit()

    def fit(self) -> None:
        """Show everything."""
        self.show(*self._whole())

    def zoom(self, factor: float, about_ns: int) -> None:
        """Show less (a factor over 1) or more; `about_ns` stays where it is."""
        span = min(max(round(self.span_ns / factor), LEAST_SPAN_NS), sum(self._whole()) - 2 * self._whole()[0])
        if factor > 1 and self.at_end and about_ns >= self.right_ns - self.span_ns * _EDGE:
            right = min(self.right_ns, self.last_ns + int(span * _AFTER))
            self.show(right - span, right)
            return
        share = (about_ns - self.left_ns) / self.span_ns
        left = about_ns - round(span * share)
        self.show(left, left + span)

    def show_end(self) -> None:
        """Show the end of the capture without another zoom; nothing moves while it is in sight."""
        if not self.at_end:
            right = self.last_ns + int(self.span_ns * _AFTER)
            self.show(right - self.span_ns, right)

    def pan(self, share: float) -> None:
        """Move by a share of what is shown, later (positive) or earlier."""
        by = round(self.span_ns * share)
        self.show(self.left_ns + by, self.right_ns + by)

    def bring(self, ns: int) -> None:
        """Show a time without another zoom; nothing moves while it is in sight."""
        margin = self.span_ns // 20
        if not self.left_ns + margin <= ns <= self.right_ns - margin:
            left = ns - self.span_ns // 2
            self.show(left, left + self.span_ns)

    # Places

    def x_of(self, ns: int, width: float) -> float:
        """Where a time stands on an axis so many pixels wide; outside of it when it is not shown."""
        return (ns - self.left_ns) / self.span_ns * width

    def xs_of(self, ns: NDArray[np.int64], width: float) -> NDArray[np.float64]:
        """The same of many times; those not shown stand at most an axis' width outside."""
        left, right = self.left_ns - self.span_ns, self.right_ns + self.span_ns
        near = np.clip(ns, *_within(left, right))
        # Far apart they may differ by more than 64 bits tell; near to one another floats would lose digits.
        since = near.astype(np.float64) - self.left_ns if self.span_ns > _LONG_NS else near - np.int64(self.left_ns)
        return np.asarray(since * (width / self.span_ns), np.float64)

    def ns_at(self, x: float, width: float) -> int:
        """The time at a place."""
        return self.left_ns + round(x / max(1.0, width) * self.span_ns)

    def ticks(self, width: float) -> list[tuple[int, str]]:
        """Times to be named on an axis so many pixels wide, with what to write there: "10 s", "1.250 s", "5 min"."""
        step = _step(self.span_ns * _TICK_PX / max(1.0, width))
        place = -((self.first_ns - self.left_ns) // step)  # the first one not before the left edge, counted from zero
        found: list[tuple[int, str]] = []
        while (at := self.first_ns + place * step) <= self.right_ns:
            if place >= 0:
                found.append((at, since_words(place * step, step)))
            place += 1
        return found

    # Cursor and brush

    def set_cursor(self, ns: int | None) -> None:
        """Point at a time, or at none."""
        if ns != self.cursor_ns:
            self.cursor_ns = ns
            self.cursor_changed.emit()

    def set_brush(self, brushed: tuple[int, int] | None) -> None:
        """Brush a range, in either direction, or none."""
        ordered = None if brushed is None else (min(brushed), max(brushed))
        if ordered != self.brushed:
            self.brushed = ordered
            self.brush_changed.emit()

    def set_brushing(self, on: bool) -> None:
        """Let the next drag brush a range, or move what is shown as ever."""
        if on != self.brushing:
            self.brushing = on
            self.brushing_changed.emit(on)

    def commit_brush(self) -> None:
        """What is brushed is chosen; the brush is gone then."""
        brushed = self.brushed
        self.set_brush(None)
        self.set_brushing(False)
        if brushed is not None:
            self.brush_committed.emit(*brushed)


def _step(least_ns: float) -> int:
    """The shortest round length of time not under this."""
    if least_ns > _LONG_STEPS[-1]:
        step = _DAY
        while step < least_ns:
            step *= 2 if step < 8 * _DAY else 5
        return step
    if least_ns > _SECOND:
        return next(step for step in _LONG_STEPS if step >= least_ns)
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= least_ns:
                return step * factor
        step *= 10


_BOUNDS = np.iinfo(np.int64)


def _within(left: int, right: int) -> tuple[Any, Any]:
    """A range as numpy can hold it."""
    return np.int64(max(left, int(_BOUNDS.min) + 1)), np.int64(min(right, int(_BOUNDS.max)))
