"""Checks times: senders' clocks that are wrong, and messages late over slow links (docs/protocols.md 2).

The delay between `ts` and arrival is clock error plus transit time. A wrong clock is off by a constant. A slow link
gets later and later for all senders, after a prompt start.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.check import NOTE, Check
from inspector.protocol.participants import GATEWAY_IDS
from inspector.protocol.timestamps import DATED_FROM_NS, NO_TIME
from inspector.store.columns.columns import GrowingColumns

SKEW_S = 5
"""Seconds of clock error or lateness from which a finding is reported."""

SKEWED = Check(
    "clock-skew", NOTE, "Clocks differ",
    "{who}'s clock is {detail} the log's.",
    "Times of participants cannot be compared. Latencies use the log's clock.",
    "Synchronize the clocks by NTP; in containers, check the host's clock.",
    "MEW v0.4, ts is the sender's clock", limit=SKEW_S,
    example="90 s behind",
)  # fmt: skip
LATE = Check(
    "messages-late", NOTE, "Messages arrive late",
    "Messages of {who} arrive late, this one {detail} after it was sent.",
    "The display lags by this time, and so do answers and stop buttons.",
    "Look for a slow link or a queue on the way. A wrong clock would be off by "
    "the same amount from the first message on.",
    "MEW v0.4, ts is the sender's clock", limit=SKEW_S,
    example="24 s",
)  # fmt: skip
CHECKS = (SKEWED, LATE)

_SKEW_NS = SKEW_S * 1_000_000_000
_MIN_LATE_MESSAGES = 5
"""Late messages needed: one or two may have been stamped long before they were sent."""
_NO_VALUE = -1


_MIN_NS, _MAX_NS = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_COLUMNS: dict[str, tuple[Any, int]] = {
    "sender": (np.uint32, 0),
    "gateway": (np.bool_, 0),
    "low": (np.int64, _MAX_NS),
    "high": (np.int64, _MIN_NS),
    "late": (np.int64, 0),
    "first_late": (np.int64, _NO_VALUE),
    "first_late_ns": (np.int64, 0),
    "first_ahead": (np.int64, _NO_VALUE),
    "first_ahead_ns": (np.int64, 0),
    "latest": (np.int64, _NO_VALUE),
    "told": (np.uint8, 0),
    "told_row": (np.int64, _NO_VALUE),
    "watched": (np.int64, _MAX_NS),
}
"""Columns by sender about delays (arrival minus `ts`, ns); independent of the batch size.

