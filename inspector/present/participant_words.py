"""Words for a participant's row. No Qt."""

from __future__ import annotations

from inspector.analysis import Analysis
from inspector.analysis.passes.participants.capabilities import HeldCapability
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.present.formats import clock, count_of, duration, table_time
from inspector.present.wire_text import safe_line
from inspector.protocol.capability_words import capability_in_words
from inspector.protocol.participants import capability_lines, permissions_in_words
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME

_SECOND = 1_000_000_000
_PATTERNS_SHOWN = 40
_UNCONFIRMED = " (granted, unconfirmed)"


def state_line(participant: Participant, analysis: Analysis, *, short: bool = False) -> str:
    """Returns the second line: capabilities, departure, or number of messages.

    Args:
        participant: the participant.
        analysis: the passes.
        short: figures with at most four digits.
    """
    if participant.here is False:
        return departure_words(participant.left_ns, analysis)
    may = effective_patterns(participant, analysis)
    if may is not None:
        return safe_line(permissions_in_words(may))
    spoken = count_of(participant.messages, "message")
    return f"{short_number(participant.messages)} messages" if short and participant.messages >= 1_000 else spoken


def effective_patterns(participant: Participant, analysis: Analysis) -> list[str] | None:
    """Returns the effective capability patterns after grants and revocations; None if unknown."""
    changes = analysis.capabilities.changes.get((participant.space, participant.name))
    # An announcement states everything; only later changes must be added.
    if not changes or changes[-1].what == "announced":
        return participant.capabilities
    held = analysis.capabilities.capabilities_of(participant.space, participant.name)
    return None if held is None else capability_lines([one.capability for one in held])


def departure_words(left_ns: int, analysis: Analysis) -> str:
    """Formats a departure: "left 2 min ago" while live; in a log by table time, "left at 43.775"."""
    if left_ns == NO_TIME:
        return "left"
    now = analysis.now_ns
    if now is None:
        times = analysis.capture.columns["time_ns"]
        at = table_time(left_ns, int(times[0])) if len(times) else ""
        return f"left at {at}" if at else "left"
    seconds = max(0, now - left_ns) // _SECOND
    if seconds < 1:
        return "left just now"
    # Whole seconds, then minutes, then hours: a ticking number distracts.
    step = 1 if seconds < 60 else 60 if seconds < 3600 else 3600
    if step == 3600:
        return f"left {seconds // step:,} h ago"
    return f"left {duration(seconds // step * step * _SECOND).replace('.0 s', ' s')} ago"


def usage_words(participant: Participant) -> str:
    """Formats its reported tokens: "15.4k of 20k"; "" without a report."""
    if participant.tokens is None:
        return ""
    if not participant.max_tokens or participant.max_tokens < 0:
        return f"{short_number(participant.tokens)} tokens"
    return f"{short_number(participant.tokens)} of {short_number(participant.max_tokens)}"


def context_share(participant: Participant) -> float | None:
    """Returns the fill level of its context, 0 to 1, if both figures are reported."""
    if participant.tokens is None or not participant.max_tokens or participant.max_tokens < 0:
        return None
    # Reports are not checked by the gateway and may exceed their own limit.
    return min(1.0, max(0.0, participant.tokens / participant.max_tokens))


def short_number(value: int) -> str:
    """Formats a number with at most four digits: "950", "15.4k", "20k", "1.2M"."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        # 999,950 would become 1000.0k
        if abs(value) >= limit * (0.99995 if limit == 1_000_000 else 1):
            return f"{value / limit:.1f}".removesuffix(".0") + unit
    return str(value)


def tooltip_text(participant: Participant, space: str, analysis: Analysis) -> str:
    """Returns the tooltip with all details, wire text escaped."""
    shown = analysis.capture.shown_name(participant.name)
    lines = [safe_line(shown) + (" (this program)" if participant.is_us else "")]
    if shown != participant.name:
        lines.append(f"Its id in filters: {safe_line(participant.name)}")
    lines.append(f"{count_of(participant.messages, 'message')} sent" + (f" in {safe_line(space)}" if space else ""))
    first, last = clock(participant.first_ns), clock(participant.last_ns)
    if first:
        lines.append(f"First seen {first}" + (f", last message {last}" if last and participant.messages else ""))
    if participant.here is False:
        lines.append(departure_words(participant.left_ns, analysis).capitalize())
    if participant.tokens is not None:
        limit = f" of {participant.max_tokens:,}" if participant.max_tokens else ""
        lines.append(f"{participant.tokens:,}{limit} tokens, as it reported")
    held = analysis.capabilities.capabilities_of(participant.space, participant.name)
    if held is None:
        lines.append("Its capabilities were not announced.")
        return "\n".join(lines)
    lines.append("May send:" if held else "May send no messages.")
    lines += [_line_of(one) for one in held[:_PATTERNS_SHOWN]]
    if len(held) > _PATTERNS_SHOWN:
        lines.append(f"  and {len(held) - _PATTERNS_SHOWN} more")
    return "\n".join(lines)


def _line_of(held: HeldCapability) -> str:
    return f"  {safe_line(mask_text(capability_in_words(held.capability)))}{'' if held.confirmed else _UNCONFIRMED}"
