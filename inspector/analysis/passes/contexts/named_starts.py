"""Delays starts with an id that may become a context of its own.

RULE (docs/protocols.md 8): the id of a start becomes a context of its own when a message uses it. The message names it
as a context, or as a segment below the start's context. Until then the start begins the context that it names.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.protocol.context_paths import normalise
from inspector.store.messages.capture import Capture

_MAX_LABELS = 1_024


class NamedStarts:
    """Waiting starts by the hash of their id, matched against new nodes.

    Attributes:
        label_starts: by context, the start that gave it its label.
    """

    def __init__(self, capture: Capture, tree: ContextTree) -> None:
        self._capture = capture
        self._tree = tree
        self.label_starts: dict[int, int] = {}
        self._waiting: dict[int, dict[int, int]] = {}  # by hash, each start and its node
        self._labels: dict[int, str] = {}  # of the latest waiting starts: saves a read of their records
        self._slashes: set[int] = set()  # numbers of slashes in ids

    def is_named(self, space: int, identifier: str, above: int) -> bool:
        """Tells if a context is known by the id of a start, at the root or below the start's own context."""
        tree = self._tree
        if not identifier:
            return False
        if above != MAIN and (tree.name[above] == identifier or tree.has_child(above, identifier)):
            return True
        return tree.find(space, identifier) != MAIN

    def wait(self, space: int, identifier: str, row: int, above: int, label: str) -> None:
        """Stores a start and its label until a message names its id."""
        if len(self._labels) >= _MAX_LABELS:
            self._labels.clear()
        self._labels[row] = label
        key = self._capture.ids.hash_in_space(space, identifier)
        self._waiting.setdefault(key, {})[row] = above
        # From now on the tree lists its new nodes, for `take_named` to match.
        self._tree.records_new_nodes = True
        if "/" in identifier:
            self._slashes.add(identifier.count("/"))

    def ids_in_path(self, space: int, path: str) -> list[str]:
        """Returns ids of waiting starts with slashes that a path begins with, longest first."""
        if not self._slashes:
            return []
        segments = normalise(path).split("/", max(self._slashes) + 1)
        heads = ["/".join(segments[: few + 1]) for few in sorted(self._slashes, reverse=True) if few < len(segments)]
        return [head for head in heads if self._capture.ids.hash_in_space(space, head) in self._waiting]

    def label_of(self, start: int) -> str | None:
        """Returns the label of a start that waited lately; else None."""
        return self._labels.get(start)

    def take_named(self) -> Iterator[tuple[int, str, list[int]]]:
        """Yields the starts with an id that nodes created since the last call bear: (space, id, starts)."""
        tree = self._tree
        while tree.made:
            node = tree.made.pop(0)
            space, identifier = tree.space[node], tree.name[node]
            key = self._capture.ids.hash_in_space(space, identifier)
            starts = self._waiting.get(key)
            if starts is None:
                continue
            above = tree.parent[node]
            by_id = above == MAIN or tree.is_named(node)
            if not by_id and all(tree.resolve(own) != above for own in starts.values()):
                continue
            yield space, identifier, [*self._waiting.pop(key)]
