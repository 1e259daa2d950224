"""States and outages of a live source."""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True)
class Outage:
    """State of a lost connection during reconnection."""

    why: str
    """Cause of the loss, a sentence."""

    since_ns: int
    """Time of the loss, nanoseconds since the Unix epoch."""

    attempts: int = 0
    """Number of attempts, including the present one."""

    next_at_s: float | None = None
    """Time of the next attempt by `time.monotonic`; None during an attempt."""

    trouble: str = ""
    """Failure of the last attempt, a sentence; empty before the first failure."""


class SourceState(enum.Enum):
    """State in the life of a source."""

    CONNECTING = "connecting"
    """Before the welcome."""

    CONNECTED = "connected"
    """Welcomed; frames arrive. May be reported again with a remark."""

    RECONNECTING = "reconnecting"
    """Lost after a welcome; retries until it returns or is closed."""

    CLOSED = "closed"
    """Ended by us or by the gateway in order."""

    FAILED = "failed"
    """Ended by an error; the sentence names it."""
