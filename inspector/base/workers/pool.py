"""Pool of worker processes that answer requests, in pieces or at once; polled or waited for by its owner.

It has no thread, and starts its processes on demand. The executor of `concurrent.futures` has neither pieces nor
cancellation, and a process that dies breaks it as a whole.
"""

from __future__ import annotations

import errno
import logging
import math
import time
from collections.abc import Generator
from multiprocessing.connection import wait
from typing import Any, Generic, NamedTuple, TypeVar, cast

from inspector.base.workers import serving
from inspector.base.workers.child_process import ChildProcess

_log = logging.getLogger(__name__)

Key = TypeVar("Key")


class WorkerDiedError(OSError):
    """A worker process could not be started, or ended before it had answered; `strerror` is the reason.

    Attributes:
        was_ready: it had been prepared.
    """

    def __init__(self, number: int, reason: str, *, was_ready: bool = False) -> None:
        super().__init__(number, reason)
        self.was_ready = was_ready


class Answer(NamedTuple, Generic[Key]):
    """A piece or the end of the answer to a request.

    Attributes:
        key: the caller's key of the request.
        value: the piece, or the value of a function without pieces.
        is_last: no more of this request follows.
        error: the error that ended it: of the function, or WorkerDiedError.
        was_running: the worker was at this request when the error arose, not at one before it.
    """

    key: Key
    value: Any = None
    is_last: bool = True
    error: Exception | None = None
    was_running: bool = False


class _Worker(ChildProcess, Generic[Key]):
    """One process and its requests.

    Attributes:
        is_ready: it has been prepared.
        pending: keys of requests in flight by number, in the order sent.
    """

    def __init__(self, *args: Any, name: str, nice: int) -> None:
        super().__init__(serving.serve_requests, *args, name=name, nice=nice)
        self.is_ready = False
        self.pending: dict[int, Key] = {}


