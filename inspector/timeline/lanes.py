"""The lanes of a capture, made as messages come: who has one, which contexts are bars in it, and where messages stand.

A pair is a lane with a context that has messages in it. A track is a line that messages stand on: the baseline of a
lane, which is main's, and below it the rows of its contexts.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.analysis.contexts import STATES
from inspector.analysis.node_facts import as_numpy
from inspector.capture.columns import GrowingColumns
from inspector.capture.flags import Flag
from inspector.protocol.kinds import Family, family
from inspector.protocol.participants import GATEWAY_IDS
from inspector.timeline.grouping import LaneBy, keys_of, lane_name, numbered
from inspector.timeline.packing import MOST_ROWS, RowPacker, pack
from inspector.timeline.segments import Rows, Segment, nearest, neighbour, order
from inspector.timeline.times import MessageTimes

FAMILIES = tuple(Family)
"""What the numbers of families stand for."""

_ENDLESS = np.iinfo(np.int64).max
_MERGED_UP_TO = 1 << 18
"""Messages that are ordered anew at once while traffic comes: some 20 ms."""
_ACTIVE = STATES.index("active")


@dataclass(slots=True)
class Lane:
    """One lane.

    Attributes:
        key: its space and what it stands for (`grouping.keys_of`).
        name: what its head says, as the wire has it.
        count: messages in it.
        based: whether it has a baseline, for messages in main.
        rows: rows of contexts below that.
        track: its first track.
    """

    key: int
    name: str
    count: int = 0
    based: bool = True
    rows: int = 0
    track: int = 0

    @property
    def space(self) -> int:
        """String id of its space."""
        return self.key >> 32

    @property
    def tracks(self) -> int:
        """How many tracks it has."""
        return self.based + self.rows


@dataclass(frozen=True, slots=True)
class Bar:
    """A context in a lane.

    Attributes:
        node: the context.
        start_ns, end_ns: its first and last message in the lane, with those of contexts nested in it.
        state: active, idle, concluded or cancelled.
        reasoning: whether it counts as reasoning.
    """

    node: int
    start_ns: int
    end_ns: int
    state: str
    reasoning: bool


class Lanes:
    """Lanes over all messages of a capture, or over some of them.

    Attributes:
        by: what a lane stands for.
        lanes: in the order first seen, the inspector's own and the gateway's last.
        segments: the messages on their tracks.
        tracks: how many there are.
        times: where messages stand.
        version: grows whenever lanes or tracks are others than before.
        gaps: messages that stand for a gap in the capture, and in no lane.
        families: of which there is a message, one truth for each of `FAMILIES`.
    """

    def __init__(self, analysis: Analysis, times: MessageTimes, by: LaneBy = "participant") -> None:
        self._analysis = analysis
        self.times = times
        self.by: LaneBy = by
        self.version = 0
        self._reset()

    def _reset(self) -> None:
        self.lanes: list[Lane] = []
        self.segments: list[Segment] = []
        self.tracks = 0
        self.gaps: list[int] = []
        self.families = np.zeros(len(FAMILIES), np.bool_)
        self._moves = self._analysis.contexts.tree.moves
        self._lane_of: dict[int, int] = {}  # by key
        self._made: list[Lane] = []  # by number
        self._pair_of: dict[int, int] = {}  # by lane number << 32 | node + 1
        self._lane = array("i")  # of each pair, as all below
        self._node = array("i")
        self._above = array("i")
        self._row = array("i")
        self._start = array("q")
        self._end = array("q")
        self._packers: list[RowPacker] = []  # by number of the lane
        self._numbers: dict[int, tuple[int, bool, int]] = {}  # by key of the lane: its track, base and rows as numbered
        self._columns = GrowingColumns({"row": np.uint32, "pair": np.uint32})
        self._family = np.zeros(0, np.uint8)  # by string id of the kind
        self._shown: NDArray[np.bool_] | None = None
        self._bars: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None = None
        self._overlaps = False

    # Feeding

    def reset(self) -> None:
        """Forget every message."""
        self._reset()
        self.version += 1

    @property
    def moved(self) -> bool:
        """Whether contexts have moved since these lanes were made, so that they have to be made anew."""
        return self._moves != self._analysis.contexts.tree.moves

    @property
    def untidy(self) -> bool:
        """Whether contexts that grew lie over one another now; `tidy` puts that right."""
        return self._overlaps

    def feed(self, rows: Rows, *, settled: bool = False) -> None:
        """Take in messages, which ascend and come after all before. O(messages given), and log of those there are.

        Args:
            rows: messages whose times are known.
            settled: no more is to come soon: contexts hold their rows only until their last message.
        """
        columns = self._analysis.capture.columns
        gap = columns["flags"][rows] & Flag.GAP.value != 0
        if gap.any():
            self.gaps += rows[gap].tolist()
            rows = rows[~gap]
        if not len(rows):
            return
        first = not self.lanes
        nodes = self._analysis.contexts.nodes_of(rows).astype(np.int64)
        lanes, new = numbered(keys_of(self._analysis, self.by, rows, nodes), self._lane_of)
        for key in new:
            self._made.append(Lane(key, lane_name(self._analysis, self.by, key)))
            self._packers.append(RowPacker())
        for number, count in enumerate(np.bincount(lanes, minlength=len(self._made)).tolist()):
            self._made[number].count += count
        pairs = self._pairs(lanes, nodes)
        known = len(self._row)
        self._stretch(pairs, self.times.values[rows])
        self._columns.append({"row": rows, "pair": pairs})
        if first:
            self._pack_all(settled=settled)
        else:
            self._place_new(known)
        renumbered = self._number_tracks()
        if first:
            self._order_all()
        else:
            self._append(rows, pairs)
        self.version += first or renumbered
        self._bars = None

    def _pairs(self, lanes: Rows, nodes: Rows) -> Rows:
        """The pair of each message; makes those that are missing, and those of the contexts above them."""
        keys = lanes * (len(self._analysis.contexts.tree) + 1) + nodes + 1
        local: dict[int, int] = {}
        numbers, new = numbered(keys, local)
        width = len(self._analysis.contexts.tree) + 1
        pairs = [self._pair(key // width, key % width - 1) for key in new]
        return np.array(pairs, np.int64)[numbers]

    def _pair(self, lane: int, node: int) -> int:
        found = self._pair_of.get(lane << 32 | (node + 1))
        if found is not None:
            return found
        above = -1
        if node != MAIN:
            line = self._analysis.contexts.tree.line_to(node)[:MOST_ROWS]  # deeper ones stand with the last that fits
            if line[-1] != node:
                found = self._pair(lane, line[-1])
                self._pair_of[lane << 32 | (node + 1)] = found
                return found
            above = self._pair(lane, line[-2]) if len(line) > 1 else -1
        found = self._pair_of[lane << 32 | (node + 1)] = len(self._node)
        for values, value in (
            (self._lane, lane), (self._node, node), (self._above, above),
            (self._start, _ENDLESS), (self._end, -_ENDLESS),
        ):  # fmt: skip
            values.append(value)
        return found

    def _stretch(self, pairs: Rows, times: NDArray[np.int64]) -> None:
        """Let bars, and those they are nested in, reach over some messages."""
        start, end, above = (as_numpy(values) for values in (self._start, self._end, self._above))
        ends_before = end.copy() if len(self._row) else end
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
        if not self._overlaps and len(self._row):
            self._overlaps = self._has_overlaps(ends_before)

    def _has_overlaps(self, before: NDArray[np.int64]) -> bool:
        """Whether a bar grew past the end its row was kept free to."""
        end = as_numpy(self._end)[: len(self._row)]
        for pair in np.flatnonzero(end != before[: len(end)]).tolist():
            row, ends = self._row[pair], self._packers[self._lane[pair]].ends
            if row >= 0 and ends[row] < end[pair]:
                return True
        return False

    # Rows and tracks

    def _held_until(self, *, settled: bool) -> NDArray[np.int64]:
        """Until when each pair keeps its row from others: one that is active goes on, for all we know."""
        ends = as_numpy(self._end).copy()
        if not settled:
            states = self._analysis.contexts.states(self._analysis.now_ns)
            ends[states[as_numpy(self._node)] == _ACTIVE] = _ENDLESS
        return ends

    def _pack_all(self, *, settled: bool) -> None:
        """Give every pair the row that suits it best."""
        lane, node, above, start = (as_numpy(v) for v in (self._lane, self._node, self._above, self._start))
        ends = self._held_until(settled=settled)
        self._row = array("i", [-1]) * len(node)
        # What holds others begins no later than they do, and was made before them or begins earlier.
        depth = np.zeros(len(node), np.int32)
        over = above.copy()
        while (over >= 0).any():
            depth += over >= 0
            over = np.where(over >= 0, above[over], -1)
        inside = np.flatnonzero(node != MAIN)
        inside = inside[np.lexsort((depth[inside], start[inside], lane[inside]))]
        borders = np.flatnonzero(np.diff(lane[inside])) + 1
        place = np.full(len(node) + 1, -1, np.int64)
        for held in np.split(inside, borders):
            if not len(held):
                continue
            place[held] = np.arange(len(held))
            rows, packer = pack(start[held].tolist(), ends[held].tolist(), place[above[held]].tolist())
            for pair, row in zip(held.tolist(), rows, strict=True):
                self._row[pair] = row
            self._packers[int(lane[held[0]])] = packer
        self._overlaps = False

    def _place_new(self, known: int) -> None:
        """Give rows to the pairs from number `known` on; the others keep theirs."""
        new = len(self._node) - known
        if not new:
            return
        ends = self._held_until(settled=False)
        self._row.extend(array("i", [-1]) * new)
        for pair in range(known, len(self._node)):
            if self._node[pair] != MAIN:
                above = self._above[pair]
                packer = self._packers[self._lane[pair]]
                self._row[pair] = packer.place(
                    self._start[pair], int(ends[pair]), self._row[above] if above >= 0 else -1
                )

    def _number_tracks(self) -> bool:
        """Number the lanes' tracks in the order lanes are shown; whether any is another than before."""
        based = set(as_numpy(self._lane)[as_numpy(self._node) == MAIN].tolist())
        for number, lane in enumerate(self._made):
            lane.based = number in based or self.by == "participant"
            lane.rows = len(self._packers[number].ends)
        ordered = sorted(self._made, key=self._place_of) if self.by == "participant" else list(self._made)
        before, known = self._numbers, self.tracks
        self._numbers, track = {}, 0
        for lane in ordered:
            lane.track, track = track, track + lane.tracks
            self._numbers[lane.key] = (lane.track, lane.based, lane.rows)
        self.lanes, self.tracks = ordered, track
        if before == self._numbers:
            return False
        now = np.zeros(known, np.int64)
        for key, (first, had_base, rows) in before.items():
            begin, has_base, _ = self._numbers[key]
            now[first : first + had_base] = begin
            now[first + had_base : first + had_base + rows] = np.arange(rows) + begin + has_base
        for segment in self.segments:
            segment.renumber(now, track)
        return True

    def _place_of(self, lane: Lane) -> int:
        """The gateway comes last, before it the inspector itself: one looks at the others."""
        if _is_gateway(lane):
            return 2
        found = self._analysis.participants.all.get((lane.space, lane.name))
        return int(found is not None and found.is_us)

    def _track_of_pair(self) -> NDArray[np.int64]:
        first = np.array([lane.track + lane.based for lane in self._made], np.int64)
        return first[as_numpy(self._lane)] + as_numpy(self._row)

    # Messages

    def _families_of(self, rows: Rows) -> NDArray[np.uint8]:
        strings, kinds = self._analysis.capture.strings, self._analysis.capture.columns["kind"][rows]
        if len(strings) > len(self._family):
            self._family = np.concatenate((self._family, np.full(len(strings) - len(self._family), 255, np.uint8)))
        found = self._family[kinds]
        if (found == 255).any():
            for kind in np.unique(kinds[found == 255]).tolist():
                self._family[kind] = FAMILIES.index(family(strings[kind]))
            found = self._family[kinds]
        return found

    def family(self, row: int) -> Family:
        """The family of a message."""
        kind = int(self._analysis.capture.columns["kind"][row])
        known = int(self._family[kind]) if kind < len(self._family) else 255
        return FAMILIES[known if known != 255 else int(self._families_of(np.array([row]))[0])]

    def _order(self, rows: Rows, pairs: Rows) -> Segment:
        tracks = self._track_of_pair()[pairs]
        families = self._families_of(rows)
        self.families[np.unique(families)] = True
        segment = order(rows, tracks, self.times.values[rows], families, self.tracks)
        segment.mark_shown(self._shown)
        return segment

    def _order_all(self) -> None:
        self.segments = [self._order(self._columns["row"].astype(np.int64), self._columns["pair"])]

    def _append(self, rows: Rows, pairs: Rows) -> None:
        """Order new messages; together with the latest others where these are not many more."""
        count = len(rows)
        while self.segments and len(self.segments[-1].rows) <= 2 * count and count < _MERGED_UP_TO:
            count += len(self.segments.pop().rows)
        if count > len(rows):
            start = len(self._columns) - count
            rows, pairs = self._columns["row"][start:].astype(np.int64), self._columns["pair"][start:]
        self.segments.append(self._order(rows, pairs))

    def tidy(self) -> None:
        """Let no context lie over another one. O(messages)."""
        self._pack_all(settled=self._analysis.now_ns is None)
        self._numbers, self.segments, self.tracks = {}, [], 0  # rows may be fewer: all is ordered anew
        self._number_tracks()
        self._order_all()
        self._bars = None
        self.version += 1

    def mark_shown(self, shown: NDArray[np.bool_] | None) -> None:
        """Note which messages the table shows, one truth for each message of the capture; None for all."""
        self._shown = shown
        for segment in self.segments:
            segment.mark_shown(shown)

    def extend_shown(self, stop: int) -> None:
        """Messages up to `stop` are to come, of which nobody has said whether the table shows them."""
        if self._shown is not None and len(self._shown) < stop:
            self._shown = np.concatenate((self._shown, np.ones(stop - len(self._shown), np.bool_)))

    # Asking

    @property
    def message_count(self) -> int:
        """How many messages it was given."""
        return len(self._columns) + len(self.gaps)

    def tracks_of(self, rows: Rows) -> NDArray[np.int64]:
        """(rows,) the track each message stands on; -1 for what is in no lane."""
        held = self._columns["row"]
        found = np.full(len(rows), -1, np.int64)
        if not len(held):
            return found
        places = np.minimum(held.searchsorted(rows), len(held) - 1)
        hit = held[places] == rows
        found[hit] = self._track_of_pair()[self._columns["pair"][places[hit]]]
        return found

    def bars(self, track: int, left: int, right: int) -> list[Bar]:
        """The contexts on a track that reach into a window of time, in the order they begin."""
        return [bar for _, _, bar in self.bars_within(track, left, right, len(self._node), 0.0) if bar is not None]

    def bars_within(
        self, track: int, left: int, right: int, most: int, least_ns: float
    ) -> list[tuple[int, int, Bar | None]]:
        """The same with start and end; where there are more than `most`, what is shorter comes without its context."""
        if self._bars is None:
            self._bars = self._list_bars()
        pairs, offsets, latest = self._bars
        if track + 1 >= len(offsets):
            return []
        low, high = int(offsets[track]), int(offsets[track + 1])
        start, end = as_numpy(self._start), as_numpy(self._end)
        held = pairs[low:high]
        begin = int(latest[low:high].searchsorted(left))
        held = held[begin : int(start[held].searchsorted(right, side="right"))]
        many = len(held) > most
        spans = zip(held.tolist(), start[held].tolist(), end[held].tolist(), strict=True)
        return [
            (begins, ends, None if many and ends - begins < least_ns else self._bar(pair))
            for pair, begins, ends in spans
        ]

    def _bar(self, pair: int) -> Bar:
        contexts, node = self._analysis.contexts, self._analysis.contexts.tree.resolve(self._node[pair])
        if node == MAIN:
            return Bar(MAIN, self._start[pair], self._end[pair], "idle", reasoning=False)
        state = contexts.state(node, self._analysis.now_ns)
        return Bar(node, self._start[pair], self._end[pair], state, reasoning=contexts.type(node) == "reasoning")

    def _list_bars(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pairs by track and start, where each track begins, and the latest end so far on the track."""
        node, start, end = as_numpy(self._node), as_numpy(self._start), as_numpy(self._end)
        inside = np.flatnonzero(node != MAIN)
        tracks = self._track_of_pair()[inside]
        by_track = np.lexsort((start[inside], tracks))
        pairs, tracks = inside[by_track], tracks[by_track]
        offsets = np.zeros(self.tracks + 1, np.int64)
        np.cumsum(np.bincount(tracks, minlength=self.tracks), out=offsets[1:])
        latest: NDArray[Any] = end[pairs]
        for low, high in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            if high - low > 1:
                np.maximum.accumulate(latest[low:high], out=latest[low:high])
        return pairs, offsets, latest

    def neighbour(self, row: int, step: int) -> int | None:
        """The message before (-1) or after (1) another one on its track, by time; None at the end."""
        track = int(self.tracks_of(np.array([row]))[0])
        return neighbour(self.segments, track, int(self.times.values[row]), row, step)

    def nearest(self, track: int, ns: int) -> int | None:
        """The message of a track that stands nearest to a time; None where there is none."""
        return nearest(self.segments, track, ns)


def _is_gateway(lane: Lane) -> bool:
    return lane.name in GATEWAY_IDS or not lane.key & 0xFFFFFFFF
