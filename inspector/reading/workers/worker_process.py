"""Base of worker processes: started on demand, connected by a pipe, ended with their parent.

None outlives the program, however that ends. An empty message reports readiness.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any

from inspector.formats import registry

_ENDING_S = 1.0
"""Seconds to end on request; a stopped process never receives the request."""
END_THREAD_NAME = "see a process off"
"""Name of threads that wait for a process to end."""


_workers_disabled = False


def disable_workers() -> None:
    """Disables worker processes in this process: it is one of many that share a machine already."""
    global _workers_disabled
    _workers_disabled = True


def are_workers_disabled() -> bool:
    """Returns True if this process starts no workers."""
    return _workers_disabled


class WorkerProcess:
    """One worker process.

    Attributes:
        connection: this end of the pipe.
        is_ready: it has started and waits for work.
        end_thread: thread that waits for its end.
    """

    def __init__(self, serve: Callable[..., None], *args: Any, name: str, nice: int = 0) -> None:
        """Starts the process; returns before it is ready.

        Args:
            serve: its main function, called with its end of the pipe and `args`; a function of a module.
            args: picklable.
            name: of the process.
            nice: niceness above this process from the start: its imports alone take longer than a window may wait for
                the
                processor.

        Raises:
            OSError: if the system cannot start a process, or workers are disabled.
        """
        # A worker must not start workers of its own.
        if _workers_disabled:
            raise OSError(errno.EAGAIN, "this process starts no others")
        context = multiprocessing.get_context("spawn")  # fork would inherit a window's locks
        self.connection, theirs = context.Pipe()
        self.is_ready = False
        self.end_thread: threading.Thread | None = None
        given = registry.recipes(), serve, theirs, *args
        self._process = context.Process(target=_serve, args=given, daemon=True, name=name)
        # Ctrl+C is for the program, which ends its workers itself.
        with _block_interrupt():
            try:
                self._process.start()
            finally:
                theirs.close()
        # The window's own process must stay responsive.
        if nice and self.pid is not None:
            _lower_priority(self.pid, nice)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def receive(self) -> bytes | None:
        """Receives a message; None for the ready message.

        Raises:
            EOFError: if the process has ended.
        """
        try:
            data = self.connection.recv_bytes()
        except OSError as error:
            raise EOFError from error
        if not data:
            self.is_ready = True
            return None
        return data

    def end_process(self) -> None:
        """Ends the process without waiting: freeing its memory may take long."""
        self.connection.close()
        if self._process.pid is None or self.end_thread is not None:
            return
        self.end_thread = threading.Thread(target=_terminate, args=(self._process,), name=END_THREAD_NAME, daemon=True)
        self.end_thread.start()
        if os.name == "nt":  # Windows can neither move nor delete its open files
            self.end_thread.join()


def _serve(recipes: Sequence[registry.Recipe], serve: Callable[..., None], *args: Any) -> None:
    """Runs the main function of a worker with the declared formats and plug-ins of the program."""
    registry.restore(recipes)
    serve(*args)


def _terminate(process: BaseProcess) -> None:
    """Terminates a process, then kills it."""
    for end in (process.terminate, process.kill):
        end()
        process.join(_ENDING_S)
        if not process.is_alive():
            return


def _lower_priority(pid: int, nice: int) -> None:
    """Lowers the priority of a new process; its later threads inherit it."""
    if not hasattr(os, "setpriority"):  # Windows
        return
    with suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)


@contextmanager
def _block_interrupt() -> Generator[None]:
    """Blocks Ctrl+C during a start: the signal is for the program, which ends its workers."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # a tracker started with the first process would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
