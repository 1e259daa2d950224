"""Runs work of a request on a thread while others compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from inspector.base.thread_steps import thread_steps
from inspector.engine.request import PAUSE, Steps

ResultT = TypeVar("ResultT")

_LARGE_BYTES = 1 << 16
"""Size of a message from which a thread masks, formats or compares it."""


def in_thread(work: Callable[[], ResultT], *, delays_exit: bool = False) -> Steps[ResultT]:
    """Runs a function that touches no document on a thread, and returns its result; its exception is raised here.

    Closing the steps leaves the thread to its end.

    Args:
        work: the function.
        delays_exit: the process ends after it, since it saves something of the user.
    """
    return thread_steps(work, PAUSE, delays_exit=delays_exit)


def in_thread_if_large(work: Callable[[], ResultT], size_bytes: int) -> Steps[ResultT]:
    """Runs a function about data of some size: of large data as `in_thread`, else at once, which is faster."""
    return (yield from in_thread(work)) if size_bytes >= _LARGE_BYTES else work()
