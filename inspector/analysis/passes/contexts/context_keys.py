"""Numbers the context keys in each space, and maps each number to its node."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.ids_by_space import UNKNOWN, SpaceNumbers
from inspector.analysis.passes.contexts.node_facts import MAIN

__all__ = ["UNKNOWN", "ContextNumbers"]


class ContextNumbers:
    """Numbers are given in the order first seen and never change; their nodes do. Number 0 is the main context."""

    def __init__(self) -> None:
        self._nodes = array("i", [MAIN])
        self._numbers = SpaceNumbers()
        self._numbers_of_nodes: dict[int, int] = {}
        self.find = self._numbers.find

    def __len__(self) -> int:
        return len(self._nodes) - 1

    def find_all(self, spaces: NDArray[Any], keys: NDArray[Any]) -> NDArray[np.int32]:
        """Returns (n,) the numbers of keys (0 for key 0) in their spaces, or UNKNOWN. O(n)."""
        refs = np.zeros(len(keys), np.int32)
        inside = np.flatnonzero(keys)
        refs[inside] = self._numbers.find_all(spaces[inside], keys[inside])
        return refs

    def add(self, space: int, key: int, node: int) -> int:
        """Adds a number for a new key in a space."""
        ref = len(self._nodes)
        self._nodes.append(node)
        self._numbers.set_number(space, key, ref)
        return ref

    def number_of_node(self, node: int) -> int:
        """Returns a number for a node without a key, for messages that get their context from another source."""
        if node == MAIN:
            return 0
        found = self._numbers_of_nodes.get(node)
        if found is None:
            found = self._numbers_of_nodes[node] = len(self._nodes)
            self._nodes.append(node)
        return found

    def node(self, ref: int) -> int:
        return self._nodes[ref]

    def nodes(self, refs: NDArray[Any]) -> NDArray[np.int32]:
        """Returns (n,) the nodes of numbers."""
        return as_numpy(self._nodes)[refs]

    def follow(self, living: NDArray[np.int32]) -> None:
        """Redirects the numbers after merges.

        Args:
            living: by old node, the present one; the last entry is the main context.
        """
        nodes = as_numpy(self._nodes)
        nodes[:] = living[nodes]
