"""Where messages stand on an axis: at their own time, else at that of the message before; or one after another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.scale import Break, Silences
from inspector.protocol.timestamps import NO_TIME
from inspector.store.messages.capture import Capture


class MessageTimes:
    """Times of a capture that grows, without holes.

    Attributes:
        first_ns, last_ns: the earliest and the latest; both 0 while there is no time at all.
        guessed: messages without a time of their own.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._own: NDArray[np.int64] | None = None  # only once a time was missing
        self._known = 0
        self._last = NO_TIME
        self.first_ns = self.last_ns = 0
        self._any = False
        self.guessed = 0
        self._silences = Silences()
        self._heard = 0

    def update(self, stop: int) -> None:
        """Take in messages up to `stop`. O(new messages)."""
        start, self._known = self._known, max(stop, self._known)
        given = self._capture.columns["time_ns"][start:stop]
        if not len(given):
            return
        missing = given == NO_TIME
        if missing.any() and self._own is None:
            self._own = np.array(self._capture.columns["time_ns"][:start], np.int64)
        filled = self._filled(given, missing) if self._own is not None else given
        if self._own is not None:
            self._keep(start, filled)
        self.guessed += int(np.count_nonzero(missing))
        known = given[~missing]
        if len(known):
            if not self._any and start:  # what came before the first time stands at it
                self._lead(start, int(known[0]))
            low, high = int(known.min()), int(known.max())
            self.first_ns = min(self.first_ns, low) if self._any else low
            self.last_ns = max(self.last_ns, high) if self._any else high
            self._any = True
            self._last = int(filled[-1])

    def _filled(self, given: NDArray[np.int64], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
        places = np.where(missing, -1, np.arange(len(given)))
        np.maximum.accumulate(places, out=places)
        found = given[places]
        known = np.flatnonzero(~missing)
        before = self._last if self._last != NO_TIME else int(given[known[0]]) if len(known) else 0
        return np.where(places < 0, np.int64(before), found)

    def _keep(self, start: int, filled: NDArray[np.int64]) -> None:
        assert self._own is not None
        stop = start + len(filled)
        if stop > len(self._own):
            grown = np.empty(max(stop, len(self._own) * 3 // 2), np.int64)
            grown[:start] = self._own[:start]
            self._own = grown
        self._own[start:stop] = filled

    def _lead(self, stop: int, time_ns: int) -> None:
        if self._own is not None:
            self._own[:stop] = time_ns

    def without(self, first_ns: int, last_ns: int) -> NDArray[np.int64]:
        """Messages without a time of their own that stand between two times, both included; ascending."""
        if not self.guessed:
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
        """The silences too long to be drawn. O(messages since it was asked last)."""
        start, self._heard = self._heard, self._known
        self._silences.feed(self.values[start:])
        return self._silences.breaks()


PER_MESSAGE = 1_000_000
"""From one message to the next, where they stand one after another."""


class MessageOrder:
    """Messages one after another as they came, whatever time lies between them; has what `MessageTimes` has.

    Attributes:
        first_ns, last_ns: where the first and the last one stand.
    """

    def __init__(self) -> None:
        self._places: NDArray[np.int64] = np.zeros(0, np.int64)
        self._known = 0
        self.first_ns = self.last_ns = 0

    def update(self, stop: int) -> None:
        """Take in messages up to `stop`. O(new messages)."""
        self._known = max(stop, self._known)
        if self._known > len(self._places):
            self._places = np.arange(max(self._known, len(self._places) * 3 // 2)) * PER_MESSAGE
        self.last_ns = max(0, self._known - 1) * PER_MESSAGE

    @property
    def values(self) -> NDArray[np.int64]:
        """(messages taken in,) int64."""
        return self._places[: self._known]

    def breaks(self) -> tuple[Break, ...]:
        """None: all stand at the same distance."""
        return ()


MessagePlaces = MessageTimes | MessageOrder
"""Where messages stand."""
