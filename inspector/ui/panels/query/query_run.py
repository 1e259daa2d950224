"""Runs a query: a thread plans and answers it; columns are loaded on the event loop in slices.

The thread never touches the document. The event loop reads records for it, a slice at a time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.document.document import CaptureDocument
from inspector.tables import Database, QueryError, QueryInputs
from inspector.ui import budgets

MOST_ROWS = 10_000
"""Maximum of displayed rows of a result."""
_CHUNK = 500
_PATIENCE_S, _JOIN_S = 1.0, 0.005  # longest wait for interrupted threads, and one try of it


class LoopReading(QObject):
    """Reads records on the event loop for other threads."""

    _asked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: list[tuple[Callable[[], Any], Future[Any]]] = []
        self._stopped = False
        self._asked.connect(self._run_pending)

    def begin(self) -> None:
        """Accepts calls again."""
        with self._lock:
            self._stopped = False

    def stop(self) -> None:
        """Releases all waiting threads with None. Called on the loop's thread."""
        with self._lock:
            self._stopped = True
            waiting, self._waiting = self._waiting, []
        for _, answer in waiting:
            answer.set_result(None)

    def __call__(self, work: Callable[[], Any]) -> Any:
        """Runs a function on the event loop and returns its result, or None after `stop`. For other threads."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._stopped:
                return None
            self._waiting.append((work, answer))
        self._asked.emit()
        return answer.result()

    def _run_pending(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for work, answer in waiting:
            found = None
            try:
                found = work()
            # In any case, or the thread would wait forever.
            finally:
                answer.set_result(found)


class QueryRun(QObject):
    """Runs one query at a time.

    Signals:
        began(object, object): names and types of the columns of a result.
        came(object): a batch of rows.
        ended(int, bool, float): number of rows, True if the result was cut off, and seconds.
        failed(object): a QueryError.
    """

    began = Signal(object, object)
    came = Signal(object)
    ended = Signal(int, bool, float)
    failed = Signal(object)
    _told = Signal(int, object, object)

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._reading = LoopReading(self)
        self._database: Database | None = None
        self._thread: threading.Thread | None = None
        self._steps: Generator[None] | None = None
        self._sql, self._number, self._started = "", 0, 0.0
        self._given_up: list[tuple[threading.Thread, Database]] = []
        self._timer, self._ending = QTimer(self), QTimer(self)
        self._timer.timeout.connect(self._load_on)
        self._ending.timeout.connect(self._end_threads)
        self._told.connect(self._on_reported)

    @property
    def running(self) -> bool:
        return self._thread is not None or self._steps is not None

    def start(self, sql: str) -> None:
        """Starts a query and cancels a running one."""
        self.cancel()
        # Signals of an earlier query carry an older number and are ignored.
        self._number += 1
        self._sql, self._started = sql, time.perf_counter()
        self._start(self._plan, self._number)

    def cancel(self) -> bool:
        """Cancels the running query. Returns True if there was one."""
        if not self.running:
            return False
        self._number += 1
        self._timer.stop()
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        self._reading.stop()
        if self._thread is not None:  # the thread ends by itself and frees its tables
            if self._database is not None:
                self._given_up.append((self._thread, self._database))
                self._ending.start(budgets.current.poll_ms)
            self._thread = self._database = None
            self._reading = LoopReading(self)
        else:
            self._reading.begin()
        return True

    def close(self) -> None:
        """Cancels the query, and waits up to `_PATIENCE_S` for interrupted threads."""
        self.cancel()
        until = time.perf_counter() + _PATIENCE_S
        while self._given_up and time.perf_counter() < until:
            self._given_up[0][0].join(_JOIN_S)
            self._end_threads()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _end_threads(self) -> None:
        """Interrupts cancelled queries repeatedly until their threads end.

        An interrupt before the query runs has no effect.
        """
        for one in list(self._given_up):
            thread, database = one
            if thread.is_alive():
                database.interrupt()
            else:
                database.close()
                self._given_up.remove(one)
        if not self._given_up:
            self._ending.stop()

    # Worker thread

    def _start(self, work: Callable[[int], None], number: int) -> None:
        # Daemon: an unfinished query must not keep the process alive.
        self._thread = threading.Thread(target=work, args=(number,), name="query", daemon=True)
        self._thread.start()

    def _report(self, number: int, what: str, said: object) -> None:
        with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
            self._told.emit(number, what, said)

    def _plan(self, number: int) -> None:
        try:
            database = self._database
            if database is None:  # importing DuckDB takes longer than a slice of the event loop
                database = Database(read=self._reading)
            self._report(number, "planned", (database, database.plan_inputs(self._sql)))
        except QueryError as error:
            self._report(number, "failed", error)

    def _answer(self, number: int) -> None:
        database = self._database
        if database is None or number != self._number:
            return
        try:
            result = database.run_query(self._sql)
            self._report(number, "began", (result.names, result.types))
            count, more = 0, False
            while rows := result.fetch_rows(_CHUNK):
                count += len(rows)
                if count > MOST_ROWS:
                    more = True
                    self._report(number, "came", rows[: MOST_ROWS - (count - len(rows))])
                    break
                self._report(number, "came", rows)
            self._report(number, "ended", (min(count, MOST_ROWS), more))
        except QueryError as error:
            self._report(number, "failed", error)

    # Event loop

    def _on_reported(self, number: int, what: str, said: Any) -> None:
        if number != self._number:
            return
        if what == "planned":
            self._thread = None
            self._database, needed = said
            self._on_planned(needed)
        elif what == "began":
            self.began.emit(*said)
        elif what == "came":
            self.came.emit(said)
        else:
            self._thread = None
            if what == "ended":
                count, more = said
                self.ended.emit(count, more, time.perf_counter() - self._started)
            else:
                self.failed.emit(said)

    def _on_planned(self, needed: QueryInputs) -> None:
        assert self._database is not None
        self._steps = self._loading(needed)
        self._timer.start(budgets.current.awaited_ms)
        self._load_on()

    def _loading(self, needed: QueryInputs) -> Generator[None]:
        """Completes checks and token counts the query needs, then loads its columns, in slices."""
        assert self._database is not None
        document = self._document
        while needed.checked and not document.run_postponed_checks(time.perf_counter() + budgets.current.slice_s):
            yield
        yield from self._database.load_in_steps(document, needed)

    def _load_on(self) -> None:
        steps, until = self._steps, time.perf_counter() + budgets.current.awaited_slice_s
        if steps is None:
            return
        for _ in steps:
            if time.perf_counter() >= until:
                return
        self._timer.stop()
        self._steps = None
        self._start(self._answer, self._number)
