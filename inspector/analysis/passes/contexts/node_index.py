"""Nodes of a tree by owner and name, and in rows below their owners, in a few numbers a node.

A dict from pairs to numbers takes 200 bytes an entry, one of dicts more; arrays of 32 bits take 12 and 16.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_NONE = -1
_FIRST_ROOM = 64  # buckets; a power of two
_BITS = 0x7FFF_FFFF  # of a hash
_AT_ONCE = 1024  # nodes that wait to be written


class NodeIndex:
    """Finds nodes by what they belong to and their name; of a pair it knows one node, the last that was put.

    Nodes lie in chains by the hash of the pair. As they come one chain after the other is split (linear hashing), so
    that none grows long and nothing is ever made anew at once. New ones wait in a dict until there are many, and are
    put into chains together, in arrays.

    Args:
        owners: by node; while a node is in the index it is changed only between `remove` and `put`.
        names: by node, never changed.
    """

    def __init__(self, owners: Sequence[int], names: Sequence[str]) -> None:
        self._owners = owners
        self._names = names
        self._waiting: dict[tuple[int, str], int] = {}
        self._heads = array("i", [_NONE]) * _FIRST_ROOM
        # Of the buckets as they were when they last doubled, and as they will be.
        self._mask, self._wide = _FIRST_ROOM - 1, 2 * _FIRST_ROOM - 1
        self._next = array("i")  # by node, the one behind it in its chain
        self._hashes = array("i")  # by node, of its pair: names are read where these are equal
        self._count = 0  # in chains

    def find(self, owner: int, name: str) -> int:
        """The node with this name that belongs to an owner; -1."""
        pair = (owner, name)
        waiting = self._waiting.get(pair)
        if waiting is not None:
            return waiting
        hashed = hash(pair) & _BITS
        heads, hashes = self._heads, self._hashes
        bucket = hashed & self._wide
        node = heads[bucket if bucket < len(heads) else hashed & self._mask]
        while node != _NONE:
            if hashes[node] == hashed and self._owners[node] == owner and self._names[node] == name:
                return node
            node = self._next[node]
        return _NONE

    def put(self, node: int, name: str) -> None:
        """Let its owner and name, which who puts it knows, stand for a node, and for no other."""
        known = self.find(self._owners[node], name)
        if known == node:
            return
        if known != _NONE:
            self.remove(known)
        self.add(node, name)

    def add(self, node: int, name: str) -> None:
        """The same where they stand for none."""
        self._waiting[self._owners[node], name] = node
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def remove(self, node: int) -> None:
        """Let its owner and name no longer stand for a node; nothing where they do not."""
        pair = (self._owners[node], self._names[node])
        if self._waiting.get(pair) == node:
            del self._waiting[pair]
            return
        heads, behind = self._heads, self._next
        if node >= len(behind):
            return
        hashed = self._hashes[node]
        bucket = hashed & self._wide
        bucket = bucket if bucket < len(heads) else hashed & self._mask
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

    def _write(self) -> None:
        """Put the nodes that wait into chains, and split as many as there are more nodes than chains."""
        pairs = self._waiting
        nodes = np.fromiter(pairs.values(), np.int64, len(pairs))
        hashes = np.fromiter(map(hash, pairs), np.int64, len(pairs)) & _BITS
        self._waiting = {}
        most = int(nodes.max())
        if most >= len(self._next):
            room = _room(most, len(self._next))
            self._next.extend(room)
            self._hashes.extend(room)
        np.frombuffer(self._hashes, np.int32)[nodes] = hashes
        self._count += len(nodes)
        self._link(nodes)
        while self._count > len(self._heads):
            self._split(min(self._count, self._wide + 1) - len(self._heads))

    def _link(self, nodes: NDArray[np.int64]) -> None:
        """Put nodes at the front of the chains of their hashes."""
        heads, behind, hashes = (np.frombuffer(part, np.int32) for part in (self._heads, self._next, self._hashes))
        hashed = hashes[nodes]
        buckets = hashed & self._wide
        buckets = np.where(buckets < len(heads), buckets, hashed & self._mask)
        order = np.argsort(buckets, kind="stable")
        nodes, buckets = nodes[order], buckets[order]
        differs = buckets[1:] != buckets[:-1]
        last, first = np.append(differs, True), np.append(True, differs)
        behind[nodes[:-1]] = nodes[1:]
        behind[nodes[last]] = heads[buckets[last]]
        heads[buckets[first]] = nodes[first]

    def _split(self, count: int) -> None:
        """Part the nodes of the next buckets between them and as many new ones."""
        old = len(self._heads) - self._mask - 1
        heads, behind = np.frombuffer(self._heads, np.int32), np.frombuffer(self._next, np.int32)
        nodes = heads[old : old + count].astype(np.int64)
        heads[old : old + count] = _NONE
        of_all = [nodes := nodes[nodes != _NONE]]
        while len(nodes):
            nodes = behind[nodes].astype(np.int64)
            of_all.append(nodes := nodes[nodes != _NONE])
        del heads, behind  # arrays do not grow while they are looked at
        self._heads.extend(array("i", [_NONE]) * count)
        if len(self._heads) == self._wide + 1:
            self._mask, self._wide = self._wide, 2 * self._wide + 1
        if len(moved := np.concatenate(of_all)):
            self._link(moved)


class Siblings:
    """Nodes in rows by their owner (a node, or a space for roots), read as lists.

    A node is in one row at a time. Adding, removing and asking for emptiness are O(1), as a node may have 100,000
    children, and each may leave it one by one. A list handed out is never changed afterwards, and must not be changed;
    it is made when it is first asked for after a change. New nodes wait until somebody asks, or there are many, and are
    put into their rows together, in arrays.

    Args:
        others: rows of the same nodes by other owners; a node is in a row of one of the two.
    """

    def __init__(self, others: Siblings | None = None) -> None:
        self._waiting: dict[int, int] = {}  # owners by node
        self._awaiting: set[int] = set()  # these owners, and some whose nodes were taken away again
        self._first, self._last, self._counts = array("i"), array("i"), array("i")  # by owner
        self._after, self._before = (others._after, others._before) if others else (array("i"), array("i"))  # by node
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
        if owner in self._awaiting:
            self._write()
        node = self._first[owner] if 0 <= owner < len(self._first) else _NONE
        while node != _NONE:
            further = self._after[node]
            yield node
            node = further

    def last(self, owner: int, count: int) -> list[int]:
        """As many of the nodes below an owner as are asked for, those that came last. O(count)."""
        if owner in self._awaiting:
            self._write()
        found: list[int] = []
        node = self._last[owner] if 0 <= owner < len(self._last) else _NONE
        while node != _NONE and len(found) < count:
            found.append(node)
            node = self._before[node]
        return found[::-1]

    def any(self, owner: int) -> bool:
        """Whether something lies below an owner."""
        if owner in self._awaiting:
            self._write()
        return 0 <= owner < len(self._first) and self._first[owner] != _NONE

    def count(self, owner: int) -> int:
        """How many nodes lie directly below an owner."""
        if owner in self._awaiting:
            self._write()
        return self._counts[owner] if 0 <= owner < len(self._counts) else 0

    def add(self, owner: int, node: int) -> None:
        """Put a node last below an owner."""
        self._waiting[node] = owner
        self._awaiting.add(owner)
        if self._lists:
            self._lists.pop(owner, None)
        if len(self._waiting) >= _AT_ONCE:
            self._write()

    def remove(self, owner: int, node: int) -> None:
        """Take a node away from its owner."""
        self._lists.pop(owner, None)
        if self._waiting.pop(node, None) is not None:
            return
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

    def clear(self, owner: int) -> None:
        """Take everything away from an owner."""
        if self.any(owner):
            self._first[owner] = self._last[owner] = _NONE
            self._counts[owner] = 0
        self._lists.pop(owner, None)

    def _write(self) -> None:
        """Put the nodes that wait into their rows."""
        self._awaiting.clear()
        if not self._waiting:
            return
        nodes = np.fromiter(self._waiting, np.int64, len(self._waiting))
        owners = np.fromiter(self._waiting.values(), np.int64, len(self._waiting))
        self._waiting = {}
        self._reach(int(owners.max()), int(nodes.max()))
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
        before[heads], after[tails] = known, _NONE
        has = known != _NONE
        after[known[has]], first[of[~has]] = heads[has], heads[~has]
        last[of] = tails
        counts[of] += (ends - starts).astype(np.int32)

    def _reach(self, owner: int, node: int) -> None:
        """Make room for an owner and a node."""
        if owner >= len(self._first):
            room = _room(owner, len(self._first))
            self._first.extend(room)
            self._last.extend(room)
            self._counts.frombytes(bytes(4 * len(room)))
        if node >= len(self._after):
            room = _room(node, len(self._after))
            self._after.extend(room)
            self._before.extend(room)


def _room(place: int, length: int) -> array[int]:
    """What makes an array long enough for a place, and for some that will come."""
    return array("i", [_NONE]) * (place + 1 + max(64, length // 8) - length)
