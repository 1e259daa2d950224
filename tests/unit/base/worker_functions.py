"""Functions of the worker processes of `test_workers.py`; with few imports, as each process makes them."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any


def working(factor: int = 1) -> Callable[[tuple[str, Any]], Any]:
    """Setup of the workers of this file: a function for each subject of a request."""
    answered = 0

    def count_down(start: int) -> Iterator[int]:
        yield from range(start, 0, -1)

    def fail(error: Exception) -> None:
        raise error

    def fail_after(pieces: int) -> Iterator[bytes]:
        for _ in range(pieces):
            yield b"piece"
        raise ValueError("no more pieces")

    def answer(request: tuple[str, Any]) -> Any:
        nonlocal answered
        answered += 1
        subject, value = request
        return {
            "times": lambda: value * factor,
            "answered": lambda: answered,
            "count down": lambda: count_down(value),
            "fail": lambda: fail(value),
            "fail after": lambda: fail_after(value),
            "sleep": lambda: time.sleep(value),
            "endless": lambda: iter(lambda: value, object()),
            "raw": lambda: bytes(value),
            "raw pieces": lambda: iter([bytes(value)] * 3),
            "collects": gc.isenabled,
            "nice": lambda: os.getpriority(os.PRIO_PROCESS, 0),
            "state": lambda: _state,
            "unpicklable": lambda: threading.Lock(),
        }[subject]()

    return answer


def failing_setup() -> Callable[[Any], Any]:
    raise LookupError("no table")


def collecting() -> Callable[[Any], Any]:
    gc.enable()
    return working()


_state: object = None


def restore_state(value: object) -> None:
    global _state
    _state = value


class OddError(Exception):
    def __init__(self, one: str, *, other: str) -> None:
        super().__init__(f"{one} {other}")


def odd() -> Callable[[Any], Any]:
    def answer(_: Any) -> None:
        raise OddError("an", other="error")

    return answer


def deaf(connection: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.alarm(600)  # it outlives no test that is killed by much
    connection.send_bytes(b"")
    while True:
        signal.pause()
