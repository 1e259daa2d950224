"""By context, the messages that concluded and cancelled its reasoning, for those below it as well."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.findings.batch import Array
from inspector.analysis.node_facts import as_numpy
from inspector.analysis.node_lines import living_nodes

NEVER = np.iinfo(np.uint32).max
"""The row of an end that has not come."""
_FIRST_ROOM = 64
_SPARE = 8  # so much room for a node that may come; as it is filled, all of it is in memory


class Ends:
    """The first conclusion and the first cancel of each context (its node), since it began or began again.

    What ends a context is handed down to those below it that had not ended before: as rows ascend, each context is
    handed an end of each sort once, however many batches come.
    """

    def __init__(self) -> None:
        self._concluded = _EndTable()
        self._cancelled = _EndTable()
        self._known = 0  # nodes
        self._first = NEVER

    @property
    def any(self) -> bool:
        """Whether any context has ended."""
        return self._first != NEVER

    def reach(self, tree: ContextTree) -> None:
        """Take in the nodes that have come. O(new nodes log depth)."""
        if len(tree) > self._known:
            for table in (self._concluded, self._cancelled):
                table.reach(tree, self._known)
            self._known = len(tree)

    def of(self, node: int) -> int:
        """The row of the first end of a node; NEVER."""
        return min(int(self._concluded.own[node]), int(self._cancelled.own[node]))

    def has(self, node: int) -> bool:
        """Whether a node has ended."""
        return self.of(node) != NEVER

    def is_cancelled(self, node: int) -> bool:
        """Whether a node was cancelled."""
        return int(self._cancelled.own[node]) != NEVER

    def note(self, tree: ContextTree, node: int, row: int, *, cancelled: bool) -> None:
        """A message ends a node; the first of each sort counts. Rows ascend."""
        table = self._cancelled if cancelled else self._concluded
        if table.own[node] == NEVER:
            table.own[node] = row
            self._first = min(self._first, row)
            table.hand_down(tree, node)

    def begin_again(self, tree: ContextTree, node: int) -> None:
        """A node goes on after its end."""
        for table in (self._concluded, self._cancelled):
            if table.own[node] != NEVER:
                table.own[node] = NEVER
                table.hand_down(tree, node)

    def forget(self) -> int:
        """Forget every end; returns the row of the first there ever was."""
        for table in (self._concluded, self._cancelled):
            table.own[:] = table.least[:] = NEVER
        return self._first

    # Below a context that ended

    def above(self, nodes: Array) -> tuple[Array, Array]:
        """(nodes,) the first conclusion and the first cancel of each node and those above it; MAIN has none."""
        return self._concluded.least[nodes], self._cancelled.least[nodes]

    def follow(self, tree: ContextTree) -> bool:
        """Go with a tree whose nodes have moved; returns whether any message may lie elsewhere as ends go."""
        known = self._known
        seen = np.minimum(*self.above(np.arange(known)))
        living = living_nodes(tree)
        for table in (self._concluded, self._cancelled):
            table.follow(tree, living, known)
        self._known = len(tree)
        return bool((np.minimum(*self.above(living[:known])) != seen).any())


class _EndTable:
    """Ends of one sort by node; the last place stands for the main context, which never ends.

    Attributes:
        own: the row that ended each node; NEVER.
        least: the same of it and those above it.
    """

    def __init__(self) -> None:
        self.own: Array = np.full(_FIRST_ROOM, NEVER, np.uint32)
        self.least: Array = self.own.copy()

    def reach(self, tree: ContextTree, known: int) -> None:
        """Take in the nodes from `known` on, which have not ended themselves but may lie below one that has."""
        self._make_room(len(tree))
        parents = as_numpy(tree.parent)[known:].astype(np.int64)
        while (new := parents >= known).any():  # each turn looks twice as far up
            parents[new] = parents[parents[new] - known]
        self.least[known : len(tree)] = self.least[parents]

    def _make_room(self, nodes: int) -> None:
        if nodes < len(self.own):
            return
        length = len(self.own)
        room = np.full(max(nodes + 1, length + length // _SPARE) - length, NEVER, np.uint32)
        self.own, self.least = np.concatenate((self.own, room)), np.concatenate((self.least, room))

    def hand_down(self, tree: ContextTree, node: int) -> None:
        """Bring `least` of a node and of those below it up to date; what is not changed by it is not gone into."""
        waiting: list[Iterable[int]] = [(node,)]
        while waiting:
            for one in waiting.pop():
                above = tree.parent[one]
                least = min(int(self.own[one]), int(self.least[above]) if above != MAIN else NEVER)
                if least != self.least[one]:
                    self.least[one] = least
                    waiting.append(tree.children.each(one))

    def follow(self, tree: ContextTree, living: Array, known: int) -> None:
        """Make everything anew: `living` is what each node has become. O(nodes log depth)."""
        own = self.own[:known]
        self.own = np.full(max(len(tree) + 1, len(self.own)), NEVER, np.uint32)
        np.minimum.at(self.own, living[:known], own)
        self.own[-1] = NEVER  # of those that are gone
        self.least = self.own.copy()
        above = as_numpy(tree.parent).astype(np.int64)
        nodes = np.arange(len(tree))
        while len(nodes):
            nodes = nodes[above[nodes] != MAIN]
            self.least[nodes] = np.minimum(self.least[nodes], self.least[above[nodes]])
            above[nodes] = above[above[nodes]]
