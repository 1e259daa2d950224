"""Assigns context bars to lanes: time range and row of each.

A pair is a lane and a context with messages in it; main is a pair without a bar.
"""

from __future__ import annotations

from array import array

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_pass import STATES
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.timeline.lane_keys import Rows, number_keys
from inspector.base.slices import SlicedWork

# Packs the contexts of a lane into rows without overlap, each below its parent.

MAX_ROWS = 8
"""Rows of contexts in a lane; contexts without room overlap in the last row."""


class RowPacker:
    """Rows of one lane, filled in order of context starts."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        """By row, the time until which it is occupied."""

    def place(self, start_ns: int, end_ns: int, above: int) -> int:
        """Returns the row of a context.

        Args:
            start_ns: its start; not before earlier contexts, or it may overlap one.
            end_ns: end of its reservation.
            above: row of its parent; -1 without one.
        """
        for row in range(min(above + 1, MAX_ROWS - 1), len(self.ends)):
            if self.ends[row] < start_ns:
                self.ends[row] = end_ns
                return row
        if len(self.ends) < MAX_ROWS:
            while len(self.ends) <= above:
                self.ends.append(start_ns - 1)
            self.ends.append(end_ns)
            return len(self.ends) - 1
        self.ends[-1] = max(self.ends[-1], end_ns)
        return MAX_ROWS - 1


_ENDLESS = np.iinfo(np.int64).max
_ACTIVE = STATES.index("active")
_CONTEXTS_PER_STEP = 2_048
"""Contexts placed per step."""


class LaneContexts:
    """The pairs of some lanes, numbered in order of creation.

    Attributes:
        lane, node: lane and context of each pair.
        starts_ns, ends_ns: its first and last message, nested contexts included.
        rows: row in the lane, -1 for main; only for placed pairs.
        has_overlap: True if contexts that grew overlap now.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._numbers: dict[int, int] = {}  # by lane << 32 | node + 1
        self._fitting: dict[int, int] = {}  # of contexts deeper than the rows: the ancestor that fits
        self.lane, self.node = array("i"), array("i")
        self.starts_ns, self.ends_ns = array("q"), array("q")
        self.rows = array("i")
        self._parent_pair, self._depth = array("i"), array("i")
        self._packers: dict[int, RowPacker] = {}  # by lane
        self.has_overlap = False

    def __len__(self) -> int:
        return len(self.node)

    def rows_of(self, lane: int) -> int:
        """Returns the number of context rows of a lane."""
        packer = self._packers.get(lane)
        return len(packer.ends) if packer is not None else 0

    def based(self) -> set[int]:
        """Returns the lanes with messages in main."""
        return set(as_numpy(self.lane)[as_numpy(self.node) == MAIN].tolist())

    # Input

    def take_in(self, lanes: Rows, nodes: Rows, times: NDArray[np.int64]) -> Rows:
        """Returns the pair of each message; creates missing ones and extends all.

        Args:
            lanes, nodes, times: of each message.
        """
        width = len(self._analysis.contexts.tree) + 1
        local: dict[int, int] = {}
        places, new = number_keys(lanes * width + nodes + 1, local)
        pairs = np.array([self._pair_for(key // width, key % width - 1) for key in new], np.int64)[places]
        self._stretch(pairs, times)
        return pairs

    def _pair_for(self, lane: int, node: int) -> int:
        """Returns the pair of a context, and creates it with its ancestors; one too deep shares the last that fits."""
        numbers, parents, base = self._numbers, self._analysis.contexts.tree.parent, lane << 32
        missing: list[int] = []
        node = self._fitting_ancestor(node)
        found = numbers.get(base | (node + 1))
        while found is None:
            missing.append(node)
            if node == MAIN or parents[node] == MAIN:
                break
            node = parents[node]
            found = numbers.get(base | (node + 1))
        for one in reversed(missing):
            depth = self._depth[found] + 1 if found is not None else 0
            found = self._add_pair(lane, one, -1 if found is None else found, depth)
            numbers[base | (one + 1)] = found
        assert found is not None
        return found

    def _fitting_ancestor(self, node: int) -> int:
        """Returns a context, or its ancestor within the maximum depth. Each is walked once for all lanes."""
        tree, way = self._analysis.contexts.tree, list[int]()
        depths = tree.lines.depths
        while depths[node] > MAX_ROWS and node not in self._fitting:
            way.append(node)
            node = tree.parent[node]
        node = self._fitting.get(node, node)
        # Caches the whole path, so that deep trees cost one walk in total.
        self._fitting.update(dict.fromkeys(way, node))
        return node

    def _add_pair(self, lane: int, node: int, above: int, depth: int) -> int:
        for values, value in (
            (self.lane, lane), (self.node, node), (self._parent_pair, above), (self._depth, depth),
            (self.starts_ns, _ENDLESS), (self.ends_ns, -_ENDLESS),
        ):  # fmt: skip
            values.append(value)
        return len(self.node) - 1

    def _stretch(self, pairs: Rows, times: NDArray[np.int64]) -> None:
        """Extends bars and their ancestors to cover messages."""
        start, end, above = (as_numpy(values) for values in (self.starts_ns, self.ends_ns, self._parent_pair))
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
        if not self.has_overlap and len(self.rows):
            self.has_overlap = self._has_overlaps(ends_before)

    def _has_overlaps(self, before: NDArray[np.int64]) -> bool:
        """Returns True if a bar grew past the end of its reservation."""
        end = as_numpy(self.ends_ns)[: len(self.rows)]
        for pair in np.flatnonzero(end != before[: len(end)]).tolist():
            row = self.rows[pair]
            if row >= 0 and self._packers[self.lane[pair]].ends[row] < end[pair]:
                return True
        return False

    # Rows

    def _reservation_ends(self, *, settled: bool) -> NDArray[np.int64]:
        """Returns the end of each pair's reservation; an active one has no end."""
        ends = as_numpy(self.ends_ns).copy()
        if not settled:
            states = self._analysis.contexts.states(self._analysis.now_ns)
            # A live context may grow, and its bar must not run into a neighbour.
            ends[states[as_numpy(self.node)] == _ACTIVE] = _ENDLESS
        return ends

    def place_all(self, *, settled: bool) -> SlicedWork[None]:
        """Assigns a row to every pair; none may have one yet.

        Args:
            settled: True if no more messages follow soon; contexts then keep their rows only until their last message.
        """
        lane, node, start, depth = (as_numpy(v).copy() for v in (self.lane, self.node, self.starts_ns, self._depth))
        ends = self._reservation_ends(settled=settled)
        # A parent starts no later than its children, and was created before them or starts earlier.
        inside = np.flatnonzero(node != MAIN)
        inside = inside[np.lexsort((depth[inside], start[inside], lane[inside]))]
        rows = array("i", [-1]) * len(node)
        yield
        for low in range(0, len(inside), _CONTEXTS_PER_STEP):
            some = inside[low : low + _CONTEXTS_PER_STEP]
            self._place(some.tolist(), ends[some].tolist(), rows)
            yield
        self.rows = rows

    def place_new(self) -> None:
        """Assigns rows to new pairs; others keep theirs."""
        known = len(self.rows)
        new = len(self.node) - known
        if not new:
            return
        ends = self._reservation_ends(settled=False)[known:].tolist()
        self.rows.extend(array("i", [-1]) * new)
        inside = [pair for pair in range(known, len(self.node)) if self.node[pair] != MAIN]
        self._place(inside, [ends[pair - known] for pair in inside], self.rows)

    def _place(self, pairs: list[int], ends: list[int], rows: array[int]) -> None:
        """Assigns rows to pairs, parents first."""
        lanes, above, starts, packers = self.lane, self._parent_pair, self.starts_ns, self._packers
        for pair, end in zip(pairs, ends, strict=True):
            packer = packers.get(lanes[pair])
            if packer is None:
                packer = packers[lanes[pair]] = RowPacker()
            over = above[pair]
            rows[pair] = packer.place(starts[pair], end, rows[over] if over >= 0 else -1)


class BarsByTrack:
    """Contexts by track, in order of start."""

    def __init__(self, pairs: LaneContexts, tracks: NDArray[np.int64], count: int) -> None:
        """Sorts the pairs.

        Args:
            pairs: contexts in lanes.
            tracks: (placed pairs,) track of each.
            count: number of tracks.
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
        self._latest = self._ends.copy()  # running maximum on the track
        for low, high in zip(self._offsets[:-1].tolist(), self._offsets[1:].tolist(), strict=True):
            if high - low > 1:
                np.maximum.accumulate(self._latest[low:high], out=self._latest[low:high])

    def within(self, track: int, left: int, right: int) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        """Returns the pairs on a track within a time window, with start and end."""
        low = high = 0
        if 0 <= track < len(self._offsets) - 1:
            low, high = int(self._offsets[track]), int(self._offsets[track + 1])
        begin = low + int(self._latest[low:high].searchsorted(left))
        stop = max(begin, low + int(self._starts[low:high].searchsorted(right, side="right")))
        return self._pairs[begin:stop], self._starts[begin:stop], self._ends[begin:stop]
