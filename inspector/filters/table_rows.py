"""Rows of a table of messages: sorted messages with the lines of expanded originals. No analysis.

A row is a (message, part). Part 0 is the message itself; parts 1 to n are lines of its expanded original, so all rows
have one height (docs/design.md 3). `visible` is an ascending array of message indices. Expansions are few and stored
apart, so only one array grows with the capture. A *place* is an index into that array. A *position* is an index into
the displayed order; both are equal unless the rows are sorted (`Order`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.filters.order import Order, Permutation

Messages = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class SortOrder:
    """A sort order of rows.

    Attributes:
        field, label: name and title of the field.
        descending: the largest first.
    """

    field: str
    label: str
    descending: bool = False


class TableRows:
    """The rows of one table.

    Attributes:
        sorted_by: the sort order; None for the order of arrival.
        replaced: number of changes other than new rows below.
        arranged: number of changes that moved a message to another row.
    """

    def __init__(self) -> None:
        self.sorted_by: SortOrder | None = None
        self.replaced = self.arranged = 0
        self._order: Order | None = None
        self._shown: Messages = np.empty(0, np.uint32)
        self._count = 0
        self._expanded: dict[int, int] = {}
        self._expanded_at: list[int] = []
        self._starts: list[int] = []

    @property
    def visible(self) -> Messages:
        """(n,) uint32, shown messages, ascending. A view; later rows do not change it."""
        return self._shown[: self._count]

    def _head_of(self, message: int) -> int | None:
        """Returns the message whose row stands for a folded one, if any."""
        return None

    @property
    def seen_count(self) -> int:
        """Number of messages evaluated; shown ones have lower indices."""
        return int(self.visible[-1]) + 1 if self._count else 0

    def row_messages(self, messages: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Returns (n,) for each message the one whose row stands for it; itself if it is not folded."""
        return messages.astype(np.int64)

    # Changes

    def append(self, new: Messages) -> None:
        """Adds rows below. O(new rows)."""
        needed = self._count + len(new)
        if needed > len(self._shown):
            # Memory past the end is never touched, so generous steps cost no resident pages.
            grown = np.empty(max(needed, len(self._shown) * 3 // 2, 1024), np.uint32)
            # Callers keep views of the old array, so it is replaced rather than resized.
            grown[: self._count] = self.visible
            self._shown = grown
        self._shown[self._count : needed] = new
        self._count = needed
        if self._expanded:
            self._index_expansions()

    def replace(self, visible: Messages) -> None:
        """Replaces all rows; a sort order stays."""
        if self._order is not None:
            # A change of the filter must not undo the user's sort.
            self._order = self._order.carry_over(self.visible, visible)
        self._shown, self._count = visible, len(visible)
        self.replaced += 1
        self.arranged += 1
        self._index_expansions()

    # Sort order

    def sort(self, by: SortOrder | None, places: Permutation | None = None, messages: Messages | None = None) -> None:
        """Sorts the rows. They keep the order until the next sort; new ones come below.

        Args:
            by: the sort order; None for the order of arrival.
            places: (n,) uint32, the order from `Sorting`.
            messages: (n,) uint32, the sorted messages; default all shown ones.
        """
        self.sorted_by, self._order = by, None
        self.arranged += 1
        if by is not None and places is not None:
            visible = self.visible
            # Rows may have come and gone while the sort ran in slices.
            order = Order(places)
            same = messages is None or np.array_equal(messages, visible[: len(messages)])
            self._order = order if same or messages is None else order.carry_over(messages, visible)
        self._index_expansions()

    @property
    def unsorted_count(self) -> int:
        """Number of messages that arrived after the sort, shown below in order of arrival."""
        return 0 if self._order is None else self._count - self._order.sorted

    def in_order(self) -> Messages:
        """Returns (n,) uint32, shown messages in displayed order. O(rows) if sorted."""
        return self.visible if self._order is None else self._order.in_order(self.visible)

    # Rows

    def __len__(self) -> int:
        """Returns the number of rows, including lines of expanded originals."""
        return self._count + (sum(map(self._parts_at, self._expanded_at)) if self._expanded_at else 0)

    def message_at(self, position: int) -> int:
        return int(self._shown[position if self._order is None else self._order.place_at(position)])

    def position(self, message: int) -> int | None:
        """Returns the position of a message, if it is shown. O(log rows)."""
        place = self._place_of(message)
        return place if place is None or self._order is None else self._order.position_of(place)

    def neighbour_of(self, message: int, by: int) -> int | None:
        """Returns the message `by` positions below a shown one (above if negative); None past either end."""
        position = self.position(message)
        wanted = -1 if position is None else position + by
        return self.message_at(wanted) if 0 <= wanted < self._count else None

    def _parts_at(self, position: int) -> int:
        return self._expanded[self.message_at(position)]

    def _index_expansions(self) -> None:
        """Indexes expanded messages: their positions, ascending, and the row of each."""
        # Expanded messages that the filter hides keep their lines for later.
        self._expanded_at = sorted(p for p in map(self.position, self._expanded) if p is not None)
        self._starts = []
        extra = 0
        for position in self._expanded_at:
            self._starts.append(position + extra)
            extra += self._parts_at(position)

    def _place_of(self, message: int) -> int | None:
        place = self.messages_before(message)
        if place < self._count and self._shown[place] == message:
            return place
        head = self._head_of(message)
        return None if head is None or head == message else self._place_of(head)

    def messages_before(self, message: int) -> int:
        """Returns the number of shown messages before this one. O(log rows)."""
        # For any other dtype, numpy would convert the whole array first.
        return int(self.visible.searchsorted(np.uint32(message)))

    def row_at(self, row: int) -> tuple[int, int]:
        """Returns the (message, part) of a row. O(log expansions)."""
        before = bisect_right(self._starts, row) - 1
        if before < 0:
            return self.message_at(row), 0
        position, start = self._expanded_at[before], self._starts[before]
        parts = self._parts_at(position)
        part = row - start
        # Rows below the last line belong to the messages that follow.
        if part <= parts:
            return self.message_at(position), part
        return self.message_at(position + part - parts), 0

    def row_of(self, message: int, part: int = 0) -> int | None:
        """Returns the row of a message or of a line of its original, if shown."""
        position = self.position(message)
        if position is None:
            return None
        before = bisect_left(self._expanded_at, position)
        return position + sum(self._parts_at(p) for p in self._expanded_at[:before]) + part

    def rows_of(self, messages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the rows of ascending shown messages, ascending."""
        positions = self.visible.searchsorted(messages.astype(np.uint32))
        if self._order is not None:
            positions = np.sort(self._order.positions_of(positions))
        if not self._expanded_at:
            return positions
        lines = np.concatenate(([0], np.cumsum([self._parts_at(position) for position in self._expanded_at])))
        return positions + lines[np.searchsorted(self._expanded_at, positions)]

    def nearest_row(self, message: int) -> int:
        """Returns the row of a message, or of the next one (or last one) shown; -1 if no row is shown."""
        own = self.row_of(message)
        if own is not None:
            return own
        place = min(self.messages_before(message), self._count - 1)
        found = self.row_of(int(self.visible[place])) if place >= 0 else None
        return -1 if found is None else found

    def part_count(self, message: int) -> int:
        """Number of lines below an expanded message; 0 if it is not expanded."""
        return self._expanded.get(message, 0)

    def expand(self, message: int, parts: int) -> None:
        """Shows `parts` lines below a message."""
        if parts > 0:
            self._expanded[message] = parts
            self.arranged += 1
            self._index_expansions()

    def collapse(self, message: int) -> None:
        """Hides the lines below a message."""
        self._expanded.pop(message, None)
        self.arranged += 1
        self._index_expansions()
