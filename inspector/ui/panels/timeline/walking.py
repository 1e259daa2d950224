"""From message to message along a track and from track to track. No Qt."""

from __future__ import annotations

import numpy as np

from inspector.analysis.timeline.lanes import Lane
from inspector.ui.panels.timeline.source import TimelineSource

_MOST_SKIPPED = 5_000


class Walk:
    """Finds the next message to stand on; what the table hides is passed over."""

    def __init__(self, source: TimelineSource) -> None:
        self._source = source

    def track_of(self, row: int) -> int:
        """The track of a message; -1 for none."""
        return int(self._source.lanes.tracks_of(np.array([row]))[0])

    def lane_of(self, row: int) -> Lane | None:
        """The lane of a message."""
        track = self.track_of(row)
        return next((one for one in self._source.lanes.lanes if one.track <= track < one.track + one.tracks), None)

    def along(self, row: int | None, step: int) -> int | None:
        """The next message on the same track that the table shows; without one to begin with, the first of all."""
        if row is None:
            return self._first()
        lanes = self._source.lanes
        if self.track_of(row) < 0:
            return None
        found = lanes.neighbour(row, step)
        for _ in range(_MOST_SKIPPED):
            if found is None or not self._source.is_hidden(found):
                return found
            found = lanes.neighbour(found, step)
        return None

    def across(self, row: int | None, step: int) -> int | None:
        """The message nearest in time on the next track above (-1) or below (1) that has one the table shows."""
        if row is None:
            return self._first()
        lanes, ns = self._source.lanes, int(self._source.times.values[row])
        track = self.track_of(row) + step
        while 0 <= track < lanes.tracks:
            found = self._shown_near(track, ns)
            if found is not None:
                return found
            track += step
        return None

    def _shown_near(self, track: int, ns: int) -> int | None:
        found = self._source.lanes.nearest(track, ns)
        if found is None or not self._source.is_hidden(found):
            return found
        before, after = self.along(found, -1), self.along(found, 1)
        times = self._source.times.values
        near = [one for one in (before, after) if one is not None]
        return min(near, key=lambda one: abs(int(times[one]) - ns), default=None)

    def outermost(self, row: int | None, step: int) -> int | None:
        """The first (-1) or last (1) message of the track that the table shows."""
        if row is None:
            return self._first()
        bounds = np.iinfo(np.int64)
        track = self.track_of(row)
        found = self._source.lanes.nearest(track, int(bounds.min) // 4 if step < 0 else int(bounds.max) // 2)
        if found is not None and self._source.is_hidden(found):
            return self.along(found, -step)
        return found

    def _first(self) -> int | None:
        for track in range(min(self._source.lanes.tracks, 1_000)):
            found = self._shown_near(track, self._source.times.first_ns)
            if found is not None:
                return found
        return None
