"""Sums messages of each node and its descendants, without a walk up the tree for every message."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.changed_rows import ChangedRows
from inspector.analysis.passes.contexts.node_ancestry import subtree_totals
from inspector.analysis.passes.contexts.node_facts import MAIN

_SLOW_SUM_S = 0.005
# So sums take at most a fortieth of the time of the window's thread.
_PAUSE_FACTOR = 40


class SumThrottle:
    """Throttles new sums of a deep tree for views: waits 40 times as long as the last ones took.

    A tree of 200,000 nested contexts takes 25 ms for each update.
    """

    def __init__(self) -> None:
        self._due_s = self._began_s = 0.0

    @property
    def due(self) -> bool:
        """True if new sums may be computed now."""
        return time.perf_counter() >= self._due_s

    def __enter__(self) -> None:
        self._began_s = time.thread_time()

    def __exit__(self, *_error: object) -> None:
        took_s = time.thread_time() - self._began_s  # thread time: other load on the machine must not delay sums
        self._due_s = time.perf_counter() + _PAUSE_FACTOR * took_s if took_s > _SLOW_SUM_S else 0.0


class SubtreeSums:
    """Sums over branches of a tree with moving nodes.

    Additions are buffered at their nodes, and carried up along the present parents when sums are read. A caller that
    moves a branch adds and subtracts the carried part (`carried`); the buffered part follows by itself.

    Attributes:
        carried: the sums by node at the last read.
        is_behind: views got sums without the latest additions.

    Args:
        parent: the parent of each node, MAIN for a root; not changed here.
        own: each node's own number.
        aliases: the node each was merged into; itself if it lives.
    """

    def __init__(self, parent: array[int], own: array[int], aliases: Callable[[], array[int]]) -> None:
        self._parent = parent
        self._own = own
        self._aliases = aliases
        self._waiting = array("i")  # by node
        self._changed = ChangedRows()  # nodes with buffered additions, and some others
        self._has_buffered = self.is_behind = False
        self._throttle = SumThrottle()
        self.carried: array[int] = array("i")

    def add(self, node: int, number: int) -> None:
        """Adds to the sums of a node and its ancestors. O(1)."""
        if number and node != MAIN:
            self._make_room(node)
            self._waiting[node] += number
            self._changed.add(node)

    def add_to_nodes(self, nodes: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Adds to the sums of several nodes, without duplicates and without MAIN."""
        if len(nodes):
            self._make_room(int(nodes.max()))
            np.frombuffer(self._waiting, np.int32)[nodes] += numbers.astype(np.int32)
            self._changed.add_array(nodes)

    def _make_room(self, node: int) -> None:
        self._has_buffered = True
        length = len(self._waiting)
        if node >= length:
            self._waiting.frombytes(bytes(4 * (node + 1 + max(64, length // 8) - length)))

    def take_buffered(self, node: int) -> int:
        """Removes and returns the buffered addition of a vanishing node."""
        if node >= len(self._waiting):
            return 0
        waited, self._waiting[node] = self._waiting[node], 0
        return waited

    def read(self) -> Sequence[int]:
        """Returns the sums by node. O(nodes log depth) at worst after changes; O(1) otherwise."""
        if self._has_buffered:
            self._has_buffered = self.is_behind = False
            with self._throttle:
                self._carry_up()
        return self.carried

    def recent(self) -> Sequence[int]:
        """Returns the sums by node for views; slightly older ones for a tree that takes long to sum (`is_behind`)."""
        if self._throttle.due:
            return self.read()
        self.is_behind = self._has_buffered
        return self.carried

    def _carry_up(self) -> None:
        """Carries buffered additions up to the ancestors; recomputes all sums if that takes more steps than nodes."""
        nodes = self._changed.take_rows()
        waiting = np.frombuffer(self._waiting, np.int32)
        numbers = waiting[nodes].tolist()
        waiting[nodes] = 0
        left = len(self._parent)  # step budget: one step costs as much as one node in a full sum
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
        # Merged nodes are left out, since their messages were added to their target.
        sums = subtree_totals(np.where(lives, as_numpy(self._own), 0), as_numpy(self._parent))
        np.frombuffer(self.carried, np.int32)[lives] = sums[lives]
