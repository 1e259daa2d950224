"""Entries of a context for a list: the shown ones in order, and their changes during a comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.model_context.difference import Difference
from inspector.analysis.views.model_context.reconstruction import Moment
from inspector.analysis.views.model_context.request_change import request_at

Places = NDArray[np.int64]

_NONE: Places = np.empty(0, np.int64)


class ListedEntries:
    """Listed entries as arrays, without an object for each.

    Attributes:
        moment: the context of the entries.
        change: difference from an earlier moment, during a comparison.
        places: (n,) int64, into the context's arrays, in the order of the list.
        messages: (n,) int64, their message indices.
        most: tokens of the largest entry; during a comparison, of the largest change.
        not_cached_from: place of the first entry of the last request outside of the prompt cache; None.
    """

    def __init__(self, moment: Moment, places: Places, change: Difference | None = None, *, by_size: bool) -> None:
        """Sorts entries.

        Args:
            moment: their context.
            places: indexes into the context's arrays, ascending.
            change: difference from an earlier moment, for a comparison.
            by_size: largest first; else in the order of context or time.
        """
        self.moment, self.change = moment, change
        self.places, self.messages = places, _NONE
        self.most = 0
        self.not_cached_from: int | None = None
        if not len(places):
            return
        sizes = np.abs(change.by_entry if change is not None else moment.tokens)[places]
        self.most = int(sizes.max())
        if by_size:
            # Stable, so that entries of equal size stay in the order of messages.
            self.places = places[np.argsort(-sizes, kind="stable")]
        elif change is None and moment.request is not None:
            self.places = moment.in_order(places)
        self.messages = moment.context.rows[self.places]
        request = request_at(moment)
        self.not_cached_from = None if request is None else request.not_cached_from

    def place_of(self, message: int) -> int | None:
        """Returns the place of a message in the context's arrays; None if the context has no such message."""
        rows = self.moment.context.rows
        place = int(np.searchsorted(rows, message))
        return place if place < len(self.moment.included) and rows[place] == message else None

    def mark(self, place: int) -> str:
        """Returns an entry's change in a comparison: came, went, collapsed; "" for unchanged."""
        change = self.change
        if change is None:
            return ""
        for name, places in (("came", change.came), ("went", change.went), ("collapsed", change.collapsed)):
            found = int(np.searchsorted(places, place))
            if found < len(places) and places[found] == place:
                return name
        return ""
