"""Which contexts are bars in which lanes: from when to when, and in which of the lane's rows.

A pair is a lane with a context that has messages in it, or with main, which is no bar.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_pass import STATES
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.timeline.grouping import Rows, numbered
from inspector.base.slices import Steps

# Puts the contexts of a lane into rows: none over another one, each below the one it is nested in.

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


_ENDLESS = np.iinfo(np.int64).max
_ACTIVE = STATES.index("active")
_AT_ONCE = 2_048
"""Contexts that are given rows in one step."""


class Pairs:
    """The pairs of some lanes, numbered as they are made.

    Attributes:
        lane, node: of each pair.
        starts_ns, ends_ns: its first and last message, with those of contexts nested in it.
        rows: the row in its lane, -1 for main; of those alone that have been placed.
        overlap: whether contexts that grew lie over one another now.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._numbers: dict[int, int] = {}  # by lane << 32 | node + 1
        self._fitting: dict[int, int] = {}  # of contexts deeper than there are rows, the one around them that fits
        self.lane, self.node = array("i"), array("i")
        self.starts_ns, self.ends_ns = array("q"), array("q")
        self.rows = array("i")
        self._above, self._depth = array("i"), array("i")
        self._packers: dict[int, RowPacker] = {}  # by lane
        self.overlap = False

    def __len__(self) -> int:
        return len(self.node)

    def rows_of(self, lane: int) -> int:
        """How many rows of contexts a lane has."""
        packer = self._packers.get(lane)
        return len(packer.ends) if packer is not None else 0

    def based(self) -> set[int]:
        """Lanes with messages in main."""
        return set(as_numpy(self.lane)[as_numpy(self.node) == MAIN].tolist())

    # Taking in

    def take_in(self, lanes: Rows, nodes: Rows, times: NDArray[np.int64]) -> Rows:
        """The pair of each of some messages; makes those that are missing, and lets all of them reach that far.

        Args:
            lanes, nodes, times: of each message.
        """
        width = len(self._analysis.contexts.tree) + 1
        local: dict[int, int] = {}
        places, new = numbered(lanes * width + nodes + 1, local)
        pairs = np.array([self._pair(key // width, key % width - 1) for key in new], np.int64)[places]
        self._stretch(pairs, times)
        return pairs

    def _pair(self, lane: int, node: int) -> int:
        """The pair of a context, made with those around it; what lies too deep stands with the last that fits."""
        numbers, parents, base = self._numbers, self._analysis.contexts.tree.parent, lane << 32
        missing: list[int] = []
        node = self._fit(node)
        found = numbers.get(base | (node + 1))
        while found is None:
            missing.append(node)
            if node == MAIN or parents[node] == MAIN:
                break
            node = parents[node]
            found = numbers.get(base | (node + 1))
        for one in reversed(missing):
            depth = self._depth[found] + 1 if found is not None else 0
            found = self._make(lane, one, -1 if found is None else found, depth)
            numbers[base | (one + 1)] = found
        assert found is not None
        return found

    def _fit(self, node: int) -> int:
        """A context, or the one around it that is as deep as there are rows. Each is walked over once for all lanes."""
        tree, way = self._analysis.contexts.tree, list[int]()
        depths = tree.lines.depths
        while depths[node] > MOST_ROWS and node not in self._fitting:
            way.append(node)
            node = tree.parent[node]
        node = self._fitting.get(node, node)
        self._fitting.update(dict.fromkeys(way, node))
        return node

    def _make(self, lane: int, node: int, above: int, depth: int) -> int:
        for values, value in (
            (self.lane, lane), (self.node, node), (self._above, above), (self._depth, depth),
            (self.starts_ns, _ENDLESS), (self.ends_ns, -_ENDLESS),
        ):  # fmt: skip
            values.append(value)
        return len(self.node) - 1

    def _stretch(self, pairs: Rows, times: NDArray[np.int64]) -> None:
        """Let bars, and those they are nested in, reach over some messages."""
        start, end, above = (as_numpy(values) for values in (self.starts_ns, self.ends_ns, self._above))
        ends_before = end.copy() if len(self.rows) else end
        low, high = np.full(len(start), _ENDLESS, np.int64), np.full(len(start), -_ENDLESS, np.int64)
        np.minimum.at(low, pairs, times)
        np.maximum.at(high, pairs, times)
        held = np.flatnonzero(low != _ENDLESS)
        low, high = low[held], high[held]
        while len(held):
            np.minimum.at(start, held, low)
            np.maximum.at(end, held, high)
            over = above[held]
            nested = over >= 0
            held, low, high = over[nested], low[nested], high[nested]
        if not self.overlap and len(self.rows):
            self.overlap = self._has_overlaps(ends_before)

    def _has_overlaps(self, before: NDArray[np.int64]) -> bool:
        """Whether a bar grew past the end its row was kept free to."""
        end = as_numpy(self.ends_ns)[: len(self.rows)]
        for pair in np.flatnonzero(end != before[: len(end)]).tolist():
            row = self.rows[pair]
            if row >= 0 and self._packers[self.lane[pair]].ends[row] < end[pair]:
                return True
        return False

    # Rows

    def _held_until(self, *, settled: bool) -> NDArray[np.int64]:
        """Until when each pair keeps its row from others: one that is active goes on, for all we know."""
        ends = as_numpy(self.ends_ns).copy()
        if not settled:
            states = self._analysis.contexts.states(self._analysis.now_ns)
            ends[states[as_numpy(self.node)] == _ACTIVE] = _ENDLESS
        return ends

    def place_all(self, *, settled: bool) -> Steps[None]:
        """Give every pair the row that suits it best, as long as none has one.

        Args:
            settled: no more is to come soon: contexts hold their rows only until their last message.
        """
        lane, node, start, depth = (as_numpy(v).copy() for v in (self.lane, self.node, self.starts_ns, self._depth))
        ends = self._held_until(settled=settled)
        # What holds others begins no later than they do, and was made before them or begins earlier.
        inside = np.flatnonzero(node != MAIN)
        inside = inside[np.lexsort((depth[inside], start[inside], lane[inside]))]
        rows = array("i", [-1]) * len(node)
        yield
        for low in range(0, len(inside), _AT_ONCE):
            some = inside[low : low + _AT_ONCE]
            self._place(some.tolist(), ends[some].tolist(), rows)
            yield
        self.rows = rows

    def place_new(self) -> None:
        """Give rows to the pairs that have none; the others keep theirs."""
        known = len(self.rows)
        new = len(self.node) - known
        if not new:
            return
        ends = self._held_until(settled=False)[known:].tolist()
        self.rows.extend(array("i", [-1]) * new)
        inside = [pair for pair in range(known, len(self.node)) if self.node[pair] != MAIN]
        self._place(inside, [ends[pair - known] for pair in inside], self.rows)

    def _place(self, pairs: list[int], ends: list[int], rows: array[int]) -> None:
        """Give rows to some pairs: none before the one it is nested in."""
        lanes, above, starts, packers = self.lane, self._above, self.starts_ns, self._packers
        for pair, end in zip(pairs, ends, strict=True):
            packer = packers.get(lanes[pair])
            if packer is None:
                packer = packers[lanes[pair]] = RowPacker()
            over = above[pair]
            rows[pair] = packer.place(starts[pair], end, rows[over] if over >= 0 else -1)


class BarsByTrack:
    """Contexts by the track they are bars on, in the order they begin."""

    def __init__(self, pairs: Pairs, tracks: NDArray[np.int64], count: int) -> None:
        """Order them.

        Args:
            pairs: contexts in lanes.
            tracks: (pairs placed,) the track of each.
            count: how many tracks there are.
        """
        placed = len(tracks)
        start, end = (as_numpy(values)[:placed].copy() for values in (pairs.starts_ns, pairs.ends_ns))
        inside = np.flatnonzero(as_numpy(pairs.node)[:placed] != MAIN)
        tracks = tracks[inside]
        by_track = np.lexsort((start[inside], tracks))
        self._pairs, tracks = inside[by_track], tracks[by_track]
        self._offsets = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(tracks, minlength=count), out=self._offsets[1:])
        self._starts, self._ends = start[self._pairs], end[self._pairs]
        self._latest = self._ends.copy()  # so far on the track
        for low, high in zip(self._offsets[:-1].tolist(), self._offsets[1:].tolist(), strict=True):
            if high - low > 1:
                np.maximum.accumulate(self._latest[low:high], out=self._latest[low:high])

    def within(self, track: int, left: int, right: int) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        """The pairs on a track that reach into a window of time, with when they begin and end."""
        low = high = 0
        if 0 <= track < len(self._offsets) - 1:
            low, high = int(self._offsets[track]), int(self._offsets[track + 1])
        begin = low + int(self._latest[low:high].searchsorted(left))
        stop = max(begin, low + int(self._starts[low:high].searchsorted(right, side="right")))
        return self._pairs[begin:stop], self._starts[begin:stop], self._ends[begin:stop]
