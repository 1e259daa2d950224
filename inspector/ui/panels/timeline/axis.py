"""Time axis shared by lanes, plots and overview strip: visible range, labels, breaks, cursor, brush."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.plots import PER_MESSAGE, Break, TimeScale, Window
from inspector.present import formats
from inspector.present.time_ranges import since_words

Spacing = Literal["time", "scale", "message"]
"""Spacing of messages: by time without long silences, by time to scale, or evenly by count."""

LEAST_SPAN_NS = 1_000_000
"""Shortest visible range, nanoseconds."""

_SECOND = 1_000_000_000
_LIMIT_NS = 2**62
"""Limit of the axis, from 1823 to 2116. Timestamps beyond it are clamped."""
# Floats represent integers exactly up to 2**53.
_LONG_NS = 2**52
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3600 * _SECOND, 86_400 * _SECOND
_LONG_STEPS = (
    *(_SECOND * n for n in (1, 2, 5, 10, 20, 30)),
    *(_MINUTE * n for n in (1, 2, 5, 10, 20, 30)),
    *(_HOUR * n for n in (1, 2, 3, 6, 12)),
)
_TICK_PX = 100
"""Minimum distance of two ticks, pixels."""
_EDGE = 0.12
"""A zoom about a point this near to the right edge keeps the end of the capture visible, so that the view follows it.
"""
_BEFORE, _AFTER = 0.008, 0.018
"""Margins before the first and after the last message, as shares of the visible range."""


class TimeAxis(QObject):
    """Visible range, cursor and brush of a capture's timeline.

    All times are Unix nanoseconds as Python integers. With even spacing they are the positions of `MessageOrder`
    instead. Positions on screen are pixels from the left edge of the axis. Long silences are left out: `TimeScale` maps
    times to places, and distances on screen are proportional to distances of places.

    Signals:
        range_changed(): another range is visible, or the capture has grown.
        cursor_changed(): the cursor moved, appeared or disappeared.
        brush_changed(): the brushed range changed.
        brush_committed(int, int): the user chose a range; first and last nanosecond.
        brushing_changed(bool): True if a drag brushes, False if it pans.

    Attributes:
        first_ns, last_ns: of the whole capture.
        scale: the silences left out.
        counts: True if messages are evenly spaced and the axis counts them.
        cursor_ns: the time at the pointer, or None.
        brushed: the range being brushed, or None.
        brushing: True if the next drag brushes without a modifier key.
    """

    range_changed = Signal()
    cursor_changed = Signal()
    brush_changed = Signal()
    brush_committed = Signal(object, object)  # object, because Qt's int has 32 bits
    brushing_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.first_ns, self.last_ns = 0, LEAST_SPAN_NS
        self.scale = TimeScale()
        self.counts = False
        self._left, self._right = self._whole()
        self.cursor_ns: int | None = None
        self.brushed: tuple[int, int] | None = None
        self.brushing = False

    # Visible range

    @property
    def _first(self) -> int:
        return self.scale.place(self.first_ns)

    @property
    def _last(self) -> int:
        return self.scale.place(self.last_ns)

    def _whole(self) -> tuple[int, int]:
        first = self._first
        length = max(LEAST_SPAN_NS, self._last - first)
        return first - int(length * _BEFORE), first + length + int(length * _AFTER)

    @property
    def left_ns(self) -> int:
        """The earliest visible time; it may be a little before the capture."""
        return self.scale.time(self._left)

    @property
    def right_ns(self) -> int:
        """The latest visible time; it may be a little after the capture."""
        return self.scale.time(self._right)

    @property
    def span_ns(self) -> int:
        """Visible duration without the silences left out."""
        return self._right - self._left

    @property
    def shows_all(self) -> bool:
        return self._left <= self._first and self._right >= self._last

    @property
    def at_end(self) -> bool:
        """True if the end of the capture is visible; the view then follows new messages."""
        return self._right >= self._last

    def window(self, width: int) -> Window:
        """Returns the visible range for an axis of this width in pixels."""
        return Window(self.left_ns, self.right_ns, width, self.scale)

    def set_capture(self, first_ns: int, last_ns: int, breaks: Sequence[Break] = ()) -> None:
        """Sets the range of the capture.

        A view of the whole capture still shows all of it, and a view of the end follows it. Other views stay, unless
        other silences are left out.
        """
        first_ns, last_ns = max(first_ns, -_LIMIT_NS), min(last_ns, _LIMIT_NS)
        scale = TimeScale(breaks)
        if (first_ns, last_ns) == (self.first_ns, self.last_ns) and scale == self.scale:
            return
        # Read before the range changes below.
        everything, end = self.shows_all, self.at_end
        left_ns, span, last = self.left_ns, self.span_ns, self._last
        past = self._right - last
        self.first_ns, self.last_ns, self.scale = first_ns, max(last_ns, first_ns), scale
        if everything:
            self._left, self._right = self._whole()
        elif end:
            self._right = self._last + past
            self._left = self._right - span
        else:
            self._left = scale.place(left_ns)
            self._right = self._left + span
        self.range_changed.emit()

    def count_messages(self, on: bool) -> None:
        """Spaces messages evenly or by time, and resets the range; `set_capture` must follow."""
        if on != self.counts:
            self.counts = on
            self.set_brush(None)
            self.set_cursor(None)
            self.first_ns, self.last_ns, self.scale = 0, LEAST_SPAN_NS, TimeScale()
            self._left, self._right = self._whole()

    def show(self, left_ns: int, right_ns: int) -> None:
        """Shows a range of times within the capture, at least `LEAST_SPAN_NS` long."""
        self._show(self.scale.place(left_ns), self.scale.place(right_ns))

    def _show(self, left: int, right: int) -> None:
        first, last = self._whole()
        span = min(max(right - left, LEAST_SPAN_NS), last - first)
        left = min(max((left + right - span) // 2, first), last - span)
        if (left, left + span) != (self._left, self._right):
            self._left, self._right = left, left + span
            self.range_changed.emit()

    def fit(self) -> None:
        """Shows the whole capture."""
        self._show(*self._whole())

    def zoom(self, factor: float, about_ns: int) -> None:
        """Zooms in (a factor over 1) or out; `about_ns` keeps its position."""
        whole, about = self._whole(), self.scale.place(about_ns)
        span = min(max(round(self.span_ns / factor), LEAST_SPAN_NS), whole[1] - whole[0])
        if factor > 1 and self.at_end and about >= self._right - self.span_ns * _EDGE:
            right = min(self._right, self._last + int(span * _AFTER))
            self._show(right - span, right)
            return
        left = about - round(span * ((about - self._left) / self.span_ns))
        self._show(left, left + span)

    def show_end(self) -> None:
        """Scrolls to the end of the capture at the same zoom, unless it is visible."""
        if not self.at_end:
            right = self._last + int(self.span_ns * _AFTER)
            self._show(right - self.span_ns, right)

    def pan(self, share: float) -> None:
        """Scrolls by a share of the visible range, later if positive."""
        by = round(self.span_ns * share)
        self._show(self._left + by, self._right + by)

    def drag_to(self, ns: int, x: float, width: float) -> None:
        """Scrolls so that a time is at a position."""
        left = self.scale.place(ns) - round(x / max(1.0, width) * self.span_ns)
        self._show(left, left + self.span_ns)

    def bring(self, ns: int) -> None:
        """Scrolls to a time at the same zoom, unless it is visible."""
        margin, place = self.span_ns // 20, self.scale.place(ns)
        if not self._left + margin <= place <= self._right - margin:
            left = place - self.span_ns // 2
            self._show(left, left + self.span_ns)

    # Positions

    def x_of(self, ns: int, width: float) -> float:
        """Returns the position of a time on an axis of this width; outside of it if the time is not visible."""
        return (self.scale.place(ns) - self._left) / self.span_ns * width

    def xs_of(self, ns: NDArray[np.int64], width: float) -> NDArray[np.float64]:
        """Returns the positions of (n,) times; invisible ones are at most an axis' width outside."""
        left, right = self._left - self.span_ns, self._right + self.span_ns
        near = np.clip(self.scale.places(ns), *_clamp_int64(left, right))
        # A long range may exceed 64-bit differences, so it uses floats. For a short one floats would lose digits.
        since = near.astype(np.float64) - self._left if self.span_ns > _LONG_NS else near - np.int64(self._left)
        return np.asarray(since * (width / self.span_ns), np.float64)

    def ns_at(self, x: float, width: float) -> int:
        return self.scale.time(self._left + round(x / max(1.0, width) * self.span_ns))

    def share_of(self, ns: int) -> float:
        """Returns the share of the whole capture before a time: 0 at its first message, 1 at its last."""
        return (self.scale.place(ns) - self._first) / max(1, self._last - self._first)

    def at_share(self, share: float) -> int:
        """Returns the time at a share of the whole capture."""
        return self.scale.time(self._first + round(share * (self._last - self._first)))

    # Labels

    def words_of(self, ns: int, step_ns: int = 1_000_000) -> str:
        """Formats a time with the precision of `step_ns`: "10 s", "2:05 h", "No. 12"."""
        if self.counts:
            return formats.message_number(max(0, round((ns - self.first_ns) / PER_MESSAGE)))
        return since_words(ns - self.first_ns, step_ns, of_ns=self.last_ns - self.first_ns)

    @property
    def tick_px(self) -> int:
        """Minimum distance of two ticks, in pixels."""
        return _TICK_PX

    @property
    def tick_origin(self) -> int:
        """A time with a tick; the others are round distances from it."""
        return self.first_ns

    def ticks(self, width: float) -> list[tuple[int, str]]:
        """Returns times and labels of ticks on an axis of this width: "10 s", "1.250 s", "0:05 h"."""
        least = self.span_ns * self.tick_px / max(1.0, width)
        if self.counts:
            step = max(PER_MESSAGE, _decimal_step(least))
            origin = self.first_ns - PER_MESSAGE  # ticks are at round message numbers; the first message is No. 1
        else:
            step, origin = _step(least), self.tick_origin
        found: list[tuple[int, str]] = []
        for left, right in self.scale.unbroken_parts(max(self.left_ns, self.first_ns), self.right_ns):
            at = origin - (origin - left) // step * step  # the first tick at or after the left end
            while at <= right:
                found.append((at, self.words_of(at, step)))
                at += step
        return found

    def breaks_shown(self, width: float) -> list[tuple[float, float]]:
        """Returns left and right positions of the visible breaks."""
        shown = self.scale.breaks_between(self.left_ns, self.right_ns)
        return [(self.x_of(one.start_ns, width), self.x_of(one.end_ns, width)) for one in shown]

    def labels(
        self, width: float, measure: Callable[[str], float], taken: tuple[float, float] | None = None
    ) -> list[tuple[float, float, str]]:
        """Returns the labels of an axis: durations of silences first, then ticks that fit between them.

        Args:
            width: of the axis, in pixels.
            measure: returns the width of a text.
            taken: a span to keep free.

        Returns:
            Left end, right end and text; labels never overlap.
        """
        found: list[tuple[float, float, str]] = [] if taken is None else [(*taken, "")]
        ticks = [(self.x_of(ns, width) + _TICK_AIR, measure(words), words) for ns, words in self.ticks(width)]
        for (left, right), silence in zip(
            self.breaks_shown(width), self.scale.breaks_between(self.left_ns, self.right_ns), strict=True
        ):
            words = f"{formats.duration(silence.silence_ns)} {LEFT_OUT}"
            middle, room = (max(left, 0) + min(right, width)) / 2, measure(words)
            # Beside its middle, where that leaves more ticks their labels.
            places = [min(max(middle - share * room, 0), width - room) for share in (0.5, 0.7, 0.3, 0.95, 0.05)]
            _add_label(found, min(places, key=lambda left, room=room: _overlap(ticks, left, room)), room, words)
        for x, room, words in ticks:
            if x >= 0 and x + room <= width:
                _add_label(found, x, room, words)
        return found if taken is None else found[1:]

    # Cursor and brush

    def set_cursor(self, ns: int | None) -> None:
        if ns != self.cursor_ns:
            self.cursor_ns = ns
            self.cursor_changed.emit()

    def set_brush(self, brushed: tuple[int, int] | None) -> None:
        """Brushes a range given in either direction; None clears the brush."""
        ordered = None if brushed is None else (min(brushed), max(brushed))
        if ordered != self.brushed:
            self.brushed = ordered
            self.brush_changed.emit()

    def set_brushing(self, on: bool) -> None:
        """Makes the next drag brush a range, or pan as usual."""
        if on != self.brushing:
            self.brushing = on
            self.brushing_changed.emit(on)

    def commit_brush(self) -> None:
        """Emits the brushed range and clears the brush."""
        brushed = self.brushed
        self.set_brush(None)
        self.set_brushing(False)
        if brushed is not None:
            self.brush_committed.emit(*brushed)


