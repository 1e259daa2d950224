"""The tokens that rows of the context tree show: added up anew a few times a second at most, while they are shown."""

from __future__ import annotations

import time

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.analysis.token_sums import NodeTokens
from inspector.ui import budgets

_REST = 10
"""Where adding up takes long, as of very many contexts, so many times as long lies between."""


class TreeTokens:
    """Sums by context, some of a second old while counting goes on.

    Attributes:
        shown: whether anybody looks at them.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.shown = False
        self._sums: NodeTokens | None = None
        self._spaces: dict[int, int] = {}
        self._due = 0.0

    def renew(self, *, now: bool = False) -> bool:
        """Add up what was counted since; whether anything differs.

        Args:
            now: however little time has passed.
        """
        began = time.monotonic()
        if not self.shown or (began < self._due and not (now or self._analysis.tokens.done)):
            return False
        sums = self._analysis.tokens.node_sums()
        self._due = began + max(budgets.current.counts_s, _REST * (time.monotonic() - began))
        changed = sums is not self._sums
        if changed:
            self._sums = sums
            self._spaces.clear()
        return changed

    def below(self, node: int) -> int:
        """Of a context and all below it."""
        held = self._sums.subtree if self._sums is not None else ()
        return int(held[node]) if 0 <= node < len(held) - 1 else 0

    def in_main(self, space: int) -> int:
        """Of the main context of a space alone."""
        return self._sums.main.get(space, 0) if self._sums is not None else 0

    def in_space(self, space: int) -> int:
        """Of everything in a space."""
        if space not in self._spaces:
            if len(self._analysis.contexts.spaces) == 1 and self._sums is not None:
                self._spaces[space] = int(self._sums.subtree[MAIN])
            else:
                roots = self._analysis.contexts.tree.roots.each(space)
                self._spaces[space] = self.in_main(space) + sum(map(self.below, roots))
        return self._spaces[space]
