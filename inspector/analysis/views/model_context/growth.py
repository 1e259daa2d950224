"""Computes the growth of a context: tokens with and without collapsing, after each change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.model_context.reasons import Role, Why
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.base.slices import SlicedWork, run_to_end
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Growth:
    """One step per message that changed the context, in order of arrival.

    Attributes:
        messages: (s,) int64, message indices, ascending.
        seen: (s,) int64, estimated tokens after it.
        uncollapsed: (s,) int64, the same without collapsing.
        uncounted: number of uncounted entries, taken as 0 tokens.
    """

    messages: Array
    seen: Array
    uncollapsed: Array
    uncounted: int

    @property
    def saved(self) -> Array:
        """(s,) int64, tokens saved by collapsing so far."""
        return self.uncollapsed - self.seen


def growth_of(context: ModelContext) -> Growth:
    """Sums additions and removals; see `growing`."""
    return run_to_end(growing(context))


def growing(context: ModelContext) -> SlicedWork[Growth]:
    """Sums additions and removals. O(messages of the capture), in numpy except for summaries.

    Counts all summaries, unless `count_summaries` was called; uncounted ones are then taken as 0.
    """
    inside, left, collapsed = parts = _parts(context)
    yield
    whole = np.maximum(context.whole_tokens, 0)
    less = np.zeros(len(whole), np.int64)
    less[collapsed] = whole[collapsed] - np.maximum(context.summary_tokens[collapsed], 0)
    yield
    uncollapsed = np.zeros(_reached(context), np.int64)
    np.add.at(uncollapsed, context.arrived[inside], whole[inside])
    yield
    seen = uncollapsed.copy()
    np.subtract.at(uncollapsed, context.left_by[left], whole[left])
    # A collapsed entry leaves with its summary's tokens only.
    np.subtract.at(seen, context.left_by[left], whole[left] - less[left])
    np.subtract.at(seen, context.collapsed_by[collapsed], less[collapsed])
    yield
    messages = _changing(context, parts)
    yield
    seen = np.cumsum(seen[messages])
    yield
    uncollapsed = np.cumsum(uncollapsed[messages])
    yield
    return Growth(messages, seen, uncollapsed, int(np.count_nonzero(context.whole_tokens[inside] < 0)))


def compactions(context: ModelContext) -> Array:
    """Returns the messages that cut a history: compacted, summarised, or resent without model output.

    Ascending. O(messages of the capture) in numpy.
    """
    gone = (context.roles != Role.NONE) & (context.left_by != NO_ROW)
    told = gone & np.isin(context.left_whys, (Why.COMPACTED, Why.SUMMARISED))
    cut = gone & (context.left_whys == Why.NOT_SENT) & (context.roles == Role.ASSISTANT)
    return np.unique(context.left_by[told | cut])


def changing(context: ModelContext) -> Array:
    """Returns the messages that change a context: additions, removals, collapses. Ascending.

    O(messages of the capture) in numpy; reads no tokens.
    """
    return _changing(context, _parts(context))


def _changing(context: ModelContext, parts: tuple[Array, Array, Array]) -> Array:
    inside, left, collapsed = parts
    found = np.zeros(_reached(context), np.bool_)
    for rows in (context.arrived[inside], context.left_by[left], context.collapsed_by[collapsed]):
        found[rows] = True
    return np.flatnonzero(found)


def _parts(context: ModelContext) -> tuple[Array, Array, Array]:
    """Returns indexes of entries that ever entered, of removed ones, and of ones collapsed before removal."""
    inside = np.flatnonzero(context.roles != Role.NONE)
    left = inside[context.left_by[inside] != NO_ROW]
    collapsed = inside[context.collapsed_by[inside] != NO_ROW]
    gone = context.left_by[collapsed]
    return inside, left, collapsed[(gone == NO_ROW) | (context.collapsed_by[collapsed] < gone)]


def _reached(context: ModelContext) -> int:
    """Returns one more than the last relevant message."""
    parts = (context.rows, context.left_by, context.collapsed_by)
    return 1 + max(int(rows.max(initial=NO_ROW)) for rows in parts)
