"""Visible content of the lanes for one time window: computed once, painted and hit-tested often. No Qt.

The cost depends on pixels and visible lanes, not on the number of messages.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity
from inspector.analysis.views.timeline.lanes import Bar, Lane
from inspector.analysis.views.timeline.spans import SpanKind
from inspector.analysis.views.timeline.track_marks import Mark, Window, marks_of
from inspector.protocol.kinds import Family
from inspector.store.columns.hashes import NO_ROW
from inspector.ui.panels.timeline.geometry import COMPACTION_REACH, LaneGeometry
from inspector.ui.panels.timeline.source import TimelineSource

LEAST_SPAN_PX = 4
_MAX_SPANS = 1_500
_MIN_BAR_PX = 3
_MAX_BARS = 400


@dataclass(frozen=True, slots=True)
class SeenMark:
    """A mark and its family."""

    mark: Mark
    family: Family | None
    """None for several messages of different families."""


@dataclass(frozen=True, slots=True)
class SeenBar:
    """A context's bar, in pixels from the left of the axis."""

    bar: Bar
    left: int
    right: int


@dataclass(slots=True)
class TrackPicture:
    """A track with its marks and bars."""

    track: int
    y: int
    base: bool
    marks: list[SeenMark] = field(default_factory=list)
    bars: list[SeenBar] = field(default_factory=list)
    crowd: list[tuple[int, int]] = field(default_factory=list)
    """Pixel ranges of bars too narrow to draw one by one."""

    def mark_over(self, x: float) -> Mark | None:
        """Returns the mark that covers a position."""
        place = bisect_right(self.marks, x, key=lambda one: one.mark.first_x) - 1
        mark = self.marks[place].mark if place >= 0 else None
        return mark if mark is not None and x <= mark.last_x else None

    def has_count_near(self, x: float, reach: float, zoom: float) -> bool:
        """Returns True if a sign of this reach (half its width, at 100 % zoom) at a position would cover a count."""
        counts = (one.mark for one in self.marks if one.mark.count > 1 and not one.mark.dense)
        return any(abs(mark.x - x) < (mark.half + reach) * zoom for mark in counts)


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A request until its answer, a proposal until its decision, or a model call until its output."""

    row: int
    end: int
    left: float
    right: float
    y: int
    sort: SpanKind
    waits: bool


@dataclass(frozen=True, slots=True)
class SeenProblem:
    """A message with a problem."""

    x: float
    y: int
    severity: Severity
    on_count: bool
    """True on a count, which is higher than a mark."""


@dataclass(frozen=True, slots=True)
class SeenCompaction:
    """A message that reports a compacted context; `top` and `bottom` are those of its lane."""

    row: int
    x: float
    y: int
    top: int
    bottom: int
    at_count: bool
    """True if its sign would cover a count; it is then above it."""


@dataclass(slots=True)
class Picture:
    """Everything visible; `y` is from the top of all lanes."""

    window: Window
    lanes: list[tuple[Lane, int, int]] = field(default_factory=list)
    """Lanes with top and bottom."""
    tracks: dict[int, TrackPicture] = field(default_factory=dict)
    spans: list[SeenSpan] = field(default_factory=list)
    problems: list[SeenProblem] = field(default_factory=list)
    compactions: list[SeenCompaction] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    densest: int = 1
    """Message count of the densest cell in all density strips."""

    def hit(self, x: float, y: int, geometry: LaneGeometry, zoom: float) -> SeenMark | None:
        """Returns the nearest mark within reach of a position."""
        track = geometry.track_at(y)
        if track is None or track not in self.tracks or abs(geometry.y_of(track) - y) > geometry.bar // 2 + 2:
            return None
        near = [(abs(one.mark.x - x), one) for one in self.tracks[track].marks]
        found = min(near, key=lambda pair: pair[0], default=None)
        if found is None or found[0] > found[1].mark.half * zoom + 3:
            return None
        return found[1]

    def compaction_at(self, x: float, y: int, zoom: float) -> SeenCompaction | None:
        """Returns the compaction whose sign or line is at a place."""
        near = (one for one in self.compactions if one.top <= y < one.bottom and abs(one.x - x) <= 4 * zoom)
        return min(near, key=lambda one: abs(one.x - x), default=None)

    def span_at(self, x: float, y: int, zoom: float) -> SeenSpan | None:
        """Returns the shortest span at a position."""
        over = (one for one in self.spans if one.left <= x <= one.right and abs(one.y - y) <= 6 * zoom)
        return min(over, key=lambda one: one.right - one.left, default=None)

    def bar_at(self, x: float, y: int, geometry: LaneGeometry) -> SeenBar | None:
        """Returns the context bar at a position."""
        track = geometry.track_at(y)
        if track is None or track not in self.tracks or abs(geometry.y_of(track) - y) > geometry.bar // 2:
            return None
        return next((bar for bar in self.tracks[track].bars if bar.left <= x <= bar.right), None)


def picture_of(
    source: TimelineSource, geometry: LaneGeometry, window: Window, top: int, height: int, zoom: float
) -> Picture:
    """Computes the picture of a time window between two heights. O(pixels x visible lanes)."""
    lanes, found = source.lanes, Picture(window)
    places = geometry.visible(top, height)
    for place in places:
        lane = geometry.lanes[place]
        found.lanes.append((lane, int(geometry.tops[place]), int(geometry.tops[place + 1])))
        for track in range(lane.track, lane.track + lane.tracks):
            y = geometry.y_of(track)
            if top - geometry.bar <= y <= top + height + geometry.bar:
                found.tracks[track] = _track(source, track, y, track == lane.track and lane.based, window, zoom)
    dense = (one.mark.count for track in found.tracks.values() for one in track.marks if one.mark.dense)
    found.densest = max(dense, default=1)
    _add_spans(found, source, zoom)
    _add_problems(found, source, zoom)
    _add_compactions(found, source, zoom)
    times = source.times.values
    found.gaps = [float(x) for x in window.xs(times[lanes.gaps]) if 0 <= x <= window.width] if lanes.gaps else []
    return found


def _track(source: TimelineSource, track: int, y: int, base: bool, window: Window, zoom: float) -> TrackPicture:
    lanes, found = source.lanes, TrackPicture(track, y, base)
    for mark in marks_of(lanes.segments, track, window, lanes.family, zoom):
        found.marks.append(SeenMark(mark, lanes.family(mark.row) if mark.one_family else None))
    if base:
        return found
    least = _MIN_BAR_PX * zoom
    bars, starts, ends = lanes.bars_within(
        track, window.left_ns, window.right_ns, _MAX_BARS, least * window.ns_per_px
    )  # fmt: skip
    for bar in bars:
        left, right = (_clipped(ns, window) for ns in (bar.start_ns, bar.end_ns))
        found.bars.append(SeenBar(bar, left, max(right, left + round(least))))
    found.crowd = _covered_pixels(starts, ends, window)
    return found


def _covered_pixels(starts: NDArray[np.int64], ends: NDArray[np.int64], window: Window) -> list[tuple[int, int]]:
    """Returns the pixels covered by time ranges as merged runs."""
    if not len(starts):
        return []
    first, last = (np.clip(np.rint(window.xs(ns)), 0, window.width).astype(np.int64) for ns in (starts, ends))
    count = window.width + 2
    # Bars open at a pixel minus bars closed before it; O(pixels + bars).
    over = np.cumsum(np.bincount(first, minlength=count) - np.bincount(last + 1, minlength=count))
    edges = np.flatnonzero(np.diff(over > 0, prepend=False, append=False))
    return [(int(begin), int(stop)) for begin, stop in zip(edges[::2], edges[1::2], strict=True)]


def _clipped(ns: int, window: Window) -> int:
    """Returns a position on the axis, clamped near its ends."""
    return round(min(max(window.x(ns), -1000), window.width + 1000))


def _add_spans(found: Picture, source: TimelineSource, zoom: float) -> None:
    spans, window = source.spans, found.window
    least = LEAST_SPAN_PX * zoom * window.ns_per_px
    places = spans.between(window.left_ns, window.right_ns, least, _MAX_SPANS)
    if not len(places):
        return
    tracks = source.lanes.tracks_of(spans.rows[places]).tolist()
    for place, track in zip(places.tolist(), tracks, strict=True):
        seen = found.tracks.get(track)
        if seen is None:
            continue
        end = int(spans.ends[place])
        right = _clipped(int(spans.ends_ns[place]) if end != NO_ROW else source.times.last_ns, window)
        left = _clipped(int(spans.starts_ns[place]), window)
        found.spans.append(
            SeenSpan(
                int(spans.rows[place]), end, left, right, seen.y, SpanKind(int(spans.sorts[place])), waits=end == NO_ROW
            )
        )


def _add_problems(found: Picture, source: TimelineSource, zoom: float) -> None:
    rows = source.problems
    if not len(rows) or not found.tracks:
        return
    times = source.times.values[rows]
    window = found.window
    rows = rows[(times >= window.left_ns) & (times <= window.right_ns)]
    if not len(rows):
        return
    tracks = source.lanes.tracks_of(rows)
    seen = np.isin(tracks, np.fromiter(found.tracks, np.int64))
    rows, tracks = rows[seen], tracks[seen]
    store = source.document.analysis.findings.found
    severities = store.severities[store.columns["set"][rows]]
    xs = window.xs(source.times.values[rows])
    # Keeps the most severe problem per few pixels of a track.
    cells = tracks * (window.width + 1) + (xs / (6 * zoom)).astype(np.int64)
    worst_first = np.lexsort((-severities.astype(np.int64), cells))
    _, first = np.unique(cells[worst_first], return_index=True)
    for place in worst_first[first].tolist():
        track, x = found.tracks[int(tracks[place])], float(xs[place])
        held = track.mark_over(x)
        several = held is not None and held.count > 1 and not held.dense
        found.problems.append(
            SeenProblem(
                held.x if held is not None and several else x, track.y, Severity(int(severities[place])), several
            )
        )


def _add_compactions(found: Picture, source: TimelineSource, zoom: float) -> None:
    """Adds the signs of compactions on screen, one for each few pixels of a track."""
    rows, window = source.compactions, found.window
    times = source.times.values[rows]
    rows = rows[(times >= window.left_ns) & (times <= window.right_ns)]
    if not len(rows):
        return
    lanes = {track: (top, bottom) for lane, top, bottom in found.lanes
             for track in range(lane.track, lane.track + lane.tracks)}  # fmt: skip
    seen: set[tuple[int, int]] = set()
    xs = window.xs(source.times.values[rows]).tolist()
    for row, track, x in zip(rows.tolist(), source.lanes.tracks_of(rows).tolist(), xs, strict=True):
        cell = track, int(x / (6 * zoom))
        if track in found.tracks and cell not in seen:
            seen.add(cell)
            own = found.tracks[track]
            found.compactions.append(
                SeenCompaction(row, x, own.y, *lanes[track], own.has_count_near(x, COMPACTION_REACH, zoom))
            )
