"""A process that works for this one: started aside, spoken to through a pipe, and gone when that ends.

So none outlives the program, however that ends. It says with an empty message that it is ready.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Any

_ENDING_S = 1.0
"""So long it may take to end when it is asked to; one that was stopped never hears that."""
SEEING_OFF = "see a process off"
"""The name of threads that wait for one to be gone."""


_alone = False


def work_alone() -> None:
    """This process starts no others from now on: it is one of many that share a machine already."""
    global _alone
    _alone = True


def works_alone() -> bool:
    """Whether this process starts no others."""
    return _alone


class HelperProcess:
    """One such process.

    Attributes:
        connection: this end of the pipe.
        ready: it has started and waits for work.
        ending: waits for it to be gone, once it was told to end.
    """

    def __init__(self, serve: Callable[..., None], *args: Any, name: str, nice: int = 0) -> None:
        """Start the process; returns before it is ready.

        Args:
            serve: what it does, given its end of the pipe and `args`: a function of a module.
            args: can be pickled.
            name: of the process.
            nice: how far it stands back behind this one, from its first step on: what it imports takes longer
                than a window may wait for the processor.

        Raises:
            OSError: the system gives no process, or this one works alone.
        """
        if _alone:
            raise OSError(errno.EAGAIN, "this process starts no others")
        context = multiprocessing.get_context("spawn")  # a forked one would hold a window's locks
        self.connection, theirs = context.Pipe()
        self.ready = False
        self.ending: threading.Thread | None = None
        self._process = context.Process(target=serve, args=(theirs, *args), daemon=True, name=name)
        with _unasked():
            try:
                self._process.start()
            finally:
                theirs.close()
        if nice and self.pid is not None:
            _stand_back(self.pid, nice)

    @property
    def pid(self) -> int | None:
        """Its number."""
        return self._process.pid

    def receive(self) -> bytes | None:
        """What has come; None when it was the word that the process is ready.

        Raises:
            EOFError: the process has ended.
        """
        try:
            data = self.connection.recv_bytes()
        except OSError as error:
            raise EOFError from error
        if not data:
            self.ready = True
            return None
        return data

    def end(self) -> None:
        """End the process, whatever it is at. Nobody waits for that: giving back its memory may take long."""
        self.connection.close()
        if self._process.pid is None or self.ending is not None:
            return
        self.ending = threading.Thread(target=_see_off, args=(self._process,), name=SEEING_OFF, daemon=True)
        self.ending.start()
        if os.name == "nt":  # what it has open can neither be moved nor removed there
            self.ending.join()


def _see_off(process: BaseProcess) -> None:
    """Ask a process to end, then make it."""
    for end in (process.terminate, process.kill):
        end()
        process.join(_ENDING_S)
        if not process.is_alive():
            return


def _stand_back(pid: int, nice: int) -> None:
    """Let others go before that process, which has only just begun: its threads will follow it."""
    if not hasattr(os, "setpriority"):  # Windows
        return
    with suppress(OSError):  # it has ended already
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, 0) + nice)


@contextmanager
def _unasked() -> Generator[None]:
    """Ctrl+C is for the program, which ends its helpers: a process started here never hears of it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started with the first process it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
