"""What happened to the context tree since the last look: nodes that appeared, moved or are gone. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.context_tree import ContextTree

_CHUNK = 1024


@dataclass(frozen=True, slots=True)
class Growth:
    """Node numbers; a node that moved and is gone stands in both."""

    appeared: list[int]
    moved: list[int]
    gone: list[int]
    """Merged into another node, or dropped."""


class TreeWatch:
    """Compares the tree with what it was. O(new nodes); when nodes moved or merged, two list comparisons more.

    Attributes:
        seen: nodes looked at so far, dead ones included.
        alive: of these, nodes in the tree.
    """

    def __init__(self, tree: ContextTree) -> None:
        self._tree = tree
        self._moves = -1
        self._parents: list[int] = []
        self._aliases: list[int] = []
        self.alive = 0

    @property
    def seen(self) -> int:
        """Nodes looked at so far, dead ones included."""
        return len(self._parents)

    @property
    def behind(self) -> bool:
        """Whether anything happened since the last look."""
        return len(self._tree) != self.seen or self._tree.moves != self._moves

    def look(self) -> Growth:
        """What happened since the last look."""
        tree, seen = self._tree, self.seen
        # `tree.alive()` makes a list of all nodes, 8 ms at 100,000; the list behind it is compared in 0.5 ms.
        aliases = tree._alias
        moved: list[int] = []
        gone: list[int] = []
        if tree.moves != self._moves:
            self._moves = tree.moves
            moved = _take_differences(self._parents, tree.parent)
            gone = [node for node in _take_differences(self._aliases, aliases) if aliases[node] != node]
        self._parents.extend(tree.parent[seen:])
        self._aliases.extend(aliases[seen:])
        appeared = [node for node in range(seen, len(tree)) if aliases[node] == node]
        self.alive += len(appeared) - len(gone)
        return Growth(appeared, moved, gone)


def _take_differences(before: list[int], now: list[int]) -> list[int]:
    """Where the beginning of `now` differs from `before`, which is made equal to it."""
    found: list[int] = []
    for start in range(0, len(before), _CHUNK):
        stop = min(start + _CHUNK, len(before))
        if now[start:stop] != before[start:stop]:  # mostly the same objects: compared without looking at values
            found += [place for place in range(start, stop) if now[place] != before[place]]
            before[start:stop] = now[start:stop]
    return found
