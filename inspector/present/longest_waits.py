"""Messages of an account that wait longest."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.views.account.account import AccountTally
from inspector.protocol.timestamps import NO_TIME


def longest_waiting(
    analysis: Analysis, tally: AccountTally, most: int, *, discovery: bool = False, in_vain: bool = False
) -> list[int]:
    """Returns the messages with the longest waits, longest first.

    Args:
        analysis: the passes.
        tally: the figures.
        most: limit of messages.
        discovery: only discovery requests instead of all others.
        in_vain: also requests to participants that have left.
    """
    rows = tally.first("discovery" if discovery else "waiting")
    if in_vain:
        rows = np.concatenate((rows, tally.first("asked of the gone")))
    since = analysis.capture.columns["time_ns"][rows]
    order = np.lexsort((since, since == NO_TIME))  # unknown times last
    return rows[order][:most].tolist()
