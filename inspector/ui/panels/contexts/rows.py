"""The context tree laid flat: which rows there are, in which order, and how they follow the tree as it grows.

No Qt. A row is a number (its code) and a depth. From 0 up the code is a node of the context tree; below 0, by turns, a
space, its main context, and a source. Changes are worked out from what the tree gained since the last look, so that
their cost goes by the changes and not by the rows: first `stale_spans` are removed, then `insertions` are inserted.
`layout` makes everything anew; both ways give the same rows.
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
    """The row of the space with this place."""
    return -1 - 3 * place


def main_code(place: int) -> int:
    """The row of its main context."""
    return -2 - 3 * place


def source_code(place: int) -> int:
    """The row of the source with this place in the capture."""
    return -3 - 3 * place


def is_root(code: int) -> bool:
    """Whether a code is the row of a space."""
    return code < 0 and code % 3 == 2


def is_source(code: int) -> bool:
    """Whether a code is the row of a source."""
    return code < 0 and code % 3 == 0


def place_of(code: int) -> int:
    """The place of the space a space's row or main row belongs to; of a source's row that of the source."""
    return (-1 - code) // 3


class RowInsertion(NamedTuple):
    """Rows to insert before `row`."""

    row: int
    codes: Sequence[int]
    depths: Sequence[int]


class ContextMatches:
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


@dataclass(frozen=True, slots=True)
class Growth:
    """Node numbers; a node that moved and is gone stands in both."""

    appeared: list[int]
    moved: list[int]
    gone: list[int]
    """Merged into another node, or dropped."""


class TreeWatch:
    """Compares the tree with what it was. O(new nodes); when nodes moved or merged, two comparisons of arrays more.

    Attributes:
        seen: nodes looked at so far, dead ones included.
        alive: of these, nodes in the tree.
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
    def behind(self) -> bool:
        """Whether anything happened since the last look."""
        return len(self._tree) != self.seen or self._tree.moves != self._moves

    def look(self) -> Growth:
        """What happened since the last look."""
        tree, seen = self._tree, self.seen
        moved: list[int] = []
        gone: list[int] = []
        # `tree.alive()` makes a list of all nodes, 8 ms at 100,000; the array behind it is compared in 0.05 ms.
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
    """What an array that grows was at the last look."""

    def __init__(self) -> None:
        self._room: NDArray[Any] = np.empty(1024, np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> NDArray[Any]:
        return self._room[: self._length]

    def differences(self, now: array[int]) -> list[int]:
        """Where the beginning of `now` differs from what is kept, which is made equal to it."""
        found = np.flatnonzero(self.values != as_numpy(now)[: self._length])
        self._room[found] = as_numpy(now)[found]
        return found.tolist()

    def extend(self, now: array[int]) -> None:
        """Keep what `now` has gained at its end."""
        length = len(now)
        if length > len(self._room):
            self._room = np.concatenate(
                (self.values, np.empty(max(length, len(self._room) * 2) - self._length, np.int32))
            )
        self._room[self._length : length] = as_numpy(now)[self._length :]
        self._length = length


Codes = NDArray[np.int32]

DEFAULT_DEPTH = 2
"""Contexts down to this depth are shown until somebody expands or collapses them."""

EVERYTHING = 1 << 30
"""A depth no tree reaches."""

_FEW = 16
"""Rows of one depth of which the end of each is looked for by itself."""


class ContextRows:
    """The rows shown, and what is expanded.

    Attributes:
        spaces: string ids of the spaces, in the order first seen here; never reordered.
        sources: whether sources are the first level, and which spaces lie below each.
        codes: (n,) int32, what each row is.
        depths: (n,) int32, 0 for a space, 1 for its main context and its root contexts; 1 more below sources.
        dirty: codes whose row looks different since the last look for other reasons than their messages.
    """

    def __init__(self, contexts: ContextPass, sources: SourceLevel) -> None:
        self._contexts = contexts
        self._tree = contexts.tree
        self.sources = sources
        self._level = sources.size  # as rows are laid out
        self._below: dict[int, list[int]] = {}  # places of spaces, by source
        self.spaces: list[int] = []
        self.codes: Codes = np.empty(0, np.int32)
        self.depths: NDArray[np.int32] = np.empty(0, np.int32)
        self.dirty: set[int] = set()
        self._places: dict[int, int] = {}
        self._row_of: Codes | None = None
        self._open: dict[int, bool] = {}
        self._default_depth = DEFAULT_DEPTH
        self._found: ContextMatches | None = None
        self._watch = TreeWatch(self._tree)
        self._to_insert: list[int] = []  # nodes that have no row yet
        self._catch_up()
        self._to_insert = []
        self.replace(*self.layout())

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def nodes(self) -> int:
        """Contexts there are."""
        return self._watch.alive

    @property
    def behind(self) -> bool:
        """Whether the tree has gained or moved anything since the last look."""
        return self._watch.behind or any(space not in self._places for space in self._contexts.spaces)

    @property
    def regrouped(self) -> bool:
        """Whether all has to be laid out anew: sources came, or became a level of the tree or none."""
        return self.sources.size != self._level

    # Asking

    def row_of(self, code: int) -> int:
        """The row of a code, -1 when it is not shown."""
        rows, seen = self._rows(), self._watch.seen
        return int(rows[code]) if seen - len(rows) <= code < seen else -1

    def rows_of(self, codes: Iterable[int]) -> Codes:
        """The rows of those of the codes that are shown, ascending and unique."""
        wanted, rows, seen = np.fromiter(codes, np.int64), self._rows(), self._watch.seen
        found = np.unique(rows[wanted[(wanted >= seen - len(rows)) & (wanted < seen)]])
        return found[found >= 0]

    def _rows(self) -> Codes:
        """Row by code; those below 0 count from the end, as they do for numpy."""
        if self._row_of is None:
            self._row_of = np.full(self._watch.seen + 3 * max(len(self.spaces), self._level), -1, np.int32)
            self._row_of[self.codes] = np.arange(len(self.codes), dtype=np.int32)
        return self._row_of

    def shown_row(self, code: int) -> int:
        """The row of a code, or of the nearest shown row above it; -1 when there is none."""
        rows, parent, known = self._rows(), self._tree.parent, self._watch.seen
        while 0 <= code < known and rows[code] < 0 and parent[code] != MAIN:
            code = parent[code]
        while True:  # its own, its space's, its source's
            row, above = self.row_of(code), self.above(code)
            if row >= 0 or above == code:
                return row
            code = above

    def shown_codes(self, nodes: Iterable[int]) -> set[int]:
        """Of each node its own code when it is shown, else that of the nearest shown row above it."""
        wanted = np.fromiter(nodes, np.int64)
        hidden = self._rows()[wanted] < 0
        above = {self.shown_row(node) for node in wanted[hidden].tolist()} - {-1}
        return {*wanted[~hidden].tolist(), *(int(self.codes[row]) for row in above)}

    def above(self, code: int) -> int:
        """The code one level up; that of the first level is its own."""
        if is_source(code) or (is_root(code) and not self._level):
            return code
        if is_root(code):
            return source_code(self.sources.home(self.spaces[place_of(code)]))
        if code < 0:
            return root_code(place_of(code))
        parent = self._tree.parent[code]
        return parent if parent != MAIN else root_code(self._places[self._tree.space[code]])

    def code_of(self, space: int, node: int | None) -> int | None:
        """The code of a node, of a space's main context (MAIN) or of the space itself (None); None if unknown."""
        if node is not None and node != MAIN:
            node = self._tree.resolve(node)
            if node != MAIN:
                return node
        place = self._places.get(space)
        return None if place is None else root_code(place) if node is None else main_code(place)

    def space_of(self, code: int) -> int:
        """String id of the space a code belongs to; that of none for a source."""
        if is_source(code):
            return 0
        return self._tree.space[code] if code >= 0 else self.spaces[place_of(code)]

    def children(self, code: int) -> list[int]:
        """Codes directly below, shown or not, without those the find box hides."""
        if is_source(code):
            return [root_code(place) for place in self._below.get(place_of(code), ())]
        if code >= 0:
            below = self._tree.children[code]
        elif is_root(code):
            below = [main_code(place_of(code)), *self._tree.roots.get(self.spaces[place_of(code)], ())]
        else:
            return []
        return [c for c in below if self._found.shows(c)] if self._found is not None else below

    def _last_children(self, code: int, count: int) -> list[int]:
        """As many of the codes directly below as there are new ones, which come last; none is hidden."""
        tree = self._tree
        return tree.children.last(code, count) if code >= 0 else tree.roots.last(self.spaces[place_of(code)], count)

    def has_children(self, code: int) -> bool:
        """Whether there is anything to expand."""
        if code < 0:
            return is_root(code) or (is_source(code) and place_of(code) in self._below)
        return self._found.leads_on(code) if self._found is not None else self._tree.children.any(code)

    def is_open(self, code: int, depth: int) -> bool:
        """Whether the rows below a row are shown, if it has any."""
        if self._found is not None:
            return code not in self._found.closed
        return self._open.get(code, depth < self._default_depth + (self._level > 0))

    def end(self, row: int) -> int:
        """One past the last row below a row."""
        return self._end_from(row + 1, int(self.depths[row]))

    def _end_from(self, start: int, depth: int) -> int:
        size = 64
        while start < len(self.depths):
            out = self.depths[start : start + size] <= depth
            first = int(out.argmax())
            if out[first]:
                return start + first
            start, size = start + size, size * 4
        return len(self.depths)

    def _ends(self, rows: Codes) -> Codes:
        """`end` of many rows at once: of each depth that many of them have, what ends there is found together."""
        ends, limits = rows.copy(), self.depths[rows]
        for depth in np.unique(limits).tolist():
            some = np.flatnonzero(limits == depth)
            if len(some) < _FEW:
                ends[some] = [self.end(row) for row in rows[some].tolist()]
            else:
                stops = np.append(np.flatnonzero(self.depths <= depth), len(self.depths))
                ends[some] = stops[stops.searchsorted(rows[some], "right")]
        return ends

    # Expanding

    def set_open(self, code: int, on: bool) -> None:
        """Remember that a row is expanded or collapsed; changes no rows."""
        if self._found is not None:
            (self._found.closed.discard if on else self._found.closed.add)(code)
        else:
            self._open[code] = on

    def set_depth(self, depth: int) -> None:
        """Expand everything above a depth and collapse the rest; changes no rows."""
        self._open.clear()
        self._default_depth = depth
        if self._found is not None:
            self._found.closed.clear()

    @property
    def expands_all(self) -> bool:
        """Whether everything was expanded at once, last time."""
        return self._default_depth == EVERYTHING

    def set_found(self, found: ContextMatches | None) -> None:
        """Show only what the find box found, or everything again; changes no rows."""
        self._found = found

    @property
    def found(self) -> ContextMatches | None:
        """What the find box found; None when it is empty."""
        return self._found

    def _walk(self, codes: Sequence[int], depth: int) -> tuple[list[int], list[int]]:
        """The rows of some siblings and of what is expanded below them."""
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
        """The rows that appear when a row is expanded."""
        codes, depths = self._walk(self.children(int(self.codes[row])), int(self.depths[row]) + 1)
        return RowInsertion(row + 1, codes, depths)

    def layout(self) -> tuple[Codes, NDArray[np.int32]]:
        """All rows made anew, with sources as a level if they are to be one: codes and depths. O(rows)."""
        self._level, self._row_of = self.sources.size, None
        self._below = {}
        for place, space in enumerate(self.spaces):
            self._below.setdefault(self.sources.home(space), []).append(place)
        first = [source_code(place) for place in range(self._level)]
        codes, depths = self._walk(first or [root_code(place) for place in range(len(self.spaces))], 0)
        return np.array(codes, np.int32), np.array(depths, np.int32)

    # Following the tree

    def stale_spans(self) -> list[tuple[int, int]]:
        """Look what the tree did; give the rows (first, last) that are no longer where they belong, last ones first."""
        rows = self.rows_of(self._catch_up())
        spans: list[tuple[int, int]] = []
        for row, end in zip(rows.tolist(), self._ends(rows).tolist(), strict=True):
            if not spans or row > spans[-1][1]:
                spans.append((row, end - 1))
        return spans[::-1]

    def insertions(self) -> list[RowInsertion]:
        """The rows of what appeared or moved, last ones first; call it when the stale spans are removed."""
        nodes, self._to_insert = self._to_insert, []
        found = self._new_spaces()
        below = self._grown(nodes)
        if not below:
            return found[::-1]
        rows = self._rows()[np.fromiter(below, np.int64)]
        for code, row, end in zip(below, rows.tolist(), self._ends(rows).tolist(), strict=True):
            depth = int(self.depths[row])
            added = self._last_children(code, below[code])
            found.append(RowInsertion(end, *self._walk(added, depth + 1)))
        # Where two insertions meet, the deeper one belongs to the branch that ends there and comes first.
        found.sort(key=lambda insertion: (insertion.row, -insertion.depths[0]), reverse=True)
        return found

    def _grown(self, nodes: list[int]) -> Counter[int]:
        """How many children each shown and expanded row gained."""
        tree, inner = self._tree, set(nodes)
        gained = Counter(self.above(node) for node in nodes if tree.parent[node] not in inner)
        self.dirty.update(gained)
        shown = {code: self.row_of(code) for code in gained}
        return Counter(
            {c: n for c, n in gained.items() if shown[c] >= 0 and self.is_open(c, int(self.depths[shown[c]]))}
        )

    def _new_spaces(self) -> list[RowInsertion]:
        """The rows of spaces that have none yet, first ones first."""
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

    def _catch_up(self) -> list[int]:
        """Note what the tree gained; give the nodes seen before that are gone or moved."""
        self.sources.feed()
        for space in self._contexts.spaces:
            if space not in self._places:
                self._places[space] = len(self.spaces)
                self._below.setdefault(self.sources.home(space), []).append(len(self.spaces))
                self.spaces.append(space)
                self._row_of = None
        growth = self._watch.look()
        self._keep_open(growth)
        self._row_of = None
        self._to_insert = [*(node for node in growth.moved if self._tree.resolve(node) == node), *growth.appeared]
        return [*growth.moved, *growth.gone]

    def _keep_open(self, growth: Growth) -> None:
        """Nodes that moved stay expanded as they are seen to be; those that merged hand it on."""
        for node in growth.moved:
            row = self.row_of(node)
            if row >= 0 and self._tree.children.any(node):
                self._open.setdefault(node, self.is_open(node, int(self.depths[row])))
        for node in growth.gone:
            into = self._tree.resolve(node)
            if node in self._open and into != MAIN:
                self._open.setdefault(into, self._open[node])

    # Changing the rows

    def remove(self, first: int, last: int) -> None:
        """Take rows out, `last` included."""
        self.codes = np.concatenate((self.codes[:first], self.codes[last + 1 :]))
        self.depths = np.concatenate((self.depths[:first], self.depths[last + 1 :]))
        self._row_of = None

    def remove_all(self, spans: Sequence[tuple[int, int]]) -> None:
        """Take many runs of rows out at once."""
        stays = np.ones(len(self.codes), np.bool_)
        for first, last in spans:
            stays[first : last + 1] = False
        self.codes, self.depths = self.codes[stays], self.depths[stays]
        self._row_of = None

    def insert(self, insertion: RowInsertion) -> None:
        """Put rows in."""
        codes, depths = np.array(insertion.codes, np.int32), np.array(insertion.depths, np.int32)
        self.codes = np.concatenate((self.codes[: insertion.row], codes, self.codes[insertion.row :]))
        self.depths = np.concatenate((self.depths[: insertion.row], depths, self.depths[insertion.row :]))
        self._row_of = None

    def insert_all(self, insertions: Sequence[RowInsertion]) -> None:
        """Put many insertions in at once; they stand last ones first."""
        if not insertions:
            return
        forward = insertions[::-1]
        places = np.repeat([b.row for b in forward], [len(b.codes) for b in forward])
        self.codes = np.insert(self.codes, places, [c for b in forward for c in b.codes])
        self.depths = np.insert(self.depths, places, [d for b in forward for d in b.depths])
        self._row_of = None

    def replace(self, codes: Codes, depths: NDArray[np.int32]) -> None:
        """Take other rows."""
        self.codes, self.depths = codes, depths
        self._row_of = None
