"""A filter on its way to being in force: the records it has to decode are decoded in slices, which can be given up."""

from __future__ import annotations

from inspector.analysis import Changes
from inspector.filters.cache import Answers
from inspector.filters.compile import DisplayFilter
from inspector.filters.field import Depends
from inspector.filters.visible import Messages, Scope, VisibleRows


class Search:
    """Finds out what a filter and a scope let through, while the rows still show what they showed.

    Filters that decode nothing are done with the first step, however many messages there are (but thousands of
    different contexts, say, are looked at in slices too).

    Attributes:
        filter, scope: what is to be in force.
        found: messages found so far.
        answers: what was decoded, for `VisibleRows.choose`.
    """

    def __init__(self, rows: VisibleRows, filter_: DisplayFilter, scope: Scope | None) -> None:
        self._rows = rows
        self._done = 0
        self.filter = filter_
        self.scope = scope
        self.found = 0
        self.answers = Answers()

    def step(self, until: float) -> bool:
        """Go on until a time (`time.perf_counter`); whether everything is known then."""
        rows, total = self._rows, len(self._rows.analysis)
        reached = rows.settle(self.filter, self.scope, self._done, total, self.answers, until)
        if self._done < reached < total:
            self.found += len(rows.run(self.filter, self.scope, self._done, reached, self.answers))
        self._done = reached
        return reached == total

    @property
    def fraction(self) -> float:
        """How far it is, 0 to 1."""
        return self._done / max(1, len(self._rows.analysis))

    def take_in(self, changes: Changes) -> None:
        """Traffic has come: what was decoded stays known, but may have become necessary elsewhere."""
        self.answers.forget(changes.changed)
        if changes.tree_moved and (self.scope is not None or Depends.TREE in self.filter.depends):
            self._done = self.found = 0

    def result(self) -> Messages:
        """The messages found, when `step` said that everything is known."""
        return self._rows.evaluate(self.filter, self.scope, self.answers)
