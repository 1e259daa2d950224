"""Ordered lists of tree nodes by owner, in 16 bytes a node."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

NO_NODE = -1
_WRITE_BATCH = 1024  # nodes buffered before a write


class Siblings:
    """Ordered lists of nodes by owner (a node, or a space for roots).

    A node is in one list at a time. Adding, removing and testing for emptiness are O(1), since a node may have 100,000
    children that leave one by one. A returned list is cached until the next change, and callers must not change it. New
    nodes are buffered until a read or until there are many, and then written in batches.

    Args:
        others: lists of the same nodes by other owners; a node is in a list of one of the two.
    """

    def __init__(self, others: Siblings | None = None) -> None:
        self._waiting: dict[int, int] = {}  # owners by node
        self._buffered_owners: set[int] = set()  # these owners, and some that lost their nodes again
        self._first, self._last, self._counts = array("i"), array("i"), array("i")  # by owner
        self._after, self._before = (others._after, others._before) if others else (array("i"), array("i"))  # by node
        self._lists: dict[int, list[int]] = {}

    def __getitem__(self, owner: int) -> list[int]:
        """Returns the children of an owner."""
        found = self._lists.get(owner)
        if found is None:
            if not self.any(owner):
                return []
            found = self._lists[owner] = list(self.each(owner))
        return found

    def get(self, owner: int, default: Sequence[int] = ()) -> Sequence[int]:
        """Returns the children of an owner, or `default` if it has none."""
        return self[owner] if self.any(owner) else default

    def each(self, owner: int) -> Iterator[int]:
        """Yields the children of an owner. The caller may remove the yielded node, but must not add nodes."""
        if owner in self._buffered_owners:
            self._write()
        node = self._first[owner] if 0 <= owner < len(self._first) else NO_NODE
        while node != NO_NODE:
            further = self._after[node]
            yield node
            node = further

    def last(self, owner: int, count: int) -> list[int]:
        """Returns the last `count` children of an owner. O(count)."""
        if owner in self._buffered_owners:
            self._write()
        found: list[int] = []
        node = self._last[owner] if 0 <= owner < len(self._last) else NO_NODE
        while node != NO_NODE and len(found) < count:
            found.append(node)
            node = self._before[node]
        return found[::-1]

    def any(self, owner: int) -> bool:
        if owner in self._buffered_owners:
            self._write()
        return 0 <= owner < len(self._first) and self._first[owner] != NO_NODE

    def count(self, owner: int) -> int:
        if owner in self._buffered_owners:
            self._write()
        return self._counts[owner] if 0 <= owner < len(self._counts) else 0

    def add(self, owner: int, node: int) -> None:
        """Appends a node to the children of an owner."""
        self._waiting[node] = owner
        self._buffered_owners.add(owner)
        if self._lists:
            self._lists.pop(owner, None)
        if len(self._waiting) >= _WRITE_BATCH:
            self._write()

    def remove(self, owner: int, node: int) -> None:
        self._lists.pop(owner, None)
        if self._waiting.pop(node, None) is not None:
            return
        before, after = self._before[node], self._after[node]
        if before == NO_NODE:
            self._first[owner] = after
        else:
            self._after[before] = after
        if after == NO_NODE:
            self._last[owner] = before
        else:
            self._before[after] = before
        self._counts[owner] -= 1

    def clear(self, owner: int) -> None:
        """Removes all children of an owner."""
        if self.any(owner):
            self._first[owner] = self._last[owner] = NO_NODE
            self._counts[owner] = 0
        self._lists.pop(owner, None)

    def add_all(self, owners: NDArray[np.integer[Any]], nodes: NDArray[np.integer[Any]]) -> None:
        """Appends many nodes to the children of their owners, in order."""
        if not len(nodes):
            return
        self._write()
        for owner in np.unique(owners).tolist():
            self._lists.pop(owner, None)
        self._link(owners, nodes)

    def _write(self) -> None:
        """Writes the buffered nodes to their lists."""
        self._buffered_owners.clear()
        if not self._waiting:
            return
        nodes = np.fromiter(self._waiting, np.int64, len(self._waiting))
        owners = np.fromiter(self._waiting.values(), np.int64, len(self._waiting))
        self._waiting = {}
        self._link(owners, nodes)

    def _link(self, owners: NDArray[np.integer[Any]], nodes: NDArray[np.integer[Any]]) -> None:
        self._make_room(int(owners.max()), int(nodes.max()))
        order = np.argsort(owners, kind="stable")
        owners, nodes = owners[order], nodes[order]
        first, last, counts, after, before = (
            np.frombuffer(part, np.int32) for part in (self._first, self._last, self._counts, self._after, self._before)
        )
        differs = owners[1:] != owners[:-1]
        starts = np.flatnonzero(np.append(True, differs))
        ends = np.append(starts[1:], len(nodes))
        of, heads, tails = owners[starts], nodes[starts], nodes[ends - 1]
        after[nodes[:-1]], before[nodes[1:]] = nodes[1:], nodes[:-1]
        known = last[of]
        before[heads], after[tails] = known, NO_NODE
        has = known != NO_NODE
        after[known[has]], first[of[~has]] = heads[has], heads[~has]
        last[of] = tails
        counts[of] += (ends - starts).astype(np.int32)

    def _make_room(self, owner: int, node: int) -> None:
        """Makes room for an owner and a node."""
        if owner >= len(self._first):
            room = extension(owner, len(self._first))
            self._first.extend(room)
            self._last.extend(room)
            self._counts.frombytes(bytes(4 * len(room)))
        if node >= len(self._after):
            room = extension(node, len(self._after))
            self._after.extend(room)
            self._before.extend(room)


def extension(place: int, length: int) -> array[int]:
    """Returns the extension that makes an array reach an index, with room for some more."""
    return array("i", [NO_NODE]) * (place + 1 + max(64, length // 8) - length)
