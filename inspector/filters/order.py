"""Another order for an ascending array of messages: a permutation of its first places, the rest as it comes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.uint32]

_NOWHERE = np.uint32(0xFFFFFFFF)


class Order:
    """Which place of an ascending array stands at which position.

    What comes at the end of the array later stands at the end, in the order of arrival: nothing moves because
    something came. Immutable.

    Attributes:
        places: (n,) uint32, by position: the place in the array that stands there; a permutation of 0 to n - 1.
        positions: (n,) uint32, its inverse.
        sorted: how many of the first positions were sorted; those behind came later.
    """

    def __init__(self, places: Places, sorted_: int | None = None) -> None:
        """An order.

        Args:
            places: (n,) uint32, a permutation of 0 to n - 1; kept, not copied.
            sorted_: how many of its first positions are sorted; all of them by default.
        """
        self.places = places
        self.positions = np.empty(len(places), np.uint32)
        self.positions[places] = np.arange(len(places), dtype=np.uint32)
        self.sorted = len(places) if sorted_ is None else sorted_

    def place(self, position: int) -> int:
        """The place that stands at a position."""
        return int(self.places[position]) if position < len(self.places) else position

    def position(self, place: int) -> int:
        """Where a place stands."""
        return int(self.positions[place]) if place < len(self.positions) else place

    def positions_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where some places stand."""
        found = places.astype(np.int64)
        ordered = places < len(self.positions)
        found[ordered] = self.positions[places[ordered]]
        return found

    def in_order(self, messages: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The array in this order. O(messages)."""
        count = len(self.places)
        return np.concatenate((messages[self.places], messages[count:]))

    def carried_over(self, before: NDArray[np.uint32], after: NDArray[np.uint32]) -> Order:
        """The order for another array: what stays keeps its order, what is new stands behind it. O(last message).

        Args:
            before: (n,) uint32, the ascending array it was made for, as it is now.
            after: (m,) uint32, the ascending array to come.
        """
        if not len(before):
            return Order(np.arange(len(after), dtype=np.uint32), 0)
        known = np.zeros(1 + int(max(before[-1], after[-1] if len(after) else 0)), np.bool_)
        known[after] = True
        stays = known[before]
        known[:] = False
        known[before] = True
        old = known[after]  # what stays stands in the same order in both arrays
        moved_to = np.full(len(before), _NOWHERE)
        moved_to[stays] = np.flatnonzero(old)
        count = len(self.places)
        sorted_, behind = (moved_to[some] for some in (self.places[: self.sorted], self.places[self.sorted :]))
        parts = [sorted_[sorted_ != _NOWHERE], behind[behind != _NOWHERE]]
        later = moved_to[count:]
        parts += [later[later != _NOWHERE], np.flatnonzero(~old).astype(np.uint32)]
        return Order(np.concatenate(parts), len(parts[0]))
