"""Where a live source is in its life, and how long it waits."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class SourceState(enum.Enum):
    """Where a source is in its life."""

    CONNECTING = "connecting"
    """On the way to the welcome."""

    CONNECTED = "connected"
    """Welcomed; frames arrive. May be reported again with a remark."""

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

    ping_s: float = 20.0
    """Between two pings of ours; gateways never ping."""

    pong_s: float = 20.0
    """For a pong or any frame after a ping; then the connection counts as lost."""

    flush_s: float = 0.08
    """Between two writes of the capture to the operating system; design.md 4 asks for at least ten a second."""

    close_s: float = 2.0
    """For the other side's half of the closing handshake."""
