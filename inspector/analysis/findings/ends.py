"""By context, the messages that concluded and cancelled its reasoning, for those below it as well."""

from __future__ import annotations

import numpy as np

from inspector.analysis.context_tree import ContextTree
from inspector.analysis.findings.batch import Array
from inspector.analysis.node_facts import as_numpy
from inspector.analysis.node_lines import living_nodes

NEVER = np.iinfo(np.int64).max
"""The row of an end that has not come."""


class Ends:
    """The first conclusion and the first cancel of each context (its node), since it began or began again."""

    def __init__(self) -> None:
        self._concluded = np.full(1, NEVER, np.int64)  # the last place stands for the main context, which never ends
        self._cancelled = np.full(1, NEVER, np.int64)
        self._seen = np.full(1, NEVER, np.int64)  # how it was above each node when it was last looked at
        self._first = NEVER
        self._above: tuple[Array, Array] | None = None
        self._above_of = -1

    @property
    def any(self) -> bool:
        """Whether any context has ended."""
        return self._first != NEVER

    def reach(self, tree: ContextTree) -> None:
        """Make room for the nodes that have come."""
        more = len(tree) + 1 - len(self._concluded)
        if more > 0:
            room = np.full(more, NEVER, np.int64)
            self._concluded = np.concatenate((self._concluded, room))
            self._cancelled = np.concatenate((self._cancelled, room))

    def of(self, node: int) -> int:
        """The row of the first end of a node; NEVER."""
        return min(int(self._concluded[node]), int(self._cancelled[node]))

    def has(self, node: int) -> bool:
        """Whether a node has ended."""
        return self.of(node) != NEVER

    def is_cancelled(self, node: int) -> bool:
        """Whether a node was cancelled."""
        return int(self._cancelled[node]) != NEVER

    def note(self, node: int, row: int, *, cancelled: bool) -> None:
        """A message ends a node; the first of each sort counts. Rows ascend."""
        table = self._cancelled if cancelled else self._concluded
        if table[node] == NEVER:
            table[node] = row
            self._first = min(self._first, row)
            self._above = None

    def begin_again(self, node: int) -> None:
        """A node goes on after its end."""
        self._concluded[node] = self._cancelled[node] = NEVER
        self._above = None

    def forget(self) -> int:
        """Forget every end; returns the row of the first there ever was."""
        self._concluded[:], self._cancelled[:] = NEVER, NEVER
        self._above = None
        return self._first

    # Below a context that ended

    def above(self, tree: ContextTree) -> tuple[Array, Array]:
        """(nodes + 1,) of each node the first conclusion and the first cancel of it and of those above it.

        O(nodes) in numpy, and as many turns as the logarithm of the depth.
        """
        if self._above is None or self._above_of != tree.version:
            self.reach(tree)
            parent = np.append(as_numpy(tree.parent).astype(np.int64), -1)
            self._above = _spread(self._concluded, parent), _spread(self._cancelled, parent)
            self._above_of = tree.version
        return self._above

    def remember(self, tree: ContextTree) -> None:
        """Keep how things are, for `follow`."""
        self._seen = np.minimum(*self.above(tree)) if self.any else np.full(len(tree) + 1, NEVER, np.int64)

    def follow(self, tree: ContextTree) -> bool:
        """Go with a tree whose nodes have moved; returns whether any message may lie elsewhere as ends go."""
        known = len(self._concluded) - 1
        self.reach(tree)
        living = np.append(living_nodes(tree), -1)
        for name in ("_concluded", "_cancelled"):
            table = np.full(len(living), NEVER, np.int64)
            np.minimum.at(table, living, getattr(self, name))
            table[-1] = NEVER
            setattr(self, name, table)
        self._above = None
        seen = self._seen[:known]
        return bool((np.minimum(*self.above(tree))[living[: len(seen)]] != seen).any())


def _spread(table: Array, parent: Array) -> Array:
    """The least value of each node and those above it."""
    least, above = table.copy(), parent
    while (above != -1).any():
        least = np.minimum(least, least[above])
        above = above[above]
    return least