class WorkerPool(Generic[Key]):
    """Worker processes with one function. Used on one thread.

    A request whose worker dies is answered with WorkerDiedError.

    Attributes:
        size: limit of processes.
        failure: the reason why no more processes are started, if any; others may still run.
        deaths: number of processes that have ended by themselves.
    """

    def __init__(
        self, setup: serving.Setup, *args: Any, name: str, size: int = 1, in_flight: int = 1, restarts: int = 0,
        nice: int = 0, idle_s: float = math.inf, carried: serving.CarriedState | None = None,
    ) -> None:  # fmt: skip
        """Prepares a pool without a process.

        Args:
            setup: called in each process with `args`; returns the function that answers requests. Of a module.
            args: picklable.
            name: of the processes, as an infinitive: `count tokens`.
            size: limit of processes.
            in_flight: requests that a process takes by `room`.
            restarts: number of processes that are replaced when they die.
            nice: niceness above this process.
            idle_s: seconds without a request after which `poll` ends the processes.
            carried: state that each request brings along.
        """
        self.failure: WorkerDiedError | None = None
        self.deaths = 0
        self._setup, self._args, self._name, self._nice = setup, args, name, nice
        self.size = size
        self._in_flight, self._restarts, self._idle_s = in_flight, restarts, idle_s
        self._carried = carried or serving.CarriedState()
        self._workers: list[_Worker[Key]] = []
        self._failed: list[Answer[Key]] = []  # answers for requests that could not be sent, or were lost
        self._sent = self._cancelled_to = 0
        self._used_s = time.monotonic()

    @property
    def pids(self) -> list[int]:
        """Ids of the running processes."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    @property
    def pending(self) -> int:
        """Number of requests without an answer, cancelled ones included."""
        return sum(len(worker.pending) for worker in self._workers) + len(self._failed)

    @property
    def room(self) -> int:
        """Number of requests that processes that are ready take now."""
        return sum(max(0, self._in_flight - len(worker.pending)) for worker in self._workers if worker.is_ready)

    def start(self, most: int | None = None) -> None:
        """Starts missing processes, at most some of them: each takes milliseconds. A failure is in `failure`."""
        for _ in range(self.size - len(self._workers) if most is None else most):
            if self.failure is not None or len(self._workers) >= self.size:
                return
            try:
                state = self._carried.restore, self._carried.current()
                self._workers.append(_Worker(self._setup, self._args, *state, name=self._name, nice=self._nice))
                self._used_s = time.monotonic()
            except OSError as error:  # the system allows no more processes
                self.size = len(self._workers)
                if not self._workers:
                    self.failure = WorkerDiedError(error.errno or errno.EAGAIN, error.strerror or str(error))

    def request(self, key: Key, request: Any) -> None:
        """Sends a request to the process with the fewest; starts one if none runs. Failures come as answers.

        Blocks while the pipe is full, so a large request should wait for `room`.

        Args:
            key: of its answers.
            request: picklable.
        """
        if not self._workers:
            self.start(1)
        if not self._workers:
            self._failed.append(Answer(key, error=self.failure))
            return
        worker = min(self._workers, key=lambda one: (not one.is_ready, len(one.pending)))
        self._sent += 1
        self._used_s = time.monotonic()
        worker.pending[self._sent] = key
        self._send(worker, serving.encode_request(self._sent, self._carried.current(), request))

    def poll(self, timeout: float | None = 0) -> list[Answer[Key]]:
        """Returns at most one answer of each process; an empty list also if one got ready.

        Args:
            timeout: seconds to wait for any; None for no limit.
        """
        answers, self._failed = self._failed, []
        workers = {worker.connection: worker for worker in self._workers}
        heard = wait(list(workers), 0 if answers else timeout) if workers else []
        for connection in heard:
            answers += self._receive(workers[connection])  # type: ignore[index] - a connection of the mapping
        if heard or self.pending or not all(worker.is_ready for worker in self._workers):
            self._used_s = time.monotonic()
        elif time.monotonic() - self._used_s > self._idle_s:
            self.end()  # an idle process would keep its memory for nothing
        return answers

    def stream(self, request: Any, pause_s: float) -> Generator[Any]:
        """Yields the pieces of one request, or its value, with None at each pause; closing it cancels the request.

        Only for pools of one request at a time.

        Args:
            request: picklable.
            pause_s: seconds between two pauses.

        Raises:
            WorkerDiedError: the process could not be started, or has ended.
            Exception: of the function.
        """
        self.request(cast("Key", None), request)
        try:
            while True:
                answers = self.poll(pause_s)
                if not answers:
                    yield None
                for answer in answers:
                    if answer.error is not None:
                        raise answer.error
                    if answer.value is not None:
                        yield answer.value
                    if answer.is_last:
                        return
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Drops the answers of all requests. Their workers skip them, or stop at the next piece."""
        self._cancelled_to = self._sent
        self._failed.clear()
        for worker in list(self._workers):
            if worker.pending:
                self._send(worker, serving.encode_cancellation(self._sent))

    def end(self) -> list[Key]:
        """Ends the processes at once; they start anew when needed. Returns keys of requests without an answer."""
        keys = [answer.key for answer in self._failed]
        for worker in self._workers:
            worker.end()
            keys += [key for number, key in worker.pending.items() if number > self._cancelled_to]
        self._workers.clear()
        self._failed.clear()
        return keys

    def _send(self, worker: _Worker[Key], data: bytes) -> None:
        try:
            worker.connection.send_bytes(data)
        except OSError:
            self._failed += self._on_death(worker)

    def _receive(self, worker: _Worker[Key]) -> list[Answer[Key]]:
        try:
            kind, number, value = serving.receive_message(worker.connection.recv_bytes)
        except (EOFError, OSError):
            return self._on_death(worker)
        if kind == serving.READY:
            worker.is_ready = True
            return []
        if not number:
            return self._on_death(worker, value)
        key = worker.pending[number] if kind == serving.PIECE else worker.pending.pop(number)
        if number <= self._cancelled_to:
            return []
        if kind == serving.ERROR:
            return [Answer(key, error=value, was_running=True)]
        return [Answer(key, value, is_last=kind == serving.END)]

    def _on_death(self, worker: _Worker[Key], cause: Exception | None = None) -> list[Answer[Key]]:
        """Removes a process that has ended; returns answers for its requests."""
        self._workers.remove(worker)
        how = f": {cause}" if cause is not None else worker.exit_words()
        worker.end()
        error = WorkerDiedError(errno.EIO, f"the process to {self._name} has ended{how}", was_ready=worker.is_ready)
        error.__cause__ = cause
        _log.info("%s.", error.strerror)
        self.deaths += 1
        if self.deaths > self._restarts:
            self.failure = error
        return [
            Answer(key, error=error, was_running=not place)
            for place, (number, key) in enumerate(worker.pending.items())
            if number > self._cancelled_to
        ]
