"""How a context grew: tokens the model sees, and had seen without collapsing, after each message that changed it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.capture.hashes import NO_ROW
from inspector.model_context.reasons import Role
from inspector.model_context.story import ModelContext
from inspector.protocol.times import NO_TIME

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Growth:
    """One step for each message that changed the context, in the order of arrival.

    Attributes:
        messages: (s,) int64, message indices, ascending.
        times_ns: (s,) int64, when; a message without a time has that of the one before it, NO_TIME before any.
        seen: (s,) int64, tokens in the context after it, estimate.
        uncollapsed: (s,) int64, the same had nothing been collapsed.
        uncounted: entries that are not counted yet and stand for nothing.
    """

    messages: Array
    times_ns: Array
    seen: Array
    uncollapsed: Array
    uncounted: int

    @property
    def saved(self) -> Array:
        """(s,) int64, what collapsing has saved so far."""
        return self.uncollapsed - self.seen


def growth_of(context: ModelContext) -> Growth:
    """Add up what came and went. O(messages of the space), in numpy but for the summaries."""
    inside = context.roles != Role.NONE
    whole = np.where(inside, np.maximum(context.whole_tokens, 0), 0)
    collapsed = inside & (context.collapsed_by != NO_ROW)
    left = inside & (context.left_by != NO_ROW)
    collapsed &= ~left | (context.collapsed_by < context.left_by)  # of what had gone already nothing was left
    less = np.where(collapsed, whole - np.maximum(context.summary_tokens, 0), 0)
    rows = np.concatenate([context.rows[inside], context.collapsed_by[collapsed], context.left_by[left]])
    seen = np.concatenate([whole[inside], -less[collapsed], (less - whole)[left]])
    uncollapsed = np.concatenate([whole[inside], np.zeros(int(collapsed.sum()), np.int64), -whole[left]])
    messages, places = np.unique(rows, return_inverse=True)
    return Growth(
        messages,
        times_of(context, messages),
        np.cumsum(_summed(places, seen, len(messages))),
        np.cumsum(_summed(places, uncollapsed, len(messages))),
        int(np.count_nonzero(inside & (context.whole_tokens < 0))),
    )


def _summed(places: NDArray[np.intp], values: Array, count: int) -> Array:
    sums = np.zeros(count, np.int64)
    np.add.at(sums, places, values)
    return sums


def times_of(context: ModelContext, messages: Array) -> Array:
    """Times of some messages; what has none takes that of the one before."""
    times = context.analysis.capture.columns["time_ns"][messages]
    known = np.where(times != NO_TIME, np.arange(len(times)), -1)
    latest = np.maximum.accumulate(known) if len(known) else known
    return np.where(latest >= 0, times[np.maximum(latest, 0)], NO_TIME)
