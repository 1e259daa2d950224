"""Scope of a table: a part of the context tree or a source, as a mask over messages."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.store.messages.capture import Capture


class Reach(enum.Enum):
    """Extent of a scope from its node."""

    BELOW = "and below"
    ONLY = "this one only"
    CHILDREN = "direct children"


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the context tree, a space or a source that a table shows.

    Attributes:
        space: string id of the space.
        node: a node, MAIN for the main context, None for the whole space.
        reach: extent from the node.
        calls: includes requests and proposals outside of it.
        source: index of a source that replaces the space, if any.
    """

    space: int
    node: int | None
    reach: Reach = Reach.BELOW
    calls: bool = False
    source: int | None = None

    @property
    def identity(self) -> tuple[int, int | None, int | None]:
        """Identity of the scope without its reach."""
        return self.space, self.node, self.source


def source_named(capture: Capture, name: str) -> int | None:
    """Returns the index of the source with this name, if any, for a scope from another reading."""
    return next((place for place, source in enumerate(capture.sources) if source.name == name), None)


class ScopeNodes:
    """Caches the nodes of a scope; extends the cache as the tree grows and rebuilds it after moves."""

    def __init__(self, contexts: ContextPass) -> None:
        self._tree = contexts.tree
        self._of: tuple[int, int, Reach] | None = None
        self._mask = np.zeros(1, np.bool_)

    def node_mask(self, node: int, reach: Reach) -> NDArray[np.bool_]:
        """Returns (nodes + 1,) bool by node; the last entry (index -1) is the main context and False.

        O(new nodes); O(nodes log depth) after a move or for another scope.
        """
        tree = self._tree
        of = (tree.moves, node, reach)
        # Nodes are only appended between two moves, so only new ones are tested.
        known = len(self._mask) - 1
        if of != self._of:
            self._of, known = of, 0
            self._mask = np.zeros(1, np.bool_)
        if known == len(tree):
            return self._mask
        mask = np.zeros(len(tree) + 1, np.bool_)
        mask[:known] = self._mask[:known]
        parents = np.array(tree.parent[known:], np.int64)
        if reach is Reach.CHILDREN:
            mask[known:-1] = parents == node
        elif known <= node < len(tree):
            mask[node] = True
        if reach is Reach.BELOW:
            _spread_down(mask, parents, known)
        self._mask = mask
        return mask


def _spread_down(mask: NDArray[np.bool_], parents: NDArray[np.int64], known: int) -> None:
    """Spreads the mask from parents to nodes at or above `known`. Parents may come after children."""
    nodes = np.arange(known, known + len(parents))
    above = parents.copy()
    while True:
        mask[nodes] |= mask[above]
        new = above >= known
        if not new.any():
            return
        # Each step looks twice as far up, so a chain of 10,000 contexts takes 14 steps.
        above[new] = above[above[new] - known]
