"""Limits the processor time of a regular expression match, which cannot be cut into slices.

Python's matcher checks for signals, so a timer signal can end it. Systems without such a timer have no limit;
`inspector.filters.patterns` then refuses expressions that could need one.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections.abc import Generator
from types import FrameType

HAS_LIMIT = hasattr(signal, "setitimer")
"""True if this system has the timer."""


class TookTooLongError(Exception):
    """The limited block timed out."""


@contextlib.contextmanager
def limited_time(seconds: float) -> Generator[None]:
    """Limits the processor time of a block; only in the main thread, and not nested.

    Raises:
        TookTooLongError: the block used more.
    """
    if not HAS_LIMIT or threading.current_thread() is not threading.main_thread():
        yield
        return
    collects = gc.isenabled()
    gc.disable()  # a garbage collection can take as long as the whole limit
    # Not the real-time timer: it belongs to the owner of the process, such as a test's timeout.
    before = signal.signal(signal.SIGVTALRM, _give_up)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        if collects:
            gc.enable()
        signal.signal(signal.SIGVTALRM, before)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TookTooLongError
