"""What a table shows: the messages a filter and a scope let through, and the lines of expanded originals.

A row is a (message, part): part 0 is the message itself, parts 1 to n are lines of its expanded original, so that
all rows have one height (docs/design.md 3). `visible` is an ascending array of message indices; expansions are few and
are kept apart, so nothing is as long as the capture but one array. A *place* is one in that array, a *position* one
among the rows' messages as they stand: the same, unless the rows are sorted (`Order`). The frames of a stream are
folded into one row (`Folding`): `chosen` is what filter and scope let through, `visible` what has a row.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis, Changes
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.account.bookkeeping_rows import are_bookkeeping
from inspector.filters.cache import Answers
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.evaluate import Selection
from inspector.filters.field import Depends
from inspector.filters.folding import Folding, Grown
from inspector.filters.order import Order, Places
from inspector.filters.scope import Reach, Scope, ScopeNodes
from inspector.filters.sorting import SortBy
from inspector.protocol import kinds

__all__ = ["Messages", "Reach", "Scope", "Update", "VisibleRows"]

Messages = NDArray[np.uint32]

_AT_ONCE = 1 << 20
"""New messages that are looked at in one turn, where a time is given."""
_MANY = 2_000
"""More changed messages than this are not decoded again at once where time is short."""


@dataclass(frozen=True, slots=True)
class Update:
    """What new traffic does to the rows; the rows stay as they are until it is handed to `VisibleRows.apply`.

    Attributes:
        before: the messages shown before.
        replaced: what is shown of them and of the earlier ones afterwards; None where that is the same.
        new: new messages, shown below.
        chosen: all that is let through afterwards, folded or not; None where that is what was, and `more`.
        more: what is let through of new messages.
        grown: messages shown whose rows stand for more frames than before, or for some that changed.
        appended: rows come only at the end, so that views need not be reset.
        changed: messages shown before and after whose values changed.
        reached: messages looked at.
    """

    before: Messages
    replaced: Messages | None
    new: Messages
    appended: bool
    changed: NDArray[np.int64]
    reached: int
    chosen: Messages | None
    more: Messages
    grown: NDArray[np.int64]

    @property
    def visible(self) -> Messages:
        """The messages shown afterwards. O(rows)."""
        return np.concatenate((self.before if self.replaced is None else self.replaced, self.new))

    @property
    def added(self) -> int:
        """How many more are shown afterwards."""
        earlier = self.before if self.replaced is None else self.replaced
        return len(earlier) + len(self.new) - len(self.before)


class VisibleRows:
    """The rows of one table.

    What costs time (records that must be decoded) is done in slices where a time is given: then the rows may be behind
    the capture for a while, and what they show of a part of the tree that moved may be of before. `prepare` asked again
    goes on.

    Attributes:
        filter: the display filter in force.
        scope: the part of the tree, or None for everything.
        sorted_by: what the rows are sorted by; None for the order of arrival.
        replaced: how often other messages were shown than those before and new ones below them.
        arranged: how often any message came to stand in another row.
    """

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.filter: DisplayFilter = compile_filter("")
        self.scope: Scope | None = None
        self.sorted_by: SortBy | None = None
        self.replaced = self.arranged = 0
        self._folding = Folding(analysis, lambda: self.chosen)
        self._folds = True
        self._hides_bookkeeping = False
        self._chosen: Grown | None = None  # None while everything let through has a row
        self._order: Order | None = None
        self._shown: Messages = np.empty(0, np.uint32)
        self._count = 0
        self._seen = 0
        self._announced = 0
        self._answers = Answers()
        self._stale = False
        self._settled = 0
        self._hidden = (0, 0)
        self._hidden_to = 0
        self._scope_nodes = ScopeNodes(analysis.contexts)
        self._expanded: dict[int, int] = {}
        self._expanded_at: list[int] = []
        self._starts: list[int] = []

    @property
    def visible(self) -> Messages:
        """(n,) uint32, message indices shown, ascending. A view: it stays as it is when rows come."""
        return self._shown[: self._count]

    @property
    def chosen(self) -> Messages:
        """(n,) uint32, what filter and scope let through, ascending: what has a row, and what is folded into one."""
        return self.visible if self._chosen is None else self._chosen.values

    @property
    def seen(self) -> int:
        """How many messages were looked at: what is shown was chosen among them."""
        return self._seen

    @property
    def chooses(self) -> bool:
        """Whether a filter or a scope is in force, so that there may be more than what is shown."""
        return self.scope is not None or bool(self.filter.text.strip())

    @property
    def behind(self) -> bool:
        """Whether messages wait to be looked at, new ones or earlier ones again."""
        return self._stale or self._seen < self._announced

    # Choosing

    def evaluate(self, filter_: DisplayFilter, scope: Scope | None, answers: Answers | None = None) -> Messages:
        """The messages a filter and a scope let through; changes nothing."""
        return self.run(filter_, scope, 0, len(self.analysis), answers or Answers())

    @property
    def folds(self) -> bool:
        """Whether the frames of a stream, and copies, have one row wherever the filter is not about these."""
        return self._folds

    @property
    def folded(self) -> bool:
        """Whether the frames of a stream, and copies, have one row now: not where the filter is about these."""
        return self._folding.on

    @property
    def hides_bookkeeping(self) -> bool:
        """Whether bookkeeping has no rows wherever the filter only picks a place."""
        return self._hides_bookkeeping

    @property
    def bookkeeping(self) -> int:
        """How many messages let through are bookkeeping that has no row, or would have none."""
        return 0 if self.filter.is_about_messages else self._folding.bookkeeping

    def hides(self, message: int) -> bool:
        """Whether a message has no row because it is bookkeeping."""
        if not self._folding.hides_bookkeeping:
            return False
        return bool(are_bookkeeping(self.analysis.capture, np.array([message]))[0])

    def hide_bookkeeping(self, on: bool) -> None:
        """Give bookkeeping rows, or none."""
        self._hides_bookkeeping = on
        chosen = self.chosen
        self._folding.hides_bookkeeping = on and not self.filter.is_about_messages
        self._put_chosen(chosen)

    def fold(self, on: bool) -> None:
        """Give the frames of each stream, and what is said again, one row, or each message its own."""
        self._folds = on
        chosen = self.chosen
        self._folding.on = self._folds and not self.filter.is_about_folded
        self._put_chosen(chosen)

    def choose(
        self,
        filter_: DisplayFilter,
        scope: Scope | None,
        visible: Messages | None = None,
        answers: Answers | None = None,
    ) -> None:
        """Put a filter and a scope in force.

        Args:
            filter_: the display filter.
            scope: part of the context tree, or None.
            visible: what `evaluate` gave for them just now, when it was asked; frames are not folded in it.
            answers: what dear terms of the filter have said so far.
        """
        answers = answers or (self._answers if filter_ is self.filter else Answers())
        visible = self.evaluate(filter_, scope, answers) if visible is None else visible
        self.filter, self.scope, self._answers = filter_, scope, answers
        self._seen = self._announced = len(self.analysis)
        self._stale = False
        self._folding.on = self._folds and not filter_.is_about_folded
        self._folding.hides_bookkeeping = self._hides_bookkeeping and not filter_.is_about_messages
        self._put_chosen(visible)

    def _put_chosen(self, chosen: Messages) -> None:
        """Let other messages be let through."""
        rows = self._folding.begin(chosen)
        self._chosen = None if rows is chosen else Grown(chosen)
        self._replace(rows)

    def run(self, filter_: DisplayFilter, scope: Scope | None, start: int, stop: int, answers: Answers) -> Messages:
        """The messages chosen among a run of them."""
        selection = Selection.between(start, stop)
        if scope is None:
            mask = filter_.mask_of(self.analysis, selection, answers)
        else:
            mask = self._in_scope(scope, selection)
            chosen = selection.where(mask)
            mask[mask] = filter_.mask_of(self.analysis, chosen, answers)
        return (np.flatnonzero(mask) + start).astype(np.uint32)

    def _in_scope(self, scope: Scope, selection: Selection) -> NDArray[np.bool_]:
        within = self._within(scope, selection)
        if scope.calls:
            request, proposal = self._call_kinds()
            kind = self.analysis.capture.columns["kind"][selection.take]
            within = within | (kind == request) | (kind == proposal)
        return within

    def _within(self, scope: Scope, selection: Selection) -> NDArray[np.bool_]:
        if scope.source is not None:
            return self.analysis.capture.columns["source"][selection.take] == scope.source
        here = self.analysis.capture.columns["space"][selection.take] == scope.space
        if scope.node is None:
            return here
        held = self.analysis.contexts.nodes_of(selection.take)
        node = self.analysis.contexts.tree.resolve(scope.node)
        if node == MAIN:
            return here & (held == MAIN)
        return self._scope_nodes.chosen(node, scope.reach).take(held)

    def settle(
        self, filter_: DisplayFilter, scope: Scope | None, start: int, stop: int, answers: Answers, until: float
    ) -> int:
        """Ask dear terms about messages that are in the scope until a time; how far that led."""
        within = None if scope is None else lambda selection: self._in_scope(scope, selection)
        return filter_.settle(self.analysis, start, stop, answers, until, within)

    # Following new traffic

    def prepare(self, changes: Changes, *, clock: bool = False, until: float | None = None) -> Update:
        """What a feed of the passes does to the rows.

        New messages are evaluated always, earlier ones only where their values may have changed the answer.

        Args:
            changes: what the feed did; nothing, to go on with what waits.
            clock: time has passed, so that fields that go by it are looked at again.
            until: when to leave the rest for later, by `time.perf_counter`; None does everything.
        """
        depends = self.filter.depends
        self._announced = max(self._announced, changes.stop)  # a view that is held back hears of no more than that
        changed = changes.changed[changes.changed < self._seen]
        self._answers.forget(changes.changed)
        if (changes.tree_moved and (self.scope is not None or Depends.TREE in depends)) or (
            Depends.CLOCK in depends and (clock or changes.stop > changes.start)
        ):
            self._stale, self._settled = True, 0
        many = len(changed) > _MANY and Depends.PASS in depends and not self.filter.is_cheap(self.analysis)
        self._stale = self._stale or (many and until is not None)
        visible, chosen = self.visible, self.chosen
        again = self._looked_at_again(until) if self._stale else self._corrected(changed)
        more, reached = self._new(until)
        replaced = None
        if again is None or np.array_equal(again, chosen):
            everything, new = None, self._folding.folded(more)
        else:
            everything = np.concatenate((again, more))
            rows = self._folding.folded(everything, anew=True)
            behind = int(rows.searchsorted(np.uint32(self._seen)))
            replaced, new = rows[:behind], rows[behind:]
            if np.array_equal(replaced, visible):
                replaced = None
        earlier = visible if replaced is None else replaced
        appended = replaced is None or (
            len(earlier) > len(visible) and np.array_equal(earlier[: len(visible)], visible)
        )
        grown = np.union1d(self._folding.grown(more), self._folding.grown(changed))
        grown = grown[_among(grown, earlier)]
        changed = np.union1d(changed[_among(changed, earlier)], grown)
        return Update(visible, replaced, new, appended, changed, reached, everything, more, grown)

    def _looked_at_again(self, until: float | None) -> Messages | None:
        """What is let through of the messages seen, all of them evaluated anew; None when the time did not suffice."""
        if until is not None:
            asked = self.settle(self.filter, self.scope, self._settled, self._seen, self._answers, until)
            self._settled = asked
            if asked < self._seen:
                return None
        self._stale = False
        return self.run(self.filter, self.scope, 0, self._seen, self._answers)

    def _corrected(self, changed: NDArray[np.int64]) -> Messages | None:
        """What is let through of the messages seen once those that changed are asked again; None for no difference."""
        if not len(changed) or Depends.PASS not in self.filter.depends:
            return None
        visible = self.chosen
        selection = Selection.of(changed)
        shown = self.filter.mask_of(self.analysis, selection, self._answers)
        if self.scope is not None:
            shown = shown & self._in_scope(self.scope, selection)
        before = _among(changed, visible)
        come, gone = changed[shown & ~before], changed[before & ~shown]
        if not len(come) and not len(gone):
            return None
        gone, come = gone.astype(np.uint32), come.astype(np.uint32)
        rest = np.delete(visible, np.searchsorted(visible, gone)) if len(gone) else visible
        return np.insert(rest, np.searchsorted(rest, come), come) if len(come) else rest

    def _new(self, until: float | None) -> tuple[Messages, int]:
        """The new messages let through, and how far it was looked."""
        stop = self._announced
        if until is not None and self._seen < stop:
            stop = min(stop, self._seen + _AT_ONCE)
            stop = self.settle(self.filter, self.scope, self._seen, stop, self._answers, until)
        return self.run(self.filter, self.scope, self._seen, stop, self._answers), stop

    def apply(self, update: Update) -> None:
        """Make an update the truth. O(new rows) where rows only come at the end."""
        self._seen = update.reached
        self._take_chosen(update)
        if update.replaced is not None:
            self._replace(update.visible)
        elif len(update.new):
            self._append(update.new)

    def _take_chosen(self, update: Update) -> None:
        """Note what is let through from now on, before the rows follow."""
        if update.chosen is not None:
            rows = self._folding.begin(update.chosen)
            self._chosen = None if len(rows) == len(update.chosen) else Grown(update.chosen)
            self.replaced += update.replaced is None
            return
        self._folding.take(update.more)
        if self._chosen is None and len(update.new) < len(update.more):
            self._chosen = Grown(self.visible.copy())
        if self._chosen is not None:
            self._chosen.add(update.more)

    def _append(self, new: Messages) -> None:
        needed = self._count + len(new)
        if needed > len(self._shown):
            # Memory past the end is never touched, so generous steps cost no resident pages.
            grown = np.empty(max(needed, len(self._shown) * 3 // 2, 1024), np.uint32)
            grown[: self._count] = self.visible
            self._shown = grown
        self._shown[self._count : needed] = new
        self._count = needed
        if self._expanded:
            self._index_expansions()

    def _replace(self, visible: Messages) -> None:
        if self._order is not None:
            self._order = self._order.carried_over(self.visible, visible)
        self._shown, self._count = visible, len(visible)
        self.replaced += 1
        self.arranged += 1
        self._hidden, self._hidden_to = (0, 0), 0
        self._index_expansions()

    # Sorting

    def sort(self, by: SortBy | None, places: Places | None = None, messages: Messages | None = None) -> None:
        """Put the rows in another order, in which they stay until they are sorted again; what comes stands below.

        Args:
            by: what they are sorted by; None for the order of arrival.
            places: (n,) uint32, the order `Sorting` found.
            messages: (n,) uint32, what was sorted; those shown now by default.
        """
        self.sorted_by, self._order = by, None
        self.arranged += 1
        if by is not None and places is not None:
            visible = self.visible
            order = Order(places)
            same = messages is None or np.array_equal(messages, visible[: len(messages)])
            self._order = order if same or messages is None else order.carried_over(messages, visible)
        self._index_expansions()

    @property
    def unsorted(self) -> int:
        """How many messages came since the rows were sorted; they stand below in the order of arrival."""
        return 0 if self._order is None else self._count - self._order.sorted

    def in_order(self) -> Messages:
        """(n,) uint32, the messages shown as they stand. O(rows) where they are sorted."""
        return self.visible if self._order is None else self._order.in_order(self.visible)

    # Rows

    def __len__(self) -> int:
        """Rows, lines of expanded originals included."""
        return self._count + (sum(map(self._parts_at, self._expanded_at)) if self._expanded_at else 0)

    def message_at(self, position: int) -> int:
        """The message at a position."""
        return int(self._shown[position if self._order is None else self._order.place(position)])

    def position(self, message: int) -> int | None:
        """Where a message stands among those shown; None when it is not. O(log rows)."""
        place = self._place_of(message)
        return place if place is None or self._order is None else self._order.position(place)

    def neighbour(self, message: int, by: int) -> int | None:
        """The message so many positions below (above, where negative) one that is shown; None past either end."""
        position = self.position(message)
        wanted = -1 if position is None else position + by
        return self.message_at(wanted) if 0 <= wanted < self._count else None

    def _parts_at(self, position: int) -> int:
        return self._expanded[self.message_at(position)]

    def _index_expansions(self) -> None:
        """Where expanded messages stand: their positions, ascending, and the row of each."""
        self._expanded_at = sorted(p for p in map(self.position, self._expanded) if p is not None)
        self._starts = []
        extra = 0
        for position in self._expanded_at:
            self._starts.append(position + extra)
            extra += self._parts_at(position)

    def _place_of(self, message: int) -> int | None:
        place = self.place(message)
        if place < self._count and self._shown[place] == message:
            return place
        head = self._folding.head_of(message)
        return None if head is None or head == message else self._place_of(head)

    def place(self, message: int) -> int:
        """How many messages shown were said before this one. O(log rows)."""
        # Of any other type than the rows' own, numpy would convert all of them first.
        return int(self.visible.searchsorted(np.uint32(message)))

    def at(self, row: int) -> tuple[int, int]:
        """The (message, part) of a row. O(log expansions)."""
        before = bisect_right(self._starts, row) - 1
        if before < 0:
            return self.message_at(row), 0
        position, start = self._expanded_at[before], self._starts[before]
        parts = self._parts_at(position)
        part = row - start
        if part <= parts:
            return self.message_at(position), part
        return self.message_at(position + part - parts), 0

    def row_of(self, message: int, part: int = 0) -> int | None:
        """The row of a message or of a line of its original; None when it is not shown."""
        position = self.position(message)
        if position is None:
            return None
        before = bisect_left(self._expanded_at, position)
        return position + sum(self._parts_at(p) for p in self._expanded_at[:before]) + part

    def rows_of(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of ascending messages, all of which are shown; ascending."""
        positions = self.visible.searchsorted(messages.astype(np.uint32))
        if self._order is not None:
            positions = np.sort(self._order.positions_of(positions))
        if not self._expanded_at:
            return positions
        lines = np.concatenate(([0], np.cumsum([self._parts_at(position) for position in self._expanded_at])))
        return positions + lines[np.searchsorted(self._expanded_at, positions)]

    def nearest_row(self, message: int) -> int:
        """The row of a message, or of the next one said (the last one where none follows); -1 when nothing is shown."""
        own = self.row_of(message)
        if own is not None:
            return own
        place = min(self.place(message), self._count - 1)
        found = self.row_of(int(self.visible[place])) if place >= 0 else None
        return -1 if found is None else found

    def stands_for(self, message: int) -> int:
        """The message that has the row of one: of a frame that is folded the stream's first; else itself."""
        head = self._folding.head_of(message)
        return message if head is None else head

    def standing_for(self, messages: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """(n,) the same of some messages."""
        return self._folding.heads_of(messages)

    def members(self, messages: Messages) -> Messages:
        """All that is let through for which the rows of some messages stand, ascending; those themselves included."""
        if self._chosen is None or not len(messages):
            return messages
        chosen = self.chosen
        return chosen[np.isin(self.standing_for(chosen), messages)]

    def parts(self, message: int) -> int:
        """Lines an expanded message has below it; 0 when it is not expanded."""
        return self._expanded.get(message, 0)

    def expand(self, message: int, parts: int) -> None:
        """Show `parts` lines below a message."""
        if parts > 0:
            self._expanded[message] = parts
            self.arranged += 1
            self._index_expansions()

    def collapse(self, message: int) -> None:
        """Hide the lines below a message."""
        self._expanded.pop(message, None)
        self.arranged += 1
        self._index_expansions()

    # What is hidden

    def hidden_calls(self) -> tuple[int, int]:
        """Requests and proposals that this view hides, by its filter or its scope; agents must act on those."""
        if not self.chooses:
            return 0, 0
        if self._hidden_to < self._seen:  # messages keep their kind
            more = self._hidden_between(self._hidden_to, self._seen)
            self._hidden = (self._hidden[0] + more[0], self._hidden[1] + more[1])
            self._hidden_to = self._seen
        return self._hidden

    def _hidden_between(self, start: int, stop: int) -> tuple[int, int]:
        capture = self.analysis.capture
        kind = capture.columns["kind"][start:stop]
        hidden = np.ones(len(kind), np.bool_)
        first, last = self.place(start), self.place(stop)
        hidden[self.visible[first:last] - np.uint32(start)] = False
        request, proposal = self._call_kinds()
        return int(np.count_nonzero(hidden & (kind == request))), int(np.count_nonzero(hidden & (kind == proposal)))

    def _call_kinds(self) -> tuple[int, int]:
        """String ids of the kinds of requests and proposals; -1 where there is none."""
        strings = self.analysis.capture.strings
        return strings.find(kinds.REQUEST) or -1, strings.find(kinds.PROPOSAL) or -1


def _among(messages: NDArray[np.int64], visible: Messages) -> NDArray[np.bool_]:
    """Which of some ascending messages are shown. O(messages log rows)."""
    if not len(visible) or not len(messages):
        return np.zeros(len(messages), np.bool_)
    places = np.minimum(visible.searchsorted(messages.astype(np.uint32)), len(visible) - 1)
    return visible[places] == messages
