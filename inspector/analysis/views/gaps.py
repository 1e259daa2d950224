"""Gap rows: finds the places in a growing capture where frames may be missing. They are not messages."""

from __future__ import annotations

import bisect

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture


class GapRows:
    """Gap rows of one capture.

    Attributes:
        rows: message indices, ascending.
    """

    def __init__(self, capture: Capture) -> None:
        self.rows: list[int] = []
        self._capture = capture
        self._scanned = 0

    def update(self) -> int:
        """Scans new messages and returns the number of gaps. O(new messages)."""
        count = len(self._capture)
        if count > self._scanned:
            flags = self._capture.columns["flags"][self._scanned : count]
            gaps = flags & (Flag.GAP | Flag.ERROR) == Flag.GAP  # rows with ERROR miss no frame
            self.rows += (np.flatnonzero(gaps) + self._scanned).tolist()
            self._scanned = count
        return len(self.rows)

    def note_changed(self, changed: Rows, /) -> None:
        """Does nothing: a message never becomes a gap."""

    def among(self, messages: NDArray[np.uint32]) -> int:
        """Returns the number of gaps among ascending rows. O(gaps log rows)."""
        if not self.rows or not len(messages):
            return 0
        gaps = np.asarray(self.rows, np.uint32)  # for any other dtype numpy would convert the whole other array
        places = np.minimum(messages.searchsorted(gaps), len(messages) - 1)
        return int(np.count_nonzero(messages[places] == gaps))

    def before(self, stop: int) -> int:
        """Returns the number of gaps before a row."""
        return bisect.bisect_left(self.rows, stop)

    def next_after(self, message: int | None) -> int | None:
        """Returns the first gap after a message, wrapping around; None without gaps."""
        if not self.rows:
            return None
        place = bisect.bisect_right(self.rows, -1 if message is None else message)
        return self.rows[place % len(self.rows)]
