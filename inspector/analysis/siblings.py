"""What lies below each node of a tree, in the order first seen.

A node may have 100,000 children, and each may leave it one by one: that must not cost a search through the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Siblings:
    """Ordered sets of nodes by their owner (a node, or a space for roots), read as lists.

    Adding, removing and asking for emptiness are O(1). A list handed out is never changed afterwards, and must not be
    changed; it is made when it is first asked for after a change.
    """

    def __init__(self) -> None:
        self._sets: dict[int, dict[int, None] | int] = {}  # of an only child, as in a long path, its number: 230 B less
        self._lists: dict[int, list[int]] = {}

    def __getitem__(self, owner: int) -> list[int]:
        """The nodes below an owner."""
        found = self._lists.get(owner)
        if found is None:
            if owner not in self._sets:
                return []
            found = self._lists[owner] = list(self.each(owner))
        return found

    def get(self, owner: int, default: Sequence[int] = ()) -> Sequence[int]:
        """The nodes below an owner, or `default` when it was never seen."""
        return self[owner] if owner in self._sets else default

    def each(self, owner: int) -> Iterable[int]:
        """The nodes below an owner, for one pass through them that changes nothing."""
        held = self._sets.get(owner, ())
        return (held,) if isinstance(held, int) else held

    def any(self, owner: int) -> bool:
        """Whether something lies below an owner."""
        return owner in self._sets

    def count(self, owner: int) -> int:
        """How many nodes lie directly below an owner."""
        held = self._sets.get(owner, ())
        return 1 if isinstance(held, int) else len(held)

    def add(self, owner: int, node: int) -> None:
        """Put a node last below an owner."""
        held = self._sets.get(owner)
        if held is None:
            self._sets[owner] = node
        elif isinstance(held, int):
            self._sets[owner] = {held: None, node: None}
        else:
            held[node] = None
        self._lists.pop(owner, None)

    def remove(self, owner: int, node: int) -> None:
        """Take a node away from its owner."""
        held = self._sets[owner]
        if isinstance(held, dict):
            del held[node]
        if isinstance(held, int) or not held:
            del self._sets[owner]
        self._lists.pop(owner, None)

    def clear(self, owner: int) -> None:
        """Take everything away from an owner."""
        self._sets.pop(owner, None)
        self._lists.pop(owner, None)
