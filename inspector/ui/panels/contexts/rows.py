"""Flat layout of the context tree: codes and order of rows, expansion, matches, insertions as it grows.

No Qt. A row is a code and a depth. Codes from 0 up are nodes of the context tree. Codes below 0 alternate between a
space, its main context, and a source. An update compares the tree with the last look, so its cost depends on the
changes: first remove `stale_spans`, then insert `insertions`. `layout` builds all rows; both ways give the same rows.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.ui.panels.contexts.source_level import SourceLevel


def root_code(place: int) -> int:
    """Returns the code of a space's row, by its index."""
    return -1 - 3 * place


def main_code(place: int) -> int:
    """Returns the code of a space's main context, by the space's index."""
    return -2 - 3 * place


def source_code(place: int) -> int:
    """Returns the code of a source's row, by its index in the capture."""
    return -3 - 3 * place


def is_root(code: int) -> bool:
    """Returns True for the code of a space's row."""
    # A remainder is never negative in Python: -1 % 3 is 2.
    return code < 0 and code % 3 == 2


def is_source(code: int) -> bool:
    """Returns True for the code of a source's row."""
    return code < 0 and code % 3 == 0


def place_of(code: int) -> int:
    """Returns the index of a code's space; for a source's row the index of the source."""
    return (-1 - code) // 3


class RowInsertion(NamedTuple):
    """Rows to insert before `row`."""

    row: int
    codes: Sequence[int]
    depths: Sequence[int]


class ContextMatches:
    """Search result: nodes with a matching label or name, case-insensitive.

    Attributes:
        needle: the text, case folded.
        matches: matching nodes.
        closed: codes collapsed by hand during the search.
    """

    def __init__(self, contexts: ContextPass, text: str) -> None:
        self._contexts = contexts
        self.needle = text.strip().casefold()
        self.closed: set[int] = set()
        self.matches: set[int] = set()
        self._ancestors: set[int] = set()
        self._seen = self._moves = -1
        self.look_on(())

    def look_on(self, touched: Iterable[int]) -> None:
        """Updates the result. O(new and touched nodes), or O(all nodes) after moves or merges."""
        tree = self._contexts.tree
        if tree.moves != self._moves:
            self.matches.clear()
            self._ancestors.clear()
            self._match_nodes(tree.alive())
        else:
            self._match_nodes({*range(self._seen, len(tree)), *touched})
        self._seen, self._moves = len(tree), tree.moves

    def _match_nodes(self, nodes: Iterable[int]) -> None:
        tree = self._contexts.tree
        for node in nodes:
            label = tree.label[node]
            if self.needle in tree.name[node].casefold() or (label and self.needle in label.casefold()):
                self.matches.add(node)
                above = tree.parent[node]
                while above != MAIN and above not in self._ancestors:
                    self._ancestors.add(above)
                    above = tree.parent[above]

    def shows(self, code: int) -> bool:
        """Returns True for a match or its ancestor; for the main context if its name matches."""
        return (code in self.matches or code in self._ancestors) if code >= 0 else self.needle in "main"

    def leads_on(self, node: int) -> bool:
        """Returns True if a node has matches below it."""
        return node in self._ancestors


@dataclass(frozen=True, slots=True)
class Growth:
    """Changed node numbers; a node that moved and then merged is in both lists."""

    appeared: list[int]
    moved: list[int]
    gone: list[int]
    """Merged into another node, or dropped."""


class TreeWatch:
    """Detects changes of the tree since the last look. O(new nodes), plus two array comparisons after moves or merges.

    Attributes:
        seen: nodes looked at so far, dead ones included.
        alive: living nodes among them.
    """

    def __init__(self, tree: ContextTree) -> None:
        self._tree = tree
        self._moves = -1
        self._parents = _ArraySnapshot()
        self._aliases = _ArraySnapshot()
        self.alive = 0

    @property
    def seen(self) -> int:
        """Nodes looked at so far, dead ones included."""
        return len(self._parents)

    @property
    def is_outdated(self) -> bool:
        """True if the tree has changed since the last look."""
        return len(self._tree) != self.seen or self._tree.moves != self._moves

    def take_changes(self) -> Growth:
        """Returns the changes since the last look."""
        tree, seen = self._tree, self.seen
        moved: list[int] = []
        gone: list[int] = []
        # `tree.alive()` makes a list of all nodes, 8 ms at 100,000; comparing its array takes 0.05 ms.
        aliases = tree.aliases
        if tree.moves != self._moves:
            self._moves = tree.moves
            moved = self._parents.differences(tree.parent)
            gone = [node for node in self._aliases.differences(aliases) if aliases[node] != node]
        self._parents.extend(tree.parent)
        self._aliases.extend(aliases)
        new = self._aliases.values[seen:]
        appeared = (np.flatnonzero(new == np.arange(seen, len(tree))) + seen).tolist()
        self.alive += len(appeared) - len(gone)
        return Growth(appeared, moved, gone)


