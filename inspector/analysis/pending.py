"""What still waits for somebody: requests without an answer, and proposals nobody has acted on."""

from __future__ import annotations

from inspector.analysis import Analysis
from inspector.analysis.proposals import ProposalState
from inspector.capture.hashes import NO_ROW
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

PENDING_FILTER = 'kind == "mcp/request" && !answered && !(method like "notifications/*") || proposal.state == "open"'
"""The display filter for what `is_pending` says."""


def is_pending(analysis: Analysis, message: int) -> bool:
    """Whether a message is a request without an answer that wants one, or a proposal that is open. O(1).

    What a gateway refused waits too: `is_refused` tells.
    """
    links, capture = analysis.correlation.columns, analysis.capture
    kind = capture.string("kind", message)
    if kind == kinds.PROPOSAL:
        return int(links["proposal_state"][message]) == ProposalState.OPEN
    if kind != kinds.REQUEST or int(links["answer"][message]) != NO_ROW:
        return False
    return not (capture.string("method", message) or "").startswith("notifications/")


def is_refused(analysis: Analysis, message: int) -> bool:
    """Whether a gateway said that it did not let a message through. O(messages)."""
    effects = analysis.correlation.effects(message)
    return any(analysis.capture.string("kind", effect) == "system/error" for effect in effects)


def pending_since(analysis: Analysis, message: int) -> int | None:
    """Since when a message waits, in nanoseconds since the epoch; None when it does not, or its time is unknown."""
    since = int(analysis.capture.columns["time_ns"][message])
    return since if since != NO_TIME and is_pending(analysis, message) else None


def pending_age_ns(analysis: Analysis, message: int) -> int | None:
    """How long a message has been waiting: until now while live (`Analysis.now_ns`), else until the last record."""
    since = pending_since(analysis, message)
    now = analysis.now_ns if analysis.now_ns is not None else analysis.contexts.clock_ns
    return None if since is None or now == NO_TIME else max(0, now - since)
