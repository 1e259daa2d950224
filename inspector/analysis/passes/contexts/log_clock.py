"""Estimates the present time of a log: its latest time, unless a single message claims to be days later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import Array

_DAY_NS = 86_400 * 1_000_000_000


@dataclass(slots=True)
class _Day:
    latest: int
    messages: int
    sender: int
    by_several: bool


class LogClock:
    """The latest plausible time of a log.

    Times written by senders may be wrong: one clock that is years ahead would make all contexts look idle. Consecutive
    days form a run. The latest run counts that has at least two senders, or most of the messages so far. The result
    depends only on sums over all messages, so the division into batches makes no difference.
    """

    def __init__(self) -> None:
        self._latest_recorded_ns = NO_TIME
        self._days: dict[int, _Day] = {}
        self._latest: int | None = NO_TIME

    def feed(self, times: Array, senders: Array, *, by_senders: bool) -> None:
        """Adds times.

        Args:
            by_senders: true if the senders wrote the times.
        """
        known = times != NO_TIME
        if not known.all():
            times, senders = times[known], senders[known]
        if not len(times):
            return
        self._latest = None
        # Times of the log itself cannot be wrong by one sender's clock.
        if not by_senders:
            self._latest_recorded_ns = max(self._latest_recorded_ns, int(times.max()))
            return
        # Most batches lie within one day; this avoids the sort.
        first, last = int(times.min()) // _DAY_NS, int(times.max()) // _DAY_NS
        if first == last:
            self._note(last, times, senders)
            return
        days = times // _DAY_NS
        order = np.argsort(days, kind="stable")
        found, starts = np.unique(days[order], return_index=True)
        for day, places in zip(found.tolist(), np.split(order, starts[1:]), strict=True):
            self._note(day, times[places], senders[places])

    def _note(self, day: int, times: Array, senders: Array) -> None:
        latest, sender = int(times.max()), int(senders[0])
        several = bool((senders != sender).any())
        known = self._days.get(day)
        if known is None:
            self._days[day] = _Day(latest, len(times), sender, several)
            return
        known.latest = max(known.latest, latest)
        known.messages += len(times)
        known.by_several |= several or known.sender != sender

    @property
    def latest_ns(self) -> int:
        """Nanoseconds since the epoch; NO_TIME. O(days) after an addition."""
        if self._latest is None:
            self._latest = max(self._latest_recorded_ns, self._latest_plausible())
        return self._latest

    def _latest_plausible(self) -> int:
        believed, so_far = NO_TIME, 0
        run: list[_Day] = []
        days = sorted(self._days)
        for place, day in enumerate(days):
            run.append(self._days[day])
            if place + 1 < len(days) and days[place + 1] - day <= 1:
                continue
            messages = sum(one.messages for one in run)
            several = any(one.by_several for one in run) or len({one.sender for one in run}) > 1
            # A run of days needs two senders, or more messages than all runs before it.
            if several or messages > so_far:
                believed = max(one.latest for one in run)
            so_far += messages
            run = []
        return believed
