"""A limit on the processor time of what cannot be cut into slices: one match of a regular expression may take for ever.

Python's matcher looks for signals as it goes, so that a timer's can end it. Where the system has no such timer there
is no limit; `inspector.filters.patterns` then takes no expression that could need one.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import threading
from collections.abc import Generator
from types import FrameType

HAS_LIMIT = hasattr(signal, "setitimer")
"""Whether this system can limit."""


class TookTooLongError(Exception):
    """What was limited was not done in time."""


@contextlib.contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Let the block use so much processor time; only in the main thread, and not one block within another.

    Raises:
        TookTooLongError: it used more.
    """
    if not HAS_LIMIT or threading.current_thread() is not threading.main_thread():
        yield
        return
    collects = gc.isenabled()
    gc.disable()  # looking for garbage takes as long as all that the block may
    # Not of the real time's timer: that is for whoever started this process, a test's time limit say.
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
