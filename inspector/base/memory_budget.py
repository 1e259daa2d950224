"""Measures memory use and free memory, and limits reading by a budget."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_MB = 1_000_000
MIN_BUDGET_MB = 100
"""Smallest budget in MB: an empty window takes about as much."""


def resident_bytes() -> int:
    """Returns the resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return _peak_bytes()


def _peak_bytes() -> int:
    """Returns the peak memory in bytes, close enough while it only grows; 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # In bytes on macOS, in kilobytes on other systems.
    return most if sys.platform == "darwin" else most * 1024


def available_bytes() -> int | None:
    """Returns the available memory in bytes, or None if the system does not report it.

    On macOS, without such a report, half of all memory.
    """
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        pass
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


class MemoryBudget:
    """Memory budget of reading, beyond the memory of the process at its beginning.

    Attributes:
        is_full: it is used up; reading stops until it is extended.
    """

    def __init__(self) -> None:
        self._began = resident_bytes()
        self._given: int | None = None
        self._limit: int | None = None  # determined on first use, to avoid system calls before
        self._taken = 0
        self.is_full = False

    def limit_to(self, megabytes: int) -> None:
        """Sets the budget in MB; 0 for half of the free memory."""
        self._given = max(MIN_BUDGET_MB, megabytes) * _MB if megabytes else None
        self._limit = None
        self.is_full = False

    @property
    def limit_bytes(self) -> int | None:
        """The budget in bytes; None for no limit, if the system reports no free memory."""
        if self._limit is None:
            free = available_bytes() if self._given is None else 0
            self._limit = self._given if self._given is not None else free // 2 if free is not None else None
        return self._limit

    def update(self) -> None:
        """Updates `is_full`. Takes some microseconds."""
        limit = self.limit_bytes
        self._taken = resident_bytes() - self._began
        self.is_full = limit is not None and self._taken >= limit

    def extend(self) -> None:
        """Grants the same budget again, from the present memory."""
        self._began = resident_bytes()
        self._limit = None
        self.is_full = False

    @property
    def full_message(self) -> str:
        return (
            f"Reading stopped: the messages take {self._taken / _MB:,.0f} MB, and "
            f"{(self.limit_bytes or 0) / _MB:,.0f} MB are set for them. The file keeps the rest."
        )
