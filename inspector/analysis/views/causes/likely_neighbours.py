"""Finds messages near another one, and participants present, for likely links.

RULE (docs/protocols.md 5, Likely links): no link crosses a departure, restart, reconnect or gap.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.participants.participant_pass import Participant
from inspector.analysis.views.summaries.participant_queries import participants_of
from inspector.protocol import msp
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag

MAX_DISTANCE = 5_000
"""Messages searched before and after one."""
MAX_GAP_NS = 10 * 60 * 1_000_000_000
"""Nanoseconds; messages further apart are not linked."""
# Each candidate may be decoded, and the panel waits for all of them.
_MAX_PER_SIDE = 100  # messages of a kind checked on each side
_UNUSABLE = (Flag.UNREADABLE | Flag.GAP | Flag.FRAME | Flag.LOG_ONLY | Flag.REJECTED).value


def messages_before(
    analysis: Analysis, message: int, kinds: tuple[str, ...], *, within_ns: int = MAX_GAP_NS
) -> list[int]:
    """Returns earlier messages of some kinds in the same space and connection, nearest first; at most 100."""
    rows = _near_messages(analysis, message, kinds, max(0, message - MAX_DISTANCE), message, within_ns)
    return _linkable(analysis, rows[::-1][:_MAX_PER_SIDE]).tolist()


def messages_after(
    analysis: Analysis, message: int, kinds: tuple[str, ...], *, within_ns: int = MAX_GAP_NS
) -> list[int]:
    """Returns later ones, nearest first; at most 100."""
    rows = _near_messages(
        analysis, message, kinds, message + 1, min(len(analysis), message + 1 + MAX_DISTANCE), within_ns
    )
    return _linkable(analysis, rows[:_MAX_PER_SIDE]).tolist()


def _near_messages(
    analysis: Analysis, message: int, kinds: tuple[str, ...], start: int, stop: int, within_ns: int
) -> Rows:
    capture = analysis.capture
    columns, near = capture.columns, slice(start, stop)
    codes = [code for code in map(capture.strings.find, kinds) if code]
    time = int(columns["time_ns"][message])
    if not codes or time == NO_TIME or not may_be_linked(analysis, message):
        return NO_ROWS
    found = np.logical_or.reduce([columns["kind"][near] == code for code in codes])
    for name in ("space", "source", "connection"):
        found &= columns[name][near] == columns[name][message]
    rows = np.flatnonzero(found) + start
    times = columns["time_ns"][rows]
    return rows[(times != NO_TIME) & (times >= time - within_ns) & (times <= time + within_ns)]


def may_be_linked(analysis: Analysis, message: int) -> bool:
    """Returns True for a message sent on the wire whose sender is not in doubt."""
    return len(_linkable(analysis, np.array([message]))) > 0


def _linkable(analysis: Analysis, rows: Rows) -> Rows:
    capture = analysis.capture
    columns = capture.columns
    fit = (columns["sender"][rows] != 0) & (columns["flags"][rows] & _UNUSABLE == 0)
    # Sessions of MSP name their parents themselves.
    fit &= columns["protocol"][rows] != (capture.strings.find(msp.PROTOCOL) or -1)
    if len(doubtful := capture.impersonations["message"]):
        fit &= ~np.isin(rows, doubtful)
    rows = rows[fit]
    forged = analysis.trust.forged
    return rows[[row not in forged for row in rows.tolist()]] if forged else rows


def is_correlated(analysis: Analysis, message: int) -> bool:
    """Returns True if it names its cause, so that no guess is needed."""
    return bool(analysis.capture.columns["flags"][message] & Flag.CORRELATED.value)


def naming_messages(analysis: Analysis, message: int) -> list[int]:
    """Returns later messages in reach that name this one."""
    start = message + 1
    causes = analysis.correlation.columns["cause"][start : start + MAX_DISTANCE]
    return (np.flatnonzero(causes == message) + start).tolist()


def in_reach(analysis: Analysis, first: int, second: int) -> bool:
    """Returns True if two messages are close enough on one connection."""
    columns = analysis.capture.columns
    if any(columns[name][first] != columns[name][second] for name in ("space", "source", "connection")):
        return False
    times = int(columns["time_ns"][first]), int(columns["time_ns"][second])
    return NO_TIME not in times and 0 <= times[1] - times[0] <= MAX_GAP_NS and second - first <= MAX_DISTANCE


def gap_ns(analysis: Analysis, first: int, second: int) -> int:
    """Nanoseconds from one message to another; both times must be known."""
    times = analysis.capture.columns["time_ns"]
    return int(times[second]) - int(times[first])


def same_processes(analysis: Analysis, first: int, second: int) -> bool:
    """Returns True if both senders stayed present between the messages, without a gap in between."""
    columns = analysis.capture.columns
    if (columns["flags"][first:second] & Flag.GAP.value).any():
        return False
    space = int(columns["space"][first])
    for message in (first, second):
        who = analysis.participants.all.get((space, analysis.capture.string("sender", message) or ""))
        if who is not None and bisect_right(who.ended, first) != bisect_right(who.ended, second):
            return False
    return True


def only_other_participant(analysis: Analysis, message: int) -> str | None:
    """Returns the only other participant present."""
    space, sender = int(analysis.capture.columns["space"][message]), analysis.capture.string("sender", message)
    found: str | None = None
    for one in participants_of(analysis, space):
        if one.name != sender and not one.is_us and _may_be_present(one, message):
            if found is not None:
                return None
            found = one.name
    return found


def _may_be_present(participant: Participant, message: int) -> bool:
    """Returns True if a participant may have been present at a message; True without announcements."""
    comings = participant.presence_changes
    if not comings:
        return True
    last = bisect_right(comings, message, key=lambda coming: coming.row)
    return comings[last - 1].here if last else not comings[0].here
