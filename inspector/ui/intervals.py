"""Intervals of the window that several views share: their updates, progress, and pauses of the user."""

from __future__ import annotations

import time

LISTS_MS = 250
"""Shortest interval of updates to lists and lanes; longer if they are slow."""
FIGURES_MS = 1_000
"""Shortest interval of updates to sums and ages."""
SUMMARIES_MS = 30
"""Interval of figures that the engine completes in several answers."""
REPEAT_MS = 30
"""Delay of work on the current message while a key repeats, so that only the last message is computed."""
REST_MS = 100
"""Pause after which quick repeats of a selection count as rested; longer than between repeats of a held key."""
WRITE_MS = 400
"""Delay of saving frequent changes (marks, column widths), so that they are stored together."""
QUIET_S = 0.3
"""Shorter work shows no progress."""
TELL_S = 0.1
"""Interval of progress: each update resizes labels and lays out panes."""


class Reports:
    """Throttles progress reports: none for short work, then a few a second."""

    def __init__(self) -> None:
        self._next_s = time.perf_counter() + QUIET_S

    def due(self) -> bool:
        """Returns True if a report is due now, and schedules the next."""
        now_s = time.perf_counter()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + TELL_S
        return True
