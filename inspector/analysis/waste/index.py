"""Which results hold a word or a passage, each by a number of it: eight bytes an entry."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

MOST_OWNERS = 1 << 14
_OWNER = np.uint64(MOST_OWNERS - 1)
"""The owner's part of an entry; what is above it is the key's."""
_MIXED = 0x9E3779B97F4A7C15


class Index:
    """Entries are added first; `settle` makes them fit to be asked for.

    Attributes:
        count: entries.
    """

    def __init__(self, most: int) -> None:
        """Make an index without entries.

        Args:
            most: entries it takes in; what comes later is left out.
        """
        self._most = most
        self._parts: list[Keys] = []
        self._entries = np.empty(0, np.uint64)
        self.count = 0

    def add(self, keys: Keys, owner: int) -> bool:
        """Take in what an owner below MOST_OWNERS holds. Whether there was room for it."""
        keys = np.unique(keys & ~_OWNER)
        if self.count + len(keys) > self._most or owner >= MOST_OWNERS:
            return False
        self.count += len(keys)
        self._parts.append(keys | np.uint64(owner))
        return True

    def settle(self) -> None:
        """All entries have been added."""
        if self._parts:
            self._entries = np.sort(np.concatenate(self._parts))
        self._parts = []

    def owners(self, keys: Keys) -> list[tuple[int, NDArray[np.int64]]]:
        """Those of some keys that somebody holds, and who does, ascending."""
        keys = np.unique(keys & ~_OWNER)
        first, after = (
            np.searchsorted(self._entries, keys, "left"),
            np.searchsorted(self._entries, keys | _OWNER, "right"),
        )
        held = np.flatnonzero(after > first).tolist()
        return [(int(keys[at]), (self._entries[first[at] : after[at]] & _OWNER).astype(np.int64)) for at in held]


def keys_of(words: Iterable[str], speaker: int) -> Keys:
    """Numbers of words as one speaker's."""
    found = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in words], np.uint64)
    return (found | np.uint64(speaker << 32)) * np.uint64(_MIXED)


def marked(numbers: Keys, speaker: int) -> Keys:
    """Numbers of passages as one speaker's."""
    return numbers ^ np.uint64((speaker + 1) * _MIXED % 2**64)
