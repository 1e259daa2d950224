"""Reports messages that wait longer than a limit; withdraws the finding when the awaited message comes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.protocol.timestamps import NO_TIME


class DeadlineQueue:
    """Waiting rows in sorted runs of (time, row). A batch takes due rows only and touches no others.

    A run is merged with the one before it while that one is not much larger. Merging drops rows that no longer wait.

    Args:
        after_s: seconds from a message's time until it is due; messages without a time never are.
    """

    def __init__(self, after_s: int) -> None:
        self._after_ns = after_s * 1_000_000_000
        self._runs: list[tuple[Array, Array]] = []  # times ascending, and their rows

    @property
    def any(self) -> bool:
        """True if any message waits."""
        return bool(self._runs)

    def add(self, times: Array, rows: Array, still: Callable[[Rows], Array]) -> None:
        """Adds waiting messages.

        Args:
            times: (rows,) nanoseconds, or NO_TIME.
            rows: messages.
            still: returns a bool array, True for messages that still wait.
        """
        known = times != NO_TIME
        if not known.any():
            return
        times, rows = times[known], rows[known].astype(np.uint32)
        order = np.argsort(times, kind="stable")
        times, rows = times[order], rows[order]
        # Merging runs of similar size keeps their number logarithmic, as in a merge sort.
        while self._runs and len(self._runs[-1][0]) <= 2 * len(times):
            before = self._runs.pop()
            times, rows = np.concatenate((before[0], times)), np.concatenate((before[1], rows))
            # The only place that drops answered messages, which would otherwise wait until they are due.
            left = np.flatnonzero(still(rows.astype(np.int64)))
            left = left[np.argsort(times[left], kind="stable")]
            times, rows = times[left], rows[left]
        if len(times):
            self._runs.append((times, rows))

    def take_due(self, now_ns: int) -> Rows:
        """Removes and returns the messages that are due, ascending."""
        if now_ns < NO_TIME + 1 + self._after_ns:
            return NO_ROWS
        due: list[Array] = []
        left: list[tuple[Array, Array]] = []
        for times, rows in self._runs:
            count = int(np.searchsorted(times, now_ns - self._after_ns))
            if count:
                due.append(rows[:count])
            if count < len(rows):
                left.append((times[count:], rows[count:]))
        self._runs = left
        return np.sort(np.concatenate(due)).astype(np.int64) if due else NO_ROWS


def are_overdue(times: Array, now_ns: int, after_s: int) -> Array:
    """(n,) bool: True for times more than `after_s` seconds before now. NO_TIME is never late."""
    if now_ns < NO_TIME + 1 + after_s * 1_000_000_000:
        return np.zeros(len(times), np.bool_)
    return (times != NO_TIME) & (times < now_ns - after_s * 1_000_000_000)


class OverdueCheck:
    """Messages that wait until a check's limit, in seconds, is over.

    Args:
        check: the check to report; `limit` is the waiting time.
        settled: returns a bool array, True for messages that no longer wait.
        details: returns the `{detail}` of the finding about a message.
        since: returns the start of the wait of each message in nanoseconds, if it is not the message's own time.
            It never moves back. Messages with a later start must be passed as changed.
    """

    def __init__(
        self, check: Check, settled: Callable[[Batch, Rows], Array], details: Callable[[int], str] = lambda _: "",
        since: Callable[[Batch, Rows], Array] = lambda batch, rows: batch.column_values("time_ns", rows),
    ) -> None:  # fmt: skip
        self._check, self._settled, self._details, self._since = check, settled, details, since
        self._waiting = DeadlineQueue(check.limit)
        self._now_ns = NO_TIME

    def feed(self, batch: Batch, new: Rows, changed: Rows) -> None:
        """Adds new waiting messages and checks the due ones.

        Args:
            batch: gives the clock.
            new: messages that begin to wait, ascending.
            changed: earlier messages that may be settled by now, or that are recognized as copies by their id.
        """
        found = batch.findings
        if found.count_of(self._check):
            changed = changed[found.has(self._check, changed)]
            settled = self._settled(batch, changed)
            found.withdraw(self._check, changed[settled])
            late = changed[~settled]
            # the log clock was set back: an earlier time proved wrong (analysis.log_clock)
            if batch.now_ns < self._now_ns:
                late = np.sort(found.rows_of(self._check))
            # Progress of a request moves the start of its wait, so it may no longer be late.
            early = late[~self._are_late(batch, late)]
            found.withdraw(self._check, early)
            self._queue_rows(batch, early)
        self._queue_rows(batch, new[~self._settled(batch, new)])
        due = self._waiting.take_due(batch.now_ns)
        due = due[~self._settled(batch, due)]
        late = self._are_late(batch, due)
        self._queue_rows(batch, due[~late])
        due = due[late]
        found.add(self._check, due, details=[self._details(row) for row in due.tolist()])
        self._now_ns = batch.now_ns

    def _are_late(self, batch: Batch, rows: Rows) -> Array:
        return are_overdue(self._since(batch, rows), batch.now_ns, self._check.limit)

    def _queue_rows(self, batch: Batch, rows: Rows) -> None:
        self._waiting.add(self._since(batch, rows), rows, lambda waiting: ~self._settled(batch, waiting))
