"""Numbers of the context keys that messages have, each in its space, and the node that each leads to."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.node_facts import MAIN, as_numpy

UNKNOWN = -1
_NO_SPACE = -1


class ContextRefs:
    """Numbers are given in the order first seen, and never change; nodes do. Number 0 is no key: the main context.

    Almost every key is used in one space only: that and the key's number there stand in two arrays by key. A
    dictionary holds the others.
    """

    def __init__(self) -> None:
        self._nodes = array("i", [MAIN])
        self._space_of = array("i")
        self._ref_of = array("i")
        self._others: dict[tuple[int, int], int] = {}
        self._of_nodes: dict[int, int] = {}

    def find(self, space: int, key: int) -> int:
        """The number of a key in a space; UNKNOWN."""
        if key < len(self._space_of) and self._space_of[key] == space:
            return self._ref_of[key]
        return self._others.get((space, key), UNKNOWN)

    def find_all(self, spaces: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int32]:
        """(n,) the numbers of keys (0 for key 0) in their spaces; UNKNOWN. O(n)."""
        refs = np.zeros(len(keys), np.int32)
        inside = np.flatnonzero(keys)
        if not len(inside):
            return refs
        keys, spaces = keys[inside], spaces[inside]
        self._reach(int(keys.max()))
        found = np.where(as_numpy(self._space_of)[keys] == spaces, as_numpy(self._ref_of)[keys], UNKNOWN)
        if self._others:
            missing = np.flatnonzero(found == UNKNOWN)
            pairs = zip(spaces[missing].tolist(), keys[missing].tolist(), strict=True)
            found[missing] = [self._others.get(pair, UNKNOWN) for pair in pairs]
        refs[inside] = found
        return refs

    def add(self, space: int, key: int, node: int) -> int:
        """Number a key in a space that has no number yet."""
        ref = len(self._nodes)
        self._nodes.append(node)
        if key >= len(self._space_of):
            self._reach(key)
        if self._space_of[key] == _NO_SPACE:
            self._space_of[key], self._ref_of[key] = space, ref
        else:
            self._others[space, key] = ref
        return ref

    def of_node(self, node: int) -> int:
        """A number that leads to a node without a key: for messages whose key does not say where they belong."""
        if node == MAIN:
            return 0
        found = self._of_nodes.get(node)
        if found is None:
            found = self._of_nodes[node] = len(self._nodes)
            self._nodes.append(node)
        return found

    def _reach(self, key: int) -> None:
        """Make room for keys up to this one, and for some that will come."""
        room = len(self._space_of)
        if key >= room:
            more = key + 1 + max(1024, room // 8) - room
            self._space_of.extend(array("i", [_NO_SPACE]) * more)
            self._ref_of.frombytes(bytes(4 * more))

    def node(self, ref: int) -> int:
        """The node a number leads to."""
        return self._nodes[ref]

    def nodes(self, refs: NDArray[Any]) -> NDArray[np.int32]:
        """(n,) the nodes that numbers lead to."""
        return as_numpy(self._nodes)[refs]

    def follow(self, living: NDArray[np.int32]) -> None:
        """Lead to what nodes became: `living` by node, with the main context's last."""
        nodes = as_numpy(self._nodes)
        nodes[:] = living[nodes]
