"""Computes root, depth and subtree sums of all tree nodes as arrays, without a loop over nodes."""

from __future__ import annotations

from array import array
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.node_facts import MAIN


class _Tree(Protocol):
    """The parts of `ContextTree` used here."""

    parent: array[int]
    moves: int
    settled: int

    def __len__(self) -> int: ...
    @property
    def aliases(self) -> array[int]: ...
    @property
    def cut(self) -> set[int]: ...
    def levels(self, node: int) -> int: ...


class NodeAncestry:
    """Root and depth of each node, extended for new nodes and rebuilt after moves.

    Arrays have one entry more than there are nodes: the last, reached by index -1, is the main context's. Merged nodes
    have the values of their present nodes.
    """

    def __init__(self, tree: _Tree) -> None:
        self._tree = tree
        self._moves = -1
        self._known_nodes = 0
        self._roots = np.full(1, MAIN, np.int32)
        self._depths = np.zeros(1, np.int32)

    @property
    def roots(self) -> NDArray[np.int32]:
        """(nodes + 1,) int32 root of each node; MAIN for the main context."""
        self._update()
        return self._roots

    @property
    def depths(self) -> NDArray[np.int32]:
        """(nodes + 1,) int32, 1 for roots; 0 for the main context."""
        self._update()
        return self._depths

    def _update(self) -> None:
        """Updates the arrays. O(new nodes log depth) beside a copy; after a move all nodes count as new."""
        tree = self._tree
        if tree.moves != self._moves:
            self._moves, self._known_nodes = tree.moves, 0
        if self._known_nodes == len(tree) == len(self._roots) - 1:
            return
        tree.settled = len(tree)
        roots, depths = self._compute(self._known_nodes, len(tree))
        self._roots = np.concatenate((self._roots[: self._known_nodes], roots, [np.int32(MAIN)]))
        self._depths = np.concatenate((self._depths[: self._known_nodes], depths, [np.int32(0)]))
        # Only moves merge nodes; otherwise every node lives.
        if self._known_nodes == 0 and tree.moves:
            living = living_nodes(tree)
            self._roots[:-1], self._depths[:-1] = self._roots[living], self._depths[living]
        self._known_nodes = len(tree)

    def _compute(self, known: int, nodes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        parents = as_numpy(self._tree.parent)[known:nodes].astype(np.int64)
        inside = parents >= known
        above = np.where(inside, parents - known, np.arange(len(parents)))
        levels = np.ones(len(parents), np.int32)
        for node in self._tree.cut:
            if node >= known:
                levels[node - known] = self._tree.levels(node)
        steps = np.where(inside, levels, 0).astype(np.int32)
        while True:
            # Pointer doubling: a chain of 10,000 nodes takes 14 turns.
            further = above[above]
            if np.array_equal(further, above):
                break
            steps += steps[above]
            above = further
        over = parents[above]
        roots = np.where(over == MAIN, above + known, self._roots[over]).astype(np.int32)
        return roots, np.where(over == MAIN, 0, self._depths[over]).astype(np.int32) + steps + levels[above]


def living_nodes(tree: _Tree) -> NDArray[np.int64]:
    """Returns (nodes,) the present node of each number after merges."""
    aliases = np.append(as_numpy(tree.aliases).astype(np.int64), MAIN)
    while True:
        further = aliases[aliases]
        if np.array_equal(further, aliases):
            return aliases[:-1]
        aliases = further


def subtree_totals(values: NDArray[Any], parents: NDArray[np.integer[Any]], combine: np.ufunc = np.add) -> NDArray[Any]:
    """Returns (nodes,) totals of each node and all its descendants. O(nodes log depth) for any shape of the tree.

    Args:
        values: (nodes,) values of the nodes; not changed.
        parents: (nodes,) parent nodes, MAIN to stop there.
        combine: `np.add` for sums, `np.maximum` for latest times.
    """
    total, above = values.copy(), parents.astype(np.int64)
    giving = np.flatnonzero(above != MAIN)
    while len(giving):
        # After k turns a node has the values less than 2^k levels below it, and points as far up.
        combine.at(total, above[giving], total[giving])
        further = above[above[giving]]
        above[giving] = further
        giving = giving[further != MAIN]
    return total
