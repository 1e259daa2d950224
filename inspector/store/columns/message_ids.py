"""Index from id to messages; the same id may belong to another message in another space (docs/protocols.md 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.columns import Array, GrowingColumns
from inspector.store.columns.hashes import NO_HASH, NO_ROW, HashIndex, hash_text, hash_texts
from inspector.store.columns.intern_table import InternTable

_MAX_ROW = np.iinfo(np.int64).max


class MessageIds(HashIndex):
    """Messages by hash of their ids, salted by space; salt 0 without a space.

    Args:
        columns: of the messages; their `id_hash` and `correlation_hash` are salted.
        strings: has the names of the spaces.
    """

    def __init__(self, columns: GrowingColumns, strings: InternTable[str]) -> None:
        super().__init__()
        self._columns, self._strings = columns, strings
        self._salts: dict[int, int] = {0: 0}  # by space

    def salt(self, space: int) -> int:
        """Returns the salt of a space (its string id)."""
        found = self._salts.get(space)
        if found is None:
            found = self._salts[space] = hash_text(f"space {self._strings[space]}")
        return found

    def share_spaces(self, spaces: Iterable[int]) -> None:
        """Shares ids between spaces: their ids are unique worldwide."""
        for space in spaces:
            # Sessions of coding agents copy records with their ids, so the ids must match across spaces.
            self._salts.setdefault(space, 0)

    def salt_columns(self, columns: dict[str, Array]) -> None:
        """Salts the hashes of new messages: an id is valid in its own space only."""
        salts = self._salts_of(columns["space"])
        if salts is not None:
            for name in ("id_hash", "correlation_hash"):
                columns[name] = _salted(columns[name], salts)

    def index_messages(self, ids: NDArray[np.uint64], rows: NDArray[np.uint32], aliases: NDArray[np.uint64]) -> None:
        """Indexes messages by their ids and by the ids of their records."""
        named = np.flatnonzero(aliases != NO_HASH)
        both, places = np.concatenate((ids, aliases[named])), np.concatenate((rows, rows[named]))
        order = np.argsort(places, kind="stable")
        self.add(both[order], places[order])

    def hash_in_space(self, space: int, identifier: str) -> int:
        """Returns the `id_hash` of an id in a space (its string id)."""
        return hash_text(identifier) ^ self.salt(space)

    def hashes_in_spaces(self, spaces: NDArray[np.int64], identifiers: Sequence[str]) -> NDArray[np.uint64]:
        """Returns (n,) hashes of several ids, each in its space."""
        hashes, salts = hash_texts(identifiers), self._salts_of(spaces)
        return hashes if salts is None else hashes ^ salts

    def text_hashes(self, column: str, rows: Any) -> NDArray[np.uint64]:
        """Returns (n,) `id_hash` or `correlation_hash` of messages without the salt."""
        hashes, salts = self._columns[column][rows], self._salts_of(self._columns["space"][rows])
        return hashes if salts is None else _salted(hashes, salts)

    def rows_anywhere(self, identifier: str) -> list[int]:
        """Returns every message that may have an id in any space, ascending; compares hashes only."""
        plain = hash_text(identifier)
        return sorted(row for salt in set(self._salts.values()) for row in self.rows_of(plain ^ salt))

    def latest_anywhere(self, hashes: NDArray[np.uint64], before: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Returns for unsalted hashes the latest message (below `before`) with that id in any space; NO_ROW."""
        before = np.full(len(hashes), _MAX_ROW) if before is None else before
        latest = np.full(len(hashes), NO_ROW, np.int64)
        for salt in set(self._salts.values()):
            latest = np.maximum(latest, self.latest_rows(_salted(hashes, np.uint64(salt)), before))
        return latest

    def _salts_of(self, spaces: NDArray[Any]) -> NDArray[np.uint64] | None:
        """Returns (n,) the salts of messages' spaces, or (1,) for all; None if no space is named."""
        if not len(spaces):
            return None
        first = int(spaces[0])
        # Most blocks are of one space, and `unique` sorts.
        if (spaces == first).all():
            return np.array([self.salt(first)], np.uint64) if first else None
        found, inverse = np.unique(spaces, return_inverse=True)
        return np.array([self.salt(space) for space in found.tolist()], np.uint64)[inverse]


def _salted(hashes: NDArray[np.uint64], salts: Any) -> NDArray[np.uint64]:
    """Adds salts to hashes, or removes them; NO_HASH stays."""
    return np.where(hashes != NO_HASH, hashes ^ salts, hashes)
