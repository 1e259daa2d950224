"""Builds lanes with tracks, places messages and context bars on them, and finds neighbours.

A track is a row of marks: the baseline of a lane for main, and below it rows of contexts (`context_bars`). A context
with a start, and its sub-contexts, are bars only in the lanes of participants that started it. Messages of others in it
stay on their own baselines.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import unique_with_places
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.timeline.context_bars import BarsByTrack, LaneContexts
from inspector.analysis.views.timeline.lane_keys import LaneBy, Rows, lane_keys, lane_name, number_keys
from inspector.analysis.views.timeline.message_positions import MessagePlaces
from inspector.analysis.views.timeline.segments import Segment, nearest_message, neighbour_message, sort_messages
from inspector.base.slices import SlicedWork, run_to_end
from inspector.formats.kind_families import family_of
from inspector.protocol.kinds import Family
from inspector.protocol.participants import GATEWAY_IDS
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.flags import Flag

FAMILIES = tuple(Family)
"""Families by number."""

_MAX_MERGED = 1 << 18
"""Messages sorted at once in live traffic: some 20 ms."""
_MESSAGES_PER_STEP = 4_096
"""Messages taken in per step."""
_MAX_LEVELS = 64
"""Ancestor levels searched for a context with a start."""
_MAX_STARTS = 256
"""Latest starts of a context searched for a sender."""


@dataclass(slots=True)
class Lane:
    """One lane.

    Attributes:
        key: space and subject (`lane_keys.lane_keys`).
        name: label, as on the wire.
        count: number of messages.
        based: True if it has a baseline, for messages in main.
        rows: number of context rows below it.
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
        """Number of tracks."""
        return self.based + self.rows


@dataclass(frozen=True, slots=True)
class Bar:
    """A context in a lane.

    Attributes:
        node: the context.
        start_ns, end_ns: times of its first and last message in the lane, nested contexts included.
        state: active, idle, concluded or cancelled.
        reasoning: True for reasoning.
    """

    node: int
    start_ns: int
    end_ns: int
    state: str
    reasoning: bool


