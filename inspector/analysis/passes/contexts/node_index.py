"""Indexes tree nodes by owner and name, and lists children by owner, in a few numbers a node.

A dict from pairs to numbers takes 200 bytes an entry, and a dict of dicts more. Arrays of 32 bits take 12 and 16.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_NO_NODE = -1
_FIRST_BUCKETS = 64  # buckets; a power of two
_HASH_MASK = 0x7FFF_FFFF  # bits of a stored hash
_WRITE_BATCH = 1024  # nodes buffered before a write


class NodeIndex:
    """Finds nodes by owner and name; for each pair it stores one node, the last that was put.

    Nodes are chained by the hash of the pair. Chains are split one after another as nodes come (linear hashing), so
    that none grows long and the index is never rebuilt at once. New nodes are buffered in a dict, and written to the
    chains in batches.

    Args:
        owners: by node; may change for an indexed node only between `remove` and `put`.
        names: by node, never changed.
    """

    def __init__(self, owners: Sequence[int], names: Sequence[str]) -> None:
        self._owners = owners
        self._names = names
        self._waiting: dict[tuple[int, str], int] = {}
        self._heads = array("i", [_NO_NODE]) * _FIRST_BUCKETS
        # Bucket masks, before and after the present doubling.
        self._mask, self._wide_mask = _FIRST_BUCKETS - 1, 2 * _FIRST_BUCKETS - 1
        self._next_in_chain = array("i")  # by node, the next in its chain
        self._hashes = array("i")  # by node, of its pair: names are compared only if these are equal
        self._count = 0  # nodes in chains

    def find(self, owner: int, name: str) -> int:
        """Returns the node with this owner and name, or -1."""
        pair = (owner, name)
        waiting = self._waiting.get(pair)
        # Buffered nodes are the latest, so they replace nodes in the chains.
        if waiting is not None:
            return waiting
        hashed = hash(pair) & _HASH_MASK
        heads, hashes = self._heads, self._hashes
        bucket = hashed & self._wide_mask
        node = heads[bucket if bucket < len(heads) else hashed & self._mask]
        while node != _NO_NODE:
            if hashes[node] == hashed and self._owners[node] == owner and self._names[node] == name:
                return node
            node = self._next_in_chain[node]
        return _NO_NODE

    def map_node(self, node: int, name: str) -> None:
        """Maps the owner and name of a node to it, replacing another node.

        The caller passes the name to save a lookup.
        """
        known = self.find(self._owners[node], name)
        if known == node:
            return
        if known != _NO_NODE:
            self.remove(known)
        self.add(node, name)

    def add(self, node: int, name: str) -> None:
        """Adds a node with an owner and name that are not in the index."""
        self._waiting[self._owners[node], name] = node
        if len(self._waiting) >= _WRITE_BATCH:
            self._write()

    def remove(self, node: int) -> None:
        """Removes a node, unless its owner and name map to another node."""
        pair = (self._owners[node], self._names[node])
        if self._waiting.get(pair) == node:
            del self._waiting[pair]
            return
        heads, behind = self._heads, self._next_in_chain
        if node >= len(behind):
            return
        hashed = self._hashes[node]
        bucket = hashed & self._wide_mask
        bucket = bucket if bucket < len(heads) else hashed & self._mask
        before, at = _NO_NODE, heads[bucket]
        while at not in (_NO_NODE, node):
            before, at = at, behind[at]
        if at == _NO_NODE:
            return
        if before == _NO_NODE:
            heads[bucket] = behind[node]
        else:
            behind[before] = behind[node]
        self._count -= 1

    def _write(self) -> None:
        """Writes the buffered nodes to the chains, and splits chains until there are as many as nodes."""
        pairs = self._waiting
        nodes = np.fromiter(pairs.values(), np.int64, len(pairs))
        # 31 bits, so that a hash fits into an int32 without a sign.
        hashes = np.fromiter(map(hash, pairs), np.int64, len(pairs)) & _HASH_MASK
        self._waiting = {}
        most = int(nodes.max())
        if most >= len(self._next_in_chain):
            room = _extension(most, len(self._next_in_chain))
            self._next_in_chain.extend(room)
            self._hashes.extend(room)
        np.frombuffer(self._hashes, np.int32)[nodes] = hashes
        self._count += len(nodes)
        self._link(nodes)
        while self._count > len(self._heads):
            self._split(min(self._count, self._wide_mask + 1) - len(self._heads))

    def _link(self, nodes: NDArray[np.int64]) -> None:
        """Inserts nodes at the front of the chains of their hashes."""
        heads, behind, hashes = (
            np.frombuffer(part, np.int32) for part in (self._heads, self._next_in_chain, self._hashes)
        )
        hashed = hashes[nodes]
        buckets = hashed & self._wide_mask
        buckets = np.where(buckets < len(heads), buckets, hashed & self._mask)
        order = np.argsort(buckets, kind="stable")
        nodes, buckets = nodes[order], buckets[order]
        differs = buckets[1:] != buckets[:-1]
        last, first = np.append(differs, True), np.append(True, differs)
        behind[nodes[:-1]] = nodes[1:]
        behind[nodes[last]] = heads[buckets[last]]
        heads[buckets[first]] = nodes[first]

    def _split(self, count: int) -> None:
        """Divides the nodes of the next `count` buckets between them and new buckets."""
        old = len(self._heads) - self._mask - 1
        heads, behind = np.frombuffer(self._heads, np.int32), np.frombuffer(self._next_in_chain, np.int32)
        nodes = heads[old : old + count].astype(np.int64)
        heads[old : old + count] = _NO_NODE
        of_all = [nodes := nodes[nodes != _NO_NODE]]
        while len(nodes):
            nodes = behind[nodes].astype(np.int64)
            of_all.append(nodes := nodes[nodes != _NO_NODE])
        del heads, behind  # an array cannot grow while a numpy view of it exists
        self._heads.extend(array("i", [_NO_NODE]) * count)
        if len(self._heads) == self._wide_mask + 1:
            self._mask, self._wide_mask = self._wide_mask, 2 * self._wide_mask + 1
        if len(moved := np.concatenate(of_all)):
            self._link(moved)


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
        node = self._first[owner] if 0 <= owner < len(self._first) else _NO_NODE
        while node != _NO_NODE:
            further = self._after[node]
            yield node
            node = further

    def last(self, owner: int, count: int) -> list[int]:
        """Returns the last `count` children of an owner. O(count)."""
        if owner in self._buffered_owners:
            self._write()
        found: list[int] = []
        node = self._last[owner] if 0 <= owner < len(self._last) else _NO_NODE
        while node != _NO_NODE and len(found) < count:
            found.append(node)
            node = self._before[node]
        return found[::-1]

    def any(self, owner: int) -> bool:
        if owner in self._buffered_owners:
            self._write()
        return 0 <= owner < len(self._first) and self._first[owner] != _NO_NODE

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
        if before == _NO_NODE:
            self._first[owner] = after
        else:
            self._after[before] = after
        if after == _NO_NODE:
            self._last[owner] = before
        else:
            self._before[after] = before
        self._counts[owner] -= 1

    def clear(self, owner: int) -> None:
        """Removes all children of an owner."""
        if self.any(owner):
            self._first[owner] = self._last[owner] = _NO_NODE
            self._counts[owner] = 0
        self._lists.pop(owner, None)

    def _write(self) -> None:
        """Writes the buffered nodes to their lists."""
        self._buffered_owners.clear()
        if not self._waiting:
            return
        nodes = np.fromiter(self._waiting, np.int64, len(self._waiting))
        owners = np.fromiter(self._waiting.values(), np.int64, len(self._waiting))
        self._waiting = {}
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
        before[heads], after[tails] = known, _NO_NODE
        has = known != _NO_NODE
        after[known[has]], first[of[~has]] = heads[has], heads[~has]
        last[of] = tails
        counts[of] += (ends - starts).astype(np.int32)

    def _make_room(self, owner: int, node: int) -> None:
        """Makes room for an owner and a node."""
        if owner >= len(self._first):
            room = _extension(owner, len(self._first))
            self._first.extend(room)
            self._last.extend(room)
            self._counts.frombytes(bytes(4 * len(room)))
        if node >= len(self._after):
            room = _extension(node, len(self._after))
            self._after.extend(room)
            self._before.extend(room)


def _extension(place: int, length: int) -> array[int]:
    """Returns the extension that makes an array reach an index, with room for some more."""
    return array("i", [_NO_NODE]) * (place + 1 + max(64, length // 8) - length)
