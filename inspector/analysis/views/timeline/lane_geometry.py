"""Heights and positions of lanes, one below another, and of the tracks in each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.lanes import Lane

BAR_PX = 18
"""Height of a context's bar; pixels at 100 %."""
_LANE, _BASE, _ROW, _FIRST_BAR = 35, 17, 21, 30
"""Height of a lane without contexts, its baseline, distance of bars, and top of the first bar."""


class LaneGeometry:
    """Heights and positions of lanes, in pixels.

    Attributes:
        lanes: from the top.
        bar: height of a context's bar.
        tops: (lanes + 1,) int64, the top of each lane, and the height of all as the last one.
    """

    def __init__(self, lanes: Sequence[Lane], zoom: float) -> None:
        self.lanes = lanes
        self._zoom = zoom
        self.bar = self._px(BAR_PX)
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

    def visible(self, top: int, height: int) -> range:
        """Returns the lanes between two heights."""
        first = max(0, int(self.tops.searchsorted(top, side="right")) - 1)
        return range(first, min(len(self.lanes), int(self.tops.searchsorted(top + height, side="left"))))
