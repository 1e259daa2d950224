"""A sort order over an ascending array that grows: a permutation of its first entries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Permutation = NDArray[np.uint32]

_NO_POSITION = np.uint32(0xFFFFFFFF)


class Order:
    """Permutation of an ascending array of messages.

    Later entries of the array come last, in order of arrival, so new messages move no row. Immutable.

    Attributes:
        places: (n,) uint32, array index by position; a permutation of 0 to n - 1.
        positions: (n,) uint32, the inverse.
        sorted: number of leading positions that are sorted; later ones are in order of arrival.
    """

    def __init__(self, places: Permutation, sorted_: int | None = None) -> None:
        """Creates an order.

        Args:
            places: (n,) uint32, a permutation of 0 to n - 1; not copied.
            sorted_: number of sorted leading positions; default all.
        """
        self.places = places
        self.positions = np.empty(len(places), np.uint32)
        self.positions[places] = np.arange(len(places), dtype=np.uint32)
        self.sorted = len(places) if sorted_ is None else sorted_

    def place_at(self, position: int) -> int:
        """Returns the array index at a position."""
        return int(self.places[position]) if position < len(self.places) else position

    def position_of(self, place: int) -> int:
        """Returns the position of an array index."""
        return int(self.positions[place]) if place < len(self.positions) else place

    def positions_of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the positions of array indices."""
        found = places.astype(np.int64)
        ordered = places < len(self.positions)
        found[ordered] = self.positions[places[ordered]]
        return found

    def in_order(self, messages: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Returns the array in this order. O(messages)."""
        count = len(self.places)
        return np.concatenate((messages[self.places], messages[count:]))

    def carry_over(self, before: NDArray[np.uint32], after: NDArray[np.uint32]) -> Order:
        """Returns the order for another array: common messages keep their order, new ones come last. O(last message).

        Args:
            before: (n,) uint32, the ascending array of this order, in its present state.
            after: (m,) uint32, the new ascending array.
        """
        if not len(before):
            return Order(np.arange(len(after), dtype=np.uint32), 0)
        known = np.zeros(1 + int(max(before[-1], after[-1] if len(after) else 0)), np.bool_)
        known[after] = True
        stays = known[before]
        known[:] = False
        known[before] = True
        old = known[after]  # common messages have the same order in both arrays
        moved_to = np.full(len(before), _NO_POSITION)
        moved_to[stays] = np.flatnonzero(old)
        count = len(self.places)
        sorted_, behind = (moved_to[some] for some in (self.places[: self.sorted], self.places[self.sorted :]))
        parts = [sorted_[sorted_ != _NO_POSITION], behind[behind != _NO_POSITION]]
        later = moved_to[count:]
        parts += [later[later != _NO_POSITION], np.flatnonzero(~old).astype(np.uint32)]
        return Order(np.concatenate(parts), len(parts[0]))
