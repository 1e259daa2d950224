"""How much memory this process has taken, how much is free, and a budget that reading keeps to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_MB = 1_000_000
LEAST_MB = 100
"""No budget is smaller: an empty window takes about as much."""


def resident_bytes() -> int:
    """What this process holds in memory now; 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return _peak_bytes()


def _peak_bytes() -> int:
    """The most it ever held, which is near enough while it only grows; 0 on Windows."""
    try:
        import resource
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def free_bytes() -> int | None:
    """What programs can have before others are pushed out of memory; None where the system does not tell.

    On macOS, which does not, half of all memory.
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
    """What reading may take of the memory beside what the process has had when it began.

    Attributes:
        full: it is used up; nothing more is read until it is extended.
    """

    def __init__(self) -> None:
        self._began = resident_bytes()
        self._given: int | None = None
        self._limit: int | None = None  # found out when it is first needed: nothing is asked of the system before
        self._taken = 0
        self.full = False

    def limit_to(self, megabytes: int) -> None:
        """Keep to so many MB; 0 for half of what is free."""
        self._given = max(LEAST_MB, megabytes) * _MB if megabytes else None
        self._limit = None
        self.full = False

    @property
    def limit_bytes(self) -> int | None:
        """How much it may be; None for no limit, where the system does not tell what is free."""
        if self._limit is None:
            free = free_bytes() if self._given is None else 0
            self._limit = self._given if self._given is not None else free // 2 if free is not None else None
        return self._limit

    def look(self) -> None:
        """See whether it is used up. Some microseconds."""
        limit = self.limit_bytes
        self._taken = resident_bytes() - self._began
        self.full = limit is not None and self._taken >= limit

    def extend(self) -> None:
        """Go on: as much again, from what is taken now."""
        self._began = resident_bytes()
        self._limit = None
        self.full = False

    @property
    def sentence(self) -> str:
        """What is said when it is full."""
        return (
            f"Reading stopped: the messages take {self._taken / _MB:,.0f} MB, and "
            f"{(self.limit_bytes or 0) / _MB:,.0f} MB are set for them. Nothing is lost: the rest is in the file."
        )
