"""Finds cancelled ancestors of contexts, for messages that continue below a cancelled context."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.findings.batch import Array
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.reasoning_sequences import CANCELLED


class CancelledAncestors:
    """Nearest cancelled ancestor of each context. Costs nothing until a context is cancelled."""

    def __init__(self) -> None:
        self._cancelled: set[int] = set()
        self._nearest = np.zeros(0, np.int64)
        self._nearest_by_ref = np.zeros(0, np.int64)
        self._read_at = -1, 0
        self._moves = 0

    def add_cancelled(self, contexts: ContextPass, nodes: Iterable[int], rewritten: Iterable[int]) -> Array:
        """Takes in newly cancelled contexts. O(contexts) if contexts have appeared or moved.

        Args:
            contexts: the pass.
            nodes: nodes that a cancel of this batch ends.
            rewritten: nodes with a changed history.

        Returns:
            Numbers of contexts as written (`ContextPass.refs`); their earlier messages must be judged again.
        """
        changed = self._changed(contexts, rewritten) if self._cancelled else np.zeros(0, np.int64)
        self._cancelled |= set(nodes)
        self._moves = contexts.tree.moves
        if self._cancelled:
            self._read(contexts)
            self._nearest_by_ref = self._nearest_of_refs(contexts)
        return changed

    def _changed(self, contexts: ContextPass, rewritten: Iterable[int]) -> Array:
        self._read(contexts)
        known = len(self._nearest_by_ref)
        now = self._nearest_of_refs(contexts)[:known]
        changed = np.isin(now, [contexts.tree.resolve(node) for node in rewritten]) & (now != MAIN)
        if contexts.tree.moves != self._moves:
            before = np.array([contexts.tree.resolve(node) for node in self._nearest_by_ref.tolist()], np.int64)
            changed |= before != now
        return np.flatnonzero(changed) + 1

    def _read(self, contexts: ContextPass) -> None:
        """Finds the nearest cancelled node above each node by pointer doubling: log2(depth) steps."""
        tree = contexts.tree
        if self._read_at == (tree.version, len(self._cancelled)):
            return
        self._read_at = tree.version, len(self._cancelled)
        none = len(tree)
        parent = np.append(as_numpy(tree.parent).astype(np.int64), none)
        parent[parent == MAIN] = none
        stops = np.array([none, *(tree.resolve(node) for node in self._cancelled)], np.int64)
        to = parent.copy()
        # A cancelled node points to itself, so that the doubling stops there.
        to[stops] = stops
        while not np.array_equal(further := to[to], to):
            to = further
        self._nearest = to[parent]
        self._nearest[self._nearest == none] = MAIN

    def _nearest_of_refs(self, contexts: ContextPass) -> Array:
        nodes = contexts.nodes_of_refs(np.arange(1, contexts.ref_count + 1))
        return np.where(nodes == MAIN, MAIN, self._nearest[nodes])

    def cancels_above(self, contexts: ContextPass, rows: Array, nodes: Array) -> Array:
        """(rows,) the cancel in effect above each message's node when it came; -1 without one."""
        found = np.full(len(rows), -1, np.int64)
        if not self._cancelled:
            return found
        near = self._nearest[nodes]
        left = np.flatnonzero(near != MAIN)
        while len(left):
            for node in sorted_unique(near[left]).tolist():
                here = left[near[left] == node]
                changes = contexts.sequences.replay(node).changes
                by = [change.by if change.state == CANCELLED else -1 for change in changes]
                # The state at the time of the message counts, as a context may be started again after a cancel.
                before = np.searchsorted([change.row for change in changes], rows[here])
                found[here] = np.array([-1, *by])[before]
            left = left[found[left] < 0]
            near[left] = self._nearest[near[left]]
            left = left[near[left] != MAIN]
        return found
