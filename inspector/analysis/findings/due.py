"""Messages that wait to be judged until a time has passed: found then, taken back when what is due comes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.check import Check
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.protocol.timestamps import NO_TIME


class WaitingByTime:
    """Rows in sorted runs of time and row, of which each batch takes what is due and looks at nothing else.

    A run is merged into the one before while that is hardly larger; what waits no more is left out then.

    Args:
        after_s: how long after its time a message is due; what has no time never is.
    """

    def __init__(self, after_s: int) -> None:
        self._after_ns = after_s * 1_000_000_000
        self._runs: list[tuple[Array, Array]] = []  # times ascending, and their rows

    @property
    def any(self) -> bool:
        """Whether anything waits."""
        return bool(self._runs)

    def add(self, times: Array, rows: Array, still: Callable[[Rows], Array]) -> None:
        """Let messages wait.

        Args:
            times: (rows,) nanoseconds; NO_TIME.
            rows: messages.
            still: which of some messages wait still.
        """
        known = times != NO_TIME
        if not known.any():
            return
        times, rows = times[known], rows[known].astype(np.uint32)
        order = np.argsort(times, kind="stable")
        times, rows = times[order], rows[order]
        while self._runs and len(self._runs[-1][0]) <= 2 * len(times):
            before = self._runs.pop()
            times, rows = np.concatenate((before[0], times)), np.concatenate((before[1], rows))
            left = np.flatnonzero(still(rows.astype(np.int64)))
            left = left[np.argsort(times[left], kind="stable")]
            times, rows = times[left], rows[left]
        if len(times):
            self._runs.append((times, rows))

    def take_due(self, now_ns: int) -> Rows:
        """The messages whose time has come, ascending; they wait no more."""
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


def overdue(times: Array, now_ns: int, after_s: int) -> Array:
    """Which of some times lie more than so many seconds before now; what has no time is never late."""
    if now_ns < NO_TIME + 1 + after_s * 1_000_000_000:
        return np.zeros(len(times), np.bool_)
    return (times != NO_TIME) & (times < now_ns - after_s * 1_000_000_000)


class Overdue:
    """Messages that wait until a check's limit, in seconds, is over.

    Args:
        check: what is found then; its `limit` is how long.
        settled: which of some messages wait no more.
        details: words for the finding about a message.
        since: since when each of some messages waits, where that is not its own time: nanoseconds, never earlier
            than was said before. Messages for which it has moved are handed over as changed.
    """

    def __init__(
        self, check: Check, settled: Callable[[Batch, Rows], Array], details: Callable[[int], str] = lambda _: "",
        since: Callable[[Batch, Rows], Array] = lambda batch, rows: batch.of("time_ns", rows),
    ) -> None:  # fmt: skip
        self._check, self._settled, self._details, self._since = check, settled, details, since
        self._waiting = WaitingByTime(check.limit)
        self._now_ns = NO_TIME

    def feed(self, batch: Batch, new: Rows, changed: Rows) -> None:
        """Let new messages wait, and look at what is due.

        Args:
            batch: whose clock counts.
            new: messages that begin to wait, ascending.
            changed: earlier ones that may be settled by now, or by their id a copy of them.
        """
        found = batch.findings
        if found.counts_of(self._check):
            changed = changed[found.has(self._check, changed)]
            settled = self._settled(batch, changed)
            found.withdraw(self._check, changed[settled])
            late = changed[~settled]
            if batch.now_ns < self._now_ns:  # a time that nobody believes any more (analysis.log_clock)
                late = np.sort(found.rows_of(self._check))
            early = late[~self._are_late(batch, late)]
            found.withdraw(self._check, early)
            self._wait(batch, early)
        self._wait(batch, new[~self._settled(batch, new)])
        due = self._waiting.take_due(batch.now_ns)
        due = due[~self._settled(batch, due)]
        late = self._are_late(batch, due)
        self._wait(batch, due[~late])
        due = due[late]
        found.add(self._check, due, details=[self._details(row) for row in due.tolist()])
        self._now_ns = batch.now_ns

    def _are_late(self, batch: Batch, rows: Rows) -> Array:
        return overdue(self._since(batch, rows), batch.now_ns, self._check.limit)

    def _wait(self, batch: Batch, rows: Rows) -> None:
        self._waiting.add(self._since(batch, rows), rows, lambda waiting: ~self._settled(batch, waiting))
