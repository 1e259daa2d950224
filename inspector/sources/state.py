"""Where a live source is in its life, and how long it waits."""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True)
class Outage:
    """How it stands with a connection that was lost and is being sought again."""

    why: str
    """What ended it, a sentence."""

    since_ns: int
    """When, nanoseconds since the Unix epoch."""

    attempts: int = 0
    """Attempts made, the present one included."""

    next_at_s: float | None = None
    """When the next one comes, as `time.monotonic` counts; None while one is under way."""

    trouble: str = ""
    """What became of the last attempt, a sentence; empty before the first has failed."""


class SourceState(enum.Enum):
    """Where a source is in its life."""

    CONNECTING = "connecting"
    """On the way to the welcome."""

    CONNECTED = "connected"
    """Welcomed; frames arrive. May be reported again with a remark."""

    RECONNECTING = "reconnecting"
    """Lost after a welcome; tries again by itself until it is back or told to stop."""

    CLOSED = "closed"
    """Ended because we or the gateway said so."""

    FAILED = "failed"
    """Ended by trouble; the sentence names it."""


@dataclass(frozen=True)
class Timing:
    """How long a connection waits, in seconds."""

    open_s: float = 10.0
    """For name lookup, TCP, TLS and the WebSocket upgrade together."""

    welcome_s: float = 10.0
    """For the welcome after our join."""

    ping_s: float = 10.0
    """Silence after which we ping; gateways never ping."""

    pong_s: float = 20.0
    """For a pong or any frame after a ping; then the connection counts as lost. Long: a gateway may be busy."""

    disk_check_s: float = 0.1
    """Between two looks at whether the capture can still be written."""

    close_s: float = 2.0
    """For the other side's half of the closing handshake."""

    attempt_s: float = 2.5
    """For each attempt to get back, from the name lookup to the welcome; together with `longest_wait_s` under 5 s, so
    that we are back within 5 s of a gateway's return. Longer where the first connection took long."""

    awaited_wait_s: float = 0.5
    """Between two attempts at a gateway that is not there yet."""

    first_wait_s: float = 0.25
    """Before the second attempt to get back; the first comes at once. Doubled from attempt to attempt."""

    longest_wait_s: float = 2.0
    """Between two attempts at most."""

    steady_s: float = 5.0
    """A connection that lasted less than this does not start the waits anew, or a gateway that throws us out again
    and again would be called again and again."""
