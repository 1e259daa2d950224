"""Deliveries: the copies of messages that a gateway's log records, by recipient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.columns import DELIVERY_COLUMNS, GrowingColumns
from inspector.store.columns.intern_table import InternTable


@dataclass(frozen=True, slots=True)
class Delivery:
    """One copy of a message in a gateway log."""

    participant: str | None
    event: str
    source: int
    offset: int
    length: int


class Deliveries(GrowingColumns):
    """Columns of DELIVERY_COLUMNS in log order, indexed by message once a log has been read.

    Args:
        strings: values of the string ids in them.
    """

    def __init__(self, strings: InternTable[str]) -> None:
        super().__init__(DELIVERY_COLUMNS)
        self._strings = strings
        self._order: NDArray[np.int64] = np.empty(0, np.int64)
        self._ordered: NDArray[np.uint32] = np.empty(0, np.uint32)

    def deliveries_of(self, message: int) -> Iterator[Delivery]:
        """Yields the copies of a message, in log order."""
        for place in self._places(message):
            participant = int(self["participant"][place])
            yield Delivery(
                self._strings[participant] if participant else None,
                self._strings[int(self["event"][place])],
                int(self["source"][place]),
                int(self["offset"][place]),
                int(self["length"][place]),
            )

    def recipients(self, message: int) -> list[str]:
        """Returns the participants that received a message, as far as a log records it."""
        found = (d.participant for d in self.deliveries_of(message) if d.event == "delivered")
        return list(dict.fromkeys(p for p in found if p is not None))

    def _places(self, message: int) -> NDArray[np.int64]:
        column = self["message"]
        if not len(column):
            return self._order
        # Sorted on request: a log is read in blocks, and its deliveries are mostly asked for at the end.
        if len(self._order) != len(column):
            self._order = np.argsort(column, kind="stable")
            self._ordered = column[self._order]
        low, high = np.searchsorted(self._ordered, [message, message + 1])
        return self._order[low:high]
