"""Counts the tokens of a capture in worker processes, in batches; blocks only if the caller asks for it."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED, TokenPass
from inspector.base.slices import SlicedWork, run_to_end
from inspector.base.workers.pool import Answer, WorkerDiedError
from inspector.reading.workers.parallel_reader import reader_count
from inspector.store.messages.capture import Capture
from inspector.tokens.worker import LineBatch, counting_pool

_WAIT_S = 0.02
_IN_PROCESS_BYTES = 4 << 20
"""Limit of bytes counted in this process when the caller waits: a new process would take longer to start."""
GIVEN_UP_MESSAGE = (
    "Tokens are counted no further: the process that counts ended three times. {:,} of {:,} messages are counted; "
    "open the file again to count the rest."
)


class _Batch(NamedTuple):
    """A batch given to a process."""

    rows: Rows
    texts: list[str]
    is_retry: bool
    """True if a process died at it before."""


class TokenCounting:
    """Schedules the counting of one capture.

    A process that dies is replaced. Its batch may be the cause, so it is given out once more, in halves. A half at
    which a process dies again stays uncounted.

    Attributes:
        failure_message: a sentence for the user once counting was given up; None until then.
    """

    def __init__(self, capture: Capture, tokens: TokenPass) -> None:
        self._capture = capture
        self._tokens = tokens
        self._closed = False
        self._pool = counting_pool()
        self._again: deque[Rows] = deque()
        self.failure_message: str | None = None

    @property
    def pids(self) -> list[int]:
        """Ids of the running processes."""
        return self._pool.pids

    def count_all(self) -> None:
        """Counts all messages with as many processes as are useful, and returns when done."""
        run_to_end(self.count_steps())

    def count_steps(self) -> SlicedWork[None]:
        """Counts all messages with as many processes as are useful; a step takes a few milliseconds."""
        if not self._pool.pids and self._tokens.bytes_left < _IN_PROCESS_BYTES:
            yield from self._tokens.count_in_process()
            return
        # The caller waits, so all cores are used; in the background one process is enough.
        self._pool.size = reader_count()
        while not self.go_on(_WAIT_S):
            yield
        self.end()

    def go_on(self, timeout: float | None = 0) -> bool:
        """Collects counts, and gives out more batches; starts a process if there is none.

        Args:
            timeout: seconds to wait for a result; None for no limit.

        Returns:
            True if all messages are counted, until more come.
        """
        if self.failure_message is not None or self._closed:
            return True
        if not self._tokens.done:
            self._pool.start()
            for answer in self._pool.poll(timeout):
                self._take(answer)
            if self._pool.failure is not None:
                self._give_up(self._pool.failure)
            else:
                self._send_batches()
        return self._tokens.done or self.failure_message is not None

    def _take(self, answer: Answer[_Batch]) -> None:
        batch = answer.key
        if answer.error is None:
            self._tokens.store_counts(batch.rows, answer.value.lines)
            self._tokens.store_summary_counts(batch.texts, answer.value.texts)
        elif not answer.was_running:
            self._requeue(batch)
        # Half a batch killed a second process: its lines are never given out again.
        elif batch.is_retry:
            self._tokens.store_counts(batch.rows, np.full(len(batch.rows), NOT_COUNTED, np.int32))
        else:
            self._again.extend(half for half in np.array_split(batch.rows, 2) if len(half))

    def _send_batches(self) -> None:
        while self._pool.room:
            is_again = bool(self._again)
            rows = self._again.popleft() if is_again else self._tokens.next_batch()
            if not len(rows):
                return
            batch = _Batch(rows, self._tokens.summaries(rows), is_again)
            self._pool.request(batch, self._lines(batch.rows, batch.texts))

    def _lines(self, rows: Rows, texts: list[str]) -> LineBatch:
        columns = self._capture.columns
        source = self._capture.sources[int(columns["source"][rows[0]])]
        kinds, places = np.unique(columns["kind"][rows], return_inverse=True)
        path, identity, begin = source.file_of(int(columns["offset"][rows[0]]))
        return LineBatch(
            str(path),
            identity,
            columns["offset"][rows].astype(np.int64) - begin,
            columns["length"][rows].astype(np.int64),
            places.astype(np.uint16),
            tuple(self._capture.strings[kind] if kind else "" for kind in kinds.tolist()),
            columns["part"][rows].astype(np.uint16),
            source.chosen_format,
            tuple(texts),
            is_derived=begin > 0,
        )

    def _give_up(self, failure: WorkerDiedError) -> None:
        died = self._pool.deaths
        self.end()
        self.failure_message = (
            GIVEN_UP_MESSAGE.format(self._tokens.counted, len(self._capture)) if died else
            f"Tokens are not counted: no process could be started for it, {failure.strerror}."
        )  # fmt: skip

    def _requeue(self, batch: _Batch) -> None:
        if batch.is_retry:
            self._again.append(batch.rows)
        else:
            self._tokens.give_back(batch.rows)

    def close(self) -> None:
        """Ends the processes for good, since the capture is being closed."""
        self.end()
        self._closed = True

    def end(self) -> None:
        """Ends the processes; counting may resume later, including their unfinished batches."""
        for batch in self._pool.end():
            self._requeue(batch)
        for rows in self._again:
            self._tokens.give_back(rows)
        self._again.clear()
        self._pool = counting_pool()
