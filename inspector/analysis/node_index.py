"""Nodes of a tree by owner and name, and in rows below their owners, in a few numbers a node.

A dict from pairs to numbers takes 200 bytes an entry, one of dicts more; arrays of 32 bits take 12 and 16.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

_NONE = -1
_FIRST_ROOM = 64  # buckets; a power of two
_BITS = 0x7FFF_FFFF  # of a hash


class NodeIndex:
    """Finds nodes by what they belong to and their name; of a pair it knows one node, the last that was put.

    Nodes lie in chains by the hash of the pair. With each node that comes one chain is split (linear hashing), so that
    none grows long and nothing is ever made anew at once.

    Args:
        owners: by node; while a node is in the index it is changed only between `remove` and `put`.
        names: by node, never changed.
    """

    def __init__(self, owners: Sequence[int], names: Sequence[str]) -> None:
        self._owners = owners
        self._names = names
        self._heads = array("i", [_NONE]) * _FIRST_ROOM
        # Of the buckets as they were when they last doubled, and as they will be.
        self._mask, self._wide = _FIRST_ROOM - 1, 2 * _FIRST_ROOM - 1
        self._next = array("i")  # by node, the one behind it in its chain
        self._hashes = array("i")  # by node, of its pair: names are read where these are equal
        self._count = 0

    def find(self, owner: int, name: str) -> int:
        """The node with this name that belongs to an owner; -1."""
        hashed = hash((owner, name)) & _BITS
        bucket = hashed & self._wide
        hashes, behind = self._hashes, self._next
        node = self._heads[bucket if bucket < len(self._heads) else hashed & self._mask]
        while node != _NONE:
            if hashes[node] == hashed and self._owners[node] == owner and self._names[node] == name:
                return node
            node = behind[node]
        return _NONE

    def put(self, node: int, name: str) -> None:
        """Let its owner and name, which who puts it knows, stand for a node, and for no other."""
        owner = self._owners[node]
        known = self.find(owner, name)
        if known == node:
            return
        if known != _NONE:
            self.remove(known)
        heads, behind = self._heads, self._next
        if node >= len(behind):
            room = _room(node, len(behind))
            behind.extend(room)
            self._hashes.extend(room)
        hashed = hash((owner, name)) & _BITS
        bucket = self._bucket(hashed)
        self._hashes[node], behind[node], heads[bucket] = hashed, heads[bucket], node
        self._count += 1
        if self._count > len(heads):
            self._split()

    def remove(self, node: int) -> None:
        """Let its owner and name no longer stand for a node; nothing where they do not."""
        heads, behind = self._heads, self._next
        if node >= len(behind):
            return
        bucket = self._bucket(self._hashes[node])
        before, at = _NONE, heads[bucket]
        while at not in (_NONE, node):
            before, at = at, behind[at]
        if at == _NONE:
            return
        if before == _NONE:
            heads[bucket] = behind[node]
        else:
            behind[before] = behind[node]
        self._count -= 1

    def _bucket(self, hashed: int) -> int:
        bucket = hashed & self._wide
        return bucket if bucket < len(self._heads) else hashed & self._mask

    def _split(self) -> None:
        """Part the nodes of the next bucket between it and a new one."""
        heads, behind, hashes, new = self._heads, self._next, self._hashes, len(self._heads)
        heads.append(_NONE)
        wide = self._wide
        old = new - self._mask - 1
        node, heads[old] = heads[old], _NONE
        while node != _NONE:
            further = behind[node]
            bucket = old if hashes[node] & wide == old else new
            behind[node], heads[bucket] = heads[bucket], node
            node = further
        if len(heads) == wide + 1:
            self._mask, self._wide = wide, 2 * wide + 1


class Siblings:
    """Nodes in rows by their owner (a node, or a space for roots), read as lists.

    A node is in one row at a time. Adding, removing and asking for emptiness are O(1), as a node may have 100,000
    children, and each may leave it one by one. A list handed out is never changed afterwards, and must not be changed;
    it is made when it is first asked for after a change.
    """

    def __init__(self) -> None:
        self._first, self._last, self._counts = array("i"), array("i"), array("i")  # by owner
        self._after, self._before = array("i"), array("i")  # by node
        self._lists: dict[int, list[int]] = {}

    def __getitem__(self, owner: int) -> list[int]:
        """The nodes below an owner."""
        found = self._lists.get(owner)
        if found is None:
            if not self.any(owner):
                return []
            found = self._lists[owner] = list(self.each(owner))
        return found

    def get(self, owner: int, default: Sequence[int] = ()) -> Sequence[int]:
        """The nodes below an owner, or `default` when there are none."""
        return self[owner] if self.any(owner) else default

    def each(self, owner: int) -> Iterator[int]:
        """The nodes below an owner, for one pass through them that may take each away, but adds none."""
        node = self._first[owner] if 0 <= owner < len(self._first) else _NONE
        while node != _NONE:
            further = self._after[node]
            yield node
            node = further

    def last(self, owner: int, count: int) -> list[int]:
        """As many of the nodes below an owner as are asked for, those that came last. O(count)."""
        found: list[int] = []
        node = self._last[owner] if 0 <= owner < len(self._last) else _NONE
        while node != _NONE and len(found) < count:
            found.append(node)
            node = self._before[node]
        return found[::-1]

    def any(self, owner: int) -> bool:
        """Whether something lies below an owner."""
        return 0 <= owner < len(self._first) and self._first[owner] != _NONE

    def count(self, owner: int) -> int:
        """How many nodes lie directly below an owner."""
        return self._counts[owner] if 0 <= owner < len(self._counts) else 0

    def add(self, owner: int, node: int) -> None:
        """Put a node last below an owner."""
        if owner >= len(self._first):
            room = _room(owner, len(self._first))
            self._first.extend(room)
            self._last.extend(room)
            self._counts.frombytes(bytes(4 * len(room)))
        if node >= len(self._after):
            room = _room(node, len(self._after))
            self._after.extend(room)
            self._before.extend(room)
        last = self._last[owner]
        self._before[node], self._after[node] = last, _NONE
        if last == _NONE:
            self._first[owner] = node
        else:
            self._after[last] = node
        self._last[owner] = node
        self._counts[owner] += 1
        if self._lists:
            self._lists.pop(owner, None)

    def remove(self, owner: int, node: int) -> None:
        """Take a node away from its owner."""
        before, after = self._before[node], self._after[node]
        if before == _NONE:
            self._first[owner] = after
        else:
            self._after[before] = after
        if after == _NONE:
            self._last[owner] = before
        else:
            self._before[after] = before
        self._counts[owner] -= 1
        self._lists.pop(owner, None)

    def clear(self, owner: int) -> None:
        """Take everything away from an owner."""
        if self.any(owner):
            self._first[owner] = self._last[owner] = _NONE
            self._counts[owner] = 0
        self._lists.pop(owner, None)


def _room(place: int, length: int) -> array[int]:
    """What makes an array long enough for a place, and for some that will come."""
    return array("i", [_NONE]) * (place + 1 + max(64, length // 8) - length)
