"""Sources as a level of the context tree: message counts of each, and the first source of each space. No Qt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture


class SourceLevel:
    """Counts messages by source; a space of several sources belongs to its first."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._seen = 0
        self._counts: NDArray[np.int64] = np.zeros(1, np.int64)
        self._first_sources: dict[int, int] = {}
        # Sources with messages in spaces of another source.
        self._shared: set[int] = set()

    @property
    def is_there(self) -> bool:
        """True for a document of several sources."""
        return self._capture.seen_by is not None and len(self._capture.sources) > 1

    @property
    def size(self) -> int:
        """Number of sources; 0 for a document of one source."""
        return len(self._capture.sources) if self.is_there else 0

    @property
    def counts(self) -> list[int]:
        """Messages by source; empty for a document of one source."""
        return [self.count(source) for source in range(self.size)]

    def feed(self) -> None:
        """Counts new messages in a document of several sources. O(new)."""
        start, stop = self._seen, len(self._capture)
        # A single source needs no count, so its messages are counted once a second source appears.
        if start == stop or not self.is_there:
            return
        self._seen = stop
        columns = self._capture.columns
        spaces, sources = (columns[name][start:stop].astype(np.int64) for name in ("space", "source"))
        said = columns["flags"][start:stop] & Flag.GAP.value == 0
        self._count(sources[said])
        for space, source in _distinct_pairs(spaces, sources):
            if self._first_sources.setdefault(space, source) != source:
                self._shared.add(source)

    def _count(self, sources: NDArray[Any]) -> None:
        found = np.bincount(sources, minlength=len(self._counts))
        found[: len(self._counts)] += self._counts
        self._counts = found

    def home(self, space: int) -> int:
        """Returns the source of a space's first message."""
        return self._first_sources.get(space, 0)

    def count(self, source: int) -> int:
        """Returns the number of messages read from a source."""
        return int(self._counts[source]) if source < len(self._counts) else 0

    def shares(self, source: int) -> bool:
        """Returns True if a source has messages in spaces of another one."""
        return source in self._shared


def _distinct_pairs(spaces: NDArray[np.int64], sources: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Returns the distinct pairs of space and source, in order of appearance. O(n); sorting a million takes 80 ms."""
    named = np.flatnonzero(np.bincount(spaces))
    place, size = np.zeros(int(named[-1]) + 1, np.int64), int(sources.max()) + 1
    place[named] = np.arange(len(named))
    pairs = place[spaces] * size + sources
    first = np.full(len(named) * size, -1)
    # numpy keeps the last value of repeated indexes, so assign in reverse
    first[pairs[::-1]] = np.arange(len(pairs))[::-1]
    there = np.sort(first[first >= 0])
    return list(zip(spaces[there].tolist(), sources[there].tolist(), strict=True))
