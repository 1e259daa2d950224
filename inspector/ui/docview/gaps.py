"""Where frames may be missing: the gap rows of a document, found as it grows. They are rows, but no messages."""

from __future__ import annotations

import bisect

import numpy as np
from numpy.typing import NDArray

from inspector.document.document import CaptureDocument
from inspector.store.columns.flags import Flag


class GapRows:
    """Gap rows of one document.

    Attributes:
        rows: message indices, ascending.
    """

    def __init__(self, document: CaptureDocument) -> None:
        self.rows: list[int] = []
        self._document = document
        self._scanned = 0

    def update(self) -> int:
        """Look at what came since; return how many there are. O(new messages)."""
        count = len(self._document.capture)
        if count > self._scanned:
            flags = self._document.capture.columns["flags"][self._scanned : count]
            gaps = flags & (Flag.GAP | Flag.ERROR) == Flag.GAP  # with ERROR nothing is missing
            self.rows += (np.flatnonzero(gaps) + self._scanned).tolist()
            self._scanned = count
        return len(self.rows)

    def among(self, messages: NDArray[np.uint32]) -> int:
        """How many of some ascending rows are gaps. O(gaps log rows)."""
        if not self.rows or not len(messages):
            return 0
        gaps = np.asarray(self.rows, np.uint32)  # of any other type numpy would convert all of the others
        places = np.minimum(messages.searchsorted(gaps), len(messages) - 1)
        return int(np.count_nonzero(messages[places] == gaps))

    def before(self, stop: int) -> int:
        """How many of the first so many rows are gaps."""
        return bisect.bisect_left(self.rows, stop)

    def next_after(self, message: int | None) -> int | None:
        """The first gap behind a message, and behind the last one the first of all; None when there is none."""
        if not self.rows:
            return None
        place = bisect.bisect_right(self.rows, -1 if message is None else message)
        return self.rows[place % len(self.rows)]
