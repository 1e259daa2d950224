"""Messages of each node and all below it, kept without walking up the tree for every message."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, MutableSequence, Sequence

MAIN = -1


class SubtreeSums:
    """Sums over branches of a tree whose nodes move.

    What is added waits at its node until sums are read, and is then carried up along the parents of that time. Whoever
    moves a branch adds and takes what was carried so far (`carried`); what still waits inside the branch finds its
    way by itself.

    Args:
        parent: the node above each node, MAIN for a root; read, never written.
        own: each node's own number.
        order: living nodes, parents before children.
    """

    def __init__(self, parent: Sequence[int], own: Sequence[int], order: Callable[[], list[int]]) -> None:
        self._parent = parent
        self._own = own
        self._order = order
        self._waiting: dict[int, int] = {}
        self.carried: MutableSequence[int] = array("q")

    def add(self, node: int, number: int) -> None:
        """Add to a node's sum and to those above it. O(1)."""
        if number and node != MAIN:
            self._waiting[node] = self._waiting.get(node, 0) + number

    def add_all(self, nodes: Iterable[int], numbers: Iterable[int]) -> None:
        """Add to the sums of several nodes, none of them MAIN."""
        waiting = self._waiting
        for node, number in zip(nodes, numbers, strict=True):
            waiting[node] = waiting.get(node, 0) + number

    def forget(self, node: int) -> int:
        """What waits at a node that goes away; it waits no longer."""
        return self._waiting.pop(node, 0)

    def read(self) -> Sequence[int]:
        """The sums by node. O(nodes) at worst after changes, whatever the tree's shape; O(1) without any."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            left = 4 * len(self._parent)
            for node, number in waiting.items():
                while node != MAIN:
                    self.carried[node] += number
                    node = self._parent[node]
                    left -= 1
                if left < 0:
                    self._sum_up()
                    break
        return self.carried

    def _sum_up(self) -> None:
        order = self._order()
        for node in order:
            self.carried[node] = self._own[node]
        for node in reversed(order):
            if self._parent[node] != MAIN:
                self.carried[self._parent[node]] += self.carried[node]
