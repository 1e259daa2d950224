"""Finds rows that are bookkeeping, by columns alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import unique_with_places
from inspector.formats import registry
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

# A failure among bookkeeping must stay in view.
_REPORTING_FLAGS = (Flag.ERROR | Flag.GAP | Flag.UNREADABLE).value


def are_bookkeeping(capture: Capture, messages: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) bool: True for records that a program wrote for itself and that report no failure."""
    columns, strings = capture.columns, capture.strings
    kinds, _, places = unique_with_places(columns["kind"][messages])
    known = np.array(
        [bool(kind) and strings[kind] in registry.groups().bookkeeping for kind in kinds.tolist()], np.bool_
    )
    if not known.any():
        return np.zeros(len(messages), np.bool_)
    return known[places] & (columns["flags"][messages] & _REPORTING_FLAGS == 0)
