"""Finds messages that contain a text; adjacent records at once, very long ones in windows."""

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

# Larger than in Find, where one record must not take longer than a step.
_LONG_RECORD = 8 << 20
"""Record size in bytes above which windows are used, to bound memory."""


def found_in(finder: TextFinder, capture: Capture, rows: NDArray[np.integer[Any]]) -> Mask:
    """Returns a mask of messages that contain the text.

    Args:
        finder: the finder.
        capture: the capture with the records.
        rows: (k,) integer, message indices in any order, at least one.
    """
    long = capture.columns["length"][rows] > _LONG_RECORD
    found = np.zeros(len(rows), np.bool_)
    if not long.all():
        short = rows[~long]
        found[~long] = in_stretches(lambda at, some: found_in_own(finder, capture, some, at), capture, short)
    for place in np.flatnonzero(long).tolist():
        *_, answer = search_long(finder, capture, int(rows[place]))
        found[place] = answer == 1
    return found
