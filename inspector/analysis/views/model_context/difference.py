"""Compares a model context at two moments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.tokens.token_pass import NOT_COUNTED
from inspector.analysis.views.model_context.reconstruction import Moment

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Difference:
    """Positions in the later moment's arrays, ascending.

    Attributes:
        earlier, later: the two moments.
        came: new entries.
        went: removed entries.
        collapsed: entries of both moments that were replaced by their summary.
        tokens: estimated growth; negative if the context shrank.
    """

    earlier: Moment
    later: Moment
    came: Places
    went: Places
    collapsed: Places
    tokens: int

    @cached_property
    def by_entry(self) -> Places:
        """(k,) int64, change of tokens per entry of the later moment; 0 for uncounted ones."""
        before = np.zeros(len(self.later.tokens), np.int64)
        before[: len(self.earlier.tokens)] = self.earlier.tokens
        after = self.later.tokens
        return np.where((before == NOT_COUNTED) | (after == NOT_COUNTED), 0, after - before)


def difference(earlier: Moment, later: Moment) -> Difference:
    """Compares two moments of one context.

    Raises:
        ValueError: the moments are of different contexts, or in the wrong order.
    """
    if earlier.context is not later.context or earlier.message > later.message:
        raise ValueError("Two moments of one context are compared, the earlier one first.")
    count = len(earlier.included)
    before = np.zeros(len(later.included), np.bool_)
    before[:count] = earlier.included
    folded = np.zeros(len(later.included), np.bool_)
    folded[:count] = earlier.collapsed
    return Difference(
        earlier,
        later,
        np.flatnonzero(later.included & ~before),
        np.flatnonzero(before & ~later.included),
        np.flatnonzero(before & later.collapsed & ~folded),
        later.total - earlier.total,
    )
