"""Tells notifications apart that are no steps: progress, changed lists, log messages without an error.

They belong to the call or the connection that they are about. Messages of errors and of failed tasks are steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

_PREFIX = "notifications/"
_MOST_READ = 2_000
"""Limit of messages whose level is read; beyond it all stay steps."""
_FAILURES = {"error", "critical", "alert", "emergency", "failed"}


def notice_rows(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the notifications among some requests that report no failure. Reads log messages and task states only."""
    strings, methods = capture.strings, capture.columns["method"][rows]
    named = {code: strings[code] for code in np.unique(methods).tolist() if strings[code].startswith(_PREFIX)}
    found = are_any_of(methods, [*named]) & (capture.columns["flags"][rows] & Flag.ERROR.value == 0)
    telling = [code for code, name in named.items() if name in ("notifications/message", "notifications/tasks/status")]
    read = np.flatnonzero(found & are_any_of(methods, telling))
    found[read] = len(read) <= _MOST_READ
    if len(read) <= _MOST_READ:
        found[[place for place in read.tolist() if _reports_failure(capture, int(rows[place]))]] = False
    return rows[found]


def _reports_failure(capture: Capture, row: int) -> bool:
    params = capture.records.payload(row).get("params")
    told = params if isinstance(params, dict) else {}
    return any(str(told.get(key)).lower() in _FAILURES for key in ("level", "status"))
