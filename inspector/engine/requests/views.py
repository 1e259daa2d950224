"""Views of messages: filter, scope, sort order and folding of a table, and how new traffic changes its rows.

The caller chooses the number of a view; its first request creates it with all messages.
"""

from __future__ import annotations

import time
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.gaps import GapRows
from inspector.engine.message_view import ChangedRows as ChangedRows
from inspector.engine.message_view import ShownRows as ShownRows
from inspector.engine.message_view import ViewState as ViewState
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.engine.requests.rows import check_messages
from inspector.filters import FilterError
from inspector.filters.compile import DisplayFilter
from inspector.filters.naming import field_named
from inspector.filters.search import Search
from inspector.filters.sorting import SortBy, Sorting
from inspector.filters.table_rows import Messages as Messages
from inspector.filters.table_rows import SortOrder as SortOrder
from inspector.filters.table_rows import TableRows as TableRows
from inspector.filters.visible import Scope

_COUNTED_S = 0.03
"""Time for a count that is shown while the user types."""
_MAX_COUNTED, _MAX_COUNTED_DECODED = 2_000_000, 20_000
"""Maximum number of messages of such a count; the second for filters that decode messages."""


class FilterRows(Request[ShownRows], frozen=True):
    """Applies a filter and a scope; the rows stay as they are until all messages are evaluated.

    Attributes:
        view: number of the view.
        filter: a display filter.
        selected_context: the path of `$context`.
        scope: part of the context tree, or None.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    filter: str = ""
    selected_context: str | None = None
    scope: Scope | None = None


class ArrangeRows(Request[ShownRows], frozen=True):
    """Folds or unfolds streams and copies, hides or shows bookkeeping; answers all rows.

    Attributes:
        view: number of the view.
        folds, hides_bookkeeping: what the user wants; a filter about such messages shows them nevertheless.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    folds: bool = True
    hides_bookkeeping: bool = False


class FollowRows(Request[ChangedRows], frozen=True):
    """Evaluates new and changed messages, as many as can be decoded in a short time.

    Attributes:
        view: number of the view.
        start, stop: the range of new messages.
        changed: changed earlier messages, (n,) int64.
        tree_moved: contexts have moved.
        clock: time has passed.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    start: int
    stop: int
    changed: NDArray[np.int64]
    tree_moved: bool = False
    clock: bool = False


class SortedRows(msgspec.Struct, frozen=True):
    """Sorted rows.

    Attributes:
        messages: the sorted messages, ascending, (n,) uint32.
        places: indices into them in sorted order, (n,) uint32.
        order: the sort order; None for the order of arrival.
    """

    messages: Messages
    places: NDArray[np.uint32]
    order: SortOrder | None = None


class SortRows(Request[SortedRows], frozen=True):
    """Sorts the rows of a view by a field; they keep the order until the next sort, and new ones come below.

    Attributes:
        view: number of the view.
        field: name of the field; "" for the order of arrival.
        descending: the largest first.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    field: str
    descending: bool = False


class Progress(msgspec.Struct, frozen=True):
    """Progress of work on a view.

    Attributes:
        fraction: 0 to 1.
        found: matches so far.
        order: of the running sort.
    """

    fraction: float
    found: int = 0
    order: SortOrder | None = None


class ProgressOfView(Request[Progress], frozen=True):
    """Progress of the running search, or else of the running sort."""

    is_urgent: ClassVar[bool] = True
    view: int


class CountMatches(Request[int | None], frozen=True):
    """Number of matches of a filter in the scope; None for an invalid one, or if counting would take too long.

    Attributes:
        view: number of the view.
        filter, selected_context, scope: as of `FilterRows`.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    filter: str
    selected_context: str | None = None
    scope: Scope | None = None


class RowPlaces(msgspec.Struct, frozen=True):
    """Rows of messages in a view.

    Attributes:
        rows: the message with the row of each one, itself if it is not folded, (n,) int64.
        hidden: it is hidden as bookkeeping, (n,) bool.
    """

    rows: NDArray[np.int64]
    hidden: NDArray[np.bool_]


class PlacesOfMessages(Request[RowPlaces], frozen=True):
    """Rows of messages that may be folded into others.

    Attributes:
        view: number of the view.
        messages: their indices, (n,) integer.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    messages: NDArray[np.int64]


class GapFacts(msgspec.Struct, frozen=True):
    """Places where frames may be missing.

    Attributes:
        count: their number.
        next: the message of the first one after a message, wrapping around; None without gaps.
    """

    count: int
    next: int | None


class NextGap(Request[GapFacts], frozen=True):
    """The gap after a message, or the first one for None."""

    is_urgent: ClassVar[bool] = True
    after: int | None = None


