"""Tokens of messages by tool, context, participant or kind, and over time."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.summaries.token_shares import NO_TOOL as NO_TOOL
from inspector.analysis.views.summaries.token_shares import Grouping as Grouping
from inspector.analysis.views.summaries.token_shares import Sums, sum_in_steps, tokens_over_time, with_descendants
from inspector.analysis.views.timeline.scale import TimeScale
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.engine.requests.plots import AxisRange, axis_range, message_places
from inspector.present.token_rows import COLORS as COLORS
from inspector.present.token_rows import OTHERS as OTHERS
from inspector.present.token_rows import TokenRow as TokenRow
from inspector.present.token_rows import colors_of, filter_of_row, rows_of, sum_words

_BINS = 600
"""Time resolution over the whole capture."""
_MAX_AXIS_NS = 2**62


class TokensOverTime(msgspec.Struct, frozen=True):
    """Cumulative tokens of the largest rows and of all others together.

    Attributes:
        range: of the axis.
        names: of the rows with an area of their own, the largest first.
        edges: (bins + 1,) int64 positions.
        sums: (names + 1, bins) int64 tokens up to the end of each bin; those of all others last.
    """

    range: AxisRange
    names: tuple[str, ...]
    edges: NDArray[np.int64]
    sums: NDArray[np.int64]


class TokenFigures(msgspec.Struct, frozen=True):
    """Sums of tokens.

    Attributes:
        rows: in the order of their tokens.
        words: the sum, as a sentence.
        is_counted: False before the first token is counted.
        plot: of the largest rows, if requested.
    """

    rows: list[TokenRow]
    words: str
    is_counted: bool
    plot: TokensOverTime | None = None


class TokenUsage(Request[TokenFigures], frozen=True):
    """Sums the tokens of messages.

    Attributes:
        by: the meaning of a row.
        below: contexts include their descendants.
        view: number of the view whose messages are summed; None for all messages.
        plotted: also over time.
        by_order, broken: the axis of the plot spaces messages evenly; it leaves out long silences.
    """

    by: Grouping = "tool"
    below: bool = False
    view: int | None = None
    plotted: bool = False
    by_order: bool = False
    broken: bool = False


class RowTarget(msgspec.Struct, frozen=True):
    """Targets of a row's menu.

    Attributes:
        filter: the display filter for its messages; "" if it would match all.
        participant: space (string id) and name, of a row of a participant.
    """

    filter: str
    participant: tuple[int, str] | None = None


class TokenRowTarget(Request[RowTarget], frozen=True):
    """Targets of the row with this key."""

    by: Grouping
    below: bool
    key: int


def _usage(held: OpenDocument, asked: TokenUsage) -> Steps[TokenFigures]:
    document, analysis = held.document, held.document.analysis
    messages = None if asked.view is None else held.view(asked.view).rows.chosen
    below = asked.below and asked.by == "context"
    own = yield from sum_in_steps(analysis, asked.by, messages)
    total = int(own.tokens.sum())
    sums = with_descendants(analysis, own) if below else own
    yield
    rows = yield from rows_of(document, asked.by, sums, total, colors_of(own), below=below)
    # Contexts without descendants, so that nothing counts twice in the plot.
    greatest = own.those(own.order[: len(COLORS)])
    plot = (yield from _over_time(held, asked, greatest, messages)) if asked.plotted else None
    tokens = analysis.tokens
    is_counted = bool(total) or tokens.done or not tokens.uncounted
    return TokenFigures(rows, sum_words(document, total), is_counted, plot)


def _over_time(
    held: OpenDocument, asked: TokenUsage, greatest: Sums, messages: NDArray[np.integer] | None
) -> Steps[TokensOverTime]:  # fmt: skip
    places = message_places(held, by_order=asked.by_order)
    shown = axis_range(places, broken=asked.broken)
    scale = TimeScale(shown.breaks)
    begin = scale.place(max(shown.first_ns, -_MAX_AXIS_NS))
    end = scale.place(min(shown.last_ns, _MAX_AXIS_NS))
    width = max(1, -(-(end - begin + 1) // _BINS))
    edges = scale.times(begin + np.arange(_BINS + 1) * np.int64(width))
    rows = yield from rows_of(held.document, asked.by, greatest, 1, {}, below=False)
    keys = [row.key for row in rows]
    sums = yield from tokens_over_time(held.document.analysis, places.values, edges, keys, asked.by, messages)
    return TokensOverTime(shown, tuple(row.whole_name for row in rows), edges, np.cumsum(sums, axis=1))


class CountTokens(Request[None], frozen=True):
    """Counts the tokens of messages before it is answered.

    Attributes:
        messages: these messages; None for all.
    """

    messages: tuple[int, ...] | None = None


def _count(held: OpenDocument, asked: CountTokens) -> None:
    document = held.document
    if asked.messages is None:
        document.count_tokens()
    else:
        document.analysis.tokens.count_now(asked.messages)
        document.notify_counted()


def _target(held: OpenDocument, asked: TokenRowTarget) -> RowTarget:
    document = held.document
    text = filter_of_row(document, asked.by, asked.key, below=asked.below and asked.by == "context")
    if asked.by != "participant" or not asked.key:
        return RowTarget(text)
    name = document.capture.strings[asked.key]
    known = [space for space, found in document.analysis.participants.all if found == name]
    return RowTarget(text, (known[0] if known else 0, name))


QUERIES = (
    Query(TokenUsage, TokenFigures, _usage), Query(TokenRowTarget, RowTarget, _target),
    Query(CountTokens, None, _count),
)  # fmt: skip
