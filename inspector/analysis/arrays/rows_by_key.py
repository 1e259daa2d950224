"""Stores lists of rows by owner in twelve bytes a row and four a list; a Python list takes a hundred."""

from __future__ import annotations

from array import array

NO_ENTRY = -1


class RowLists:
    """An append-only list of rows for each owner number.

    The entries of all lists share one array, and each has the number of the previous entry of its list.

    Attributes:
        rows: by entry.
    """

    def __init__(self) -> None:
        self._last_entries = array("i")  # by owner, its last entry
        self.rows = array("q")
        self._before = array("i")

    def __len__(self) -> int:
        """Returns the number of entries in all lists."""
        return len(self.rows)

    def add(self, owner: int, row: int) -> None:
        """Appends a row to the list of an owner."""
        if owner >= len(self._last_entries):
            # 64 spare entries, so that not every new owner extends the array.
            self._last_entries.extend(array("i", [NO_ENTRY]) * (owner + 1 - len(self._last_entries) + 64))
        self._before.append(self._last_entries[owner])
        self._last_entries[owner] = len(self.rows)
        self.rows.append(row)

    def is_first(self, entry: int) -> bool:
        """Tells if an entry is the first of its list."""
        return self._before[entry] == NO_ENTRY

    def last(self, owner: int, below: int) -> int:
        """Returns the last row of an owner that is less than `below`, or NONE. O(rows skipped)."""
        entry = self._last_entries[owner] if owner < len(self._last_entries) else NO_ENTRY
        while entry != NO_ENTRY and self.rows[entry] >= below:
            entry = self._before[entry]
        return self.rows[entry] if entry != NO_ENTRY else NO_ENTRY

    def last_rows(self, owner: int, most: int) -> list[int]:
        """Returns the last rows of an owner, at most `most`. O(rows)."""
        return [self.rows[entry] for entry in self.entries(owner, most)]

    def entries(self, owner: int, most: int) -> list[int]:
        """Returns the last entries of an owner, at most `most`. O(entries)."""
        found: list[int] = []
        entry = self._last_entries[owner] if owner < len(self._last_entries) else NO_ENTRY
        while entry != NO_ENTRY and len(found) < most:
            found.append(entry)
            entry = self._before[entry]
        return found[::-1]
