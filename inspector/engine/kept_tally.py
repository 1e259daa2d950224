"""Counts over the messages of a view, kept up to date from one request to the next."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.engine.open_document import OpenDocument
from inspector.filters import DisplayFilter, FilterError


class Tally(Protocol):
    """Counts that depend on changes and on the clock."""

    def on_changes(self, changes: AnalysisChanges, /) -> None:
        """Queues changes until the next step."""
        ...

    def on_clock(self) -> None:
        """Invalidates results that depend on the clock."""
        ...


TallyT = TypeVar("TallyT", bound=Tally)


class KeptTally(Generic[TallyT]):
    """Notifies counts of changes, moves in the tree and the clock.

    Attributes:
        tally: the counts.
    """

    def __init__(self, held: OpenDocument, tally: TallyT) -> None:
        self._held = held
        self.tally = tally
        self._tree_moves, self._clock = held.tree_moves, self._present_clock()

    def note_changed(self, changed: Rows) -> None:
        self.tally.on_changes(AnalysisChanges(0, 0, changed, tree_moved=False))

    def follow_document(self) -> None:
        """Notifies the counts of moves in the tree and of the clock since the last call."""
        if self._tree_moves != self._held.tree_moves:
            self._tree_moves = self._held.tree_moves
            self.tally.on_changes(AnalysisChanges(0, 0, NO_ROWS, tree_moved=True))
        if (clock := self._present_clock()) != self._clock:
            self._clock = clock
            self.tally.on_clock()

    def compiled(self, text: str, selected_context: str | None) -> DisplayFilter:
        """Compiles a filter; one with `$context` matches all messages without a selected context."""
        try:
            return self._held.compiled(text, selected_context)
        except FilterError:
            return self._held.compiled("")

    def _present_clock(self) -> tuple[int | None, int]:
        # In a log, the last record sets the clock.
        analysis = self._held.document.analysis
        return analysis.now_ns, len(analysis)
