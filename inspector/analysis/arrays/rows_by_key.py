"""Lists of rows by who they are about, in twelve bytes a row and four a list: a Python list takes a hundred."""

from __future__ import annotations

from array import array

NONE = -1


class RowLists:
    """A list for each owner, by number, in the order it grew.

    Entries of all stand in one array, each with the number of the one before it.

    Attributes:
        rows: by entry.
    """

    def __init__(self) -> None:
        self._last = array("i")  # by owner, its last entry
        self.rows = array("q")
        self._before = array("i")

    def __len__(self) -> int:
        """Entries of all lists."""
        return len(self.rows)

    def add(self, owner: int, row: int) -> None:
        """Lengthen the list of an owner."""
        if owner >= len(self._last):
            self._last.extend(array("i", [NONE]) * (owner + 1 - len(self._last) + 64))
        self._before.append(self._last[owner])
        self._last[owner] = len(self.rows)
        self.rows.append(row)

    def is_first(self, entry: int) -> bool:
        """Whether an entry is the first of its list."""
        return self._before[entry] == NONE

    def last(self, owner: int, below: int) -> int:
        """The last row of an owner that is below another; NONE. O(rows that are not)."""
        entry = self._last[owner] if owner < len(self._last) else NONE
        while entry != NONE and self.rows[entry] >= below:
            entry = self._before[entry]
        return self.rows[entry] if entry != NONE else NONE

    def of(self, owner: int, most: int) -> list[int]:
        """The rows of an owner, the last of them, at most so many. O(rows)."""
        return [self.rows[entry] for entry in self.entries(owner, most)]

    def entries(self, owner: int, most: int) -> list[int]:
        """The numbers of these entries."""
        found: list[int] = []
        entry = self._last[owner] if owner < len(self._last) else NONE
        while entry != NONE and len(found) < most:
            found.append(entry)
            entry = self._before[entry]
        return found[::-1]
