"""A view of a document's messages, held by the engine: filter, scope, folding and the work in progress about them."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.views.gaps import GapRows
from inspector.filters.compile import compile_filter
from inspector.filters.find import FindSearch
from inspector.filters.search import Search
from inspector.filters.sorting import Sorting
from inspector.filters.visible import Messages, VisibleRows


class ViewState(msgspec.Struct, frozen=True):
    """Figures of a view.

    Attributes:
        seen: number of messages evaluated.
        matches: number of filtered messages, including ones folded into other rows.
        shown, total: filtered and evaluated messages without gaps and rows of session structure.
        gaps: places where frames may be missing.
        bookkeeping: filtered bookkeeping messages that are hidden, or would be.
        hidden_requests, hidden_proposals: calls that the filter or scope hides.
        timeouts: values that timed out in a regular expression of the filter; each counts as no match.
        is_folded: streams and copies are folded.
        has_folded: some messages are shown by the row of another one, or hidden.
        is_behind: new or changed messages wait for evaluation.
    """

    seen: int = 0
    matches: int = 0
    shown: int = 0
    total: int = 0
    gaps: int = 0
    bookkeeping: int = 0
    hidden_requests: int = 0
    hidden_proposals: int = 0
    timeouts: int = 0
    is_folded: bool = True
    has_folded: bool = False
    is_behind: bool = False


class ShownRows(msgspec.Struct, frozen=True):
    """All rows of a view.

    Attributes:
        revision: number of changes of the view so far.
        visible: shown messages, ascending, (n,) uint32.
        state: figures.
    """

    revision: int
    visible: Messages
    state: ViewState


class ChangedRows(msgspec.Struct, frozen=True):
    """Effect of new traffic on the rows of a view.

    Attributes:
        base, revision: the revisions before and after.
        replaced: the new content of the rows shown before, (n,) uint32; None if unchanged.
        new: new messages, shown below, (n,) uint32.
        appended: rows are only added at the end.
        changed: messages shown before and after with changed values, (n,) int64.
        grown: shown messages whose rows stand for more or for changed frames, (n,) int64.
        state: figures.
    """

    base: int
    revision: int
    replaced: Messages | None
    new: Messages
    appended: bool
    changed: NDArray[np.int64]
    grown: NDArray[np.int64]
    state: ViewState


class MessageView:
    """One view.

    Attributes:
        rows: the filtered messages.
        revision: rises with each change of the rows.
        search, sorting: the running search or sort.
        find: the last search of find in view.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._gaps = GapRows(analysis.capture)
        self.rows = VisibleRows(analysis)
        self.rows.apply_filter(compile_filter(""), None)
        self.revision = 1
        self.search: Search | None = None
        self.find: FindSearch | None = None
        self.sorting: Sorting | None = None

    def all_rows(self) -> ShownRows:
        """Returns all rows."""
        return ShownRows(self.revision, self.rows.visible, self.state())

    def state(self) -> ViewState:
        """Returns the figures. O(new messages, contexts and gaps)."""
        rows, gaps = self.rows, self._gaps
        gaps.update()
        structure = self._analysis.contexts.sessions.count_structure
        chosen, seen = rows.chosen, rows.seen_count
        requests, proposals = rows.hidden_calls()
        return ViewState(
            seen,
            len(chosen),
            len(chosen) - gaps.among(chosen) - structure(chosen),
            seen - gaps.before(seen) - structure(slice(seen)),
            len(gaps.rows),
            rows.bookkeeping,
            requests,
            proposals,
            rows.filter.timeout_count,
            rows.is_folded,
            rows.has_folded,
            rows.is_behind,
        )
