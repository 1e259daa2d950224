"""The part of the context tree a table is bound to."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.store.messages.capture import Capture


class Reach(enum.Enum):
    """How far a scope reaches from its node."""

    BELOW = "and below"
    ONLY = "this one only"
    CHILDREN = "direct children"


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the context tree the table is bound to.

    Attributes:
        space: string id of the space.
        node: a node, MAIN for the main context, None for the whole space.
        reach: how far it reaches from the node.
        calls: whether the requests and proposals outside of it are let through as well.
        source: place of a source, which is bound to in place of a space; None.
    """

    space: int
    node: int | None
    reach: Reach = Reach.BELOW
    calls: bool = False
    source: int | None = None

    @property
    def place(self) -> tuple[int, int | None, int | None]:
        """What it is about, however far it reaches."""
        return self.space, self.node, self.source


def source_named(capture: Capture, name: str) -> int | None:
    """The place of the source that is called so, as another reading of the same has it; None."""
    return next((place for place, source in enumerate(capture.sources) if source.name == name), None)


class ScopeNodes:
    """Which nodes a scope reaches, remembered while the tree grows and found again when it moves."""

    def __init__(self, contexts: ContextPass) -> None:
        self._tree = contexts.tree
        self._of: tuple[int, int, Reach] | None = None
        self._mask = np.zeros(1, np.bool_)

    def chosen(self, node: int, reach: Reach) -> NDArray[np.bool_]:
        """(nodes + 1,) bool by node; the last, reached by index -1, is the main context's, and false.

        O(new nodes); O(nodes log depth) when nodes moved or another scope is asked for.
        """
        tree = self._tree
        of = (tree.moves, node, reach)
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
            _spread(mask, parents, known)
        self._mask = mask
        return mask


def _spread(mask: NDArray[np.bool_], parents: NDArray[np.int64], known: int) -> None:
    """Choose what lies below a chosen node. Of nodes below `known` it is known; parents may come after children."""
    nodes = np.arange(known, known + len(parents))
    above = parents.copy()
    while True:
        mask[nodes] |= mask[above]
        new = above >= known
        if not new.any():
            return
        # Each step looks twice as far up, so that a chain of 10,000 contexts takes 14 of them.
        above[new] = above[above[new] - known]
