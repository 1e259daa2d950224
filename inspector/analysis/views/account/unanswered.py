"""What still waits for somebody: requests without an answer, and proposals nobody has acted on."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.waits import GivenUp, are_refused, are_waiting
from inspector.protocol.timestamps import NO_TIME

PENDING_FILTER = "waiting"
"""The display filter for what `is_pending` says."""


def is_pending(analysis: Analysis, message: int) -> bool:
    """Whether a message waits: a request that wants an answer and has none, or an open proposal. O(1)."""
    return bool(are_waiting(analysis.capture, analysis.correlation.columns, np.array([message]))[0])


def is_refused(analysis: Analysis, message: int) -> bool:
    """Whether a gateway said that it did not let a message through. O(1)."""
    return bool(are_refused(analysis.capture, analysis.correlation.columns, np.array([message]))[0])


def is_cancelled(analysis: Analysis, message: int) -> bool:
    """Whether the sender of a request took it back by notifications/cancelled. O(1)."""
    return int(analysis.correlation.columns["given_up"][message]) == GivenUp.CANCELLED


def who_left(analysis: Analysis, message: int) -> str:
    """Who is gone with whom a request or proposal ended, "asker" or "asked"; "" for nobody. O(1)."""
    why = int(analysis.correlation.columns["given_up"][message])
    return {GivenUp.ASKER_LEFT.value: "asker", GivenUp.ASKED_LEFT.value: "asked"}.get(why, "")


def pending_since(analysis: Analysis, message: int) -> int | None:
    """Since when a message waits, in nanoseconds since the epoch; None when it does not, or its time is unknown."""
    since = int(analysis.capture.columns["time_ns"][message])
    return since if since != NO_TIME and is_pending(analysis, message) else None


def pending_age_ns(analysis: Analysis, message: int) -> int | None:
    """How long a message has been waiting: until now while live (`Analysis.now_ns`), else until the last record."""
    since = pending_since(analysis, message)
    now = analysis.now_ns if analysis.now_ns is not None else analysis.contexts.clock_ns
    return None if since is None or now == NO_TIME else max(0, now - since)
