"""What a table shows: the messages a filter and a scope let through, and the lines of expanded originals.

A row is a (message, part): part 0 is the message itself, parts 1 to n are lines of its expanded original, so that
all rows have one height (design.md 3). `visible` is an ascending array of message indices; expansions are few and
are kept apart, so nothing is as long as the capture but one array.
"""

from __future__ import annotations

import enum
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis, Changes
from inspector.analysis.context_tree import MAIN
from inspector.fields import Depends
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.protocol import kinds

Messages = NDArray[np.uint32]


class Reach(enum.Enum):
    """How far a scope reaches from its node."""

    BELOW = "and below"
    ONLY = "this one only"
    CHILDREN = "direct children"


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the context tree the table is bound to.

    Attributes:
        space: string id of the space.
        node: a node, MAIN for the main context, None for the whole space.
    """

    space: int
    node: int | None
    reach: Reach = Reach.BELOW


@dataclass(frozen=True, slots=True)
class Update:
    """What new traffic does to the rows; nothing is applied until it is handed to `VisibleRows.apply`.

    Attributes:
        visible: the messages shown afterwards.
        appended: rows come only at the end, so that views need not be reset.
        changed: messages shown before and after whose values changed.
    """

    visible: Messages
    appended: bool
    changed: NDArray[np.int64]


class VisibleRows:
    """The rows of one table.

    Attributes:
        filter: the display filter in force.
        scope: the part of the tree, or None for everything.
        visible: (n,) uint32, message indices shown, ascending.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.filter: DisplayFilter = compile_filter("")
        self.scope: Scope | None = None
        self.visible: Messages = np.empty(0, np.uint32)
        self._seen = 0
        self._expanded: dict[int, int] = {}
        self._places: list[int] = []
        self._starts: list[int] = []

    # Choosing

    def evaluate(self, filter_: DisplayFilter, scope: Scope | None) -> Messages:
        """The messages a filter and a scope let through; changes nothing."""
        rows = np.arange(len(self.analysis), dtype=np.int64)
        return self._chosen(filter_, scope, rows).astype(np.uint32)

    def choose(self, filter_: DisplayFilter, scope: Scope | None, visible: Messages | None = None) -> None:
        """Put a filter and a scope in force.

        Args:
            visible: what `evaluate` gave for them, when it was asked before.
        """
        visible = self.evaluate(filter_, scope) if visible is None else visible
        self.filter, self.scope = filter_, scope
        self._seen = len(self.analysis)
        self._replace(visible)

    def _chosen(self, filter_: DisplayFilter, scope: Scope | None, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        if scope is not None:
            rows = rows[self._in_scope(scope, rows)]
        return rows[filter_.mask(self.analysis, rows)]

    def _in_scope(self, scope: Scope, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        contexts = self.analysis.contexts
        held = contexts.nodes()[rows]
        here = self.analysis.capture.columns["space"][rows] == scope.space
        if scope.node is None:
            return here
        tree = contexts.tree
        node = tree.resolve(scope.node)
        if node == MAIN:
            return here & (held == MAIN)
        wanted = [] if scope.reach is Reach.CHILDREN else [node]
        if scope.reach is not Reach.ONLY:
            below = list(tree.children[node])
            while below:
                child = below.pop()
                wanted.append(child)
                if scope.reach is Reach.BELOW:
                    below.extend(tree.children[child])
        chosen = np.zeros(len(tree) + 1, bool)
        chosen[wanted] = True
        return chosen[held]

    # Following new traffic

    def prepare(self, changes: Changes, *, clock: bool = False) -> Update:
        """What a feed of the passes does to the rows.

        New messages are evaluated always, earlier ones only where their values may have changed the answer.

        Args:
            clock: time has passed, so that fields that go by it are looked at again.
        """
        depends = self.filter.depends
        everything = (changes.tree_moved and (self.scope is not None or Depends.TREE in depends)) or (
            Depends.CLOCK in depends and (clock or changes.stop > changes.start)
        )
        if everything:
            visible = self.evaluate(self.filter, self.scope)
            return Update(visible, self._extends(visible), self._shown(changes.changed, visible))
        fresh = self._chosen(self.filter, self.scope, np.arange(self._seen, len(self.analysis), dtype=np.int64))
        visible = self.visible
        changed = changes.changed[changes.changed < self._seen]
        if len(changed) and Depends.PASS in depends:
            kept = visible[~np.isin(visible, changed)]
            again = self._chosen(self.filter, self.scope, changed).astype(np.uint32)
            merged = np.union1d(kept, again).astype(np.uint32)
            if not np.array_equal(merged, visible):
                after = np.concatenate((merged, fresh.astype(np.uint32)))
                return Update(after, self._extends(after), self._shown(changed, after))
        after = np.concatenate((visible, fresh.astype(np.uint32))) if len(fresh) else visible
        return Update(after, appended=True, changed=self._shown(changed, visible))

    def _extends(self, visible: Messages) -> bool:
        return len(visible) >= len(self.visible) and np.array_equal(visible[: len(self.visible)], self.visible)

    @staticmethod
    def _shown(changed: NDArray[np.int64], visible: Messages) -> NDArray[np.int64]:
        return changed[np.isin(changed, visible)] if len(changed) else changed

    def apply(self, update: Update) -> None:
        """Make an update the truth."""
        self._seen = len(self.analysis)
        if not update.appended or len(update.visible) != len(self.visible):
            self._replace(update.visible)

    def _replace(self, visible: Messages) -> None:
        self.visible = visible
        self._index_expansions()

    # Rows

    def __len__(self) -> int:
        """Rows, lines of expanded originals included."""
        return len(self.visible) + sum(self._parts_at(place) for place in self._places)

    def _parts_at(self, place: int) -> int:
        return self._expanded[int(self.visible[place])]

    def _index_expansions(self) -> None:
        """Where expanded messages stand: their places in `visible`, ascending, and the row of each."""
        self._places = sorted(p for p in map(self._place_of, self._expanded) if p is not None)
        self._starts = []
        extra = 0
        for place in self._places:
            self._starts.append(place + extra)
            extra += self._parts_at(place)

    def _place_of(self, message: int) -> int | None:
        place = int(np.searchsorted(self.visible, message))
        return place if place < len(self.visible) and self.visible[place] == message else None

    def at(self, row: int) -> tuple[int, int]:
        """The (message, part) of a row. O(log expansions)."""
        before = bisect_right(self._starts, row) - 1
        if before < 0:
            return int(self.visible[row]), 0
        place, start = self._places[before], self._starts[before]
        parts = self._parts_at(place)
        part = row - start
        if part <= parts:
            return int(self.visible[place]), part
        return int(self.visible[place + part - parts]), 0

    def row_of(self, message: int, part: int = 0) -> int | None:
        """The row of a message or of a line of its original; None when it is not shown."""
        place = self._place_of(message)
        if place is None:
            return None
        before = bisect_left(self._places, place)
        return place + sum(self._parts_at(p) for p in self._places[:before]) + part

    def nearest_row(self, message: int) -> int:
        """The row of a message, or of the next one shown (the last one where none follows); -1 when nothing is."""
        place = min(int(np.searchsorted(self.visible, message)), len(self.visible) - 1)
        found = self.row_of(int(self.visible[place])) if place >= 0 else None
        return -1 if found is None else found

    def parts(self, message: int) -> int:
        """Lines an expanded message has below it; 0 when it is not expanded."""
        return self._expanded.get(message, 0)

    def expand(self, message: int, parts: int) -> None:
        """Show `parts` lines below a message."""
        if parts > 0:
            self._expanded[message] = parts
            self._index_expansions()

    def collapse(self, message: int) -> None:
        """Hide the lines below a message."""
        self._expanded.pop(message, None)
        self._index_expansions()

    # What is hidden

    def hidden_calls(self) -> tuple[int, int]:
        """Requests and proposals in sub-contexts that this view hides; agents must act on those in any context.

        (0, 0) when the view does not choose by context at all.
        """
        if self.scope is None and not any(name.startswith("context") for name in self.filter.fields):
            return 0, 0
        capture = self.analysis.capture
        kind = capture.columns["kind"]
        hidden = self.analysis.contexts.nodes() != MAIN
        hidden[self.visible] = False
        request, proposal = (capture.strings.find(k) or -1 for k in (kinds.REQUEST, kinds.PROPOSAL))
        return int(np.count_nonzero(hidden & (kind == request))), int(np.count_nonzero(hidden & (kind == proposal)))
