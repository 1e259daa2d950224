"""Controls garbage collection, and the return of memory to the system.

Reading creates thousands of short-lived tuples. Counted by the collector, they would start it again and again, for a
third of the reading time.
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
    """Disables collections for some milliseconds of work; may be nested."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# Thresholds are C integers.
_NEVER = 1 << 30
_FREEZE_AFTER_S = 0.02


@contextmanager
def defer_full_collection() -> Generator[None]:
    """Defers collection of the oldest generation to `collect_garbage`.

    Otherwise it would run in the middle of reading, and take 100 ms for the objects of 20,000 participants.
    """
    before = gc.get_threshold()
    gc.set_threshold(*before[:2], _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def manual_collection() -> Generator[None]:
    """Disables automatic collections, for a process with windows; `collect_young` and `collect_garbage` replace them.

    An automatic collection runs in any thread. One that deletes a widget or a timer outside the thread of Qt crashes.
    """
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        gc.set_threshold(*before)


_MANY_YOUNG = 5_000


def collect_young() -> None:
    """Collects the two young generations, if many objects were created since the last time."""
    if gc.get_count()[0] > _MANY_YOUNG:
        gc.collect(1)


def collect_garbage() -> None:
    """Collects garbage; if that takes long, freezes the living objects."""
    began = time.perf_counter()
    gc.collect()
    # Living objects are scanned anew by each collection; frozen ones are skipped.
    if time.perf_counter() - began > _FREEZE_AFTER_S:
        gc.freeze()


# Above 512 bytes Python leaves an allocation to the C library; a small object keeps Python's own megabyte in use.
_BIG, _SMALL = 8 << 20, 440
_PER_STRETCH = (1 << 20) // 512
_STRETCHES = 6


def keep_freed_memory() -> object:
    """Keeps freed memory in this process, for repeated allocations of the same size.

    Python returns each empty megabyte to the system, and the C library returns larger free ranges. A new allocation
    then costs a page fault every 4 kB, a tenth of reading.

    Returns:
        An object that keeps the memory as long as it lives: a small object in each of some megabytes.
    """
    bytearray(_BIG)  # raises the C library's own threshold to this size
    return [bytes(_SMALL) for _ in range(_STRETCHES * _PER_STRETCH)][::_PER_STRETCH]


def freeze_and_trim() -> None:
    """Freezes the living objects and returns freed memory, after many permanent objects were created.

    A collection over a window's objects takes 80 ms each time. Freed blocks kept by the C library are a tenth of the
    memory of a large log.
    """
    gc.freeze()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of glibc; others return memory themselves
        if trim is not None:
            trim(0)
