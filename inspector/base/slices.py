"""Long work, a little at a time: a generator that stops wherever others may go on, and what drives it."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

Outcome = TypeVar("Outcome")
Steps = Generator[None, None, Outcome]
"""Work that stops every few milliseconds, and what comes of it."""
SLICE_S, MORE_MS = 0.008, 4
"""So long a window works at once on what takes long, and so long it leaves its loop to others before it goes on."""
AWAITED_MS, TELL_S = 1, 0.1
"""The pause where somebody waits for what is looked for, and how often it is said then how far that is: each time
labels change their width and panes are laid out, which takes as long as half a slice."""
REST_S = 0.2
"""So long rests at most what nobody waits for meanwhile: a search may begin anew with all that comes, and never end."""
LARGE = 200_000
"""Messages from which on a window does a little at a time what it does at once for fewer."""


def turn_ends(messages: int) -> float:
    """When to stop working on so many messages for this turn of the loop, by `time.perf_counter`; for few never."""
    return time.perf_counter() + SLICE_S if messages > LARGE else math.inf


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
