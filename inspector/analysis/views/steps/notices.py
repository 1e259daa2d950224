"""Tells notifications apart that are no steps: progress, changed lists, log messages without an error.

They belong to the call or the connection that they are about. Messages of errors and of failed tasks are steps.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.store.columns.flags import Flag
from inspector.store.messages.adjacent_reads import read_line_ranges
from inspector.store.messages.batch_decoding import read_in_batches
from inspector.store.messages.capture import Capture

_PREFIX = "notifications/"
_FAILURES = {"error", "critical", "alert", "emergency", "failed"}
_WORDS = re.compile("|".join([*_FAILURES, r"\\u"]).encode())
"""A word for a failure in a line in lower case, or a character written as a number."""


def notice_rows(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the notifications among some requests that report no failure. Reads log messages and task states only."""
    strings, methods = capture.strings, capture.columns["method"][rows]
    named = {code: strings[code] for code in np.unique(methods).tolist() if strings[code].startswith(_PREFIX)}
    found = are_any_of(methods, [*named]) & (capture.columns["flags"][rows] & Flag.ERROR.value == 0)
    telling = [code for code, name in named.items() if name in ("notifications/message", "notifications/tasks/status")]
    places = np.flatnonzero(found & are_any_of(methods, telling))
    places = places[_may_report_failure(capture, rows[places])]
    found[places] = ~np.fromiter(read_in_batches(capture, rows[places], partial(_reports_failure, capture)), np.bool_)
    return rows[found]


def _may_report_failure(capture: Capture, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns flags of messages with a word for a failure in their line, or without an own line."""
    words, columns = list[bool](), capture.columns
    for stretch in read_line_ranges(capture, rows):
        data, spans = stretch.data.lower(), zip(stretch.starts.tolist(), stretch.ends.tolist(), strict=True)
        words += [_WORDS.search(data, start, end) is not None for start, end in spans]
    # A message inside of a larger line may be encoded there.
    inside = columns["size"][rows] < columns["length"][rows]
    return np.array(words, np.bool_) | inside | (columns["flags"][rows] & Flag.DERIVED.value != 0)


def _reports_failure(capture: Capture, row: int) -> bool:
    params = capture.records.payload(row).get("params")
    told = params if isinstance(params, dict) else {}
    return any(str(told.get(key)).lower() in _FAILURES for key in ("level", "status"))
