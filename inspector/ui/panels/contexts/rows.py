"""Flat layout of the context tree: codes and order of rows, expansion, matches, insertions as it grows.

No Qt. A row is a code (`inspector.present.context_codes`) and a depth. The cost of an update depends on the changes:
first `apply_changes`, remove `stale_spans`, then insert `insertions`. `layout` builds all rows; both ways give the same
rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.engine.requests.context_tree import MAIN, TreeChanges
from inspector.present.context_codes import is_root, is_source, main_code, place_of, root_code, source_code
from inspector.ui.panels.contexts.tree_copy import Growth, TreeCopy


class RowInsertion(NamedTuple):
    """Rows to insert before `row`."""

    row: int
    codes: Sequence[int]
    depths: Sequence[int]


class ContextMatches:
    """Search result: nodes with a matching label or name.

    Attributes:
        needle: the text, case folded.
        matches: matching nodes.
        closed: codes collapsed by hand during the search.
    """

    def __init__(self, tree: TreeCopy, text: str) -> None:
        self._tree = tree
        self.needle = text.strip().casefold()
        self.closed: set[int] = set()
        self.matches: set[int] = set()
        self._ancestors: set[int] = set()

    def show(self, matches: NDArray[np.int32]) -> None:
        """Replaces the matches."""
        parent = self._tree.parent
        # The engine may know nodes that have not arrived here.
        self.matches, self._ancestors = set(matches[matches < len(self._tree)].tolist()), set()
        for node in self.matches:
            above = parent[node]
            while above != MAIN and above not in self._ancestors:
                self._ancestors.add(above)
                above = parent[above]

    def shows(self, code: int) -> bool:
        """Returns True for a match or its ancestor; for the main context if its name matches."""
        return (code in self.matches or code in self._ancestors) if code >= 0 else self.needle in "main"

    def leads_on(self, node: int) -> bool:
        """Returns True if a node has matches below it."""
        return node in self._ancestors


Codes = NDArray[np.int32]

DEFAULT_DEPTH = 2
"""Depth expanded at first."""

EVERYTHING = 1 << 30
"""A depth beyond any tree."""

_VECTORIZE_FROM = 16
"""Rows of one depth up to this number are searched one by one."""


class ContextRows:
    """Visible rows and the expansion state.

    Attributes:
        tree: the structure of all contexts.
        sources_wanted: the user wants to see sources.
        codes: (n,) int32, code of each row.
        depths: (n,) int32, 0 for a space, 1 for its main context and its root contexts; 1 more below sources.
    """

    def __init__(self) -> None:
        self.tree = TreeCopy()
        self.sources_wanted = True
        # Number of sources at the last layout.
        self._level = 0
        # Indexes of spaces, by source.
        self._below: dict[int, list[int]] = {}
        self.codes: Codes = np.empty(0, np.int32)
        self.depths: NDArray[np.int32] = np.empty(0, np.int32)
        self._places: dict[int, int] = {}
        self._row_of: Codes | None = None
        self._known_nodes = 0
        self._open: dict[int, bool] = {}
        self._default_depth = DEFAULT_DEPTH
        self._matches: ContextMatches | None = None
        # Nodes that lost their place, and nodes without a row.
        self._stale: list[int] = []
        self._to_insert: list[int] = []

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def nodes(self) -> int:
        """Number of contexts."""
        return self.tree.alive

    @property
    def level(self) -> int:
        """Number of sources in the tree; 0 without the level."""
        return self.tree.sources if self.sources_wanted else 0

    @property
    def regrouped(self) -> bool:
        """True if a full layout is necessary, because the level of sources has changed."""
        return self.level != self._level

    # Queries

    def row_of(self, code: int) -> int:
        """Returns the row of a code; -1 if it is hidden."""
        rows, known = self._rows(), self._known_nodes
        return int(rows[code]) if known - len(rows) <= code < known else -1

    def rows_of(self, codes: Iterable[int]) -> Codes:
        """Returns the visible rows of codes, ascending and unique."""
        wanted, rows, known = np.fromiter(codes, np.int64), self._rows(), self._known_nodes
        found = np.unique(rows[wanted[(wanted >= known - len(rows)) & (wanted < known)]])
        return found[found >= 0]

    def _rows(self) -> Codes:
        """Returns row by code; negative codes index from the end, as in numpy."""
        if self._row_of is None:
            self._known_nodes = len(self.tree)
            self._row_of = np.full(self._known_nodes + 3 * max(len(self.tree.spaces), self._level), -1, np.int32)
            self._row_of[self.codes] = np.arange(len(self.codes), dtype=np.int32)
        return self._row_of

    def shown_row(self, code: int) -> int:
        """Returns the row of a code or of its nearest visible ancestor; -1 for neither."""
        rows, parent, known = self._rows(), self.tree.parent, self._known_nodes
        while 0 <= code < known and rows[code] < 0 and parent[code] != MAIN:
            code = parent[code]
        # Main context, then space, then source.
        while True:
            row, above = self.row_of(code), self.above(code)
            if row >= 0 or above == code:
                return row
            code = above

    def shown_codes(self, nodes: Iterable[int]) -> set[int]:
        """Returns each node's own code if visible, else the code of its nearest visible ancestor."""
        wanted = np.fromiter(nodes, np.int64)
        hidden = self._rows()[wanted] < 0
        above = {self.shown_row(node) for node in wanted[hidden].tolist()} - {-1}
        return {*wanted[~hidden].tolist(), *(int(self.codes[row]) for row in above)}

    def above(self, code: int) -> int:
        """Returns the code of the parent; the first level returns itself."""
        if is_source(code) or (is_root(code) and not self._level):
            return code
        if is_root(code):
            return source_code(self.tree.homes[place_of(code)])
        if code < 0:
            return root_code(place_of(code))
        parent = self.tree.parent[code]
        return parent if parent != MAIN else root_code(self._places[self.tree.space[code]])

    def code_of(self, space: int, node: int | None) -> int | None:
        """Returns the code of a node, a space's main context (MAIN) or the space itself (None); None if unknown."""
        if node is not None and node != MAIN:
            node = self.tree.resolve(node)
            if node != MAIN:
                return node if node < len(self.tree) else None
        place = self._places.get(space)
        return None if place is None else root_code(place) if node is None else main_code(place)

    def space_of(self, code: int) -> int:
        """Returns the string id of a code's space; 0 for a source."""
        if is_source(code):
            return 0
        return self.tree.space[code] if code >= 0 else self.tree.spaces[place_of(code)]

    def children(self, code: int) -> list[int]:
        """Returns the codes of direct children, visible or not, except those hidden by the search."""
        if is_source(code):
            return [root_code(place) for place in self._below.get(place_of(code), ())]
        if code >= 0:
            below = self.tree.children[code]
        elif is_root(code):
            below = [main_code(place_of(code)), *self.tree.roots.get(self.tree.spaces[place_of(code)], ())]
        else:
            return []
        return [c for c in below if self._matches.shows(c)] if self._matches is not None else below

    def _last_children(self, code: int, count: int) -> list[int]:
        """Returns the last `count` direct children; new ones are at the end."""
        tree = self.tree
        return (
            tree.children.last(code, count) if code >= 0 else tree.roots.last(self.tree.spaces[place_of(code)], count)
        )

    def has_children(self, code: int) -> bool:
        if code < 0:
            return is_root(code) or (is_source(code) and place_of(code) in self._below)
        return self._matches.leads_on(code) if self._matches is not None else self.tree.children.any(code)

    def is_open(self, code: int, depth: int) -> bool:
        """Returns True if a row is expanded."""
        if self._matches is not None:
            return code not in self._matches.closed
        return self._open.get(code, depth < self._default_depth + (self._level > 0))

    def end(self, row: int) -> int:
        """Returns the index after the last row of a row's subtree."""
        return self._end_from(row + 1, int(self.depths[row]))

    def _end_from(self, start: int, depth: int) -> int:
        size = 64
        while start < len(self.depths):
            # Blocks that grow: most subtrees are short, and numpy searches long ones.
            out = self.depths[start : start + size] <= depth
            first = int(out.argmax())
            if out[first]:
                return start + first
            start, size = start + size, size * 4
        return len(self.depths)

    def _ends(self, rows: Codes) -> Codes:
        """Vectorized `end`: depths with many rows share one pass."""
        ends, limits = rows.copy(), self.depths[rows]
        for depth in np.unique(limits).tolist():
            some = np.flatnonzero(limits == depth)
            if len(some) < _VECTORIZE_FROM:
                ends[some] = [self.end(row) for row in rows[some].tolist()]
            else:
                stops = np.append(np.flatnonzero(self.depths <= depth), len(self.depths))
                ends[some] = stops[stops.searchsorted(rows[some], "right")]
        return ends

    # Expansion

    def set_open(self, code: int, on: bool) -> None:
        """Stores the expansion of a row; changes no rows."""
        if self._matches is not None:
            (self._matches.closed.discard if on else self._matches.closed.add)(code)
        else:
            self._open[code] = on

    def set_depth(self, depth: int) -> None:
        """Stores an expansion down to a depth; changes no rows."""
        self._open.clear()
        self._default_depth = depth
        if self._matches is not None:
            self._matches.closed.clear()

    @property
    def expands_all(self) -> bool:
        """True if the last command was to expand everything."""
        return self._default_depth == EVERYTHING

    def set_found(self, found: ContextMatches | None) -> None:
        """Sets or clears the search result; changes no rows."""
        self._matches = found

    @property
    def found(self) -> ContextMatches | None:
        """Search result; None without a search."""
        return self._matches

    def _walk(self, codes: Sequence[int], depth: int) -> tuple[list[int], list[int]]:
        """Returns codes and depths of siblings and their expanded subtrees."""
        # Leaves are the usual case and need no stack.
        if not any(map(self.has_children, codes)):
            return list(codes), [depth] * len(codes)
        out: list[int] = []
        depths: list[int] = []
        stack = [(code, depth) for code in reversed(codes)]
        while stack:
            code, at = stack.pop()
            out.append(code)
            depths.append(at)
            if self.has_children(code) and self.is_open(code, at):
                stack.extend((below, at + 1) for below in reversed(self.children(code)))
        return out, depths

    def insertion_below(self, row: int) -> RowInsertion:
        """Returns the rows that appear at the expansion of a row."""
        codes, depths = self._walk(self.children(int(self.codes[row])), int(self.depths[row]) + 1)
        return RowInsertion(row + 1, codes, depths)

    def layout(self) -> tuple[Codes, NDArray[np.int32]]:
        """Returns codes and depths of all rows, built again. O(rows)."""
        self._level, self._row_of = self.level, None
        self._below = {}
        for place, home in enumerate(self.tree.homes):
            self._below.setdefault(home, []).append(place)
        first = [source_code(place) for place in range(self._level)]
        codes, depths = self._walk(first or [root_code(place) for place in range(len(self.tree.spaces))], 0)
        return np.array(codes, np.int32), np.array(depths, np.int32)

    # Tree changes

    def apply_changes(self, changes: TreeChanges) -> bool:
        """Updates the tree; returns True if rows may have lost or gained their place."""
        known = len(self.tree.spaces)
        growth = self.tree.apply(changes)
        for place in range(known, len(self.tree.spaces)):
            self._places[self.tree.spaces[place]] = place
            self._below.setdefault(self.tree.homes[place], []).append(place)
        self._keep_expansion(growth)
        self._row_of = None
        self._to_insert = [*(node for node in growth.moved if self.tree.resolve(node) == node), *growth.appeared]
        self._stale = [*growth.moved, *growth.gone]
        return bool(len(changes.nodes) or changes.new_spaces)

    def stale_spans(self) -> list[tuple[int, int]]:
        """Returns misplaced row spans (first, last), in descending order."""
        rows = self.rows_of(self._stale)
        spans: list[tuple[int, int]] = []
        for row, end in zip(rows.tolist(), self._ends(rows).tolist(), strict=True):
            if not spans or row > spans[-1][1]:
                spans.append((row, end - 1))
        return spans[::-1]

    def insertions(self) -> list[RowInsertion]:
        """Returns the rows of new and moved nodes, in descending order; call it after removing the stale spans."""
        nodes, self._to_insert = self._to_insert, []
        found = self._new_spaces()
        below = self._gained_children(nodes)
        if not below:
            return found[::-1]
        rows = self._rows()[np.fromiter(below, np.int64)]
        for code, row, end in zip(below, rows.tolist(), self._ends(rows).tolist(), strict=True):
            depth = int(self.depths[row])
            added = self._last_children(code, below[code])
            found.append(RowInsertion(end, *self._walk(added, depth + 1)))
        # At the same row, the deeper insertion belongs to the branch that ends there and comes first.
        found.sort(key=lambda insertion: (insertion.row, -insertion.depths[0]), reverse=True)
        return found

    def _gained_children(self, nodes: list[int]) -> Counter[int]:
        """Returns the number of new children by visible expanded row."""
        tree, inner = self.tree, set(nodes)
        gained = Counter(self.above(node) for node in nodes if tree.parent[node] not in inner)
        shown = {code: self.row_of(code) for code in gained}
        return Counter(
            {c: n for c, n in gained.items() if shown[c] >= 0 and self.is_open(c, int(self.depths[shown[c]]))}
        )

    def _new_spaces(self) -> list[RowInsertion]:
        """Returns the rows of spaces without one, ascending."""
        if not self._level:
            new = [place for place in range(len(self.tree.spaces)) if self.row_of(root_code(place)) < 0]
            return [RowInsertion(len(self.codes), *self._walk([root_code(place)], 0)) for place in new]
        found: list[RowInsertion] = []
        for source in range(self._level):
            code = source_code(source)
            row, new = self.row_of(code), [below for below in self.children(code) if self.row_of(below) < 0]
            if new and self.is_open(code, 0):
                found.append(RowInsertion(self.end(row), *self._walk(new, 1)))
        return found

    def _keep_expansion(self, growth: Growth) -> None:
        """Keeps the expansion of moved nodes; merged nodes pass theirs on."""
        for node in growth.moved:
            row = self.row_of(node)
            if row >= 0 and self.tree.children.any(node):
                self._open.setdefault(node, self.is_open(node, int(self.depths[row])))
        for node in growth.gone:
            into = self.tree.resolve(node)
            if node in self._open and into != MAIN:
                self._open.setdefault(into, self._open[node])

    # Changes of rows

    def remove(self, first: int, last: int) -> None:
        """Removes rows, `last` included."""
        self.codes = np.concatenate((self.codes[:first], self.codes[last + 1 :]))
        self.depths = np.concatenate((self.depths[:first], self.depths[last + 1 :]))
        self._row_of = None

    def remove_all(self, spans: Sequence[tuple[int, int]]) -> None:
        """Removes many spans in one pass."""
        # One mask for all spans: single removals would copy the arrays each time.
        stays = np.ones(len(self.codes), np.bool_)
        for first, last in spans:
            stays[first : last + 1] = False
        self.codes, self.depths = self.codes[stays], self.depths[stays]
        self._row_of = None

    def insert(self, insertion: RowInsertion) -> None:
        codes, depths = np.array(insertion.codes, np.int32), np.array(insertion.depths, np.int32)
        self.codes = np.concatenate((self.codes[: insertion.row], codes, self.codes[insertion.row :]))
        self.depths = np.concatenate((self.depths[: insertion.row], depths, self.depths[insertion.row :]))
        self._row_of = None

    def insert_all(self, insertions: Sequence[RowInsertion]) -> None:
        """Inserts many insertions, given in descending order, in one pass."""
        if not insertions:
            return
        forward = insertions[::-1]
        places = np.repeat([b.row for b in forward], [len(b.codes) for b in forward])
        self.codes = np.insert(self.codes, places, [c for b in forward for c in b.codes])
        self.depths = np.insert(self.depths, places, [d for b in forward for d in b.depths])
        self._row_of = None

    def replace(self, codes: Codes, depths: NDArray[np.int32]) -> None:
        self.codes, self.depths = codes, depths
        self._row_of = None
