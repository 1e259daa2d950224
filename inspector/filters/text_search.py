"""Which messages hold a text: those that lie together are searched at once, very long ones window by window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.full_text import TextFinder
from inspector.filters.long_records import search_long
from inspector.filters.message_text import found_in_own
from inspector.filters.record_prefilter import in_stretches
from inspector.filters.records import Mask
from inspector.store.messages.capture import Capture

_LONG = 8 << 20
"""Bytes of a record that is searched window by window, as it and what a search makes of it would take much memory."""


def found_in(finder: TextFinder, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
    """Which messages hold what a finder looks for, those that lie together searched at once.

    Args:
        finder: looks for it.
        capture: where the records are.
        rows: (k,) integer, message indices in any order, at least one.
    """
    long = capture.columns["length"][rows] > _LONG
    found = np.zeros(len(rows), np.bool_)
    if not long.all():
        short = rows[~long]
        found[~long] = in_stretches(lambda at, some: found_in_own(finder, capture, some, at), capture, short)
    for place in np.flatnonzero(long).tolist():
        *_, answer = search_long(finder, capture, int(rows[place]))
        found[place] = answer == 1
    return found
