"""Find in view: searches the shown rows of a view for a text, and steps from hit to hit.

The engine keeps one search per view until `EndFind`. It runs while a request about it is pending, and follows new
traffic and changes of the view. The caller repeats `FindHits` until the search has ended.
"""

from __future__ import annotations

import time
from typing import ClassVar

import msgspec

from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps
from inspector.filters.find import FindSearch
from inspector.filters.find_query import MAX_QUERY as MAX_QUERY
from inspector.filters.find_query import FindQuery as FindQuery
from inspector.filters.patterns import PatternError as PatternError
from inspector.filters.visible import Messages

FIRST_S, REPORT_S = 0.016, 0.1
"""Work before the first report on a query, and before later ones: each repaints the table."""


class NextHit(msgspec.Struct, frozen=True):
    """The next or previous hit from the current message, in the order of the rows.

    Attributes:
        message: its message; None without hits.
        wrapped: the way there leads past the last or first row.
    """

    message: int | None
    wrapped: bool = False


class Hits(msgspec.Struct, frozen=True):
    """Hits of a search so far.

    Attributes:
        revision: rises with each change of the hits; never 0.
        messages: messages with a hit in their rows, ascending, (n,) uint32; None if the caller has them.
        count: number of hits.
        place: index of the current message among the hits in the order of the rows; None if it is no hit.
        next: answer to a step; None if all rows on the way are not searched yet, or no step was asked for.
        fraction: progress, 0 to 1.
        is_done: the search has ended: all rows are searched, or too many timed out.
        gave_up: too many messages timed out, so that the rest is not searched.
        timeouts: number of messages left out because the search timed out in them.
        only_timeouts: the search has ended without a result for any message.
    """

    revision: int
    messages: Messages | None
    count: int
    place: int | None
    next: NextHit | None
    fraction: float
    is_done: bool
    gave_up: bool
    timeouts: int
    only_timeouts: bool


class FindHits(Request[Hits], frozen=True):
    """Continues the search of a view, and answers at its end, at the first hits, with the next hit, or after a while.

    Another query replaces the search. It starts at the current message and wraps around the end.

    Attributes:
        view: number of the view.
        query: the text or expression.
        current: the selected message.
        step: 1 or -1 also asks for the next or previous hit.
        known: revision of the caller's hits of this query; 0 without any.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    query: FindQuery
    current: int | None = None
    step: int = 0
    known: int = 0


class EndFind(Request[None], frozen=True):
    """Drops the search of a view, which otherwise follows new traffic."""

    is_urgent: ClassVar[bool] = True
    view: int


def _find(held: OpenDocument, asked: FindHits) -> Steps[Hits]:
    view = held.view(asked.view)
    search = view.find
    if search is None or search.query != asked.query:
        try:
            search = view.find = FindSearch(view.rows, asked.query, asked.current)
        except PatternError as error:
            raise RequestError(error.message) from None
    search.follow_rows(asked.current)
    had_hits = not asked.known or len(search.hits) > 0
    until = time.perf_counter() + (REPORT_S if asked.known else FIRST_S)
    while not search.step():
        has_first = len(search.hits) > 0 and not had_hits
        if has_first or time.perf_counter() >= until or (asked.step and search.knows_next(asked.current, asked.step)):
            break
        yield
        search.follow_rows(asked.current)
    return _hits(search, len(view.rows.chosen), asked)


def _hits(search: FindSearch, searched: int, asked: FindHits) -> Hits:
    count, timeouts = len(search.hits), search.timeout_count
    found = None
    if asked.step and search.knows_next(asked.current, asked.step):
        found = NextHit(*(search.next_hit(asked.current, asked.step) or (None, False)))
    return Hits(
        search.revision,
        search.hits.copy() if search.revision != asked.known else None,
        count,
        search.place_of(asked.current),
        found,
        search.fraction,
        search.is_done,
        search.gave_up,
        timeouts,
        search.is_done and not count and (search.gave_up or 0 < timeouts == searched),
    )


def _end(held: OpenDocument, asked: EndFind) -> None:
    held.view(asked.view).find = None


QUERIES = (
    Query(FindHits, Hits, _find),
    Query(EndFind, None, _end),
)
