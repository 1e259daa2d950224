"""Timeouts of a gateway connection, and its waits between attempts to reconnect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Timeouts and intervals of a connection, in seconds."""

    open_s: float = 10.0
    """For name lookup, TCP, TLS and the WebSocket upgrade together."""

    welcome_s: float = 10.0
    """For the welcome after our join."""

    ping_s: float = 10.0
    """Silence before a ping; gateways never ping."""

    pong_s: float = 20.0
    """For a pong or any frame after a ping, until the connection counts as lost. Long, since a gateway may be busy."""

    disk_check_s: float = 0.1
    """Between two checks for write errors of the capture."""

    close_s: float = 2.0
    """For the other side's half of the closing handshake."""

    attempt_s: float = 2.5
    """For each attempt to reconnect, from name lookup to welcome.

    Together with `longest_wait_s` under 5 s, so that we are back within 5 s of a gateway's return. Longer if the first
    connection took long.
    """

    awaited_wait_s: float = 0.5
    """Between two attempts at a gateway that is not there yet."""

    first_wait_s: float = 0.25
    """Before the second attempt to reconnect; the first is immediate. Doubles with each attempt."""

    longest_wait_s: float = 2.0
    """Limit between two attempts."""

    steady_s: float = 5.0
    """Duration from which a connection resets the waits.

    Otherwise a gateway that drops us repeatedly would be called without pause.
    """
