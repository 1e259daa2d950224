"""Runs long work in slices: a generator yields at each possible pause, and these functions drive it."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TypeVar

Outcome = TypeVar("Outcome")
SlicedWork = Generator[None, None, Outcome]
"""Work that yields every few milliseconds, and its result."""


def run_until(steps: Iterator[object], until: float) -> bool:
    """Does some of the work.

    Args:
        steps: the work; it continues at its last pause.
        until: a deadline in `time.perf_counter`; at least one step is done.

    Returns:
        True if all is done.
    """
    return all(time.perf_counter() < until for _ in steps)


def run_step(steps: Iterator[object]) -> bool:
    """Does the next step; returns True if there is none left."""
    return all(False for _ in steps)


def run_to_end(steps: Generator[object, None, Outcome]) -> Outcome:
    """Completes the work at once and returns its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
