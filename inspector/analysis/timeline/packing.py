"""Puts the contexts of a lane into rows: none over another one, each below the one it is nested in."""

from __future__ import annotations

MOST_ROWS = 8
"""Rows of contexts in one lane; what finds no room in them overlaps in the last one."""


class RowPacker:
    """Rows of one lane, filled in the order in which contexts begin."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        """By row, the time until which it is taken."""

    def place(self, start_ns: int, end_ns: int, above: int) -> int:
        """The row of a context.

        Args:
            start_ns: when it begins; not before those placed earlier, or it may overlap one of them.
            end_ns: until when it holds its row.
            above: the row of the context it is nested in; -1 for none.
        """
        for row in range(min(above + 1, MOST_ROWS - 1), len(self.ends)):
            if self.ends[row] < start_ns:
                self.ends[row] = end_ns
                return row
        if len(self.ends) < MOST_ROWS:
            while len(self.ends) <= above:
                self.ends.append(start_ns - 1)
            self.ends.append(end_ns)
            return len(self.ends) - 1
        self.ends[-1] = max(self.ends[-1], end_ns)
        return MOST_ROWS - 1
