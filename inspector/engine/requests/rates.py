"""Messages per second by family, over time."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.timeline.message_positions import PER_MESSAGE
from inspector.analysis.views.timeline.rates import FAMILIES, FamilyTimes
from inspector.analysis.views.timeline.rates import Bins as Bins
from inspector.analysis.views.timeline.rates import bin_width as bin_width
from inspector.analysis.views.timeline.scale import Break, TimeScale
from inspector.analysis.views.timeline.track_marks import Window
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request
from inspector.engine.requests.plots import message_places, message_times
from inspector.present.wire_text import safe_line
from inspector.store.messages.capture import Capture

NAMES = tuple(family.name.lower() for family in FAMILIES)
"""Names of the families, in the order of the counts."""
_MIN_DURATION_S = 0.001
"""Duration assumed for messages that arrived at the same time, seconds."""


class Rates(msgspec.Struct, frozen=True):
    """Bars of a visible range.

    Attributes:
        bins: messages by family and bar.
        seconds: (b,) float64, duration of each bar.
        totals: number of messages by family in the whole capture.
    """

    bins: Bins
    seconds: NDArray[np.float64]
    totals: tuple[int, ...]


class CountRates(Request[Rates], frozen=True):
    """Counts messages per bar.

    Attributes:
        first: position of the first message, where a bar begins.
        left, right: the visible range, as positions.
        bar: length of a bar.
        by_order: messages are evenly spaced; a bar then lasts from its first message to the next bar's.
        breaks: silences that the axis leaves out.
    """

    first: int
    left: int
    right: int
    bar: int
    by_order: bool = False
    breaks: tuple[Break, ...] = ()


class BarMessages(msgspec.Struct, frozen=True):
    """Messages of a bar.

    Attributes:
        earliest: the earliest message; None without any.
        words: names the most frequent kind.
    """

    earliest: int | None = None
    words: str = ""


class DescribeBar(Request[BarMessages], frozen=True):
    """Describes the messages from `left` to before `right`."""

    left: int
    right: int
    by_order: bool = False


class _Families:
    """Times of messages by family; the kind of a message never changes."""

    def __init__(self, capture: Capture) -> None:
        self.times = FamilyTimes(capture)

    def note_changed(self, _changed: Rows) -> None:
        pass


def _rates(held: OpenDocument, asked: CountRates) -> Rates:
    places = message_places(held, by_order=asked.by_order)
    capture = held.document.capture
    families = held.kept((_Families, asked.by_order), lambda: _Families(capture)).times
    families.update(places.values)
    window = Window(asked.left, asked.right, 1, TimeScale(asked.breaks))
    bins = families.bins(window, asked.first, asked.bar)
    return Rates(bins, _seconds(held, bins, by_order=asked.by_order), tuple(families.counts))


def _seconds(held: OpenDocument, bins: Bins, *, by_order: bool) -> NDArray[np.float64]:
    """Returns the (b,) durations of bars in seconds."""
    if not by_order:
        return np.diff(bins.edges) / 1e9
    times = message_times(held).values
    if not len(times):
        return np.ones(len(bins.edges) - 1)
    # Rounded up: the first message at or after an edge.
    rows = np.clip(-(-bins.edges // PER_MESSAGE), 0, len(times) - 1)
    return np.maximum(np.diff(np.maximum.accumulate(times[rows])) / 1e9, _MIN_DURATION_S)


def _describe(held: OpenDocument, asked: DescribeBar) -> BarMessages:
    capture, places = held.document.capture, message_places(held, by_order=asked.by_order).values
    rows = np.flatnonzero((places >= asked.left) & (places < asked.right))
    if not len(rows):
        return BarMessages()
    counts = np.bincount(capture.columns["kind"][rows])
    kind = int(counts.argmax())
    name = safe_line(capture.strings[kind], 60) if kind else "no kind"
    words = f"{counts[kind]:,} of {len(rows):,}: {name}" if len(rows) > 1 else name
    return BarMessages(int(rows[np.argmin(places[rows])]), words)


QUERIES = (Query(CountRates, Rates, _rates), Query(DescribeBar, BarMessages, _describe))
