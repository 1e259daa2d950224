"""How long ago what comes now was sent, over a link that cannot keep up (the check messages-late)."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings.clocks import LATE, SKEW_S
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME

_LOOKED_BACK = 200
_RECENT_NS = 10 * 1_000_000_000
"""After so long without a late message nobody knows whether the link is still behind."""


def lag_ns(analysis: Analysis) -> int | None:
    """By how much the last message of somebody whose messages come late came late, while live; None for no lag. O(1).

    A wrong clock is no lag: the check tells the two apart.
    """
    now, columns = analysis.now_ns, analysis.capture.columns
    if now is None or not analysis.findings.found.counts_of(LATE):
        return None
    late = np.unique(columns["sender"][analysis.findings.found.rows_of(LATE)])
    near = slice(max(0, len(analysis) - _LOOKED_BACK), len(analysis))
    times, said = columns["time_ns"][near], columns["ts_ns"][near]
    told = np.isin(columns["sender"][near], late) & (times >= DATED_FROM_NS) & (said != NO_TIME)
    places = np.flatnonzero(told & (times >= now - _RECENT_NS))
    if not len(places):
        return None
    lag = int(times[places[-1]]) - int(said[places[-1]])
    return lag if lag > SKEW_S * 1_000_000_000 else None
