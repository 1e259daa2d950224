"""Clocks and links: whose clock is wrong, and what comes late, told apart (docs/protocols.md 2).

How long after its `ts` a message comes is its sender's clock and its way together. A wrong clock is off by the same
for as long as it runs; a link that cannot keep up is late by more and more, whoever sends, and was prompt once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import NOTE, Check
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.times import DATED_FROM_NS, NO_TIME

SKEW_S = 5
"""Clocks further apart, and messages later, are worth a word."""

SKEWED = Check(
    "clock-skew", NOTE, "Clocks differ",
    "{who}'s clock is {detail} the log's.",
    "Times that participants wrote cannot be compared; latencies are shown by the log's clock.",
    "Set the clocks by NTP; in containers look at the host's.",
    "MEW v0.4, ts is the sender's clock", limit=SKEW_S,
    example="90 s behind",
)  # fmt: skip
LATE = Check(
    "messages-late", NOTE, "Messages come late",
    "What {who} sends comes late: this message {detail} after it was sent.",
    "What you see happened that long ago; answers and stop buttons are as late.",
    "Look for a link that cannot keep up with what is sent, or for a queue on the way; a wrong clock would be off by "
    "the same from the first message on.",
    "MEW v0.4, ts is the sender's clock", limit=SKEW_S,
    example="24 s",
)  # fmt: skip
CHECKS = (SKEWED, LATE)

_SKEW_NS = SKEW_S * 1_000_000_000
_FEWEST_LATE = 5
"""Messages: one or two were stamped long before they were sent, and tell nothing of the link."""
_NONE = -1


@dataclass(slots=True)
class _Apart:
    """How long after its `ts` what somebody sent came: sums, so that it does not matter in which pieces it is read.

    Attributes:
        low_ns, high_ns: the least and the most; below 0 for what came before it was sent.
        late: messages later than the limit.
        first_late, first_ahead, latest: rows of the first ones beyond the limit and of the one with the most; or none.
        first_late_ns, first_ahead_ns: of those.
    """

    low_ns: int
    high_ns: int
    late: int = 0
    first_late: int = _NONE
    first_late_ns: int = 0
    first_ahead: int = _NONE
    first_ahead_ns: int = 0
    latest: int = _NONE

    @property
    def steady(self) -> bool:
        """Whether it was late by about the same each time, as a wrong clock makes it."""
        return self.low_ns > _SKEW_NS and self.high_ns - self.low_ns <= self.low_ns // 2


class Clocks:
    """Compares when messages came with when their senders say that they sent them."""

    def __init__(self) -> None:
        self._apart: dict[int, _Apart] = {}
        self._told: dict[int, tuple[Check, int, str]] = {}

    def feed(self, batch: Batch) -> None:
        """Look at the messages of a batch."""
        times, said = batch.new("time_ns"), batch.new("ts_ns")
        if np.may_share_memory(times, said):  # the sender's time is the only one
            return
        # A log that counts from its own start is no clock.
        places = np.flatnonzero((times >= DATED_FROM_NS) & (said != NO_TIME))
        places = batch.on_the_wire(places + batch.start) - batch.start
        if not len(places):
            return
        senders = batch.new("sender")[places]
        apart = times[places] - np.maximum(said[places], 0)
        order = np.argsort(senders, kind="stable")
        found, starts = np.unique(senders[order], return_index=True)
        for sender, own in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
            self._note(sender, apart[own], places[own] + batch.start)
        if any(one.late or one.first_ahead != _NONE for one in self._apart.values()):
            self._tell(batch)

    def _note(self, sender: int, apart: np.ndarray, rows: np.ndarray) -> None:
        low, high = int(apart.min()), int(apart.max())
        one = self._apart.get(sender)
        if one is None:
            one = self._apart[sender] = _Apart(low, high)
        if low < -_SKEW_NS and one.first_ahead == _NONE:
            place = int(np.argmax(apart < -_SKEW_NS))
            one.first_ahead, one.first_ahead_ns = int(rows[place]), int(apart[place])
        if high > _SKEW_NS:
            late = apart > _SKEW_NS
            if one.first_late == _NONE:
                place = int(np.argmax(late))
                one.first_late, one.first_late_ns = int(rows[place]), int(apart[place])
            one.late += int(np.count_nonzero(late))
            if one.latest == _NONE or high > one.high_ns:
                one.latest = int(rows[int(np.argmax(apart))])
        one.low_ns, one.high_ns = min(one.low_ns, low), max(one.high_ns, high)

    def _tell(self, batch: Batch) -> None:
        """Let each sender's finding be the one that holds now."""
        gateways = {code for code in map(batch.code, sorted(GATEWAY_IDS)) if code >= 0}
        for sender, one in self._apart.items():
            holds = self._verdict(sender, one, gateways)
            told = self._told.get(sender)
            if holds == told:
                continue
            if told is not None:
                batch.findings.withdraw(told[0], np.array([told[1]]))
                del self._told[sender]
            if holds is not None:
                batch.findings.add(holds[0], [holds[1]], details=holds[2])
                self._told[sender] = holds

    def _verdict(self, sender: int, one: _Apart, gateways: set[int]) -> tuple[Check, int, str] | None:
        if one.first_ahead != _NONE:  # no link delivers what has not been sent yet
            return SKEWED, one.first_ahead, f"{_words(-one.first_ahead_ns)} ahead of"
        if not one.late:
            return None
        # Others that were as late, by a clock that is not wrong in the same way, came over the same link.
        shared = any(
            other.high_ns > one.low_ns // 2 and (which in gateways or not other.steady)
            for which, other in self._apart.items()
            if which != sender and other.first_ahead == _NONE
        )
        if one.steady and not shared:
            return SKEWED, one.first_late, f"{_words(one.first_late_ns)} behind"
        return (LATE, one.latest, _words(one.high_ns)) if one.late >= _FEWEST_LATE else None


_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))


def _words(apart_ns: int) -> str:
    """A distance in the largest unit it has ten of: "90 s", "20 min", "5,724 days"."""
    seconds = apart_ns / 1e9
    unit, name = next(((unit, name) for unit, name in _UNITS if seconds >= 10 * unit), (1, "s"))
    return f"{seconds / unit:,.0f} {name}"
