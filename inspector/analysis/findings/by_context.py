"""Counts findings per context, descendants included, as findings come and go and contexts move.

The cost depends on the messages whose findings changed; after moves or merges also on the number of contexts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings.batch import Array
from inspector.analysis.findings.check import Severity
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import subtree_totals
from inspector.analysis.passes.contexts.subtree_sums import SumThrottle
from inspector.store.messages.capture import Capture

# Counting all on the next query would make that one slow after a long reading.
_MAX_QUEUED = 65_536
_MAX_LEVELS = 64  # up the tree, level by level; deeper trees are summed as a whole on request
_COUNT_COLUMNS = len(Severity) + 1
# An array up to eight times as long as the keys costs less than sorting them.
_DENSE_FACTOR = 8

Counts = NDArray[np.integer[Any]]
"""(n, 4): notes, warnings, errors, and messages with a warning or an error."""


class Tally(NamedTuple):
    """Findings by severity, and the count of messages with a problem.

    Attributes:
        notes, warnings, errors: findings.
        problems: messages with at least one warning or error. Stepping, filters and counters use this number.
    """

    notes: int = 0
    warnings: int = 0
    errors: int = 0
    problems: int = 0

    @property
    def worst(self) -> Severity | None:
        """The highest severity present, or None."""
        if self.errors:
            return Severity.ERROR
        return Severity.WARNING if self.warnings else Severity.NOTE if self.notes else None


NO_FINDINGS = Tally()


class FindingsByContext:
    """Counts of findings by context and by space.

    Each message is counted with its last known findings, so that only the difference moves up the tree.
    """

    def __init__(self, capture: Capture, contexts: ContextPass, found: Findings) -> None:
        self._capture = capture
        self._contexts = contexts
        self._found = found
        self._waiting: list[Rows] = []
        self._queue_length = 0
        self._counted = np.zeros(1024, np.uint16)  # by message: the set of findings already counted
        self._set_counts: Counts = np.zeros((1, _COUNT_COLUMNS), np.int64)  # by set
        self._by_ref: Counts = np.zeros(
            (64, _COUNT_COLUMNS), np.int32
        )  # a message's reference never changes, its node may
        self._space_of_ref = np.zeros(64, np.int64)
        self._subtree_counts: Counts = np.zeros((64, _COUNT_COLUMNS), np.int32)  # by node, descendants included
        self._needs_full_sum = False  # a full sum is needed
        self._deep_sums = SumThrottle()
        self._main: dict[int, Counts] = {}  # by space: messages without a context
        self._moved_to_main: dict[int, Counts] = {}  # by space: messages whose context turned out to be main
        self._by_space: dict[int, Counts] = {}
        self._moves = 0

    # Updates

    def note(self, rows: Rows) -> None:
        """Queues messages whose findings changed. Usually O(1), as they are counted on the next query."""
        if len(rows):
            self._waiting.append(rows)
            self._queue_length += len(rows)
            if self._queue_length > _MAX_QUEUED:
                self._apply_queued()

    def _apply_queued(self) -> None:
        if self._waiting:
            rows = sorted_unique(*self._waiting)
            self._waiting, self._queue_length = [], 0
            self._count(rows)
        if self._moves != self._contexts.tree.moves:
            self._recount()

    def _count(self, rows: Rows) -> None:
        sets = self._found.columns["set"]
        if len(self._found.sets) > np.iinfo(self._counted.dtype).max:
            self._counted = self._counted.astype(np.uint32)
        self._counted = _grown(self._counted, len(sets))
        # Only the difference to the last count is added, so a message may be queued twice.
        after, before = sets[rows], self._counted[rows]
        self._counted[rows] = after
        worth = self._counts_by_set()
        gained = worth[after] - worth[before]
        changed = np.flatnonzero(gained.any(axis=1))
        rows, gained = rows[changed], gained[changed]
        if not len(rows):
            return
        refs, spaces = self._contexts.refs_of(rows), self._capture.columns["space"][rows]
        most = int(refs.max()) + 1
        self._by_ref, self._space_of_ref = _grown(self._by_ref, most), _grown(self._space_of_ref, most)
        np.add.at(self._by_ref, refs, gained)
        self._space_of_ref[refs] = spaces
        _add_by_key(self._by_space, spaces, gained)
        _add_by_key(self._main, spaces[refs == 0], gained[refs == 0])
        nodes = self._contexts.nodes_of(rows)
        if self._moves != self._contexts.tree.moves:
            return  # a full sum follows
        astray = (nodes == MAIN) & (refs != 0)
        _add_by_key(self._moved_to_main, spaces[astray], gained[astray])
        self._add_to_ancestors(nodes, gained)

    def _counts_by_set(self) -> Counts:
        """By set: counts of notes, warnings, errors, and 1 if its message has a problem."""
        sets, known = self._found.sets, len(self._set_counts)
        if len(sets) > known:
            new = np.zeros((len(sets) - known, _COUNT_COLUMNS), np.int64)
            for place in range(len(new)):
                for check in self._found.checks_in(known + place):
                    new[place, check.severity - 1] += 1
            new[:, -1] = new[:, Severity.WARNING - 1 : -1].any(axis=1)
            self._set_counts = np.concatenate((self._set_counts, new))
        return self._set_counts

    def _add_to_ancestors(self, nodes: Array, gained: Counts) -> None:
        """Adds to nodes and all their ancestors, one level per step."""
        tree = self._contexts.tree
        self._subtree_counts = _grown(self._subtree_counts, len(tree))
        if self._needs_full_sum:
            return
        parents, left = as_numpy(tree.parent), len(tree)
        for _ in range(_MAX_LEVELS):
            inside = nodes != MAIN
            if not inside.any():
                return
            # Bounds the work: on a degenerate tree a full sum is cheaper than walking each path.
            left -= len(nodes)
            if left < 0:
                break
            nodes, gained = _summed_by_key(nodes[inside], gained[inside], len(tree))
            self._subtree_counts[nodes] += gained
            nodes = parents[nodes]
        self._needs_full_sum = True

    def _own_counts(self) -> Counts:
        """By node: findings of its own messages."""
        own = np.zeros((len(self._contexts.tree), _COUNT_COLUMNS), np.int64)
        refs = np.flatnonzero(self._by_ref.any(axis=1))
        nodes = self._contexts.nodes_of_refs(refs)
        np.add.at(own, nodes[nodes != MAIN], self._by_ref[refs[nodes != MAIN]])
        return own

    def _recount(self) -> None:
        """Recounts after contexts moved or merged."""
        self._moves = self._contexts.tree.moves
        refs = np.flatnonzero(self._by_ref.any(axis=1))
        refs = refs[refs != 0]
        nodes = self._contexts.nodes_of_refs(refs)
        astray = refs[nodes == MAIN]
        self._moved_to_main = {}
        _add_by_key(self._moved_to_main, self._space_of_ref[astray], self._by_ref[astray])
        before, self._subtree_counts, self._needs_full_sum = (
            self._subtree_counts,
            np.zeros_like(self._subtree_counts),
            False,
        )
        self._add_to_ancestors(nodes, self._by_ref[refs])
        if self._needs_full_sum:
            self._subtree_counts = _grown(before, len(self._subtree_counts))

    def _sum_deep_tree(self) -> None:
        """Sums a tree that is too deep for single levels. O(contexts log depth)."""
        with self._deep_sums:
            parents = as_numpy(self._contexts.tree.parent)
            # counts stay below 2^31, so two fit into one int64
            # Two columns at once halve the number of passes over a deep tree.
            two_by_two = self._own_counts().astype(np.int32).view(np.int64)
            sums = [subtree_totals(pair, parents) if pair.any() else pair for pair in two_by_two.T]
            self._subtree_counts = np.stack(sums, axis=1).view(np.int32)
        self._needs_full_sum = False

    # Queries

    def subtree_tally(self, node: int) -> Tally:
        """Returns findings in a context and its descendants; `node` is living and not MAIN."""
        self._apply_queued()
        if self._needs_full_sum:
            self._sum_deep_tree()
        return Tally(*self._subtree_counts[node].tolist()) if node < len(self._subtree_counts) else NO_FINDINGS

    def recent(self, node: int) -> Tally:
        """Returns the same for views. For a very deep tree it may be a moment old; `is_behind` is True then."""
        if self._deep_sums.due:
            return self.subtree_tally(node)
        return Tally(*self._subtree_counts[node].tolist()) if node < len(self._subtree_counts) else NO_FINDINGS

    @property
    def is_behind(self) -> bool:
        """True if findings came since a deep tree was last summed."""
        return self._needs_full_sum

    def in_main(self, space: int) -> Tally:
        """Returns findings in the main context of a space (string id)."""
        self._apply_queued()
        return _tally_of_counts(self._main.get(space), self._moved_to_main.get(space))

    def in_space(self, space: int) -> Tally:
        """Returns findings in a space (string id)."""
        self._apply_queued()
        return _tally_of_counts(self._by_space.get(space))


def _grown(values: Array, length: int) -> Array:
    """Returns the array with at least `length` rows, new ones 0."""
    if length <= len(values):
        return values
    grown = np.zeros((max(length, 2 * len(values)), *values.shape[1:]), values.dtype)
    grown[: len(values)] = values
    return grown


def _add_by_key(held: dict[int, Counts], keys: Array, gained: Counts) -> None:
    found, sums = _summed_by_key(keys, gained)
    for place, key in enumerate(found.tolist()):
        held[key] = held[key] + sums[place] if key in held else sums[place]


def _summed_by_key(keys: Array, gained: Counts, size: int = 0) -> tuple[Array, Counts]:
    """Returns each key once, with the sum of its gains. `size` is above all keys; 0 if unknown."""
    if len(keys) * _DENSE_FACTOR > size > 0:  # no sorting
        counts = [np.bincount(keys, gained[:, kind], size) for kind in range(_COUNT_COLUMNS)]
        found = np.flatnonzero(np.bincount(keys, minlength=size))
        return found, np.stack([sums[found] for sums in counts], axis=1).astype(np.int64)
    found, places = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(found), _COUNT_COLUMNS), np.int64)
    np.add.at(sums, places, gained)
    return found, sums


def _tally_of_counts(*parts: Counts | None) -> Tally:
    there = [part for part in parts if part is not None]
    return Tally(*np.sum(there, axis=0).tolist()) if there else NO_FINDINGS
