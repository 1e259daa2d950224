"""Delays starts with an id that may become a context of its own.

RULE (docs/protocols.md 8): the id of a start becomes a context of its own when a message uses it. The message names it
as a context, or as a segment below the start's context. Until then the start begins the context that it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_tree import MAIN, MAX_LEVELS, ContextTree
from inspector.protocol.context_paths import normalise
from inspector.store.messages.capture import Capture

_MAX_LABELS = 1_024


class Start(NamedTuple):
    """A reasoning start."""

    identifier: str
    """Its own id, or ""."""
    label: str
    names_other: bool
    """It names another context beside its id."""
    id_hash: int
    """`MessageIds.hash_in_space` of the id."""


class PendingStarts:
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
        self._candidates: frozenset[int] | None = None

    def expect_batch(
        self, spaces: NDArray[np.int64], paths: list[str], starts: Mapping[int, Start], start_spaces: NDArray[np.int64]
    ) -> None:
        """Finds the starts of a batch whose id may be the name of a context, so that no others are looked up.

        Args:
            spaces, paths: of the context keys that are new in the batch.
            starts, start_spaces: the starts in the batch, and their spaces.
        """
        segments = [*map(str.split, map(normalise, paths), repeat("/"), repeat(MAX_LEVELS - 1))]
        counts = np.fromiter(map(len, segments), np.int64, len(segments))
        names = [*chain.from_iterable(segments)]
        named = {*self._capture.ids.hashes_in_spaces(np.repeat(spaces, counts), names).tolist()}
        hashes = [start.id_hash for start in starts.values()]
        repeated = {one for one, count in Counter(hashes).items() if count > 1} if len({*hashes}) < len(hashes) else ()
        named.update(repeated)
        # A new node may bear the id of a start that waits, or of one in this batch.
        self._tree.records_new_nodes = (
            bool(self._slashes or repeated)
            or not self._waiting.keys().isdisjoint(named)
            or not self._waiting.keys().isdisjoint(hashes)
            or not named.isdisjoint(hashes)
        )
        identifiers = [start.identifier for start in starts.values()]
        known = self._tree.may_have_ids([*zip(start_spaces.tolist(), identifiers, strict=True)])
        self._candidates = frozenset(
            row for row, start, is_known in zip(starts, starts.values(), known.tolist(), strict=True)
            if is_known or start.id_hash in named or "/" in start.identifier
        )  # fmt: skip

    def expect_any(self) -> None:
        """Looks up all starts and new nodes until the next batch."""
        self._candidates = None
        self._tree.records_new_nodes = bool(self._waiting)

    def is_named(self, space: int, identifier: str, row: int, above: int, *, is_new: bool) -> bool:
        """Tells if a context is known by the id of a start, at the root or below the start's own context.

        Args:
            space, identifier, row, above: the start, and its own context, which is not the main one.
            is_new: the start's own context has no messages before it.
        """
        tree, is_candidate = self._tree, self._candidates is None or row in self._candidates
        if not identifier or (is_new and not is_candidate):
            return False
        if tree.name[above] == identifier or tree.has_child(above, identifier):
            return True
        return is_candidate and tree.find(space, identifier) != MAIN

    def wait(self, id_hash: int, identifier: str, row: int, above: int, label: str) -> None:
        """Stores a start and its label until a message names its id.

        Args:
            id_hash: hash of the id in its space (`MessageIds.hash_in_space`).
            identifier, row, above, label: the id, the message, its context, and its label.
        """
        if len(self._labels) >= _MAX_LABELS:
            self._labels.clear()
        self._labels[row] = label
        self._waiting.setdefault(id_hash, {})[row] = above
        if self._candidates is None:
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
