"""Positions of messages on an axis: by time, with gaps filled from the previous message, or by order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.scale import Break, Silences
from inspector.protocol.timestamps import NO_TIME
from inspector.store.messages.capture import Capture


class MessageTimes:
    """Times of a growing capture, without gaps.

    Attributes:
        first_ns, last_ns: earliest and latest time; both 0 without times.
        guessed_count: number of messages without an own time.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._own: NDArray[np.int64] | None = None  # only after a missing time
        self._known = 0
        self._last = NO_TIME
        self.first_ns = self.last_ns = 0
        self._has_times = False
        self.guessed_count = 0
        self._silences = Silences()
        self._silences_until = 0

    def update(self, stop: int) -> None:
        """Takes in messages up to `stop`. O(new messages)."""
        start, self._known = self._known, max(stop, self._known)
        given = self._capture.columns["time_ns"][start:stop]
        if not len(given):
            return
        missing = given == NO_TIME
        # Copies the column only for logs that need it.
        if missing.any() and self._own is None:
            self._own = np.array(self._capture.columns["time_ns"][:start], np.int64)
        filled = self._filled(given, missing) if self._own is not None else given
        if self._own is not None:
            self._keep(start, filled)
        self.guessed_count += int(np.count_nonzero(missing))
        known = given[~missing]
        if len(known):
            if not self._has_times and start:  # messages before the first time get this time
                self._fill_start(start, int(known[0]))
            low, high = int(known.min()), int(known.max())
            self.first_ns = min(self.first_ns, low) if self._has_times else low
            self.last_ns = max(self.last_ns, high) if self._has_times else high
            self._has_times = True
            self._last = int(filled[-1])

    def _filled(self, given: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
        places = np.where(missing, -1, np.arange(len(given)))
        # Index of the last known time up to each message.
        np.maximum.accumulate(places, out=places)
        found = given[places]
        known = np.flatnonzero(~missing)
        before = self._last if self._last != NO_TIME else int(given[known[0]]) if len(known) else 0
        return np.where(places < 0, np.int64(before), found)

    def _keep(self, start: int, filled: NDArray[np.int64]) -> None:
        assert self._own is not None
        stop = start + len(filled)
        if stop > len(self._own):
            # Half as much again, so that live batches seldom copy all.
            grown = np.empty(max(stop, len(self._own) * 3 // 2), np.int64)
            grown[:start] = self._own[:start]
            self._own = grown
        self._own[start:stop] = filled

    def _fill_start(self, stop: int, time_ns: int) -> None:
        if self._own is not None:
            self._own[:stop] = time_ns

    def without(self, first_ns: int, last_ns: int) -> NDArray[np.int64]:
        """Returns messages without an own time between two times, both included; ascending."""
        if not self.guessed_count:
            return np.zeros(0, np.int64)
        missing = np.flatnonzero(self._capture.columns["time_ns"][: self._known] == NO_TIME)
        at = self.values[missing]
        return missing[(at >= first_ns) & (at <= last_ns)]

    @property
    def values(self) -> NDArray[np.int64]:
        """(messages taken in,) int64, nanoseconds."""
        held = self._capture.columns["time_ns"] if self._own is None else self._own
        return held[: self._known]

    def breaks(self) -> tuple[Break, ...]:
        """Returns the silences too long to draw. O(messages since the last call)."""
        start, self._silences_until = self._silences_until, self._known
        self._silences.feed(self.values[start:])
        return self._silences.breaks()


PER_MESSAGE = 1_000_000
"""Distance between consecutive messages by order."""


class MessageOrder:
    """Positions by order of arrival, independent of time; same interface as `MessageTimes`.

    Attributes:
        first_ns, last_ns: positions of the first and the last message.
    """

    def __init__(self) -> None:
        self._places: NDArray[np.int64] = np.zeros(0, np.int64)
        self._known = 0
        self.first_ns = self.last_ns = 0

    def update(self, stop: int) -> None:
        """Takes in messages up to `stop`. O(new messages)."""
        self._known = max(stop, self._known)
        if self._known > len(self._places):
            self._places = np.arange(max(self._known, len(self._places) * 3 // 2)) * PER_MESSAGE
        self.last_ns = max(0, self._known - 1) * PER_MESSAGE

    @property
    def values(self) -> NDArray[np.int64]:
        """(messages taken in,) int64."""
        return self._places[: self._known]

    def breaks(self) -> tuple[Break, ...]:
        """Returns no breaks, as distances are equal."""
        return ()


MessagePlaces = MessageTimes | MessageOrder
"""Either kind of positions."""
