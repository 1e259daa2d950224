"""Rows of a table that follow a filter: filtered messages, folded streams, hidden bookkeeping.

The frames of a stream fold into one row (`Folding`): `chosen` is the filtered messages, `visible` the ones with a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from inspector.analysis import Analysis, AnalysisChanges
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.account.bookkeeping_rows import are_bookkeeping
from inspector.filters.cache import TermCache
from inspector.filters.compile import DisplayFilter, compile_filter
from inspector.filters.evaluate import Selection
from inspector.filters.field import Depends
from inspector.filters.folding import Folding, GrowingArray, is_member
from inspector.filters.scope import Reach, Scope, ScopeNodes
from inspector.filters.table_rows import Messages, TableRows
from inspector.protocol import kinds

__all__ = ["Messages", "Reach", "Scope", "Update", "VisibleRows"]

_MAX_NEW = 1 << 20
"""Limit of new messages evaluated in one turn with a deadline."""
_MAX_DECODED_CHANGES = 2_000
"""Limit of changed messages decoded again at once if there is a deadline."""


@dataclass(frozen=True, slots=True)
class Update:
    """Effect of new traffic on the rows, pending until `VisibleRows.apply`.

    Attributes:
        before: the messages shown before.
        replaced: the new content of the rows shown before; None if unchanged.
        new: new messages, shown below.
        chosen: all filtered messages, folded or not; None if only `more` was added.
        more: filtered new messages.
        grown: shown messages whose rows stand for more or for changed frames.
        appended: rows are only added at the end, so views need no reset.
        changed: messages shown before and after with changed values.
        reached: number of messages evaluated.
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


