"""When Python may look for garbage, and when memory goes back to the system.

Reading makes tuples by the thousand, which die by themselves; being counted, they would start the collector again and
again, for a third of the time that reading takes.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Generator[None]:
    """Put off collections for some milliseconds of work; also inside another of these."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


_NEVER = 1 << 30
_SHORT_S = 0.02


@contextmanager
def only_when_asked() -> Generator[None]:
    """Let Python look through what has lived for long in `collect` alone, at a time that suits.

    It would come after so many new objects, in the middle of reading, and take 100 ms for those of 20,000 participants.
    """
    before = gc.get_threshold()
    gc.set_threshold(*before[:2], _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def collect() -> None:
    """Look for garbage among all that is not set apart; where that takes long, set apart what lives."""
    began = time.perf_counter()
    gc.collect()
    if time.perf_counter() - began > _SHORT_S:
        gc.freeze()


_BIG, _SMALL = 8 << 20, 440
_PER_STRETCH = (1 << 20) // 512
_STRETCHES = 6


def hold_what_is_freed() -> object:
    """Let freed memory stay with this process, for one that makes and forgets the same amount again and again.

    Python gives each megabyte back that nothing lies in any more, the C library what is more than a little: asking
    for it again costs a page fault every 4 kB, a tenth of reading.

    Returns:
        What holds it, as long as it lives: an object in each of some megabytes.
    """
    bytearray(_BIG)  # from now on the C library holds as much
    return [bytes(_SMALL) for _ in range(_STRETCHES * _PER_STRETCH)][::_PER_STRETCH]


def settle() -> None:
    """Set apart what lives now, and give back what has been freed; after much was made that will stay.

    Looking through a window's objects takes the collector 80 ms each time. What the C library keeps of freed blocks is
    a tenth of what a large log takes.
    """
    gc.freeze()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc; others give back by themselves
        if trim is not None:
            trim(0)
