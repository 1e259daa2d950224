"""Messages per second by kind: bars of equal duration, stacked by family."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter

from inspector.analysis.views.timeline.message_positions import PER_MESSAGE, MessagePlaces, MessageTimes
from inspector.analysis.views.timeline.rates import FAMILIES, Bins, FamilyTimes, bin_width
from inspector.analysis.views.timeline.track_marks import Window
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.growth.card import CardText
from inspector.ui.panels.growth.figure import Scale
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.timeline.legend import Key

NAMES = tuple(family.name.lower() for family in FAMILIES)


_MIN_DURATION_S = 0.001
"""Duration assumed for messages that arrived at the same time, seconds."""
_GREYS = {"gateway": "line.control", "unknown": "line.strong"}
"""Families whose usual colours are too similar for stacked bars."""


def family_token(name: str) -> str:
    return _GREYS.get(name, f"family.{name}")


class RatesFigure:
    """The bars of one document.

    Attributes:
        empty: text for a plot without values.
        bins: the drawn bars; None before the first drawing.
        family_times: times of the messages by family.
    """

    def __init__(self, document: CaptureDocument, clock: MessageTimes, axis: TimeAxis, themes: ThemeController) -> None:
        self._document, self._clock, self._axis, self._themes = document, clock, axis, themes
        self._times: MessagePlaces = clock
        self._seconds = np.zeros(0)  # duration of each bar
        self.empty = ""
        self.bins: Bins | None = None
        self.family_times = FamilyTimes(document.capture)
        self._bars: list[list[QRectF]] = []  # by family
        self._busiest: tuple[tuple[int, int, int], str] | None = None

    def update(self) -> None:
        """Adds new messages. O(new messages)."""
        self._clock.update(len(self._document.analysis))
        self._times.update(len(self._document.analysis))
        self.family_times.update(self._times.values)

    def place_by(self, times: MessagePlaces) -> None:
        """Uses other positions of messages."""
        self._times, self.family_times, self.bins, self._busiest = (
            times,
            FamilyTimes(self._document.capture),
            None,
            None,
        )
        self.update()

    def _seconds_of(self, bins: Bins) -> NDArray[np.float64]:
        """Returns the (b,) durations in seconds.

        With even spacing a bar lasts from its first message to the next bar's.
        """
        if self._times is self._clock:
            return np.diff(bins.edges) / 1e9
        times = self._clock.values
        if not len(times):
            return np.ones(len(bins.edges) - 1)
        # Rounded up: the first message at or after an edge.
        rows = np.clip(-(-bins.edges // PER_MESSAGE), 0, len(times) - 1)
        return np.maximum(np.diff(np.maximum.accumulate(times[rows])) / 1e9, _MIN_DURATION_S)

    @property
    def keys(self) -> tuple[Key, ...]:
        """Families that have messages, as legend entries."""
        counts = self.family_times.counts
        return tuple(Key(name, family_token(name), "bar") for name, n in zip(NAMES, counts, strict=True) if n)

    # Figure

    def draw(self, window: Window) -> Scale:
        axis = self._axis
        width_ns = bin_width(axis.span_ns, window.width)
        if axis.counts:
            width_ns = max(PER_MESSAGE, width_ns)
        bins = self.bins = self.family_times.bins(window, axis.first_ns, width_ns)
        x = np.round(axis.xs_of(bins.edges, window.width))
        # A gap of one pixel between bars, and at least one pixel of width.
        left, right = x[:-1], np.maximum(x[1:] - 1, x[:-1] + 1)
        inside = right > 0
        below = np.zeros(len(left))
        left = np.maximum(left, 0)
        self._bars.clear()
        self._seconds = self._seconds_of(bins)
        for counts in bins.counts:
            rates = counts / self._seconds
            some = inside & (counts > 0)
            bars = np.stack((left, below, right - left, rates), axis=1)[some]
            self._bars.append([QRectF(*bar) for bar in bars.tolist()])
            below = below + rates
        return Scale(float(below[inside].max(initial=0)) or 1)

    def paint(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for name, bars in zip(NAMES, self._bars, strict=False):
            painter.setBrush(self._themes.theme.color(family_token(name)))
            painter.drawRects(bars)

    def _bin(self, ns: int) -> int | None:
        if self.bins is None:
            return None
        place = int(np.searchsorted(self.bins.edges, ns, side="right")) - 1
        return place if 0 <= place < self.bins.counts.shape[1] else None

    def _rows(self, place: int) -> NDArray[np.int64]:
        """Returns the messages of a bar in order of arrival. O(messages) in numpy, called for one bar at a time."""
        assert self.bins is not None
        times, edges = self._times.values, self.bins.edges
        return np.flatnonzero((times >= edges[place]) & (times < edges[place + 1]))

    def card(self, ns: int) -> CardText | None:
        """Returns the time range, the count of each family and the most frequent kind."""
        place = self._bin(ns)
        if place is None or self.bins is None:
            return None
        counts, total = self.bins.counts[:, place], int(self.bins.counts[:, place].sum())
        begin, end = (int(ns) for ns in self.bins.edges[place : place + 2])
        step = min(self.bins.width_ns, 1_000_000_000)
        since, until = self._axis.words_of(begin, step), self._axis.words_of(end, step)
        if self._axis.counts:
            until = self._axis.words_of(end - 1)
        rate = total / float(self._seconds[place])
        words = f"{rate:,.0f}" if rate >= 10 or rate == int(rate) else f"{rate:,.2g}"
        rows = [(f"{since} to {until}", f"{words} per second", "ink.primary")]
        rows += [
            (name, formats.count_of(int(n), "message"), family_token(name))
            for name, n in zip(NAMES, counts, strict=True)
            if n
        ]
        return CardText(tuple(rows), self._busiest_words(place) if total else "No messages")

    def _busiest_words(self, place: int) -> str:
        assert self.bins is not None
        key = (int(self.bins.edges[place]), self.bins.width_ns, self.family_times.message_count)
        if self._busiest is None or self._busiest[0] != key:
            rows = self._rows(place)
            kinds = np.bincount(self._document.capture.columns["kind"][rows])
            kind = int(kinds.argmax()) if len(kinds) else 0
            name = safe_line(self._document.capture.strings[kind], 60) if kind else "no kind"
            words = f"{kinds[kind]:,} of {len(rows):,}: {name}" if len(rows) > 1 else name
            self._busiest = key, words if len(rows) else ""
        return self._busiest[1]

    def dots(self, ns: int) -> list[tuple[float, str]]:
        """Returns nothing: bars have no marks."""
        return []

    def message_at(self, ns: int) -> int | None:
        place = self._bin(ns)
        rows = self._rows(place) if place is not None else ()
        return int(rows[np.argmin(self._times.values[rows])]) if len(rows) else None

    def next_time(self, ns: int | None, step: int) -> int | None:
        """Returns the middle of the next bar that is not empty, or the next message beyond the visible range."""
        if self.bins is None:
            return None
        full, edges = np.flatnonzero(self.bins.totals), self.bins.edges
        here = None if ns is None else self._bin(ns)
        if here is not None:
            full = full[full > here] if step > 0 else full[full < here]
        if len(full):
            place = full[0 if step > 0 else -1]
            return int(edges[place] + (edges[place + 1] - edges[place]) // 2)
        times = self._times.values
        further = times[times >= edges[-1]] if step > 0 else times[times < edges[0]]
        if not len(further) or ns is None:
            return None
        return int(further.min() if step > 0 else further.max())
