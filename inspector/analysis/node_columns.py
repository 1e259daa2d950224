"""Values of context nodes as tables and arrays that follow the tree's growth without being made anew."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.node_facts import as_numpy
from inspector.capture.strings import InternTable

REASONING_START = "reason"
"""A context whose root's name begins so counts as reasoning."""


class NodeTable(Sequence[str]):
    """Texts of nodes by node + 1, made when asked for; entry 0 stands for the main context.

    An entry changes only when the tree's `moves` do.
    """

    def __init__(self, tree: ContextTree, text: Callable[[int], str]) -> None:
        self._tree = tree
        self._text = text

    def __len__(self) -> int:
        return len(self._tree) + 1

    def __getitem__(self, entry):  # type: ignore[override]  # slices are not served: nobody takes them
        return self._text(entry - 1) if entry > 0 else ""


class NodeLines:
    """Root and depth of each node, extended as nodes appear and made anew when nodes move.

    Arrays have one entry more than there are nodes: the last, reached by index -1, is the main context's. Merged nodes
    have the values of what they became.
    """

    def __init__(self, tree: ContextTree) -> None:
        self._tree = tree
        self._moves = -1
        self._known = 0
        self._roots = np.full(1, MAIN, np.int32)
        self._depths = np.zeros(1, np.int32)

    @property
    def roots(self) -> NDArray[np.int32]:
        """(nodes + 1,) int32, the root each node lies under; MAIN for the main context."""
        self._follow()
        return self._roots

    @property
    def depths(self) -> NDArray[np.int32]:
        """(nodes + 1,) int32, 1 for roots; 0 for the main context."""
        self._follow()
        return self._depths

    def _follow(self) -> None:
        """Take in what the tree gained. O(new nodes log depth) beside a copy; all nodes are new when some moved."""
        tree = self._tree
        if tree.moves != self._moves:
            self._moves, self._known = tree.moves, 0
        if self._known == len(tree) == len(self._roots) - 1:
            return
        roots, depths = self._made(self._known, len(tree))
        self._roots = np.concatenate((self._roots[: self._known], roots, [np.int32(MAIN)]))
        self._depths = np.concatenate((self._depths[: self._known], depths, [np.int32(0)]))
        if self._known == 0 and tree.moves:
            living = living_nodes(tree)
            self._roots[:-1], self._depths[:-1] = self._roots[living], self._depths[living]
        self._known = len(tree)

    def _made(self, known: int, nodes: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        parents = as_numpy(self._tree.parent)[known:nodes].astype(np.int64)
        inside = parents >= known
        above = np.where(inside, parents - known, np.arange(len(parents)))
        steps = inside.astype(np.int32)
        while True:
            # Each turn looks twice as far up, so that a chain of 10,000 nodes takes 14 turns.
            further = above[above]
            if np.array_equal(further, above):
                break
            steps += steps[above]
            above = further
        over = parents[above]
        roots = np.where(over == MAIN, above + known, self._roots[over]).astype(np.int32)
        return roots, np.where(over == MAIN, 0, self._depths[over]).astype(np.int32) + steps + np.int32(1)


def living_nodes(tree: ContextTree) -> NDArray[np.int64]:
    """(nodes,) the node each number stands for after merges."""
    aliases = np.append(as_numpy(tree.aliases).astype(np.int64), MAIN)
    while True:
        further = aliases[aliases]
        if np.array_equal(further, aliases):
            return aliases[:-1]
        aliases = further


class NodeTypes:
    """The type of each node as a number of `names`; 0 is none. One entry more, as in `NodeLines`.

    Args:
        declared: by node, where there is one: the first message that declared a type, and the type.
        reasons: by node: it holds reasoning messages, or a reasoning start names it.
    """

    def __init__(
        self, tree: ContextTree, lines: NodeLines, declared: dict[int, tuple[int, str]], reasons: array[int]
    ) -> None:
        self.names: InternTable[str] = InternTable("")
        self._tree = tree
        self._lines = lines
        self._declared = declared
        self._reasons = reasons
        self._named_so = np.empty(0, np.bool_)
        self._generation = -1
        self._known = 0
        self._values = np.zeros(1, np.uint32)

    def __len__(self) -> int:
        """Nodes whose type was asked for."""
        return self._known

    def values(self, generation: int) -> NDArray[np.uint32]:
        """(nodes + 1,) uint32. O(new nodes) beside a copy; all are new when `generation` changes."""
        nodes = len(self._tree)
        if generation != self._generation:
            self._generation, self._known = generation, 0
        if self._known != nodes or len(self._values) != nodes + 1:
            made = self._made(self._known, nodes)
            self._values = np.concatenate((self._values[: self._known], made, [np.uint32(0)]))
            if self._known == 0 and self._tree.moves:
                self._values[:-1] = self._values[living_nodes(self._tree)]
            self._known = nodes
        return self._values

    def _made(self, known: int, nodes: int) -> NDArray[np.uint32]:
        names = self._tree.name[len(self._named_so) :]
        named_so = np.array([name.startswith(REASONING_START) for name in names], np.bool_)
        self._named_so = np.concatenate((self._named_so, named_so))
        reasoning = as_numpy(self._reasons)[known:nodes] != 0
        reasoning |= self._named_so[self._lines.roots[known:nodes]]
        made = np.where(reasoning, np.uint32(self.names.intern("reasoning")), np.uint32(0)).astype(np.uint32)
        nodes_declared = range(known, nodes) if nodes - known < len(self._declared) else self._declared
        for node in nodes_declared:
            if node in self._declared and node >= known:
                made[node - known] = self.names.intern(self._declared[node][1])
        return made