def _compiled(held: OpenDocument, text: str, selected_context: str | None) -> DisplayFilter:
    try:
        return held.compiled(text, selected_context)
    except FilterError as error:
        raise RequestError(f"{error} (at character {error.position + 1})") from None


def _filter(held: OpenDocument, asked: FilterRows) -> Steps[ShownRows]:
    view = held.view(asked.view)
    filter_ = _compiled(held, asked.filter, asked.selected_context)
    search = view.search = Search(view.rows, filter_, asked.scope)
    try:
        while not search.step():
            yield
    finally:
        if view.search is search:
            view.search = None
    view.rows.apply_filter(filter_, asked.scope, search.result(), search.answers)
    view.revision += 1
    return view.all_rows()


def _arrange(held: OpenDocument, asked: ArrangeRows) -> ShownRows:
    view = held.view(asked.view)
    if asked.folds != view.rows.folding_enabled:
        view.rows.set_folding(asked.folds)
        view.revision += 1
    if asked.hides_bookkeeping != view.rows.hides_bookkeeping:
        view.rows.hide_bookkeeping(asked.hides_bookkeeping)
        view.revision += 1
    return view.all_rows()


def _follow(held: OpenDocument, asked: FollowRows) -> ChangedRows:
    view = held.view(asked.view)
    changes = AnalysisChanges(asked.start, asked.stop, asked.changed, asked.tree_moved)
    if view.search is not None:
        view.search.on_changes(changes)
    if view.find is not None:
        view.find.note_changed(asked.changed)
    update = view.rows.prepare(changes, clock=asked.clock, in_blocks=True)
    view.rows.apply(update)
    base, view.revision = view.revision, view.revision + 1
    return ChangedRows(
        base, view.revision, update.replaced, update.new, update.appended, update.changed, update.grown, view.state()
    )


def _sort(held: OpenDocument, asked: SortRows) -> Steps[SortedRows]:
    view = held.view(asked.view)
    if not asked.field:
        view.rows.sort(None)
        return SortedRows(view.rows.visible[:0], view.rows.visible[:0])
    try:
        by = SortBy(field_named(asked.field), asked.descending)
    except FilterError as error:
        raise RequestError(str(error)) from None
    sorting = view.sorting = Sorting(held.document.analysis, by, view.rows.visible)
    try:
        places = yield from sorting.find_order()
    finally:
        if view.sorting is sorting:
            view.sorting = None
    view.rows.sort(by.order, places, sorting.messages)
    return SortedRows(sorting.messages, places, by.order)


def _progress(held: OpenDocument, asked: ProgressOfView) -> Progress:
    view = held.view(asked.view)
    if view.search is not None:
        return Progress(view.search.fraction, view.search.found)
    sorting = view.sorting
    return Progress(1.0) if sorting is None else Progress(sorting.fraction, order=sorting.by.order)


def _count(held: OpenDocument, asked: CountMatches) -> int | None:
    view, analysis = held.view(asked.view), held.document.analysis
    try:
        filter_ = held.compiled(asked.filter, asked.selected_context)
    except FilterError:
        return None
    if len(analysis) > (_MAX_COUNTED if filter_.is_cheap(analysis) else _MAX_COUNTED_DECODED):
        return None
    search = Search(view.rows, filter_, asked.scope)
    until = time.perf_counter() + _COUNTED_S
    while not search.step():
        if time.perf_counter() >= until:
            return None
    return len(search.result())


def _places(held: OpenDocument, asked: PlacesOfMessages) -> RowPlaces:
    rows = held.view(asked.view).rows
    check_messages(held, asked.messages.tolist())
    return RowPlaces(rows.row_messages(asked.messages), rows.are_hidden(asked.messages))


def gaps_of(held: OpenDocument) -> GapRows:
    """Returns the gaps of a document, up to date."""
    capture = held.document.capture
    gaps = held.kept(GapRows, lambda: GapRows(capture))
    gaps.update()
    return gaps


def _next_gap(held: OpenDocument, asked: NextGap) -> GapFacts:
    gaps = gaps_of(held)
    return GapFacts(len(gaps.rows), gaps.next_after(asked.after))


QUERIES = (
    Query(FilterRows, ShownRows, _filter),
    Query(ArrangeRows, ShownRows, _arrange),
    Query(FollowRows, ChangedRows, _follow),
    Query(SortRows, SortedRows, _sort),
    Query(ProgressOfView, Progress, _progress),
    Query(CountMatches, int | None, _count),
    Query(PlacesOfMessages, RowPlaces, _places),
    Query(NextGap, GapFacts, _next_gap),
)
