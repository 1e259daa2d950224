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


_calls: dict[int, _Call] = {}
"""Innermost running call by thread."""
_lock = threading.Lock()
_watcher: threading.Thread | None = None


class _Call:
    """A running call.

    Attributes:
        thread: its identifier.
        deadline: by `time.monotonic`.
        is_running: it may be interrupted.
        is_late: it has been interrupted.
        around: the call of this thread that it runs in.
    """

    def __init__(self, seconds: float) -> None:
        self.thread = threading.get_ident()
        self.deadline = time.monotonic() + seconds
        self.is_running, self.is_late = True, False
        self.around = _calls.get(self.thread)


def call_within(seconds: float, function: Callable[..., _Result], *arguments: Any, **named: Any) -> _Result:
    """Calls a function, and raises TimeBoundError if it takes longer.

    Args:
        seconds: wall-clock time.
        function, arguments, named: the call.
    """
    call = _Call(seconds)
    _calls[call.thread] = call
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


def call_shielded(function: Callable[[], _Result]) -> _Result:
    """Calls code of this program for foreign code that is bounded: an interruption waits until it has ended."""
    call = _calls.get(threading.get_ident())
    if call is None or not call.is_running:
        return function()
    with _lock:
        call.is_running = False
    try:
        return function()
    finally:
        call.is_running = True
        if time.monotonic() > call.deadline:
            raise TimeBoundError


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
        _leave(call)
        if not before:
            return
        handler, began, left, interval = before[0]
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:  # a timer of others goes on
            signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-3), interval)
        before.clear()

    return begin, end


def _leave(call: _Call) -> None:
    if call.around is not None:
        _calls[call.thread] = call.around
    else:
        _calls.pop(call.thread, None)


def _by_thread(call: _Call) -> tuple[Callable[[], None], Callable[[], None]]:
    """Returns functions that begin and end the interruption of a call by the watching thread."""

    def begin() -> None:
        global _watcher
        with _lock:
            if _watcher is None:
                _watcher = threading.Thread(target=_watch, name="bound of foreign code", daemon=True)
                _watcher.start()

    def end() -> None:
        with _lock:
            call.is_running = False
            _leave(call)
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
            for call in [*_calls.values()]:
                if now >= call.deadline and call.is_running:
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
