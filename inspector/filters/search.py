"""Evaluates a new filter in steps, so that it can be cancelled."""

from __future__ import annotations

from inspector.analysis import AnalysisChanges
from inspector.filters.cache import TermCache
from inspector.filters.compile import DisplayFilter
from inspector.filters.field import Depends
from inspector.filters.visible import Messages, Scope, VisibleRows


class Search:
    """Evaluates a filter and scope while the rows still show the previous one.

    Filters that decode nothing finish in the first step, unless they meet thousands of different strings, such as
    contexts.

    Attributes:
        filter, scope: the pending filter and scope.
        found: number of matches so far.
        answers: cached results for `VisibleRows.apply_filter`.
    """

    def __init__(self, rows: VisibleRows, filter_: DisplayFilter, scope: Scope | None) -> None:
        self._rows = rows
        self._done = 0
        self.filter = filter_
        self.scope = scope
        self.found = 0
        self.answers = TermCache()

    def step(self) -> bool:
        """Evaluates for a few milliseconds. Returns True if all messages are evaluated."""
        rows, total = self._rows, len(self._rows.analysis)
        reached = rows.evaluate_block(self.filter, self.scope, self._done, total, self.answers)
        if self._done < reached < total:
            self.found += len(rows.matches_in(self.filter, self.scope, self._done, reached, self.answers))
        self._done = reached
        return reached == total

    @property
    def fraction(self) -> float:
        """Progress, 0 to 1."""
        return self._done / max(1, len(self._rows.analysis))

    def on_changes(self, changes: AnalysisChanges) -> None:
        """Follows new traffic: drops results of changed messages, and restarts after a move in the tree."""
        self.answers.invalidate(changes.changed)
        if changes.tree_moved and (self.scope is not None or Depends.TREE in self.filter.depends):
            self._done = self.found = 0

    def result(self) -> Messages:
        """Returns the matches after `step` has returned True."""
        return self._rows.evaluate(self.filter, self.scope, self.answers)
