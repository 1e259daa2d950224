"""Messages per space, the last one in each main context, and which rows just spoke. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.capture.flags import Flag
from inspector.protocol.times import NO_TIME

HOLD_S = 0.5
"""A halo stays this long after the last message."""

FADE_S = 0.14
"""Then it fades in this time (docs/design.md 17)."""


class Activity:
    """What the context pass does not keep because it knows no spaces.

    Attributes:
        totals: messages by space (string id).
        main_last_ns: time of the last message in the main context, by space.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._seen = 0
        self.totals: dict[int, int] = {}
        self.main_last_ns: dict[int, int] = {}
        self._spoke: dict[int, float] = {}

    def feed(self) -> set[int]:
        """Take in what the passes gained; the spaces that spoke. O(new messages)."""
        start, stop = self._seen, len(self._analysis)
        self._seen = stop
        if start == stop:
            return set()
        columns = self._analysis.capture.columns
        said = columns["flags"][start:stop] & Flag.GAP.value == 0  # nobody says a gap
        structure = self._analysis.contexts.sessions.of_structure(columns["kind"][start:stop])
        said = said if structure is None else said & ~structure  # nor what tells of a session
        spaces, contexts, times = (columns[name][start:stop][said] for name in ("space", "context", "time_ns"))
        # A context of nothing but slashes counts as main too; it only misses the state of main.
        main = np.flatnonzero(contexts == 0)
        counts = np.bincount(spaces)
        for space in np.flatnonzero(counts).tolist():
            self.totals[space] = self.totals.get(space, 0) + int(counts[space])
            self.main_last_ns.setdefault(space, NO_TIME)
        return self._note_main(spaces[main], times[main])

    def _note_main(self, spaces: NDArray[Any], times: NDArray[np.int64]) -> set[int]:
        """Note the latest times in the main contexts; the spaces that have any."""
        if not len(spaces):
            return set()
        latest = np.full(int(spaces.max()) + 1, NO_TIME, np.int64)
        if spaces.min() == spaces.max():
            latest[spaces[0]] = times.max()
        else:
            np.maximum.at(latest, spaces, times)
        spoke = np.flatnonzero(latest != NO_TIME).tolist()
        for space in spoke:
            self.main_last_ns[space] = max(self.main_last_ns[space], int(latest[space]))
        return set(spoke)

    def main_state(self, space: int) -> str:
        """Active or idle; the main context has no end."""
        return self._analysis.contexts.activity(self.main_last_ns.get(space, NO_TIME), self._analysis.now_ns)

    # Halos

    def spoke(self, codes: Iterable[int], now_s: float) -> None:
        """Note rows in which somebody just spoke."""
        self._spoke.update(dict.fromkeys(codes, now_s))

    def halo(self, code: int, now_s: float) -> float:
        """Strength of the halo of a row, 0 to 1."""
        since = self._spoke.get(code)
        return 0.0 if since is None else min(1.0, max(0.0, 1 - (now_s - since - HOLD_S) / FADE_S))

    def fading(self, now_s: float) -> list[int]:
        """Codes whose halo changes now; forgets those whose halo is gone."""
        changing = [code for code, since in self._spoke.items() if now_s - since >= HOLD_S]
        for code in changing:
            if now_s - self._spoke[code] > HOLD_S + FADE_S:
                del self._spoke[code]
        return changing

    def still(self) -> bool:
        """Whether no row has a halo."""
        return not self._spoke

    def forget_halos(self) -> None:
        """Take all halos away."""
        self._spoke.clear()
