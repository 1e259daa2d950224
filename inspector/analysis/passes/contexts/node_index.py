"""Indexes tree nodes by owner and name, in a few numbers a node.

A dict from pairs to numbers takes 200 bytes an entry. Arrays of 32 bits take 12.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.base.siblings import NO_NODE as _NO_NODE
from inspector.base.siblings import extension

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

    def may_have(self, pairs: Sequence[tuple[int, str]]) -> NDArray[np.bool_]:
        """Returns (n,) False for pairs of owner and name that are not in the index; compares hashes only."""
        if self._waiting:
            self._write()
        hashed = np.fromiter(map(hash, pairs), np.int64, len(pairs)) & _HASH_MASK
        heads, behind, hashes = (
            np.frombuffer(part, np.int32) for part in (self._heads, self._next_in_chain, self._hashes)
        )
        buckets = hashed & self._wide_mask
        nodes = heads[np.where(buckets < len(heads), buckets, hashed & self._mask)]
        found = np.zeros(len(pairs), np.bool_)
        while len(left := np.flatnonzero(nodes != _NO_NODE)):
            found[left] |= hashes[nodes[left]] == hashed[left]
            nodes[left] = behind[nodes[left]]
        return found

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
            room = extension(most, len(self._next_in_chain))
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
