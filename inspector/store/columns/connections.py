"""Which connection each message of a source came over: JSON-RPC ids and pairs of tools mean something within one only.

A capture may hold several connections at a time (`src`), and several after one another: a mark says that one was
opened anew, as when a tapped server was started again. Both are one number here, counted from 0 in each source in the
order in which messages came over them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.block import Block
from inspector.store.columns.columns import Array


class ConnectionNumbers:
    """Numbers the connections of a capture's sources, however its bytes were cut into blocks.

    Attributes:
        ended: source and number of those that others took the place of.
        generations: by source and number, how often its pipe had been opened before; those of 0 are missing.
    """

    def __init__(self) -> None:
        self.ended: list[tuple[int, int]] = []
        self.generations: dict[tuple[int, int], int] = {}
        self._open: dict[tuple[int, int], int] = {}  # by source and what its lines say
        self._count: dict[int, int] = {}  # by source
        self._closed: dict[tuple[int, int], int] = {}  # by source and what its lines say, connections that ended

    def of(self, block: Block) -> NDArray[np.uint32]:
        """(records,) for each record the number of its connection. Each block once, in order."""
        said, sources = block.columns["connection"], block.columns["source"]
        numbers = np.zeros(len(said), np.uint32)
        read = {one.source for one in block.opened}.union(block.sources)
        for source in sorted(read):
            rows = np.flatnonzero(sources == source)
            start = 0
            for opened in block.opened:
                if opened.source != source:
                    continue
                stop = int(np.searchsorted(rows, opened.place))
                self._fill(numbers, said, source, rows[start:stop])
                before = self._open.pop((source, opened.src), None)
                if before is not None:
                    self.ended.append((source, before))
                    self._closed[source, opened.src] = self._closed.get((source, opened.src), 0) + 1
                start = stop
            self._fill(numbers, said, source, rows[start:])
        return numbers

    def _fill(self, numbers: NDArray[np.uint32], said: Array, source: int, rows: NDArray[np.int64]) -> None:
        """Number some records of one source, between which no connection was opened."""
        if not len(rows):
            return
        said = said[rows]
        if (said == said[0]).all():
            numbers[rows] = self._number(source, int(said[0]))
            return
        found, first, which = np.unique(said, return_index=True, return_inverse=True)
        given = np.zeros(len(found), np.uint32)
        for place in np.argsort(first).tolist():  # in the order seen
            given[place] = self._number(source, int(found[place]))
        numbers[rows] = given[which]

    def _number(self, source: int, src: int) -> int:
        found = self._open.get((source, src))
        if found is None:
            found = self._open[source, src] = self._count.get(source, 0)
            self._count[source] = found + 1
            if (source, src) in self._closed:
                self.generations[source, found] = self._closed[source, src]
        return found
