"""Finds the request of an MCP progress notification, and the progress of a request, by token.

By MCP (2025-11-25, Progress), the client chooses a token for an open request on its connection. Computed on demand.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.client_runs import connection_keys
from inspector.analysis.passes.changed_rows import Rows
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

PROGRESS = "notifications/progress"
# A chain has 64 steps at most, and a slow tool reports thousands of times.
_KEPT_PER_END = 4
"""Notifications kept at each end of a long series."""
_MAX_DISTANCE = 100_000
"""Messages searched before and after one."""
_MAX_DECODED = 1_000
"""Messages decoded."""
_RPC = np.uint32(Flag.RPC.value)


def is_progress(analysis: Analysis, message: int) -> bool:
    return analysis.capture.string("method", message) == PROGRESS


def any_is_progress(analysis: Analysis, rows: slice) -> bool:
    """Returns True if any of these messages is a progress notification."""
    code = analysis.capture.strings.find(PROGRESS)
    return bool(code) and bool((analysis.capture.columns["method"][rows] == code).any())


def progress_of(analysis: Analysis, request: int) -> list[int]:
    """Returns progress of a request before its answer, ascending; of many, the first and last four."""
    token = _token(_params(analysis, request).get("_meta"))
    if token is None:
        return []
    answer = int(analysis.correlation.columns["answer"][request])
    stop = answer if answer != NO_ROW else min(request + _MAX_DISTANCE, len(analysis))
    rows = _on_connection(analysis, request, request + 1, max(stop, request + 1))
    told = rows[analysis.capture.columns["method"][rows] == (analysis.capture.strings.find(PROGRESS) or -1)][
        :_MAX_DECODED
    ]
    found = [row for row in told.tolist() if _token(_params(analysis, row)) == token]
    return found if len(found) <= 2 * _KEPT_PER_END else [*found[:_KEPT_PER_END], *found[-_KEPT_PER_END:]]


def request_of_progress(analysis: Analysis, message: int) -> int | None:
    """Returns the request of a progress notification."""
    token = _token(_params(analysis, message)) if is_progress(analysis, message) else None
    if token is None:
        return None
    rows = _on_connection(analysis, message, max(0, message - _MAX_DISTANCE), message)
    # Only requests have an id and a method; only these are decoded.
    rows = rows[analysis.capture.columns["rpc_hash"][rows] != 0]
    rows = rows[analysis.capture.columns["method"][rows] != 0][-_MAX_DECODED:]
    return next((row for row in rows[::-1].tolist() if _token(_params(analysis, row).get("_meta")) == token), None)


def _on_connection(analysis: Analysis, message: int, start: int, stop: int) -> Rows:
    """Returns JSON-RPC messages from `start` to `stop` on a message's connection."""
    capture = analysis.capture
    rows = np.arange(start, stop)
    rows = rows[capture.columns["flags"][rows] & _RPC != 0]
    return rows[connection_keys(capture, rows) == connection_keys(capture, np.array([message]))[0]]


def _params(analysis: Analysis, message: int) -> Mapping[str, object]:
    capture = analysis.capture
    if capture.records.is_big(message) or not int(capture.columns["flags"][message]) & Flag.RPC.value:
        return {}
    params = capture.records.payload(message).get("params")
    return params if isinstance(params, Mapping) else {}


def _token(holder: object) -> str | int | None:
    token = holder.get("progressToken") if isinstance(holder, Mapping) else None
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None
