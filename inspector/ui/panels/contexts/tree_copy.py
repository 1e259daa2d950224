"""Copy of the context tree's structure in the window, which follows the engine. No Qt."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from inspector.base.siblings import Siblings
from inspector.engine.requests.context_tree import MAIN, TreeChanges


@dataclass(frozen=True, slots=True)
class Growth:
    """Changed node numbers, ascending; a node that moved and then merged is in both lists."""

    appeared: list[int]
    moved: list[int]
    gone: list[int]
    """Merged into another node, or dropped."""


class TreeCopy:
    """Nodes by number, in the order first seen; a merged node's number stays as an alias.

    Attributes:
        events: number of changes of nodes applied so far.
        parent: parent node, MAIN for a root.
        space: string id of its space.
        children, roots: children by node, and roots by space, in their order.
        spaces: string ids of the spaces in the order first seen; never reordered.
        homes: the source that each space began in.
        sources: number of sources; 0 for a document of one source.
        alive: number of nodes except merged and dropped ones.
    """

    def __init__(self) -> None:
        self.events = 0
        self.parent, self.space = array("i"), array("i")
        self._alias = array("i")
        self.children = Siblings()
        self.roots = Siblings(self.children)
        self.spaces: list[int] = []
        self.homes: list[int] = []
        self.sources = 0
        self.alive = 0

    def __len__(self) -> int:
        return len(self.parent)

    def resolve(self, node: int) -> int:
        """Returns the present node of a number after merges."""
        while 0 <= node < len(self._alias) and self._alias[node] != node:
            node = self._alias[node]
        return node

    def apply(self, changes: TreeChanges) -> Growth:
        """Applies changes in O(changes)."""
        self.events, self.sources = changes.events, changes.sources
        self.spaces += changes.new_spaces
        self.homes += changes.homes
        nodes, known = changes.nodes, len(self)
        lives = changes.aliases == nodes
        moved: list[int] = []
        gone: list[int] = []
        earlier = np.flatnonzero(nodes < known)
        for place in earlier[np.argsort(nodes[earlier])].tolist():
            node = int(nodes[place])
            if self._alias[node] == node:
                self._detach(node)
                if not lives[place]:
                    gone.append(node)
            if self.parent[node] != changes.parents[place]:
                moved.append(node)
        self._store(changes)
        living, parents, is_root = nodes[lives], changes.parents[lives], changes.parents[lives] == MAIN
        self.roots.add_all(changes.spaces[lives][is_root], living[is_root])
        self.children.add_all(parents[~is_root], living[~is_root])
        appeared = np.sort(living[living >= known]).tolist()
        self.alive += len(appeared) - len(gone)
        return Growth(appeared, moved, gone)

    def _detach(self, node: int) -> None:
        above = self.parent[node]
        if above == MAIN:
            self.roots.remove(self.space[node], node)
        else:
            self.children.remove(above, node)

    def _store(self, changes: TreeChanges) -> None:
        nodes = changes.nodes
        if not len(nodes):
            return
        added = int(nodes.max()) + 1 - len(self)
        columns = (self.parent, changes.parents), (self.space, changes.spaces), (self._alias, changes.aliases)
        for column, values in columns:
            if added > 0:
                column.frombytes(bytes(4 * added))
            np.frombuffer(column, np.int32)[nodes] = values
