"""Child processes: started on demand, connected by a pipe, ended with their parent.

None outlives the program, however that ends: a child ends when its end of the pipe reports the end of the other.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any

from inspector.base.priority import lower_priority

_ENDING_S = 1.0
"""Seconds to end on request; a stopped process never receives the request."""
_EXIT_S = 0.02
"""Seconds to wait for the exit code of a process whose end of the pipe is closed."""
END_THREAD_NAME = "see a process off"
"""Name of threads that wait for a process to end."""


_children_disabled = False


def disable_children() -> None:
    """Disables child processes in this process: it is one of many that share a machine already."""
    global _children_disabled
    _children_disabled = True


def are_children_disabled() -> bool:
    """Returns True if this process starts no others."""
    return _children_disabled


class ChildProcess:
    """One child process. Its messages are its own; `WorkerPool` has requests and answers.

    Attributes:
        connection: this end of the pipe.
        end_thread: thread that waits for its end.
    """

    def __init__(self, serve: Callable[..., None], *args: Any, name: str, nice: int = 0) -> None:
        """Starts the process; returns before it runs.

        Args:
            serve: its main function, called with its end of the pipe and `args`; a function of a module.
            args: picklable.
            name: of the process.
            nice: niceness above this process from the start: its imports alone take longer than a window may wait for
                the processor.

        Raises:
            OSError: if the system cannot start a process, or children are disabled.
        """
        # A worker must not start workers of its own.
        if _children_disabled:
            raise OSError(errno.EAGAIN, "this process starts no others")
        context = multiprocessing.get_context("spawn")  # fork would inherit a window's locks
        self.connection, theirs = context.Pipe()
        self.end_thread: threading.Thread | None = None
        self._process = context.Process(target=serve, args=(theirs, *args), daemon=True, name=name)
        # Ctrl+C is for the program, which ends its children itself.
        with _block_interrupt():
            try:
                self._process.start()
            finally:
                theirs.close()
        # The window's own process must stay responsive.
        if nice and self.pid is not None:
            lower_priority(self.pid, nice)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def exit_words(self) -> str:
        """Returns the cause of its end as words in brackets, or "" if it ended normally or still runs."""
        self._process.join(_EXIT_S)
        code = self._process.exitcode
        if not code:
            return ""
        return f" (exit code {code})" if code > 0 else f" (killed by signal {-code})"

    def end(self) -> None:
        """Ends the process without waiting: freeing its memory may take long."""
        self.connection.close()
        if self._process.pid is None or self.end_thread is not None:
            return
        self.end_thread = threading.Thread(target=_terminate, args=(self._process,), name=END_THREAD_NAME, daemon=True)
        self.end_thread.start()
        if os.name == "nt":  # Windows can neither move nor delete its open files
            self.end_thread.join()


def _terminate(process: BaseProcess) -> None:
    """Terminates a process, then kills it."""
    for end in (process.terminate, process.kill):
        end()
        process.join(_ENDING_S)
        if not process.is_alive():
            return


@contextmanager
def _block_interrupt() -> Generator[None]:
    """Blocks Ctrl+C during a start: the signal is for the program, which ends its children."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # a tracker started with the first process would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
