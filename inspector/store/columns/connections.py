"""Connection numbers: assigns each message of a source the connection it came over.

JSON-RPC ids and pairs of tools are unique only within one connection. A capture may hold several connections at a time
(`src`), and several in sequence: a marker says that one was reopened, as when a tapped server was restarted. Both
become one number here. It counts from 0 in each source, in the order of the first messages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.store.columns.block import Block
from inspector.store.columns.columns import Array


class ConnectionNumbers:
    """Numbers the connections of a capture's sources; the result does not depend on the cut into blocks.

    Attributes:
        ended: (source, number) of connections that were replaced.
        generations: how often a connection's pipe had been opened before, by (source, number); 0 is not stored.
    """

    def __init__(self) -> None:
        self.ended: list[tuple[int, int]] = []
        self.generations: dict[tuple[int, int], int] = {}
        self._open: dict[tuple[int, int], int] = {}  # by source and `src` of its lines
        self._count: dict[int, int] = {}  # by source
        self._closed: dict[tuple[int, int], int] = {}  # closed connections by source and `src`

    def number_block(self, block: Block) -> NDArray[np.uint32]:
        """Returns (records,) the connection number of each record. Call once per block, in order."""
        said, sources = block.columns["connection"], block.columns["source"]
        numbers = np.zeros(len(said), np.uint32)
        read = {one.source for one in block.opened}.union(block.sources)
        # An opening in the middle of a block ends the earlier connection under the same number.
        for source in sorted(read):
            rows = np.flatnonzero(sources == source)
            # `rows` ascends, so the records before each opening are one slice of it.
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
        """Numbers records of one source that lie between two openings."""
        if not len(rows):
            return
        said = said[rows]
        # The usual case: one connection in the whole stretch needs no sort.
        if (said == said[0]).all():
            numbers[rows] = self._number(source, int(said[0]))
            return
        found, first, which = np.unique(said, return_index=True, return_inverse=True)
        given = np.zeros(len(found), np.uint32)
        for place in np.argsort(first).tolist():  # in order of appearance
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
