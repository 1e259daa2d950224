"""Which connection each message of a source came over: JSON-RPC ids and pairs of tools mean something within one only.

A capture may hold several connections at a time (`src`), and several after one another: a mark says that one was opened
anew, as when a tapped server was started again. Both are one number here, counted from 0 in each source in the order in
which messages came over them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.capture.block import Block


class Connections:
    """Numbers the connections of a capture's sources, however its bytes were cut into blocks."""

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], int] = {}  # by source and what its lines say
        self._count: dict[int, int] = {}  # by source

    def of(self, block: Block) -> NDArray[np.uint32]:
        """(records,) for each record the number of its connection. Each block once, in order."""
        said = block.columns["connection"]
        numbers = np.zeros(len(said), np.uint32)
        start = 0
        for opened in block.opened:
            self._fill(numbers, block, start, opened.place)
            self._open.pop((opened.source, opened.src), None)
            start = opened.place
        self._fill(numbers, block, start, len(said))
        return numbers

    def _fill(self, numbers: NDArray[np.uint32], block: Block, start: int, stop: int) -> None:
        """Number the records of a block from one place to another, between which no connection was opened."""
        if start == stop:
            return
        source, said = int(block.columns["source"][0]), block.columns["connection"][start:stop]
        if (said == said[0]).all():
            numbers[start:stop] = self._number(source, int(said[0]))
            return
        found, first, which = np.unique(said, return_index=True, return_inverse=True)
        given = np.zeros(len(found), np.uint32)
        for place in np.argsort(first).tolist():  # in the order seen
            given[place] = self._number(source, int(found[place]))
        numbers[start:stop] = given[which]

    def _number(self, source: int, src: int) -> int:
        found = self._open.get((source, src))
        if found is None:
            found = self._open[source, src] = self._count.get(source, 0)
            self._count[source] = found + 1
        return found
