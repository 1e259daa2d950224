"""Finds unanswered requests and undecided proposals: since when, or how refused, cancelled or left."""

from __future__ import annotations

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.calls.open_waits import GivenUp, are_refused, are_waiting
from inspector.protocol.timestamps import NO_TIME

PENDING_FILTER = "waiting"
"""Display filter for pending messages."""


def is_pending(analysis: Analysis, message: int) -> bool:
    """Returns True for a request without its answer, or an open proposal. O(1)."""
    return bool(are_waiting(analysis.capture, analysis.correlation.columns, np.array([message]))[0])


def is_refused(analysis: Analysis, message: int) -> bool:
    """Returns True if a gateway refused the message. O(1)."""
    return bool(are_refused(analysis.capture, analysis.correlation.columns, np.array([message]))[0])


def is_cancelled(analysis: Analysis, message: int) -> bool:
    """Returns True if the sender cancelled the request by notifications/cancelled. O(1)."""
    return int(analysis.correlation.columns["given_up"][message]) == GivenUp.CANCELLED


def party_who_left(analysis: Analysis, message: int) -> str:
    """Returns the participant whose leaving ended a request or proposal: "asker" or "asked"; "" for neither. O(1)."""
    why = int(analysis.correlation.columns["given_up"][message])
    return {GivenUp.ASKER_LEFT.value: "asker", GivenUp.ASKED_LEFT.value: "asked"}.get(why, "")


def pending_since(analysis: Analysis, message: int) -> int | None:
    """Returns the start of a message's wait, in nanoseconds since the epoch; None if it does not wait, or unknown."""
    since = int(analysis.capture.columns["time_ns"][message])
    return since if since != NO_TIME and is_pending(analysis, message) else None


def pending_age_ns(analysis: Analysis, message: int) -> int | None:
    """Returns the waiting time until now while live (`Analysis.now_ns`), else until the last record."""
    since = pending_since(analysis, message)
    now = analysis.now_ns if analysis.now_ns is not None else analysis.contexts.clock_ns
    return None if since is None or now == NO_TIME else max(0, now - since)