low, high: the extremes, below 0 for messages that arrived before they were sent. late: number of messages above the
limit. first_late, first_ahead, latest: rows of the first ones beyond the limit, and of the maximum. told, told_row: the
current finding. watched: for a clock behind, the delay of other senders that would change the finding.
"""
_CLOCK_AHEAD, _CLOCK_BEHIND, _LINK_LATE = 1, 2, 3
_CHECK_BY_VERDICT = {_CLOCK_AHEAD: SKEWED, _CLOCK_BEHIND: SKEWED, _LINK_LATE: LATE}


class Clocks:
    """Compares arrival times with senders' times. O(messages), independent of the number of senders."""

    def __init__(self) -> None:
        self._senders = GrowingColumns({name: dtype for name, (dtype, _) in _COLUMNS.items()})
        self._number = StringNumbers(np.int32)  # by sender, from 1
        # The two latest senders that share the link and have no constant clock error.
        self._link_sharers: list[tuple[int, int]] = []
        self._behind_heap: list[
            tuple[int, int]
        ] = []  # heap of senders judged behind, by the delay that would change it

    def feed(self, batch: Batch) -> None:
        times, sent = batch.new("time_ns"), batch.new("ts_ns")
        # Logs without arrival times use one array for both columns; comparing it with itself tells nothing.
        if np.may_share_memory(times, sent):  # the sender's time is the only one
            return
        # A log with times relative to its own start is no clock.
        places = np.flatnonzero((times >= DATED_FROM_NS) & (sent != NO_TIME))
        places = batch.sent_rows(places + batch.start) - batch.start
        if not len(places):
            return
        apart = times[places] - np.maximum(sent[places], 0)
        senders = batch.new("sender")[places]
        order = np.argsort(senders, kind="stable")
        found, starts = np.unique(senders[order], return_index=True)
        numbers = self._numbers(batch, found)
        lost = self._note(numbers, starts, apart[order], places[order] + batch.start)
        self._update_findings(batch, np.arange(len(self._senders)) if lost else self._to_judge(numbers))

    def _numbers(self, batch: Batch, senders: Array) -> Array:
        """Returns the rows of senders in the columns; adds new senders."""
        new = senders[self._number.numbers_of(senders) == 0]
        if len(new):
            first = len(self._senders)
            strings = batch.capture.strings
            values: dict[str, Any] = {name: empty for name, (_, empty) in _COLUMNS.items()}
            values |= {"sender": new, "gateway": np.array([strings[one] in GATEWAY_IDS for one in new.tolist()])}
            self._senders.append(values, len(new))
            self._number.set_number(new, np.arange(first, first + len(new)) + 1)
        return self._number.numbers_of(senders).astype(np.int64) - 1

    def _note(self, numbers: Array, starts: Array, apart: Array, rows: Array) -> bool:
        """Takes in messages, sorted by sender. Returns True if a sender was removed from those that share the link."""
        of, count = self._senders, len(apart)
        sizes = np.diff(np.append(starts, count))
        low, high = np.minimum.reduceat(apart, starts), np.maximum.reduceat(apart, starts)

        def first(wanted: Array) -> Array:
            """By sender: first position where `wanted` is True; `count` without one."""
            return np.minimum.reduceat(np.where(wanted, np.arange(count), count), starts)

        ahead = first(apart < -_SKEW_NS)
        is_ahead = (ahead < count) & (of["first_ahead"][numbers] == _NO_VALUE)
        of.replace("first_ahead", numbers[is_ahead], rows[ahead[is_ahead]])
        of.replace("first_ahead_ns", numbers[is_ahead], apart[ahead[is_ahead]])
        late = first(apart > _SKEW_NS)
        is_late = late < count
        of.replace("late", numbers, of["late"][numbers] + np.add.reduceat((apart > _SKEW_NS).astype(np.int64), starts))
        is_first = is_late & (of["first_late"][numbers] == _NO_VALUE)
        of.replace("first_late", numbers[is_first], rows[late[is_first]])
        of.replace("first_late_ns", numbers[is_first], apart[late[is_first]])
        most = first(apart == np.repeat(high, sizes))
        is_most = is_late & (high > of["high"][numbers])
        of.replace("latest", numbers[is_most], rows[most[is_most]])
        of.replace("low", numbers, np.minimum(of["low"][numbers], low))
        of.replace("high", numbers, np.maximum(of["high"][numbers], high))
        return self._update_sharing(numbers, lost=set(numbers[is_ahead].tolist()))

    def _update_sharing(self, numbers: Array, lost: set[int]) -> bool:
        gone = any(number in lost for _, number in self._link_sharers)
        if gone:
            numbers = np.arange(len(self._senders))
        of = self._senders
        # A sender whose clock is ahead proves nothing about the link.
        shares = (of["first_ahead"][numbers] == _NO_VALUE) & (of["gateway"][numbers] | ~self._are_steady(numbers))
        numbers = numbers[shares]
        most = of["high"][numbers]
        if len(numbers) > 2:
            top = np.argpartition(most, -2)[-2:]
            numbers, most = numbers[top], most[top]
        latest = dict([] if gone else ((number, high) for high, number in self._link_sharers))
        latest.update(zip(numbers.tolist(), most.tolist(), strict=True))
        self._link_sharers = sorted(((high, number) for number, high in latest.items()), reverse=True)[:2]
        return gone

    def _are_steady(self, numbers: Array) -> Array:
        """(n,) bool: True for senders with a nearly constant delay, the sign of a wrong clock."""
        low, high = self._senders["low"][numbers], self._senders["high"][numbers]
        return (low > _SKEW_NS) & (high - low <= low // 2)

    def _to_judge(self, numbers: Array) -> Array:
        """Returns senders to judge again: new messages, or judged behind and now explained by the link."""
        more = [number for _, number in self._link_sharers]
        latest = self._link_sharers[0][0] if self._link_sharers else _MIN_NS
        while self._behind_heap and self._behind_heap[0][0] < latest:
            more.append(heapq.heappop(self._behind_heap)[1])
            self._senders.replace("watched", more[-1], _MAX_NS)
        return np.union1d(numbers, more).astype(np.int64)

    def _update_findings(self, batch: Batch, numbers: Array) -> None:
        """Updates the finding of each sender."""
        of = self._senders
        kinds, rows = self._verdicts(numbers)
        behind = numbers[kinds == _CLOCK_BEHIND]
        limits = of["low"][behind] // 2
        for number, limit in zip(behind.tolist(), limits.tolist(), strict=True):
            if limit < of["watched"][number]:
                heapq.heappush(self._behind_heap, (limit, number))
                of.replace("watched", number, limit)
        differs = (kinds != of["told"][numbers]) | (rows != of["told_row"][numbers])
        numbers, kinds, rows = numbers[differs], kinds[differs], rows[differs]
        before, before_rows = of["told"][numbers], of["told_row"][numbers]
        for check in CHECKS:
            of_check = [kind for kind, one in _CHECK_BY_VERDICT.items() if one is check]
            batch.findings.withdraw(check, before_rows[are_any_of(before, of_check)])
        for check in CHECKS:
            now = are_any_of(kinds, [kind for kind, one in _CHECK_BY_VERDICT.items() if one is check])
            words = [self._words(*one) for one in zip(numbers[now].tolist(), kinds[now].tolist(), strict=True)]
            batch.findings.add(check, rows[now], details=words)
        of.replace("told", numbers, kinds)
        of.replace("told_row", numbers, rows)

    def _verdicts(self, numbers: Array) -> tuple[Array, Array]:
        """Returns the verdict of each sender, 0 without one, and the message that shows it."""
        of = self._senders
        ahead, late = of["first_ahead"][numbers] != _NO_VALUE, of["late"][numbers]
        others = np.full(len(numbers), self._link_sharers[0][0] if self._link_sharers else _MIN_NS)
        if self._link_sharers:
            others[numbers == self._link_sharers[0][1]] = (
                self._link_sharers[1][0] if len(self._link_sharers) > 1 else _MIN_NS
            )
        # Other senders that were as late, without a constant clock error, came over the same link.
        shared = others > of["low"][numbers] // 2
        behind = (late > 0) & self._are_steady(numbers) & ~shared
        kinds = np.where(late >= _MIN_LATE_MESSAGES, _LINK_LATE, 0)
        kinds = np.where(behind, _CLOCK_BEHIND, kinds)
        # Later lines override earlier ones: this verdict needs no other sender for comparison.
        kinds = np.where(ahead, _CLOCK_AHEAD, kinds)  # a link cannot deliver before sending
        shows = [of["first_ahead"][numbers], of["first_late"][numbers], of["latest"][numbers]]
        return kinds, np.select([kinds == kind for kind in (_CLOCK_AHEAD, _CLOCK_BEHIND, _LINK_LATE)], shows, _NO_VALUE)

    def _words(self, number: int, kind: int) -> str:
        match kind:
            case 1:
                return f"{_duration_text(-int(self._senders['first_ahead_ns'][number]))} ahead of"
            case 2:
                return f"{_duration_text(int(self._senders['first_late_ns'][number]))} behind"
            case _:
                return _duration_text(int(self._senders["high"][number]))


_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))


def _duration_text(apart_ns: int) -> str:
    """A distance in the largest unit it has ten of: "90 s", "20 min", "5,724 days"."""
    seconds = apart_ns / 1e9
    unit, name = next(((unit, name) for unit, name in _UNITS if seconds >= 10 * unit), (1, "s"))
    return f"{seconds / unit:,.0f} {name}"