class Lanes:
    """Lanes over all or some messages of a capture.

    Attributes:
        by: subject of a lane.
        lanes: in order of appearance, the inspector's and the gateway's last.
        segments: the messages by track.
        tracks: number of tracks.
        times: positions of messages.
        version: increases whenever lanes or tracks change.
        gaps: messages that mark a gap in the capture; in no lane.
        families: (FAMILIES,) bool, True for families with messages.
        given: number of messages taken in, unplaced ones included.
    """

    def __init__(self, analysis: Analysis, times: MessagePlaces, by: LaneBy = "participant") -> None:
        self._analysis = analysis
        self.times = times
        self.by: LaneBy = by
        self.version = 0
        self.lanes: list[Lane] = []
        self.segments: list[Segment] = []
        self.tracks = 0
        self.gaps: list[int] = []
        self.families = np.zeros(len(FAMILIES), np.bool_)
        self.given = 0
        self._moves = analysis.contexts.tree.moves
        self._lane_of: dict[int, int] = {}  # by key
        self._lanes_by_number: list[Lane] = []  # by number
        self._pairs = LaneContexts(analysis)
        # by key of the lane: its track, base and rows at the last numbering
        self._numbers: dict[int, tuple[int, bool, int]] = {}
        self._columns = GrowingColumns({"row": np.uint32, "pair": np.uint32})
        self._placed_count = 0  # number of placed messages
        self._tracks: NDArray[np.int64] = np.zeros(0, np.int64)  # by pair
        self._family = np.zeros(0, np.uint8)  # by string id of the kind
        self._shown: NDArray[np.bool_] | None = None
        self._bars: BarsByTrack | None = None

    # Input

    @property
    def is_outdated(self) -> bool:
        """True if contexts have moved or bars overlap, so that lanes should be rebuilt."""
        return self._moves != self._analysis.contexts.tree.moves or self._pairs.has_overlap

    def feed(self, rows: Rows, *, settled: bool = False) -> None:
        """Takes in messages at once, like `feed_in_steps`."""
        run_to_end(self.feed_in_steps(rows, settled=settled))

    def feed_in_steps(self, rows: Rows, *, settled: bool = False) -> SlicedWork[None]:
        """Takes in messages, ascending and later than all before. O(new messages), and log of existing ones.

        Until it finishes, no other feed may run, and earlier messages stay in place.

        Args:
            rows: messages with known positions.
            settled: True if no more messages follow soon; contexts then keep their rows only until their last message.
        """
        first, stood = not self.lanes, len(self._columns)
        for low in range(0, len(rows), _MESSAGES_PER_STEP):
            self._take_in(rows[low : low + _MESSAGES_PER_STEP])
            yield
        if len(self._columns) == stood:
            return
        if first:
            yield from self._pairs.place_all(settled=settled)
        else:
            self._pairs.place_new()
        self.version += self._number_tracks() or first
        self._bars = None
        yield from self._order_from(stood)
        self._placed_count = len(self._columns)

    def _take_in(self, rows: Rows) -> None:
        """Assigns messages to lanes and pairs."""
        self.given += len(rows)
        gap = self._analysis.capture.columns["flags"][rows] & Flag.GAP.value != 0
        if gap.any():
            self.gaps += rows[gap].tolist()
            rows = rows[~gap]
        if not len(rows):
            return
        nodes = self._analysis.contexts.nodes_of(rows).astype(np.int64)
        lanes, new = number_keys(lane_keys(self._analysis, self.by, rows, nodes), self._lane_of)
        if self.by == "participant":
            nodes = np.where(self._started_by_others(rows, nodes), MAIN, nodes)
        self._lanes_by_number += [Lane(key, lane_name(self._analysis, self.by, key)) for key in new]
        for number, count in enumerate(np.bincount(lanes, minlength=len(self._lanes_by_number)).tolist()):
            self._lanes_by_number[number].count += count
        self._columns.append({"row": rows, "pair": self._pairs.take_in(lanes, nodes, self.times.values[rows])})

    def _started_by_others(self, rows: Rows, nodes: Rows) -> NDArray[np.bool_]:
        """(rows,) bool: True if other participants started the message's context, or its nearest started ancestor."""
        contexts, senders = self._analysis.contexts, self._analysis.capture.columns["sender"]
        others = np.zeros(len(rows), np.bool_)
        inside = np.flatnonzero(nodes != MAIN)
        around = self._nearest_started(nodes[inside])
        inside, around = inside[around != MAIN], around[around != MAIN]
        foreign = senders[rows[inside]] != senders[as_numpy(contexts.started_by)[around]]
        inside, around = inside[foreign], around[foreign]
        pairs, _, places = unique_with_places(around << 32 | senders[rows[inside]].astype(np.int64))
        begun = [self._sender_started(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        others[inside] = ~np.array(begun, np.bool_)[places]
        return others

    def _nearest_started(self, nodes: Rows) -> Rows:
        """(nodes,) each context or its nearest ancestor with a start; MAIN without one."""
        contexts = self._analysis.contexts
        parents, started = as_numpy(contexts.tree.parent), as_numpy(contexts.started_by)
        found = nodes.copy()
        for _ in range(_MAX_LEVELS):
            rising = np.flatnonzero((found != MAIN) & (started[found] < 0))
            if not len(rising):
                return found
            found[rising] = parents[found[rising]]
        found[started[found] < 0] = MAIN
        return found

    def _sender_started(self, node: int, sender: int) -> bool:
        """Returns True if a sender also started a context, after another one."""
        starts = islice(self._analysis.contexts.sequences.starts_of(node), _MAX_STARTS)
        return any(whose == sender for _, whose in starts)

    # Tracks

    def _number_tracks(self) -> bool:
        """Numbers the tracks in display order. Returns True if a number changed."""
        based = self._pairs.based()
        for number, lane in enumerate(self._lanes_by_number):
            lane.based = number in based or self.by == "participant"
            lane.rows = self._pairs.rows_of(number)
        ordered = (
            sorted(self._lanes_by_number, key=self._sort_rank)
            if self.by == "participant"
            else list(self._lanes_by_number)
        )
        before, known = self._numbers, self.tracks
        self._numbers, track = {}, 0
        for lane in ordered:
            lane.track, track = track, track + lane.tracks
            self._numbers[lane.key] = (lane.track, lane.based, lane.rows)
        self.lanes, self.tracks = ordered, track
        first = np.array([lane.track + lane.based for lane in self._lanes_by_number], np.int64)
        self._tracks = first[as_numpy(self._pairs.lane)] + as_numpy(self._pairs.rows)
        if before == self._numbers:
            return False
        # Renumbering existing segments is much cheaper than sorting their messages again.
        now = np.zeros(known, np.int64)
        for key, (begin, had_base, rows) in before.items():
            begins, has_base, _ = self._numbers[key]
            now[begin : begin + had_base] = begins
            now[begin + had_base : begin + had_base + rows] = np.arange(rows) + begins + has_base
        for segment in self.segments:
            segment.renumber(now, track)
        return True

    def _sort_rank(self, lane: Lane) -> int:
        """Returns the sort rank: the gateway last, before it the inspector, which only observes."""
        if _is_gateway(lane):
            return 2
        found = self._analysis.participants.all.get((lane.space, lane.name))
        return int(found is not None and found.is_us)

    # Messages

    def _families_of(self, rows: Rows) -> NDArray[np.uint8]:
        strings, kinds = self._analysis.capture.strings, self._analysis.capture.columns["kind"][rows]
        if len(strings) > len(self._family):
            self._family = np.concatenate((self._family, np.full(len(strings) - len(self._family), 255, np.uint8)))
        found = self._family[kinds]
        # Kinds are few; each is classified once and cached by its string id.
        if (found == 255).any():
            for kind in np.unique(kinds[found == 255]).tolist():
                self._family[kind] = FAMILIES.index(family_of(strings[kind]))
            found = self._family[kinds]
        return found

    def family(self, row: int) -> Family:
        """Returns the family of a message."""
        kind = int(self._analysis.capture.columns["kind"][row])
        known = int(self._family[kind]) if kind < len(self._family) else 255
        return FAMILIES[known if known != 255 else int(self._families_of(np.array([row]))[0])]

    def _order_from(self, start: int) -> SlicedWork[None]:
        """Sorts the messages from a position on, together with the last segments if these are not much larger."""
        count, kept = len(self._columns) - start, len(self.segments)
        while kept and len(self.segments[kept - 1].rows) <= 2 * count and count < _MAX_MERGED:
            kept -= 1
            count += len(self.segments[kept].rows)
        start = len(self._columns) - count
        rows = self._columns["row"][start:].astype(np.int64)
        yield
        tracks = self._tracks[self._columns["pair"][start:]]
        yield
        families = self._families_of(rows)
        self.families |= np.bincount(families, minlength=len(FAMILIES)) > 0
        yield
        times = self.times.values[rows]
        yield
        segment = yield from sort_messages(rows, tracks, times, families, self.tracks)
        segment.mark_shown(self._shown)
        self.segments[kept:] = [segment]

    def mark_shown(self, shown: NDArray[np.bool_] | None) -> None:
        """Sets the messages visible in the table, (messages,) bool; None for all."""
        self._shown = shown
        for segment in self.segments:
            segment.mark_shown(shown)

    def extend_shown(self, stop: int) -> None:
        """Marks further messages up to `stop` as visible until the table decides."""
        if self._shown is not None and len(self._shown) < stop:
            self._shown = np.concatenate((self._shown, np.ones(stop - len(self._shown), np.bool_)))

    # Queries

    def tracks_of(self, rows: Rows) -> NDArray[np.int64]:
        """(rows,) track of each message; -1 outside of lanes."""
        held = self._columns["row"][: self._placed_count]
        found = np.full(len(rows), -1, np.int64)
        if not len(held):
            return found
        places = np.minimum(held.searchsorted(rows), len(held) - 1)
        hit = held[places] == rows
        found[hit] = self._tracks[self._columns["pair"][places[hit]]]
        return found

    def bars(self, track: int, left: int, right: int) -> list[Bar]:
        """Returns the contexts on a track within a time window, by start."""
        return self.bars_within(track, left, right, len(self._pairs), 0.0)[0]

    def bars_within(
        self, track: int, left: int, right: int, most: int, least_ns: float
    ) -> tuple[list[Bar], NDArray[np.int64], NDArray[np.int64]]:
        """Returns the same; above `most`, bars shorter than `least_ns` only as start and end times."""
        if self._bars is None:
            self._bars = BarsByTrack(self._pairs, self._tracks, self.tracks)
        pairs, starts, ends = self._bars.within(track, left, right)
        told = np.ones(len(pairs), np.bool_) if len(pairs) <= most else ends - starts >= least_ns
        bars = map(self._bar, pairs[told].tolist(), starts[told].tolist(), ends[told].tolist())
        return list(bars), starts[~told], ends[~told]

    def _bar(self, pair: int, start_ns: int, end_ns: int) -> Bar:
        contexts = self._analysis.contexts
        node = contexts.tree.resolve(self._pairs.node[pair])
        if node == MAIN:
            return Bar(MAIN, start_ns, end_ns, "idle", reasoning=False)
        state = contexts.state(node, self._analysis.now_ns)
        return Bar(node, start_ns, end_ns, state, reasoning=contexts.type(node) == "reasoning")

    def neighbour(self, row: int, step: int) -> int | None:
        """Returns the message before (-1) or after (1) another one on its track, by time."""
        track = int(self.tracks_of(np.array([row]))[0])
        return neighbour_message(self.segments, track, int(self.times.values[row]), row, step)

    def nearest(self, track: int, ns: int) -> int | None:
        """Returns the message of a track nearest to a time."""
        return nearest_message(self.segments, track, ns)


def _is_gateway(lane: Lane) -> bool:
    return lane.name in GATEWAY_IDS or not lane.key & 0xFFFFFFFF