LEFT_OUT = "left out"
_APART, _TICK_AIR = 8, 4
"""Between two labels, and from a tick to its label; pixels."""


def _add_label(found: list[tuple[float, float, str]], left: float, room: float, words: str) -> None:
    """Adds a label unless it would overlap another one."""
    if not any(left - _APART < end and begin < left + room + _APART for begin, end, _ in found):
        found.append((left, left + room, words))


def _overlap(labels: list[tuple[float, float, str]], left: float, room: float) -> int:
    """Returns the number of labels, by left end and width, that a label at a place would overlap."""
    return sum(left - _APART < at + wide and at < left + room + _APART for at, wide, _ in labels)


def _step(least_ns: float) -> int:
    """Returns the shortest round duration of at least `least_ns`."""
    if least_ns > _LONG_STEPS[-1]:
        step = _DAY
        while step < least_ns:
            step *= 2 if step < 8 * _DAY else 5
        return step
    if least_ns > _SECOND:
        return next(step for step in _LONG_STEPS if step >= least_ns)
    return _decimal_step(least_ns)


def _decimal_step(least: float) -> int:
    """Returns the smallest of 1, 2, 5, 10, 20... that is at least `least`."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= least:
                return step * factor
        step *= 10


_BOUNDS = np.iinfo(np.int64)


def _clamp_int64(left: int, right: int) -> tuple[Any, Any]:
    """Clamps a range to int64."""
    return np.int64(max(left, int(_BOUNDS.min) + 1)), np.int64(min(right, int(_BOUNDS.max)))
