"""Messages of each node and all below it, kept without walking up the tree for every message."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.changes import ChangedRows
from inspector.analysis.passes.contexts.node_ancestry import gathered
from inspector.analysis.passes.contexts.node_facts import MAIN

_DEAR_S = 0.005
_REST = 40


class DearSums:
    """When sums over a deep tree are made anew for views: as many times as long after the last ones as these took.

    A tree of 200,000 contexts within one another takes 25 ms, each time anything came.
    """

    def __init__(self) -> None:
        self._due_s = self._began_s = 0.0

    @property
    def due(self) -> bool:
        """Whether they may be made now."""
        return time.perf_counter() >= self._due_s

    def __enter__(self) -> None:
        self._began_s = time.thread_time()

    def __exit__(self, *_error: object) -> None:
        took_s = time.thread_time() - self._began_s  # what else runs on the machine makes no tree deeper
        self._due_s = time.perf_counter() + _REST * took_s if took_s > _DEAR_S else 0.0


class SubtreeSums:
    """Sums over branches of a tree whose nodes move.

    What is added waits at its node until sums are read, and is then carried up along the parents of that time. Whoever
    moves a branch adds and takes what was carried so far (`carried`); what still waits inside the branch finds its
    way by itself.

    Attributes:
        carried: the sums by node as they were read last.
        is_behind: views were given sums that lack what was added since.

    Args:
        parent: the node above each node, MAIN for a root; read, never written.
        own: each node's own number.
        aliases: the node each was merged into; itself where it lives.
    """

    def __init__(self, parent: array[int], own: array[int], aliases: Callable[[], array[int]]) -> None:
        self._parent = parent
        self._own = own
        self._aliases = aliases
        self._waiting = array("i")  # by node
        self._changed = ChangedRows()  # nodes at which something waits, and others
        self._any = self.is_behind = False
        self._dear = DearSums()
        self.carried: array[int] = array("i")

    def add(self, node: int, number: int) -> None:
        """Add to a node's sum and to those above it. O(1)."""
        if number and node != MAIN:
            self._reach(node)
            self._waiting[node] += number
            self._changed.add(node)

    def add_all(self, nodes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Add to the sums of several nodes, each given once, none of them MAIN."""
        if len(nodes):
            self._reach(int(nodes.max()))
            np.frombuffer(self._waiting, np.int32)[nodes] += numbers.astype(np.int32)
            self._changed.update_all(nodes)

    def _reach(self, node: int) -> None:
        self._any = True
        length = len(self._waiting)
        if node >= length:
            self._waiting.frombytes(bytes(4 * (node + 1 + max(64, length // 8) - length)))

    def forget(self, node: int) -> int:
        """What waits at a node that goes away; it waits no longer."""
        if node >= len(self._waiting):
            return 0
        waited, self._waiting[node] = self._waiting[node], 0
        return waited

    def read(self) -> Sequence[int]:
        """The sums by node. O(nodes log depth) at worst after changes; O(1) without any."""
        if self._any:
            self._any = self.is_behind = False
            with self._dear:
                self._carry_up()
        return self.carried

    def recent(self) -> Sequence[int]:
        """The sums by node, for views: of a tree that takes long to sum up those of a moment ago (`is_behind`)."""
        if self._dear.due:
            return self.read()
        self.is_behind = self._any
        return self.carried

    def _carry_up(self) -> None:
        """Add what waits to the nodes above; to all at once where these are too many to be gone through."""
        nodes = self._changed.take()
        waiting = np.frombuffer(self._waiting, np.int32)
        numbers = waiting[nodes].tolist()
        waiting[nodes] = 0
        left = len(self._parent)  # steps, of which one costs what a node does when all are summed up
        for node, number in zip(nodes.tolist(), numbers, strict=True):
            while node != MAIN and number:
                self.carried[node] += number
                node = self._parent[node]
                left -= 1
            if left < 0:
                self._sum_up()
                break

    def _sum_up(self) -> None:
        aliases = as_numpy(self._aliases())
        lives = aliases == np.arange(len(aliases))
        sums = gathered(np.where(lives, as_numpy(self._own), 0), as_numpy(self._parent))
        np.frombuffer(self.carried, np.int32)[lives] = sums[lives]
