"""What the find box finds in the context tree: matching nodes, and those on the way to them. No Qt."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.analysis.context_tree import MAIN
from inspector.analysis.contexts import ContextPass


class Found:
    """Nodes whose label or name holds a text, whatever its case.

    Attributes:
        needle: the text, case folded.
        matches: nodes that hold it.
        closed: codes collapsed by hand while finding.
    """

    def __init__(self, contexts: ContextPass, text: str) -> None:
        self._contexts = contexts
        self.needle = text.strip().casefold()
        self.closed: set[int] = set()
        self.matches: set[int] = set()
        self._ways: set[int] = set()
        self._seen = self._moves = -1
        self.look_on(())

    def look_on(self, touched: Iterable[int]) -> None:
        """Take in what the tree gained: O(new and touched nodes), or O(all nodes) when nodes moved or merged."""
        tree = self._contexts.tree
        if tree.moves != self._moves:
            self.matches.clear()
            self._ways.clear()
            self._look_at(tree.alive())
        else:
            self._look_at({*range(self._seen, len(tree)), *touched})
        self._seen, self._moves = len(tree), tree.moves

    def _look_at(self, nodes: Iterable[int]) -> None:
        tree = self._contexts.tree
        for node in nodes:
            label = tree.label[node]
            if self.needle in tree.name[node].casefold() or (label and self.needle in label.casefold()):
                self.matches.add(node)
                above = tree.parent[node]
                while above != MAIN and above not in self._ways:
                    self._ways.add(above)
                    above = tree.parent[above]

    def shows(self, code: int) -> bool:
        """Whether a row stays: a match, or an ancestor of one; the main context when its name matches."""
        return (code in self.matches or code in self._ways) if code >= 0 else self.needle in "main"

    def leads_on(self, node: int) -> bool:
        """Whether matches lie below a node."""
        return node in self._ways
