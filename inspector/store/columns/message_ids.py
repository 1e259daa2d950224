"""Which messages have an id: one id may be another message's in another space (docs/protocols.md 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.columns import Array, GrowingColumns
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text, hash_texts
from inspector.store.columns.strings import InternTable

_LAST = np.iinfo(np.int64).max


class MessageIds(HashIndex):
    """Messages by the hashes of their ids, each salted by its space; 0 where none is named.

    Args:
        columns: of the messages: `id_hash` and `correlation_hash` in them are salted.
        strings: where the spaces' names are.
    """

    def __init__(self, columns: GrowingColumns, strings: InternTable[str]) -> None:
        super().__init__()
        self._columns, self._strings = columns, strings
        self._salts: dict[int, int] = {0: 0}  # by space

    def salt(self, space: int) -> int:
        """The salt of a space (its string id)."""
        found = self._salts.get(space)
        if found is None:
            found = self._salts[space] = hash_text(f"space {self._strings[space]}")
        return found

    def share(self, spaces: Iterable[int]) -> None:
        """Let the ids of some spaces be known in all that share theirs: they are unique in the world."""
        for space in spaces:
            self._salts.setdefault(space, 0)

    def keep_apart(self, columns: dict[str, Array]) -> None:
        """Salt the hashes of new messages: an id means a message of its own space only."""
        salts = self._salts_of(columns["space"])
        if salts is not None:
            for name in ("id_hash", "correlation_hash"):
                columns[name] = _salted(columns[name], salts)

    def add_named(self, ids: NDArray[np.uint64], rows: NDArray[np.uint32], aliases: NDArray[np.uint64]) -> None:
        """Let messages be found by their ids, and by those of the records they come from."""
        named = np.flatnonzero(aliases != NO_HASH)
        both, places = np.concatenate((ids, aliases[named])), np.concatenate((rows, rows[named]))
        order = np.argsort(places, kind="stable")
        self.add(both[order], places[order])

    def hash_in(self, space: int, identifier: str) -> int:
        """What `id_hash` and `correlation_hash` are for an id in a space (its string id)."""
        return hash_text(identifier) ^ self.salt(space)

    def hashes_in(self, spaces: NDArray[np.int64], identifiers: Sequence[str]) -> NDArray[np.uint64]:
        """(n,) the same of several ids, each in its space."""
        hashes, salts = hash_texts(identifiers), self._salts_of(spaces)
        return hashes if salts is None else hashes ^ salts

    def text_hashes(self, column: str, rows: Any) -> NDArray[np.uint64]:
        """Of some messages `id_hash` or `correlation_hash` as `hash_text` gives it, whatever their space."""
        hashes, salts = self._columns[column][rows], self._salts_of(self._columns["space"][rows])
        return hashes if salts is None else _salted(hashes, salts)

    def rows_anywhere(self, identifier: str) -> list[int]:
        """Every message that may have an id in any space, ascending: hashes alone are compared."""
        plain = hash_text(identifier)
        return sorted(row for salt in set(self._salts.values()) for row in self.rows(plain ^ salt))

    def latest_anywhere(self, hashes: NDArray[np.uint64], before: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """For hashes as `hash_text` gives them, the latest message (below `before`) with that id anywhere; NO_ROW."""
        before = np.full(len(hashes), _LAST) if before is None else before
        latest = np.full(len(hashes), NO_ROW, np.int64)
        for salt in set(self._salts.values()):
            latest = np.maximum(latest, self.latest(_salted(hashes, np.uint64(salt)), before))
        return latest

    def _salts_of(self, spaces: NDArray[Any]) -> NDArray[np.uint64] | None:
        """(n,) the salts of some messages' spaces, or one for all; None where no space is named."""
        if not len(spaces):
            return None
        first = int(spaces[0])
        if (spaces == first).all():
            return np.array([self.salt(first)], np.uint64) if first else None
        found, inverse = np.unique(spaces, return_inverse=True)
        return np.array([self.salt(space) for space in found.tolist()], np.uint64)[inverse]


def _salted(hashes: NDArray[np.uint64], salts: Any) -> NDArray[np.uint64]:
    """Hashes with salts, or as they were without, where there are any."""
    return np.where(hashes != NO_HASH, hashes ^ salts, hashes)
