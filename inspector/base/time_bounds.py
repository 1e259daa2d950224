"""Ends foreign Python code that runs longer than it may.

In the main thread of Linux and macOS a timer of the system interrupts it, also inside a regular expression. Elsewhere a
watching thread raises an exception in it, which arrives between two steps of Python. Neither ends code in C that never
returns to Python, such as one huge multiplication, nor code that catches every BaseException in a loop.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

_Result = TypeVar("_Result")
_POLL_S = 0.1
_AGAIN_S = 0.05
"""Interval at which code that has caught the exception gets it again."""
_IDLE_S = 5.0
"""Seconds without calls after which the watching thread ends."""


class TimeBoundError(BaseException):
    """Raised inside the code that takes too long. No Exception, since code often catches all of those."""


class _Call:
    """A running call.

    Attributes:
        thread: its identifier.
        deadline: by `time.monotonic`.
        is_running: it may be interrupted.
        is_late: it has been interrupted.
    """

    def __init__(self, seconds: float) -> None:
        self.thread = threading.get_ident()
        self.deadline = time.monotonic() + seconds
        self.is_running, self.is_late = True, False


def call_within(seconds: float, function: Callable[..., _Result], *arguments: Any, **named: Any) -> _Result:
    """Calls a function, and raises TimeBoundError if it takes longer. Calls may not be nested.

    Args:
        seconds: wall-clock time.
        function, arguments, named: the call.
    """
    call = _Call(seconds)
    begin, end = _by_timer(call) if _has_timer() else _by_thread(call)
    # Twice, since the exception may arrive while the first one runs.
    try:
        try:
            begin()
            result = function(*arguments, **named)
        finally:
            end()
    finally:
        end()
    if time.monotonic() > call.deadline:  # it has caught the exception, or ended just then
        raise TimeBoundError
    return result


def _has_timer() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _by_timer(call: _Call) -> tuple[Callable[[], None], Callable[[], None]]:
    """Returns functions that begin and end the interruption of a call by a timer of the system."""
    before: list[Any] = []

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if call.is_running:
            raise TimeBoundError

    def begin() -> None:
        handler = signal.signal(signal.SIGALRM, interrupt)
        # Repeated, so that code that catches the exception once ends all the same.
        left = signal.setitimer(signal.ITIMER_REAL, max(call.deadline - time.monotonic(), 1e-3), _AGAIN_S)
        before.append((handler, time.monotonic(), *left))

    def end() -> None:
        call.is_running = False
        if not before:
            return
        handler, began, left, interval = before[0]
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:  # a timer of others goes on
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-3), interval)
        before.clear()

    return begin, end


_calls: dict[int, _Call] = {}
_lock = threading.Lock()
_watcher: threading.Thread | None = None


def _by_thread(call: _Call) -> tuple[Callable[[], None], Callable[[], None]]:
    """Returns functions that begin and end the interruption of a call by the watching thread."""

    def begin() -> None:
        global _watcher
        with _lock:
            _calls[call.thread] = call
            if _watcher is None:
                _watcher = threading.Thread(target=_watch, name="bound of foreign code", daemon=True)
                _watcher.start()

    def end() -> None:
        with _lock:
            _calls.pop(call.thread, None)
            if call.is_late:  # an exception on its way would arrive in other code
                _raise_in(call.thread, None)

    return begin, end


def _watch() -> None:
    global _watcher
    used = time.monotonic()
    while True:
        time.sleep(_POLL_S)
        with _lock:
            now = time.monotonic()
            for call in _calls.values():
                if now >= call.deadline:
                    call.is_late = True
                    _raise_in(call.thread, TimeBoundError)
            used = now if _calls else used
            if now - used > _IDLE_S:
                _watcher = None
                return


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raises an exception in a thread; None takes one back that has not arrived."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(error) if error is not None else None
    )
