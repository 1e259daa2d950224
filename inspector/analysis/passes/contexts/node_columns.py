"""Columns of context nodes as growing tables: names, ids, roots, paths, types, and how paths relate."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.node_ancestry import NodeAncestry, living_nodes
from inspector.analysis.passes.contexts.path_search import PathSearch, joined_names
from inspector.protocol.context_paths import DisplayedPath, display_segment, quote_segment
from inspector.store.columns.intern_table import InternTable

REASONING_START = "reason"
"""A context counts as reasoning if its root's name begins so."""


class NodeTable(Sequence[str]):
    """Texts of nodes by node + 1, computed on demand; entry 0 is the main context.

    An entry changes only when the tree's `moves` do.
    """

    def __init__(self, tree: ContextTree, text: Callable[[int], str]) -> None:
        self._tree = tree
        self._text = text

    def __len__(self) -> int:
        return len(self._tree) + 1

    def __getitem__(self, entry):  # type: ignore[override] - no caller takes slices
        return self._text(entry - 1) if entry > 0 else ""

    def texts(self) -> list[str]:
        return [*self]


class LeafTable(NodeTable):
    """The last segments of nodes' paths."""

    def __init__(self, tree: ContextTree) -> None:
        super().__init__(tree, lambda node: quote_segment(tree.segments(node, 1)[-1]))

    def texts(self) -> list[str]:
        """Returns all entries, computed together."""
        found = joined_names(self._tree.name, quote_segment).decode("utf-8", "surrogatepass").split("/")[:-1]
        for node in self._tree.cut:
            found[node + 1] = self[node + 1]
        return found


class IdTable(NodeTable):
    """The ids of nodes as messages write them; for a path its last segment."""

    def __init__(self, tree: ContextTree) -> None:
        super().__init__(tree, lambda node: tree.segments(node, 1)[-1])

    def texts(self) -> list[str]:
        return [self[entry] for entry in range(len(self))]


class RootTable(NodeTable):
    """The first segments of nodes' paths.

    Args:
        root_of: returns the root of a node.
    """

    def __init__(self, tree: ContextTree, root_of: Callable[[int], int]) -> None:
        super().__init__(tree, lambda node: display_segment(tree.name[root_of(node)]))

    def texts(self) -> list[str]:
        """Returns all entries, computed together."""
        names = joined_names(self._tree.name, display_segment).decode("utf-8", "surrogatepass").split("/")[1:-1]
        return ["", *(names[root] for root in self._tree.lines.roots[:-1].tolist())]


class PathTable(NodeTable):
    """Displayed paths of nodes, and their relation to a path in a filter."""

    def __init__(self, tree: ContextTree) -> None:
        super().__init__(tree, tree.path)

    def places(self, path: str) -> PathRelation:
        """Returns the relation of nodes to this path."""
        return PathRelation(self._tree, path)

    def search(self) -> PathSearch:
        """Returns a text search over the present paths."""
        return PathSearch(self._tree)

    @property
    def are_distinct(self) -> bool:
        """True if all contexts have different paths, since they are of one space."""
        spaces = as_numpy(self._tree.space)
        return bool((spaces == spaces[:1]).all())


_UNKNOWN_LEVEL, _NO_LEVEL = -2, -1


