"""Keeps the ids of one space apart from the same ids in another (docs/protocols.md 2: ids are unique in a space)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.capture.hashes import hash_text
from inspector.capture.strings import InternTable


class IdNamespaces:
    """A number for each space, by which the hashes of its ids differ from those of others; 0 where none is named.

    Args:
        strings: where the spaces' names are.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        self._strings = strings
        self._known: dict[int, int] = {0: 0}

    def salt(self, space: int) -> int:
        """The salt of a space (its string id)."""
        found = self._known.get(space)
        if found is None:
            found = self._known[space] = hash_text(f"space {self._strings[space]}")
        return found

    def salts(self, spaces: NDArray[Any]) -> NDArray[np.uint64] | None:
        """(n,) the salts of some messages' spaces, or one for all; None where no space is named."""
        if not len(spaces):
            return None
        first = int(spaces[0])
        if (spaces == first).all():
            return np.array([self.salt(first)], np.uint64) if first else None
        found, inverse = np.unique(spaces, return_inverse=True)
        return np.array([self.salt(space) for space in found.tolist()], np.uint64)[inverse]

    def each(self) -> Iterable[int]:
        """Every salt so far, each once."""
        return set(self._known.values())

    def share(self, space: int) -> None:
        """Let the ids of a space be known in all that share theirs: they are unique in the world."""
        self._known.setdefault(space, 0)
