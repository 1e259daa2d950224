"""Words the details use in several places: routes, clocks, figures, what a participant may do."""

from __future__ import annotations

from datetime import datetime
from fnmatch import fnmatchcase

from inspector.analysis import Analysis
from inspector.analysis.participants import Participant
from inspector.capture.capture import Capture
from inspector.present import formats
from inspector.present.wire_text import plain
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

NAMES_SHOWN = 2
MINUS = "\N{MINUS SIGN}"


def recipients(names: tuple[str, ...]) -> str:
    """Recipients in short: "everyone", "a", "a, b", "a, b +3"."""
    if not names:
        return "everyone"
    shown = ", ".join(plain(name, 80) for name in names[:NAMES_SHOWN])
    rest = len(names) - NAMES_SHOWN
    return f"{shown} +{rest}" if rest > 0 else shown


def clock_ms(time_ns: int) -> str:
    """Local time of day to the millisecond: "20:39:42.918"; "" for NO_TIME."""
    text = formats.clock(time_ns)
    return f"{text}.{time_ns % 1_000_000_000 // 1_000_000:03d}" if text else ""


def full_time(time_ns: int) -> str:
    """Local date and time with its offset; "" for NO_TIME or a time outside of the calendar."""
    if time_ns == NO_TIME:
        return ""
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{time_ns % 1_000_000_000 // 1_000_000:03d} {moment:%z}"


def delta(delta_ns: int | None) -> str:
    """A distance in a chain: "+42 ms", a minus sign for what came before, "" where unknown."""
    if delta_ns is None:
        return ""
    if abs(delta_ns) < 1_000_000:
        return "0 ms" if delta_ns == 0 else f"{'+' if delta_ns > 0 else MINUS}<1 ms"
    return formats.duration(delta_ns) if delta_ns < 0 else f"+{formats.duration(delta_ns)}"


def short_count(value: float) -> str:
    """A figure for a gauge: "980", "15.4k", "1.2M"."""
    if abs(value) < 1_000:
        return f"{value:g}" if value == int(value) else f"{value:.1f}"
    if abs(value) < 1_000_000:
        return f"{value / 1_000:.1f}k".replace(".0k", "k")
    return f"{value / 1_000_000:.1f}M".replace(".0M", "M")


def participants_of(analysis: Analysis, space: int) -> list[Participant]:
    """Participants of a space, in the order first seen."""
    return [p for (where, _), p in analysis.participants.all.items() if where == space]


def presence(participant: Participant | None, time_ns: int) -> str:
    """Whether somebody was there at a time: "here", "left later", "had left", "came later", "never announced"."""
    if participant is None:
        return "never seen"
    if participant.here is None:
        return "never announced"
    if NO_TIME not in (time_ns, participant.first_ns) and participant.first_ns > time_ns:
        return "came later"
    if participant.here:
        return "here"
    later = NO_TIME not in (time_ns, participant.left_ns) and participant.left_ns > time_ns
    return "here, left later" if later else "had left"


def matching(participant: Participant, call: str) -> str | None:
    """The pattern by which a participant may send a `kind[:method[:target]]`; None when none of its own fits.

    A prediction from what the gateway announced (docs/protocols.md 12): `*` crosses everything, a short form covers the
    long one. Payload conditions beyond method and name are not looked at.
    """
    for pattern in participant.capabilities or ():
        if fnmatchcase(call, pattern) or fnmatchcase(call, f"{pattern}:*"):
            return pattern
    return None


def answering(participant: Participant, method: str | None, target: str | None) -> str | None:
    """The pattern by which a participant may answer a call; None when none of its own fits.

    MCPX v0.1 repeats the call in the kind of its answer, and its gateways match that; others send `mcp/response`.
    """
    call = kinds.RESPONSE
    found = matching(participant, call)
    for part in filter(None, (method, target)):
        call = f"{call}:{part}"
        found = found or matching(participant, call)
    return found


def sender_of(capture: Capture, message: int) -> str:
    """Who sent a message, safe to show."""
    return plain(capture.string("sender", message) or "somebody", 120)
