"""Long work, a little at a time: a generator that stops wherever others may go on, and what drives it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TypeVar

Outcome = TypeVar("Outcome")
Steps = Generator[None, None, Outcome]
"""Work that stops every few milliseconds, and what comes of it."""


def go_on(steps: Iterator[object], until: float) -> bool:
    """Do some of the work.

    Args:
        steps: the work; it goes on where it stopped.
        until: a time, by `time.perf_counter`; one step is done whatever the time is.

    Returns:
        Whether all is done.
    """
    return all(time.perf_counter() < until for _ in steps)


def finished(steps: Generator[object, None, Outcome]) -> Outcome:
    """Do all of the work that is left, at once; what comes of it."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