class PathRelation:
    """The relation of each node to a displayed path: at it, above it, below it, or elsewhere.

    A path may begin with an id that objects or starts gave a context at any level: `lint` is `review/lint` too. Each
    relation follows from the parent's and is cached until nodes move: O(1) a node, at any depth.
    """

    def __init__(self, tree: ContextTree, path: str) -> None:
        self._tree = tree
        self._path = DisplayedPath(path)
        self._moves = -1
        self._text = path
        self._id_ancestors: tuple[tuple[int, int], set[int]] = ((-1, -1), set())  # ancestors of nodes known by id
        self._levels = array("i")  # number of levels that a node shares with the path; more if it lies below

    def is_equal(self, node: int) -> bool:
        """Tells if a node has this path."""
        return self._shared_levels(node) == self._path.depth

    def is_descendant(self, node: int) -> bool:
        """Tells if a node is a descendant of the path."""
        return self._shared_levels(node) > self._path.depth

    def above(self, node: int) -> bool:
        """Tells if a node is an ancestor of the path."""
        return 0 < self._shared_levels(node) < self._path.depth or node in self._ancestors_by_id()

    def child(self, node: int) -> bool:
        """Tells if a node is a direct child of the path."""
        return self._shared_levels(node) == self._path.depth + 1

    def _shared_levels(self, node: int) -> int:
        tree, levels = self._tree, self._levels
        # A move changes the levels of whole subtrees, so all are computed anew on demand.
        if tree.moves != self._moves:
            self._moves = tree.moves
            del levels[:]
        if len(levels) < len(tree):
            levels.extend(array("i", [_UNKNOWN_LEVEL]) * (len(tree) - len(levels)))
        way: list[int] = []
        while node != MAIN and levels[node] == _UNKNOWN_LEVEL:
            way.append(node)
            node = tree.parent[node]
        level = 0 if node == MAIN else levels[node]
        for node in reversed(way):
            if level != _NO_LEVEL:
                for name in tree.segments(node):
                    fits = level != _NO_LEVEL and (level >= self._path.depth or self._path.may_have_id_at(level, name))
                    level = level + 1 if fits else _NO_LEVEL
            # A node with an id of its own may begin the path anew, at any depth.
            if level == _NO_LEVEL and tree.is_named(node) and self._path.may_have_id_at(0, tree.name[node]):
                level = 1
            levels[node] = level
        return level

    def _ancestors_by_id(self) -> set[int]:
        tree, generation = self._tree, (self._tree.version, len(self._tree))
        if self._id_ancestors[0] != generation:
            found: set[int] = set()
            for space in set(tree.space):
                above = tree.find(space, self._text)
                while above != MAIN and (above := tree.parent[above]) != MAIN and above not in found:
                    found.add(above)
            self._id_ancestors = (generation, found)
        return self._id_ancestors[1]


class NodeTypes:
    """The type of each node as a number of `names`; 0 is none. One entry more, as in `NodeAncestry`.

    Args:
        declared: by node with a declared type: the first message that declared it, and the type.
        reasons: by node: true if it has reasoning messages, or a reasoning start names it.
    """

    def __init__(
        self, tree: ContextTree, lines: NodeAncestry, declared: dict[int, tuple[int, str]], reasons: array[int]
    ) -> None:
        self.names: InternTable[str] = InternTable("")
        self._tree = tree
        self._lines = lines
        self._declared = declared
        self._reasons = reasons
        self._have_reasoning_name = np.empty(0, np.bool_)
        self._generation = -1
        self._known_nodes = 0
        self._values = np.zeros(1, np.uint32)

    def __len__(self) -> int:
        """Number of nodes with a computed type."""
        return self._known_nodes

    def values(self, generation: int) -> NDArray[np.uint32]:
        """Returns (nodes + 1,) uint32. O(new nodes) beside a copy; all are new when `generation` changes."""
        nodes = len(self._tree)
        if generation != self._generation:
            self._generation, self._known_nodes = generation, 0
        if self._known_nodes != nodes or len(self._values) != nodes + 1:
            made = self._compute(self._known_nodes, nodes)
            self._values = np.concatenate((self._values[: self._known_nodes], made, [np.uint32(0)]))
            if self._known_nodes == 0 and self._tree.moves:
                # Numbers of merged nodes get the type of the node that they mean now.
                self._values[:-1] = self._values[living_nodes(self._tree)]
            self._known_nodes = nodes
        return self._values

    def _compute(self, known: int, nodes: int) -> NDArray[np.uint32]:
        named_so = self._tree.name.with_prefix(REASONING_START, len(self._have_reasoning_name))
        self._have_reasoning_name = np.concatenate((self._have_reasoning_name, named_so))
        reasoning = as_numpy(self._reasons)[known:nodes] != 0
        reasoning |= self._have_reasoning_name[self._lines.roots[known:nodes]]
        made = np.where(reasoning, np.uint32(self.names.intern("reasoning")), np.uint32(0)).astype(np.uint32)
        nodes_declared = range(known, nodes) if nodes - known < len(self._declared) else self._declared
        for node in nodes_declared:
            if node in self._declared and node >= known:
                made[node - known] = self.names.intern(self._declared[node][1])
        return made
