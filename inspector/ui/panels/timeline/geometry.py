"""Geometry of the timeline: heads at the left, lanes below one another, and tracks in each lane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.lanes import Lane
from inspector.ui.look.theme import Theme

HEAD_PX, RULER_PX, STRIP_PX = 127, 25, 22
"""Width of the lanes' heads, heights of the ruler and of the overview strip; pixels at 100 %."""
_LANE, _BASE, _BAR, _ROW, _FIRST_BAR = 35, 17, 18, 21, 30
"""Height of a lane without contexts, its baseline, height of a bar, distance of bars, and top of the first bar."""

COMPACTION_REACH = 4.5
"""Half the width of a compaction sign."""


def head_width(theme: Theme) -> int:
    """Returns the width of the lanes' heads; everything on the time axis begins there."""
    return round(HEAD_PX * theme.zoom)


def right_margin(theme: Theme) -> int:
    """Returns the space for the scroll bar to the right of the time axis."""
    return theme.metrics.scroll_bar


class LaneGeometry:
    """Heights and positions of lanes.

    Attributes:
        lanes: from the top.
        bar: height of a context's bar.
        tops: (lanes + 1,) int64, the top of each lane, and the height of all as the last one.
    """

    def __init__(self, lanes: Sequence[Lane], theme: Theme) -> None:
        self.lanes = lanes
        self._zoom = theme.zoom
        self.bar = round(_BAR * theme.zoom)
        self.tops: NDArray[np.int64] = np.zeros(len(lanes) + 1, np.int64)
        np.cumsum([self._height(lane) for lane in lanes], out=self.tops[1:])
        self._tracks = np.array([lane.track for lane in lanes], np.int64)

    def _px(self, pixels: float) -> int:
        return round(pixels * self._zoom)

    def _height(self, lane: Lane) -> int:
        if not lane.based:
            return self._px(_LANE - _ROW + _ROW * lane.rows) + 2
        return self._px(_LANE + _ROW * lane.rows)

    @property
    def height(self) -> int:
        return int(self.tops[-1])

    def lane_at(self, y: int) -> int | None:
        """Returns the lane at a position, or None below the last."""
        place = int(self.tops.searchsorted(y, side="right")) - 1
        return place if 0 <= place < len(self.lanes) else None

    def lane_of(self, track: int) -> int:
        return int(self._tracks.searchsorted(track, side="right")) - 1

    def y_of(self, track: int) -> int:
        """Returns the middle of a track."""
        place = self.lane_of(track)
        lane = self.lanes[place]
        row = track - lane.track - lane.based
        top = int(self.tops[place])
        if row < 0:
            return top + self._px(_BASE)
        first = _FIRST_BAR if lane.based else _LANE - _FIRST_BAR + 3
        return top + self._px(first + _ROW * row) + self.bar // 2

    def track_at(self, y: int) -> int | None:
        """Returns the track nearest to a position, or None outside of all lanes."""
        place = self.lane_at(y)
        if place is None:
            return None
        lane = self.lanes[place]
        return min(
            range(lane.track, lane.track + lane.tracks), key=lambda track: abs(self.y_of(track) - y), default=None
        )

    def visible(self, top: int, height: int) -> range:
        first = max(0, int(self.tops.searchsorted(top, side="right")) - 1)
        return range(first, min(len(self.lanes), int(self.tops.searchsorted(top + height, side="left"))))
