"""Measures the present delay of a slow link (check messages-late)."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings.clocks import LATE, SKEW_S
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME

_MAX_LOOKBACK = 200
_RECENT_NS = 10 * 1_000_000_000
"""Nanoseconds without a late message, after which the delay is unknown."""


def link_delay_ns(analysis: Analysis) -> int | None:
    """Returns the delay of the last message from a late sender, while live; None without delay. O(1).

    A wrong clock is no delay; the check separates the two.
    """
    now, columns = analysis.now_ns, analysis.capture.columns
    if now is None or not analysis.findings.found.count_of(LATE):
        return None
    late = np.unique(columns["sender"][analysis.findings.found.rows_of(LATE)])
    # Bounded, so that a call is O(1).
    near = slice(max(0, len(analysis) - _MAX_LOOKBACK), len(analysis))
    times, said = columns["time_ns"][near], columns["ts_ns"][near]
    told = np.isin(columns["sender"][near], late) & (times >= DATED_FROM_NS) & (said != NO_TIME)
    places = np.flatnonzero(told & (times >= now - _RECENT_NS))
    if not len(places):
        return None
    lag = int(times[places[-1]]) - int(said[places[-1]])
    return lag if lag > SKEW_S * 1_000_000_000 else None