class VisibleRows(TableRows):
    """The rows of one table.

    With a deadline, expensive work (records to decode) is done in slices. The rows may then lag behind the capture, and
    still show an earlier state of a moved subtree. Repeated calls of `prepare` continue the work.

    Attributes:
        filter: the display filter in force.
        scope: the part of the tree, or None for everything.
    """

    def __init__(self, analysis: Analysis) -> None:
        super().__init__()
        self.analysis = analysis
        self.filter: DisplayFilter = compile_filter("")
        self.scope: Scope | None = None
        self._folding = Folding(analysis, lambda: self.chosen)
        self._folds = True
        self._hides_bookkeeping = False
        self._chosen: GrowingArray | None = None  # None while every filtered message has a row
        self._seen = 0
        self._announced = 0
        self._answers = TermCache()
        self._stale = False
        self._settled = 0
        self._hidden = (0, 0)
        self._hidden_to = 0
        self._scope_nodes = ScopeNodes(analysis.contexts)

    @property
    def chosen(self) -> Messages:
        """(n,) uint32, filtered messages, ascending, including ones folded into other rows."""
        return self.visible if self._chosen is None else self._chosen.values

    @property
    @override
    def seen_count(self) -> int:
        """Number of messages evaluated."""
        return self._seen

    @property
    def is_filtered(self) -> bool:
        """Returns True if a filter or a scope is in force."""
        return self.scope is not None or bool(self.filter.text.strip())

    @property
    def is_behind(self) -> bool:
        """Returns True if new or changed messages wait for evaluation."""
        return self._stale or self._seen < self._announced

    # Filter and scope

    def evaluate(self, filter_: DisplayFilter, scope: Scope | None, answers: TermCache | None = None) -> Messages:
        """Returns the messages that pass a filter and scope; has no side effects."""
        return self.matches_in(filter_, scope, 0, len(self.analysis), answers or TermCache())

    @property
    def folding_enabled(self) -> bool:
        """Returns True if streams and copies fold, unless the filter is about them."""
        return self._folds

    @property
    def is_folded(self) -> bool:
        """Returns True if streams and copies are folded now."""
        return self._folding.on

    @property
    def hides_bookkeeping(self) -> bool:
        """Returns True if bookkeeping is hidden, unless the filter tests more than a place."""
        return self._hides_bookkeeping

    @property
    def bookkeeping(self) -> int:
        """Number of filtered bookkeeping messages that are hidden, or would be."""
        return 0 if self.filter.is_about_messages else self._folding.bookkeeping

    @property
    def has_folded(self) -> bool:
        """Returns True if some filtered messages have no row of their own."""
        return self._chosen is not None

    def are_hidden(self, messages: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns a mask of the messages that are hidden as bookkeeping."""
        if not self._folding.hides_bookkeeping:
            return np.zeros(len(messages), np.bool_)
        return are_bookkeeping(self.analysis.capture, messages)

    def hide_bookkeeping(self, on: bool) -> None:
        """Hides bookkeeping rows, or shows them."""
        self._hides_bookkeeping = on
        chosen = self.chosen
        self._folding.hides_bookkeeping = on and not self.filter.is_about_messages
        self._put_chosen(chosen)

    def set_folding(self, on: bool) -> None:
        """Folds streams and copies into one row, or unfolds them."""
        self._folds = on
        chosen = self.chosen
        self._folding.on = self._folds and not self.filter.is_about_folded
        self._put_chosen(chosen)

    def apply_filter(
        self,
        filter_: DisplayFilter,
        scope: Scope | None,
        visible: Messages | None = None,
        answers: TermCache | None = None,
    ) -> None:
        """Applies a filter and a scope.

        Args:
            filter_: the display filter.
            scope: part of the context tree, if any.
            visible: the result of `evaluate` for them, before folding, if the caller has it.
            answers: cached results of expensive terms.
        """
        # Cached results belong to one filter; a scope change alone keeps them.
        answers = answers or (self._answers if filter_ is self.filter else TermCache())
        visible = self.evaluate(filter_, scope, answers) if visible is None else visible
        self.filter, self.scope, self._answers = filter_, scope, answers
        self._seen = self._announced = len(self.analysis)
        self._stale = False
        self._folding.on = self._folds and not filter_.is_about_folded
        self._folding.hides_bookkeeping = self._hides_bookkeeping and not filter_.is_about_messages
        self._put_chosen(visible)

    def _put_chosen(self, chosen: Messages) -> None:
        """Replaces the filtered messages."""
        rows = self._folding.begin(chosen)
        self._chosen = None if rows is chosen else GrowingArray(chosen)
        self.replace(rows)

    def matches_in(
        self, filter_: DisplayFilter, scope: Scope | None, start: int, stop: int, answers: TermCache
    ) -> Messages:
        """Returns the messages of a range that pass a filter and scope."""
        selection = Selection.for_range(start, stop)
        if scope is None:
            mask = filter_.cached_mask(self.analysis, selection, answers)
        else:
            mask = self._in_scope(scope, selection)
            # The scope is cheap, so the filter sees only messages inside it.
            chosen = selection.filtered_by(mask)
            mask[mask] = filter_.cached_mask(self.analysis, chosen, answers)
        return (np.flatnonzero(mask) + start).astype(np.uint32)

    def _in_scope(self, scope: Scope, selection: Selection) -> NDArray[np.bool_]:
        within = self._scope_mask(scope, selection)
        if scope.calls:
            request, proposal = self._call_kinds()
            kind = self.analysis.capture.columns["kind"][selection.take]
            # Agents must act on calls, so the user may keep them in view from any place.
            within = within | (kind == request) | (kind == proposal)
        return within

    def _scope_mask(self, scope: Scope, selection: Selection) -> NDArray[np.bool_]:
        if scope.source is not None:
            return self.analysis.capture.columns["source"][selection.take] == scope.source
        here = self.analysis.capture.columns["space"][selection.take] == scope.space
        if scope.node is None:
            return here
        held = self.analysis.contexts.nodes_of(selection.take)
        node = self.analysis.contexts.tree.resolve(scope.node)
        if node == MAIN:
            return here & (held == MAIN)
        return self._scope_nodes.node_mask(node, scope.reach).take(held)

    def evaluate_block(
        self, filter_: DisplayFilter, scope: Scope | None, start: int, stop: int, answers: TermCache
    ) -> int:
        """Evaluates expensive terms for messages in the scope, for a few ms; returns one past the last done."""
        within = None if scope is None else lambda selection: self._in_scope(scope, selection)
        return filter_.evaluate_block(self.analysis, start, stop, answers, within)

    @override
    def replace(self, visible: Messages) -> None:
        super().replace(visible)
        self._hidden, self._hidden_to = (0, 0), 0

    # New traffic

    def prepare(self, changes: AnalysisChanges, *, clock: bool = False, in_blocks: bool = False) -> Update:
        """Returns the effect of new traffic on the rows.

        New messages are always evaluated, earlier ones only if their values may have changed the result.

        Args:
            changes: the changes of the passes; empty to continue pending work.
            clock: time has passed, so fields that depend on the clock are evaluated again.
            in_blocks: works for a few milliseconds; the rest waits for the next call.
        """
        depends = self.filter.depends
        self._announced = max(self._announced, changes.stop)  # a view that is held back learns of no later messages
        changed = changes.changed[changes.changed < self._seen]
        self._answers.invalidate(changes.changed)
        if (changes.tree_moved and (self.scope is not None or Depends.TREE in depends)) or (
            Depends.CLOCK in depends and (clock or changes.stop > changes.start)
        ):
            # A moved subtree or the clock can change any row, so every seen message is evaluated again.
            self._stale, self._settled = True, 0
        # Decoding that many records in one turn would block the window.
        many = (
            len(changed) > _MAX_DECODED_CHANGES and Depends.PASS in depends and not self.filter.is_cheap(self.analysis)
        )
        self._stale = self._stale or (many and in_blocks)
        visible, chosen = self.visible, self.chosen
        again = self._looked_at_again(in_blocks=in_blocks) if self._stale else self._corrected(changed)
        more, reached = self._new_matches(in_blocks=in_blocks)
        replaced = None
        if again is None or np.array_equal(again, chosen):
            everything, new = None, self._folding.unfolded_messages(more)
        else:
            everything = np.concatenate((again, more))
            # Folding depends on the neighbours, so a change in the middle folds everything again.
            rows = self._folding.unfolded_messages(everything, anew=True)
            behind = int(rows.searchsorted(np.uint32(self._seen)))
            replaced, new = rows[:behind], rows[behind:]
            if np.array_equal(replaced, visible):
                replaced = None
        earlier = visible if replaced is None else replaced
        appended = replaced is None or (
            len(earlier) > len(visible) and np.array_equal(earlier[: len(visible)], visible)
        )
        grown = np.union1d(self._folding.grown_rows(more), self._folding.grown_rows(changed))
        grown = grown[is_member(grown, earlier)]
        changed = np.union1d(changed[is_member(changed, earlier)], grown)
        return Update(visible, replaced, new, appended, changed, reached, everything, more, grown)

    def _looked_at_again(self, *, in_blocks: bool) -> Messages | None:
        """Evaluates all seen messages again and returns the matches; None if some are left."""
        if in_blocks:
            self._settled = self.evaluate_block(self.filter, self.scope, self._settled, self._seen, self._answers)
            if self._settled < self._seen:
                return None
        self._stale = False
        return self.matches_in(self.filter, self.scope, 0, self._seen, self._answers)

    def _corrected(self, changed: NDArray[np.int64]) -> Messages | None:
        """Evaluates changed messages again and returns all seen matches; None if there is no difference."""
        if not len(changed) or Depends.PASS not in self.filter.depends:
            return None
        visible = self.chosen
        selection = Selection.for_rows(changed)
        shown = self.filter.cached_mask(self.analysis, selection, self._answers)
        if self.scope is not None:
            shown = shown & self._in_scope(self.scope, selection)
        before = is_member(changed, visible)
        come, gone = changed[shown & ~before], changed[before & ~shown]
        if not len(come) and not len(gone):
            return None
        gone, come = gone.astype(np.uint32), come.astype(np.uint32)
        # Deletes first, so that the insert positions refer to the remaining rows.
        rest = np.delete(visible, np.searchsorted(visible, gone)) if len(gone) else visible
        return np.insert(rest, np.searchsorted(rest, come), come) if len(come) else rest

    def _new_matches(self, *, in_blocks: bool) -> tuple[Messages, int]:
        """Returns the new matches, and one past the last message evaluated."""
        stop = self._announced
        if in_blocks and self._seen < stop:
            stop = min(stop, self._seen + _MAX_NEW)
            stop = self.evaluate_block(self.filter, self.scope, self._seen, stop, self._answers)
        return self.matches_in(self.filter, self.scope, self._seen, stop, self._answers), stop

    def apply(self, update: Update) -> None:
        """Applies an update. O(new rows) if rows are only appended."""
        self._seen = update.reached
        self._take_chosen(update)
        if update.replaced is not None:
            self.replace(update.visible)
        elif len(update.new):
            self.append(update.new)

    def _take_chosen(self, update: Update) -> None:
        """Records the filtered messages before the rows change."""
        if update.chosen is not None:
            rows = self._folding.begin(update.chosen)
            self._chosen = None if len(rows) == len(update.chosen) else GrowingArray(update.chosen)
            self.replaced += update.replaced is None
            return
        self._folding.append_messages(update.more)
        if self._chosen is None and len(update.new) < len(update.more):
            self._chosen = GrowingArray(self.visible.copy())
        if self._chosen is not None:
            self._chosen.add(update.more)

    # Folded messages

    @override
    def _head_of(self, message: int) -> int | None:
        return self._folding.head_of(message)

    def row_message(self, message: int) -> int:
        """Returns the message whose row stands for a folded frame or copy; else the message itself."""
        head = self._folding.head_of(message)
        return message if head is None else head

    @override
    def row_messages(self, messages: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Returns (n,) `row_message` of each message."""
        return self._folding.heads_of(messages)

    def members(self, messages: Messages) -> Messages:
        """Returns all filtered messages that the rows of some messages stand for, ascending, including themselves."""
        if self._chosen is None or not len(messages):
            return messages
        chosen = self.chosen
        return chosen[np.isin(self.row_messages(chosen), messages)]

    # Hidden calls

    def hidden_calls(self) -> tuple[int, int]:
        """Counts requests and proposals that the filter or scope hides; agents must act on them."""
        if not self.is_filtered:
            return 0, 0
        if self._hidden_to < self._seen:  # the kind of a message never changes
            more = self._hidden_between(self._hidden_to, self._seen)
            self._hidden = (self._hidden[0] + more[0], self._hidden[1] + more[1])
            self._hidden_to = self._seen
        return self._hidden

    def _hidden_between(self, start: int, stop: int) -> tuple[int, int]:
        capture = self.analysis.capture
        kind = capture.columns["kind"][start:stop]
        # Counts only new messages; the earlier count is kept.
        hidden = np.ones(len(kind), np.bool_)
        first, last = self.messages_before(start), self.messages_before(stop)
        hidden[self.visible[first:last] - np.uint32(start)] = False
        request, proposal = self._call_kinds()
        return int(np.count_nonzero(hidden & (kind == request))), int(np.count_nonzero(hidden & (kind == proposal)))

    def _call_kinds(self) -> tuple[int, int]:
        """Returns string ids of the kinds of requests and proposals; -1 if absent."""
        strings = self.analysis.capture.strings
        # -1 equals no id, so an absent kind counts no messages.
        return strings.find(kinds.REQUEST) or -1, strings.find(kinds.PROPOSAL) or -1
