"""Searches texts in the paths of all context nodes at once, without building the paths.

All names are joined in one byte string, with a "/" before each; a displayed name has no "/". A text with slashes is
searched name by name, from a node to its children. A hit in a node's path is a hit in the paths of all descendants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.text_column import TextColumn
from inspector.analysis.passes.contexts.context_tree import ContextTree
from inspector.protocol.context_paths import MAX_SEGMENT_LENGTH, MAX_SHOWN_LEVELS, display_segment

Mask = NDArray[np.bool_]

_SLASH = 0x2F
_QUOTED_BYTES = [*b"/%\xe2"]
"""Bytes of a name that a path may display differently; for "…" the first byte."""
_CUT_CHARACTERS = "…0123456789"
"""Characters that replace omitted levels in a path."""


class PathSearch:
    """Case-insensitive text search in the displayed paths of all nodes of the present tree."""

    def __init__(self, tree: ContextTree) -> None:
        self._names = np.frombuffer(_case_folded(joined_names(tree.name, display_segment)), np.uint8)
        self._starts = np.flatnonzero(self._names == _SLASH)[:-1]
        self._parents = as_numpy(tree.parent).astype(np.int64)
        self._are_cut = tree.lines.depths[:-1] > MAX_SHOWN_LEVELS

    def with_prefix(self, text: str) -> Mask:
        """Returns (nodes,) flags of paths that begin with a text; false hits are possible for cut paths."""
        first, *rest = text.split("/")
        above_roots = np.append(np.zeros(len(self._parents), np.bool_), True)
        found = self._with_descendants(self._with_ancestors(above_roots, [first, *rest]))
        # A cut path hides levels in its middle, so only its first part is checked here.
        if rest and self._are_cut.any():
            found |= self._are_cut & self._with_descendants(self._with_ancestors(above_roots, [first]))
        return found

    def holding(self, text: str) -> Mask:
        """Returns (nodes,) flags of paths that contain a text; false hits are possible for cut paths."""
        first, *rest = text.split("/")
        if rest:
            found = self._with_descendants(
                self._with_ancestors(np.append(self._with_name_text(first + "/"), False), rest)
            )
        else:
            found = self._with_descendants(self._with_name_text(first))
        if self._are_cut.any():
            told = [part for part in (first, *rest) if part.strip(_CUT_CHARACTERS)]
            found |= self._are_cut & self._with_descendants(self._with_name_text(max(told, key=len, default="")))
        return found

    def _with_ancestors(self, above: Mask, parts: list[str]) -> Mask:
        """Returns (nodes,) flags of nodes with names that match parts of a path.

        The last part must begin the node's name, and the parts before it must equal the names of its ancestors.

        Args:
            above: (nodes + 1,) flags of allowed parents of the first part; the last is the main context.
            parts: at least one.
        """
        *whole, last = parts
        for part in whole:
            above = np.append(self._with_name_text(f"/{part}/") & above[self._parents], False)
        return self._with_name_text(f"/{last}") & above[self._parents]

    def _with_name_text(self, text: str) -> Mask:
        """Returns (nodes,) flags of names that contain a text; each name has a "/" at both ends."""
        looked_for = text.encode("utf-8", "surrogatepass")
        found = np.zeros(len(self._starts), np.bool_)
        if not looked_for or not len(found):
            return ~found
        names = self._names
        # Narrowed byte by byte: the first pass is over all names, each later one over few places.
        at = np.flatnonzero(names[: len(names) - len(looked_for) + 1] == looked_for[0])
        for further, byte in enumerate(looked_for[1:], 1):
            if not len(at):
                break
            at = at[names[at + further] == byte]
        found[self._starts.searchsorted(at, "right") - 1] = True
        return found

    def _with_descendants(self, nodes: Mask) -> Mask:
        """Returns (nodes,) flags of nodes and all their descendants. O(nodes log depth)."""
        found, above = np.append(nodes, False), np.append(self._parents, -1)
        while True:
            found |= found[above]
            further = above[above]
            if np.array_equal(further, above):
                return found[:-1]
            above = further


def joined_names(names: TextColumn, shown: Callable[[str], str]) -> bytes:
    """Joins displayed names in UTF-8, with a "/" before and after each.

    Args:
        names: of nodes.
        shown: returns a name as a segment of a path. It changes only long names and names with some special characters.
    """
    data, ends = names.written()
    letters, lengths = np.frombuffer(data, np.uint8), np.diff(ends, prepend=0)
    odd = ends.searchsorted(np.flatnonzero(np.isin(letters, _QUOTED_BYTES)), "right")
    # Only these names differ between tree and display; all others are copied as one block.
    odd = np.union1d(odd, np.flatnonzero(lengths > MAX_SEGMENT_LENGTH))
    parts, at = list[bytes](), 0
    for node in odd.tolist():
        segment = shown(names[node]).encode("utf-8", "surrogatepass")
        parts += [data[at : ends[node] - lengths[node]], segment]
        at, lengths[node] = int(ends[node]), len(segment)
    if parts:
        letters = np.frombuffer(b"".join([*parts, data[at:]]), np.uint8)
    return np.insert(letters, lengths.cumsum() - lengths, _SLASH).tobytes() + b"/"


def _case_folded(text: bytes) -> bytes:
    if text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogatepass").casefold().encode("utf-8", "surrogatepass")