class _ArraySnapshot:
    """Copy of a growing array at the last look."""

    def __init__(self) -> None:
        self._room: NDArray[Any] = np.empty(1024, np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[Any]:
        return self._room[: self._length]

    def differences(self, now: array[int]) -> list[int]:
        """Returns the changed positions in the known part of `now`, and copies their values."""
        found = np.flatnonzero(self.values != as_numpy(now)[: self._length])
        self._room[found] = as_numpy(now)[found]
        return found.tolist()

    def extend(self, now: array[int]) -> None:
        """Copies the new end of `now`."""
        length = len(now)
        if length > len(self._room):
            # Doubling the buffer makes appends constant on average.
            self._room = np.concatenate(
                (self.values, np.empty(max(length, len(self._room) * 2) - self._length, np.int32))
            )
        self._room[self._length : length] = as_numpy(now)[self._length :]
        self._length = length


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
        spaces: string ids of the spaces in the order first seen; never reordered.
        sources: the level of sources, with the spaces below each.
        codes: (n,) int32, code of each row.
        depths: (n,) int32, 0 for a space, 1 for its main context and its root contexts; 1 more below sources.
        dirty: codes of rows changed since the last look by other causes than messages.
    """

    def __init__(self, contexts: ContextPass, sources: SourceLevel) -> None:
        self._contexts = contexts
        self._tree = contexts.tree
        self.sources = sources
        # At the last layout.
        self._level = sources.size
        # Indexes of spaces, by source.
        self._below: dict[int, list[int]] = {}
        self.spaces: list[int] = []
        self.codes: Codes = np.empty(0, np.int32)
        self.depths: NDArray[np.int32] = np.empty(0, np.int32)
        self.dirty: set[int] = set()
        self._places: dict[int, int] = {}
        self._row_of: Codes | None = None
        self._open: dict[int, bool] = {}
        self._default_depth = DEFAULT_DEPTH
        self._matches: ContextMatches | None = None
        self._snapshot = TreeWatch(self._tree)
        # Nodes without a row.
        self._to_insert: list[int] = []
        self._update_nodes()
        self._to_insert = []
        self.replace(*self.layout())

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def nodes(self) -> int:
        """Number of contexts."""
        return self._snapshot.alive

    @property
    def is_outdated(self) -> bool:
        """True if the tree has changed since the last look."""
        return self._snapshot.is_outdated or any(space not in self._places for space in self._contexts.spaces)

    @property
    def regrouped(self) -> bool:
        """True if a full layout is necessary, because the level of sources has changed."""
        return self.sources.size != self._level

    # Queries

    def row_of(self, code: int) -> int:
        """Returns the row of a code; -1 if it is hidden."""
        rows, seen = self._rows(), self._snapshot.seen
        return int(rows[code]) if seen - len(rows) <= code < seen else -1

    def rows_of(self, codes: Iterable[int]) -> Codes:
        """Returns the visible rows of codes, ascending and unique."""
        wanted, rows, seen = np.fromiter(codes, np.int64), self._rows(), self._snapshot.seen
        found = np.unique(rows[wanted[(wanted >= seen - len(rows)) & (wanted < seen)]])
        return found[found >= 0]

    def _rows(self) -> Codes:
        """Returns row by code; negative codes index from the end, as in numpy."""
        if self._row_of is None:
            self._row_of = np.full(self._snapshot.seen + 3 * max(len(self.spaces), self._level), -1, np.int32)
            self._row_of[self.codes] = np.arange(len(self.codes), dtype=np.int32)
        return self._row_of

    def shown_row(self, code: int) -> int:
        """Returns the row of a code or of its nearest visible ancestor; -1 for neither."""
        rows, parent, known = self._rows(), self._tree.parent, self._snapshot.seen
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
            return source_code(self.sources.home(self.spaces[place_of(code)]))
        if code < 0:
            return root_code(place_of(code))
        parent = self._tree.parent[code]
        return parent if parent != MAIN else root_code(self._places[self._tree.space[code]])

    def code_of(self, space: int, node: int | None) -> int | None:
        """Returns the code of a node, a space's main context (MAIN) or the space itself (None); None if unknown."""
        if node is not None and node != MAIN:
            node = self._tree.resolve(node)
            if node != MAIN:
                return node
        place = self._places.get(space)
        return None if place is None else root_code(place) if node is None else main_code(place)

    def space_of(self, code: int) -> int:
        """Returns the string id of a code's space; 0 for a source."""
        if is_source(code):
            return 0
        return self._tree.space[code] if code >= 0 else self.spaces[place_of(code)]

    def children(self, code: int) -> list[int]:
        """Returns the codes of direct children, visible or not, except those hidden by the search."""
        if is_source(code):
            return [root_code(place) for place in self._below.get(place_of(code), ())]
        if code >= 0:
            below = self._tree.children[code]
        elif is_root(code):
            below = [main_code(place_of(code)), *self._tree.roots.get(self.spaces[place_of(code)], ())]
        else:
            return []
        return [c for c in below if self._matches.shows(c)] if self._matches is not None else below

    def _last_children(self, code: int, count: int) -> list[int]:
        """Returns the last `count` direct children; new ones are at the end."""
        tree = self._tree
        return tree.children.last(code, count) if code >= 0 else tree.roots.last(self.spaces[place_of(code)], count)

    def has_children(self, code: int) -> bool:
        if code < 0:
            return is_root(code) or (is_source(code) and place_of(code) in self._below)
        return self._matches.leads_on(code) if self._matches is not None else self._tree.children.any(code)

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
        self._level, self._row_of = self.sources.size, None
        self._below = {}
        for place, space in enumerate(self.spaces):
            self._below.setdefault(self.sources.home(space), []).append(place)
        first = [source_code(place) for place in range(self._level)]
        codes, depths = self._walk(first or [root_code(place) for place in range(len(self.spaces))], 0)
        return np.array(codes, np.int32), np.array(depths, np.int32)

    # Tree changes

    def stale_spans(self) -> list[tuple[int, int]]:
        """Looks at the tree and returns misplaced row spans (first, last), in descending order."""
        rows = self.rows_of(self._update_nodes())
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
        tree, inner = self._tree, set(nodes)
        gained = Counter(self.above(node) for node in nodes if tree.parent[node] not in inner)
        self.dirty.update(gained)
        shown = {code: self.row_of(code) for code in gained}
        return Counter(
            {c: n for c, n in gained.items() if shown[c] >= 0 and self.is_open(c, int(self.depths[shown[c]]))}
        )

    def _new_spaces(self) -> list[RowInsertion]:
        """Returns the rows of spaces without one, ascending."""
        if not self._level:
            new = [place for place in range(len(self.spaces)) if self.row_of(root_code(place)) < 0]
            return [RowInsertion(len(self.codes), *self._walk([root_code(place)], 0)) for place in new]
        found: list[RowInsertion] = []
        for source in range(self._level):
            code = source_code(source)
            row, new = self.row_of(code), [below for below in self.children(code) if self.row_of(below) < 0]
            if new and self.is_open(code, 0):
                found.append(RowInsertion(self.end(row), *self._walk(new, 1)))
        return found

    def _update_nodes(self) -> list[int]:
        """Updates spaces and nodes; returns known nodes that moved or merged."""
        self.sources.feed()
        for space in self._contexts.spaces:
            if space not in self._places:
                self._places[space] = len(self.spaces)
                self._below.setdefault(self.sources.home(space), []).append(len(self.spaces))
                self.spaces.append(space)
                self._row_of = None
        growth = self._snapshot.take_changes()
        self._keep_expansion(growth)
        self._row_of = None
        self._to_insert = [*(node for node in growth.moved if self._tree.resolve(node) == node), *growth.appeared]
        return [*growth.moved, *growth.gone]

    def _keep_expansion(self, growth: Growth) -> None:
        """Keeps the expansion of moved nodes; merged nodes pass theirs on."""
        for node in growth.moved:
            row = self.row_of(node)
            if row >= 0 and self._tree.children.any(node):
                self._open.setdefault(node, self.is_open(node, int(self.depths[row])))
        for node in growth.gone:
            into = self._tree.resolve(node)
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
