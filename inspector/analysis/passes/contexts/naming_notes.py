"""Collects oddities in the naming of contexts for later findings (docs/protocols.md 6 and 7)."""

from __future__ import annotations

import enum
import re
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.node_facts import MAIN
from inspector.protocol.context_paths import normalise, path_depth

if TYPE_CHECKING:
    from inspector.analysis.passes.contexts.context_tree import ContextTree


class NamingOddity(enum.IntEnum):
    """Kind of oddity."""

    PARENT_CYCLE = 1
    """A parent below its own child: this edge was ignored."""
    PARENT_CONFLICT = 2
    """A second parent; the first one is kept."""
    TYPE_CONFLICT = 3
    """A second type; the first declared one is kept."""
    WITHOUT_ID = 4
    """An object without a context id."""
    MALFORMED = 5
    """Slashes at an end, next to each other, or alone."""
    CHARACTERS = 6
    """Other characters than letters, digits, - and _."""
    TOO_DEEP = 7
    """More than five levels."""
    TOO_LONG = 8
    """More than 255 characters."""


class ContextNote(NamedTuple):
    """An oddity of a context."""

    node: int
    """The context, as numbered when it was noted (`ContextTree.resolve` gives the present node); -1 for main."""
    row: int
    """The first message that shows it."""
    what: NamingOddity


# Limits that ADR p4m suggests; longer and deeper paths are kept.
MAX_DEPTH = 5
MAX_LENGTH = 255
_VALID_PATH = re.compile(rf"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+){{0,{MAX_DEPTH - 1}}}")
_PLAIN_CHARACTERS = re.compile(r"[A-Za-z0-9_/-]*")


class ContextNotes:
    """A growing list, in the order of the messages; 9 bytes each."""

    def __init__(self) -> None:
        self._nodes, self._rows, self._oddities = array("i"), array("i"), array("b")
        self._noted_once: set[tuple[int, NamingOddity]] = set()  # of ids and depths

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[ContextNote]:
        return self.since(0)

    def since(self, start: int) -> Iterator[ContextNote]:
        """Yields notes from number `start` on."""
        for place in range(start, len(self)):
            yield ContextNote(self._nodes[place], self._rows[place], NamingOddity(self._oddities[place]))

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int8]]:
        """Returns nodes (numbered when noted), rows and kinds of all notes. Do not keep them: the arrays grow."""
        return as_numpy(self._nodes), as_numpy(self._rows), as_numpy(self._oddities)

    def add(self, node: int, row: int, what: NamingOddity) -> None:
        self._nodes.append(node)
        self._rows.append(row)
        self._oddities.append(what)

    def add_path(self, node: int, row: int, path: str) -> None:
        """Checks a path as written, and adds its oddities (ADR p4m, docs/protocols.md 6)."""
        # Nearly all paths are valid: one match settles them.
        if len(path) <= MAX_LENGTH and _VALID_PATH.fullmatch(path):
            return
        plain = normalise(path)
        if plain != path or not plain:
            self.add(node, row, NamingOddity.MALFORMED)
        if _PLAIN_CHARACTERS.fullmatch(path) is None:
            self.add(node, row, NamingOddity.CHARACTERS)
        if plain and path_depth(plain) > MAX_DEPTH:
            self._noted_once.add((node, NamingOddity.TOO_DEEP))
            self.add(node, row, NamingOddity.TOO_DEEP)
        if len(path) > MAX_LENGTH:
            self.add(node, row, NamingOddity.TOO_LONG)

    def add_id(self, node: int, row: int, identifier: str) -> None:
        """Checks an opaque id of an object or marker, and adds its oddities, once per context."""
        if len(identifier) > MAX_LENGTH:
            self._add_once(node, row, NamingOddity.TOO_LONG)
        if _PLAIN_CHARACTERS.fullmatch(identifier) is None:
            self._add_once(node, row, NamingOddity.CHARACTERS)

    def add_depth(self, tree: ContextTree, node: int, row: int) -> None:
        """Adds contexts that a message placed too deep: a node and its descendants. O(descendants)."""
        depth, above = 1, tree.parent[node]
        while above != MAIN and depth <= MAX_DEPTH:
            depth, above = depth + 1, tree.parent[above]
        waiting = [(node, depth)]
        children = tree.children
        while waiting:
            one, level = waiting.pop()
            if (level <= MAX_DEPTH or self._add_once(one, row, NamingOddity.TOO_DEEP)) and children.any(one):
                waiting += [(child, level + 1) for child in children.each(one)]

    def _add_once(self, node: int, row: int, what: NamingOddity) -> bool:
        if (node, what) in self._noted_once:
            return False
        self._noted_once.add((node, what))
        self.add(node, row, what)
        return True
