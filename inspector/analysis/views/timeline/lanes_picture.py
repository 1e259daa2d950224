"""Visible content of the lanes for one time window, in pixels.

The cost and the size depend on pixels and visible lanes, not on the number of messages.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.findings import Severity
from inspector.analysis.views.timeline.lane_geometry import LaneGeometry
from inspector.analysis.views.timeline.lanes import Bar, Lane, Lanes
from inspector.analysis.views.timeline.spans import SpanKind, Spans
from inspector.analysis.views.timeline.track_marks import Mark, Window, marks_of
from inspector.base.slices import SlicedWork
from inspector.protocol.kinds import Family
from inspector.store.columns.hashes import NO_ROW

COMPACTION_REACH = 4.5
"""Half the width of a compaction sign."""
LEAST_SPAN_PX = 4
_MAX_SPANS = 1_500
_MIN_BAR_PX = 3
_MAX_BARS = 400
_MIN_LABEL_PX = 18
"""Least distance of two bars with room for a label between their beginnings."""


class SeenMark(msgspec.Struct, frozen=True, array_like=True, tag="mark"):
    """A mark and its family; None for several messages of different families."""

    mark: Mark
    family: Family | None


class SeenBar(msgspec.Struct, frozen=True, array_like=True, tag="bar"):
    """A context's bar.

    Attributes:
        node: the context.
        start_ns, end_ns: its first and last message.
        state: active, idle, concluded or cancelled.
        reasoning: True for reasoning.
        left, right: pixels from the left of the axis.
        label: its name as on the wire; "" without room for one.
    """

    node: int
    start_ns: int
    end_ns: int
    state: str
    reasoning: bool
    left: int
    right: int
    label: str


class TrackPicture(msgspec.Struct, array_like=True):
    """A track with its marks and bars.

    Attributes:
        track: its number.
        y: its middle.
        base: True for the baseline of a lane.
        marks, bars: from the left.
        crowd: pixel ranges of bars too narrow to draw one by one.
    """

    track: int
    y: int
    base: bool
    marks: list[SeenMark] = []
    bars: list[SeenBar] = []
    crowd: list[tuple[int, int]] = []

    def mark_over(self, x: float) -> Mark | None:
        """Returns the mark that covers a position."""
        place = bisect_right(self.marks, x, key=lambda one: one.mark.first_x) - 1
        mark = self.marks[place].mark if place >= 0 else None
        return mark if mark is not None and x <= mark.last_x else None

    def has_count_near(self, x: float, reach: float, zoom: float) -> bool:
        """Returns True if a sign of this reach (half its width, at 100 % zoom) at a position would cover a count."""
        counts = (one.mark for one in self.marks if one.mark.count > 1 and not one.mark.dense)
        return any(abs(mark.x - x) < (mark.half + reach) * zoom for mark in counts)


class SeenSpan(msgspec.Struct, frozen=True, array_like=True, tag="span"):
    """A request until its answer, a proposal until its decision, or a model call until its output.

    Attributes:
        row, end: its first and last message; NO_ROW for an open one.
        left, right: pixels from the left of the axis.
        y: its middle.
        sort: its kind.
        waits: True for an open one.
    """

    row: int
    end: int
    left: float
    right: float
    y: int
    sort: SpanKind
    waits: bool


class SeenProblem(msgspec.Struct, frozen=True, array_like=True):
    """A message with a problem; `on_count` is True on a count, which is higher than a mark."""

    x: float
    y: int
    severity: Severity
    on_count: bool


class SeenCompaction(msgspec.Struct, frozen=True, array_like=True, tag="compaction"):
    """A message that reports a compacted context.

    Attributes:
        row: the message.
        x, y: its place.
        top, bottom: the heights of its lane.
        at_count: True if its sign would cover a count; it is then above it.
    """

    row: int
    x: float
    y: int
    top: int
    bottom: int
    at_count: bool


class SeenLane(msgspec.Struct, frozen=True, array_like=True):
    """A lane.

    Attributes:
        name, space: as on the wire; the space is "" if there is only one.
        count: number of messages.
        top, bottom: its heights.
    """

    name: str
    space: str
    count: int
    top: int
    bottom: int


class Picture(msgspec.Struct):
    """Everything visible in a time window; y is from the top of all lanes.

    Attributes:
        left_ns, right_ns, width: the window, and its width in pixels.
        height: of all lanes.
        top: of the visible part.
        lanes, tracks: the visible ones; tracks by number.
        spans, problems, compactions: the visible ones.
        gaps: times of messages that mark a gap, one a pixel.
        densest: message count of the densest cell in all density strips.
        before_ns, after_ns: the nearest messages if none is visible, or None.
        is_bare: no message is visible, although there are lanes.
    """

    left_ns: int
    right_ns: int
    width: int
    height: int = 0
    top: int = 0
    lanes: list[SeenLane] = []
    tracks: dict[int, TrackPicture] = {}
    spans: list[SeenSpan] = []
    problems: list[SeenProblem] = []
    compactions: list[SeenCompaction] = []
    gaps: list[int] = []
    densest: int = 1
    before_ns: int | None = None
    after_ns: int | None = None
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class LanesContent:
    """Everything that lanes show.

    Attributes:
        analysis: the passes.
        lanes: the lanes.
        spans: durations between two messages.
        problems: messages with a finding of severity warning or error, ascending.
        compactions: messages that report a compacted context, ascending.
    """

    analysis: Analysis
    lanes: Lanes
    spans: Spans
    problems: NDArray[np.int64]
    compactions: NDArray[np.int64]


def picture_of(
    content: LanesContent, geometry: LaneGeometry, window: Window, top: int, height: int, zoom: float
) -> SlicedWork[Picture]:
    """Computes the picture of a time window between two heights, a track a step. O(pixels x visible lanes)."""
    found = Picture(window.left_ns, window.right_ns, window.width, geometry.height, top)
    bounds: dict[int, tuple[int, int]] = {}  # of the lane of each visible track
    for place in geometry.visible(top, height):
        lane, begin, end = geometry.lanes[place], int(geometry.tops[place]), int(geometry.tops[place + 1])
        found.lanes.append(_seen_lane(content.analysis, lane, begin, end))
        for track in range(lane.track, lane.track + lane.tracks):
            y = geometry.y_of(track)
            if top - geometry.bar <= y <= top + height + geometry.bar:
                bounds[track] = begin, end
                base = track == lane.track and lane.based
                found.tracks[track] = _track(content, track, y, base, window, zoom)
                yield
    dense = (one.mark.count for track in found.tracks.values() for one in track.marks if one.mark.dense)
    found.densest = max(dense, default=1)
    found.is_bare = bool(geometry.lanes) and not any(
        0 <= one.mark.x <= window.width for track in found.tracks.values() for one in track.marks
    )
    _add_spans(found, content, window, zoom)
    _add_problems(found, content, window, zoom)
    _add_compactions(found, content, window, zoom, bounds)
    if content.lanes.gaps:
        times = content.lanes.times.values[content.lanes.gaps]
        times = times[(times >= window.left_ns) & (times <= window.right_ns)]
        _, first = np.unique(np.rint(window.xs(times)), return_index=True)
        found.gaps = times[first].tolist()
    return found


def _seen_lane(analysis: Analysis, lane: Lane, top: int, bottom: int) -> SeenLane:
    space = analysis.capture.strings[lane.space] if len(analysis.contexts.spaces) > 1 else ""
    return SeenLane(analysis.capture.shown_name(lane.name), space, lane.count, top, bottom)


def _track(content: LanesContent, track: int, y: int, base: bool, window: Window, zoom: float) -> TrackPicture:
    lanes, found = content.lanes, TrackPicture(track, y, base)
    for mark in marks_of(lanes.segments, track, window, lanes.family, zoom):
        found.marks.append(SeenMark(mark, lanes.family(mark.row) if mark.one_family else None))
    if base:
        return found
    least = _MIN_BAR_PX * zoom
    bars, starts, ends = lanes.bars_within(
        track, window.left_ns, window.right_ns, _MAX_BARS, least * window.ns_per_px
    )  # fmt: skip
    lefts = [_clipped(bar.start_ns, window) for bar in bars]
    for bar, left, following in zip(bars, lefts, [*lefts[1:], window.width], strict=False):
        right = max(_clipped(bar.end_ns, window), left + round(least))
        labelled = following - max(left, 0) >= _MIN_LABEL_PX * zoom
        found.bars.append(_seen_bar(bar, left, right, content.analysis.contexts.label(bar.node) if labelled else ""))
    found.crowd = _covered_pixels(starts, ends, window)
    return found


def _seen_bar(bar: Bar, left: int, right: int, label: str) -> SeenBar:
    return SeenBar(bar.node, bar.start_ns, bar.end_ns, bar.state, bar.reasoning, left, right, label)


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


def _add_spans(found: Picture, content: LanesContent, window: Window, zoom: float) -> None:
    spans = content.spans
    least = LEAST_SPAN_PX * zoom * window.ns_per_px
    places = spans.between(window.left_ns, window.right_ns, least, _MAX_SPANS)
    if not len(places):
        return
    tracks = content.lanes.tracks_of(spans.rows[places]).tolist()
    for place, track in zip(places.tolist(), tracks, strict=True):
        seen = found.tracks.get(track)
        if seen is None:
            continue
        end = int(spans.ends[place])
        right = _clipped(int(spans.ends_ns[place]) if end != NO_ROW else content.lanes.times.last_ns, window)
        left = _clipped(int(spans.starts_ns[place]), window)
        found.spans.append(
            SeenSpan(
                int(spans.rows[place]), end, left, right, seen.y, SpanKind(int(spans.sorts[place])), waits=end == NO_ROW
            )
        )


def _add_problems(found: Picture, content: LanesContent, window: Window, zoom: float) -> None:
    rows = content.problems
    if not len(rows) or not found.tracks:
        return
    times = content.lanes.times.values[rows]
    rows = rows[(times >= window.left_ns) & (times <= window.right_ns)]
    if not len(rows):
        return
    tracks = content.lanes.tracks_of(rows)
    seen = np.isin(tracks, np.fromiter(found.tracks, np.int64))
    rows, tracks = rows[seen], tracks[seen]
    store = content.analysis.findings.found
    severities = store.severities[store.columns["set"][rows]]
    xs = window.xs(content.lanes.times.values[rows])
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


def _add_compactions(
    found: Picture, content: LanesContent, window: Window, zoom: float, bounds: dict[int, tuple[int, int]]
) -> None:
    """Adds the signs of compactions on screen, one for each few pixels of a track."""
    rows = content.compactions
    times = content.lanes.times.values[rows]
    rows = rows[(times >= window.left_ns) & (times <= window.right_ns)]
    if not len(rows):
        return
    seen: set[tuple[int, int]] = set()
    xs = window.xs(content.lanes.times.values[rows]).tolist()
    for row, track, x in zip(rows.tolist(), content.lanes.tracks_of(rows).tolist(), xs, strict=True):
        cell = track, int(x / (6 * zoom))
        if track in found.tracks and cell not in seen:
            seen.add(cell)
            own = found.tracks[track]
            found.compactions.append(
                SeenCompaction(row, x, own.y, *bounds[track], own.has_count_near(x, COMPACTION_REACH, zoom))
            )
