"""How many findings there are in each context and below it, followed as findings come and go and contexts move.

The cost goes by the messages whose findings changed; where contexts moved or merged, by the contexts as well.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import ascending
from inspector.analysis.findings.batch import Array
from inspector.analysis.findings.check import Severity
from inspector.analysis.findings.store import Findings
from inspector.analysis.passes.changes import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.node_ancestry import gathered
from inspector.analysis.passes.contexts.subtree_sums import DearSums
from inspector.store.messages.capture import Capture

_MOST_WAITING = 65_536
_MOST_STEPS = 64  # up the tree, level by level; a deeper tree is summed up as a whole when it is asked
_MOST_TOUCHED = 64  # arrays, until they are made one
_KINDS = len(Severity) + 1
_DENSE = 8

Counts = NDArray[np.integer[Any]]
"""(n, 4) notes, warnings, errors, and messages with a warning or an error."""


class Tally(NamedTuple):
    """Findings by severity, and the messages with a problem.

    Attributes:
        notes, warnings, errors: findings.
        problems: messages with a warning or an error, however many: what is stepped through, filtered and counted.
    """

    notes: int = 0
    warnings: int = 0
    errors: int = 0
    problems: int = 0

    @property
    def worst(self) -> Severity | None:
        """The highest severity among them; None when there are none."""
        if self.errors:
            return Severity.ERROR
        return Severity.WARNING if self.warnings else Severity.NOTE if self.notes else None


NONE = Tally()


class FindingsByContext:
    """Counts of findings by context and by space.

    Every message is counted with the findings it had when last looked at, so that only the difference moves up.
    """

    def __init__(self, capture: Capture, contexts: ContextPass, found: Findings) -> None:
        self._capture = capture
        self._contexts = contexts
        self._found = found
        self._waiting: list[Rows] = []
        self._waits = 0
        self._counted = np.zeros(1024, np.uint16)  # by message, the set of findings it is counted with
        self._worth: Counts = np.zeros((1, _KINDS), np.int64)  # by set
        self._by_ref: Counts = np.zeros((64, _KINDS), np.int32)  # what a message refers to never changes, nodes do
        self._space_of_ref = np.zeros(64, np.int64)
        self._below: Counts = np.zeros((64, _KINDS), np.int32)  # by node, those below it included
        self._behind = False  # they are to be summed up anew
        self._dear = DearSums()
        self._main: dict[int, Counts] = {}  # by space, of messages without any context
        self._astray: dict[int, Counts] = {}  # by space, of those whose context turned out to be main
        self._all: dict[int, Counts] = {}
        self._moves = 0
        self._touched: list[Array] = []
        self._touched_spaces: set[int] = set()

    # Following

    def note(self, rows: Rows) -> None:
        """Note messages whose findings changed. O(1) mostly: they are counted when somebody asks."""
        if len(rows):
            self._waiting.append(rows)
            self._waits += len(rows)
            if self._waits > _MOST_WAITING:
                self._settle()

    def _settle(self) -> None:
        if self._waiting:
            rows = ascending(*self._waiting)
            self._waiting, self._waits = [], 0
            self._count(rows)
        if self._moves != self._contexts.tree.moves:
            self._sum_up()

    def _count(self, rows: Rows) -> None:
        sets = self._found.columns["set"]
        if len(self._found.sets) > np.iinfo(self._counted.dtype).max:
            self._counted = self._counted.astype(np.uint32)
        self._counted = _reaching(self._counted, len(sets))
        after, before = sets[rows], self._counted[rows]
        self._counted[rows] = after
        worth = self._worths()
        gained = worth[after] - worth[before]
        changed = np.flatnonzero(gained.any(axis=1))
        rows, gained = rows[changed], gained[changed]
        if not len(rows):
            return
        refs, spaces = self._contexts.refs_of(rows), self._capture.columns["space"][rows]
        most = int(refs.max()) + 1
        self._by_ref, self._space_of_ref = _reaching(self._by_ref, most), _reaching(self._space_of_ref, most)
        np.add.at(self._by_ref, refs, gained)
        self._space_of_ref[refs] = spaces
        _add_by(self._all, spaces, gained)
        _add_by(self._main, spaces[refs == 0], gained[refs == 0])
        self._touched_spaces.update(ascending(spaces).tolist())
        nodes = self._contexts.nodes_of(rows)
        self._touch(ascending(nodes[nodes != MAIN]))
        if self._moves != self._contexts.tree.moves:
            return  # all is summed up anyway
        astray = (nodes == MAIN) & (refs != 0)
        _add_by(self._astray, spaces[astray], gained[astray])
        self._carry(nodes, gained)

    def _worths(self) -> Counts:
        """By set, how many notes, warnings and errors it holds, and whether it makes its message one with a problem."""
        sets, known = self._found.sets, len(self._worth)
        if len(sets) > known:
            new = np.zeros((len(sets) - known, _KINDS), np.int64)
            for place in range(len(new)):
                for check in self._found.checks_in(known + place):
                    new[place, check.severity - 1] += 1
            new[:, -1] = new[:, Severity.WARNING - 1 : -1].any(axis=1)
            self._worth = np.concatenate((self._worth, new))
        return self._worth

    def _touch(self, nodes: Array) -> None:
        self._touched.append(nodes)
        if len(self._touched) > _MOST_TOUCHED:
            self._touched = [ascending(*self._touched)]

    def _carry(self, nodes: Array, gained: Counts) -> None:
        """Add to nodes and to all above them, a level a turn."""
        tree = self._contexts.tree
        self._below = _reaching(self._below, len(tree))
        if self._behind:
            return
        parents, left = as_numpy(tree.parent), len(tree)
        for _ in range(_MOST_STEPS):
            inside = nodes != MAIN
            if not inside.any():
                return
            left -= len(nodes)
            if left < 0:
                break
            nodes, gained = _summed(nodes[inside], gained[inside], len(tree))
            self._below[nodes] += gained
            nodes = parents[nodes]
        self._behind = True

    def _own(self) -> Counts:
        """By node, findings of the messages in it."""
        own = np.zeros((len(self._contexts.tree), _KINDS), np.int64)
        refs = np.flatnonzero(self._by_ref.any(axis=1))
        nodes = self._contexts.nodes_of_refs(refs)
        np.add.at(own, nodes[nodes != MAIN], self._by_ref[refs[nodes != MAIN]])
        return own

    def _sum_up(self) -> None:
        """Count anew by what contexts became: some moved or merged."""
        self._moves = self._contexts.tree.moves
        refs = np.flatnonzero(self._by_ref.any(axis=1))
        refs = refs[refs != 0]
        nodes = self._contexts.nodes_of_refs(refs)
        astray = refs[nodes == MAIN]
        self._astray = {}
        _add_by(self._astray, self._space_of_ref[astray], self._by_ref[astray])
        before, self._below, self._behind = self._below, np.zeros_like(self._below), False
        self._carry(nodes, self._by_ref[refs])
        if self._behind:
            self._below = _reaching(before, len(self._below))

    def _sum_all(self) -> None:
        """Sum up a tree too deep to go through it level by level. O(contexts log depth)."""
        with self._dear:
            parents = as_numpy(self._contexts.tree.parent)
            two_by_two = self._own().astype(np.int32).view(np.int64)  # none has more than 2^31
            sums = [gathered(pair, parents) if pair.any() else pair for pair in two_by_two.T]
            self._below = np.stack(sums, axis=1).view(np.int32)
        self._behind = False

    # Asking

    def below(self, node: int) -> Tally:
        """Findings in a context and below it; `node` is a living one, not MAIN."""
        self._settle()
        if self._behind:
            self._sum_all()
        return Tally(*self._below[node].tolist()) if node < len(self._below) else NONE

    def recent(self, node: int) -> Tally:
        """The same for views: of a very deep tree as of a moment ago, `is_behind` then."""
        if self._dear.due:
            return self.below(node)
        return Tally(*self._below[node].tolist()) if node < len(self._below) else NONE

    @property
    def is_behind(self) -> bool:
        """Whether findings came since a deep tree was last summed up."""
        return self._behind

    def in_main(self, space: int) -> Tally:
        """Findings in the main context of a space (string id)."""
        self._settle()
        return _tally(self._main.get(space), self._astray.get(space))

    def in_space(self, space: int) -> Tally:
        """Findings in a space (string id)."""
        self._settle()
        return _tally(self._all.get(space))

    def take_touched(self) -> tuple[Array, set[int]]:
        """Contexts and spaces whose own findings changed since the last call; contexts that moved are not told."""
        self._settle()
        nodes = ascending(*self._touched) if self._touched else NO_ROWS
        spaces, self._touched, self._touched_spaces = self._touched_spaces, [], set()
        return nodes, spaces


def _reaching(values: Array, length: int) -> Array:
    """An array with room for so many, the new ones 0."""
    if length <= len(values):
        return values
    grown = np.zeros((max(length, 2 * len(values)), *values.shape[1:]), values.dtype)
    grown[: len(values)] = values
    return grown


def _add_by(held: dict[int, Counts], keys: Array, gained: Counts) -> None:
    found, sums = _summed(keys, gained)
    for place, key in enumerate(found.tolist()):
        held[key] = held[key] + sums[place] if key in held else sums[place]


def _summed(keys: Array, gained: Counts, size: int = 0) -> tuple[Array, Counts]:
    """Each key once, with the sum of what was gained by it; `size` is above all keys, 0 when that is not known."""
    if len(keys) * _DENSE > size > 0:  # no sorting
        counts = [np.bincount(keys, gained[:, kind], size) for kind in range(_KINDS)]
        found = np.flatnonzero(np.bincount(keys, minlength=size))
        return found, np.stack([sums[found] for sums in counts], axis=1).astype(np.int64)
    found, places = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(found), _KINDS), np.int64)
    np.add.at(sums, places, gained)
    return found, sums


def _tally(*parts: Counts | None) -> Tally:
    there = [part for part in parts if part is not None]
    return Tally(*np.sum(there, axis=0).tolist()) if there else NONE
