"""Counts the tokens of a capture in worker processes, in batches; blocks only if the caller asks for it."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import wait as wait_for
from typing import NamedTuple

import numpy as np

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED, TokenPass
from inspector.reading.workers.parallel_reader import reader_count
from inspector.store.messages.capture import Capture
from inspector.tokens.worker import CountingProcess, LineBatch

_BATCHES_PER_PROCESS = 3
"""Batches per process: one being counted, and some in reserve until the next poll."""
# One bad line ends two processes: at its batch, then at half of it.
_MAX_DEATHS = 3
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
        self._wanted = 1
        self._closed = False
        self._deaths = 0
        self._processes: dict[CountingProcess, deque[_Batch]] = {}
        self._again: deque[Rows] = deque()
        self.failure_message: str | None = None

    @property
    def pids(self) -> list[int]:
        """Ids of the running processes."""
        return [process.pid for process in self._processes if process.pid is not None]

    def count_all(self) -> None:
        """Counts all messages with as many processes as are useful, and returns when done."""
        if not self._processes and self._tokens.bytes_left < _IN_PROCESS_BYTES:
            self._tokens.count_some(math.inf)
            return
        # The caller waits, so all cores are used; in the background one process is enough.
        self._wanted = reader_count()
        while not self.go_on(None):
            pass
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
            self._start()
            self._hear(timeout)
            self._send_batches()
        return self._tokens.done or self.failure_message is not None

    def _start(self) -> None:
        while len(self._processes) < self._wanted:
            try:
                self._processes[CountingProcess()] = deque()
            except OSError as error:  # the system allows no more processes
                self._wanted = len(self._processes)
                if not self._wanted:
                    self.failure_message = (
                        f"Tokens are not counted: no process could be started for it, {error.strerror}."
                    )

    def _hear(self, timeout: float | None) -> None:
        by_connection = {process.connection: process for process in self._processes}
        for connection in wait_for(list(by_connection), timeout):
            process = by_connection[connection]  # type: ignore[index] - a connection of the mapping
            try:
                self._take(process)
            except EOFError:
                self._handle_death(process)

    def _take(self, process: CountingProcess) -> None:
        counts = process.receive_counts()
        if counts is None:
            return
        batch = self._processes[process].popleft()
        self._tokens.store_counts(batch.rows, counts.lines)
        self._tokens.store_summary_counts(batch.texts, counts.texts)

    def _send_batches(self) -> None:
        for process, given in list(self._processes.items()):
            if not process.is_ready:
                continue
            for batch in self._next_batches(_BATCHES_PER_PROCESS - len(given)):
                given.append(batch)
                try:
                    process.request_counts(self._lines(batch.rows, batch.texts))
                except OSError:
                    self._handle_death(process)
                    break

    def _next_batches(self, most: int) -> Iterator[_Batch]:
        for _ in range(most):
            is_again = bool(self._again)
            rows = self._again.popleft() if is_again else self._tokens.next_batch()
            if not len(rows):
                return
            yield _Batch(rows, self._tokens.summaries(rows), is_again)

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

    def _handle_death(self, process: CountingProcess) -> None:
        """Handles the death of a process: retries its first batch in halves, and returns the rest to the queue."""
        given = self._processes.pop(process, None)
        if given is None:  # it was dropped with another one, while its connection still had an event
            return
        process.end_process()
        if given:
            suspect = given.popleft()
            # Half a batch killed a second process: its lines are never given out again.
            if suspect.is_retry:
                self._tokens.store_counts(suspect.rows, np.full(len(suspect.rows), NOT_COUNTED, np.int32))
            else:
                self._again.extend(half for half in np.array_split(suspect.rows, 2) if len(half))
        self._requeue_batches(given)
        self._deaths += 1
        if self._deaths >= _MAX_DEATHS:
            self.end()
            self.failure_message = GIVEN_UP_MESSAGE.format(self._tokens.counted, len(self._capture))

    def _requeue_batches(self, given: deque[_Batch]) -> None:
        for batch in given:
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
        for process, given in self._processes.items():
            with contextlib.suppress(OSError):
                process.end_process()
            self._requeue_batches(given)
        for rows in self._again:
            self._tokens.give_back(rows)
        self._again.clear()
        self._processes.clear()
        self._wanted, self._deaths = 1, 0
