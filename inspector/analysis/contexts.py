"""Contexts: which node each message belongs to, and each node's state, activity and type (protocols.md 6 to 8)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.node_columns import NodeNumbers, NodeTable
from inspector.capture.capture import Capture
from inspector.capture.columns import Array, GrowingColumns
from inspector.capture.reader import OBJECT_KEY
from inspector.protocol.paths import quote_segment
from inspector.protocol.text import text_shown
from inspector.protocol.times import NO_TIME

IDLE_AFTER_S = 30
"""A context is active this long after its last message (design.md 2)."""

_CONCLUDED, _CANCELLED = 1, 2
_LABEL_LENGTH = 80


class ContextPass:
    """The context tree and what is known of each node.

    Attributes:
        tree: the nodes.
        refs: int32 per message, a number for its (space, observed key); never rewritten. 0 is "no context".
        main_counts: messages in main by space (string id).
        first_row, last_row, last_ns: per node; -1 and NO_TIME when it holds no message.
        started_by: per node, the message whose id names it, or -1.
        concluded_by: per node, the message that concluded or cancelled it, or -1.
        speakers: per node, string ids of those who wrote in it, in order.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.tree = ContextTree()
        self._columns = GrowingColumns({"ref": np.int32})
        self._ref_ids: dict[tuple[int, int], int] = {}
        self._ref_nodes: list[int] = [MAIN]
        self._node_array = np.array([MAIN], np.int32)
        self.main_counts: dict[int, int] = {}
        self.first_row: list[int] = []
        self.last_row: list[int] = []
        self.last_ns: list[int] = []
        self.started_by: list[int] = []
        self.concluded_by: list[int] = []
        self.speakers: list[dict[int, None]] = []
        self.clock_ns = NO_TIME
        self._end: list[int] = []
        self._reasons: list[bool] = []
        self._moved = False
        self._fed = 0
        self.type_version = 0
        self.touched: set[int] = set()
        self.paths = NodeTable(self.tree, self.tree.path)
        self.roots = NodeTable(self.tree, lambda node: self.tree.path(self.tree.root_of(node)))
        self.leaves = NodeTable(self.tree, lambda node: quote_segment(self.tree.name[node]))
        self._depths = NodeNumbers(self.tree, self.tree.depth)
        self._types = NodeNumbers(self.tree, lambda node: int(self.type(node) is not None))

    # Feeding

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`."""
        columns = self._capture.columns
        self._columns.extend(stop - start, {"ref": 0})
        moves = self.tree.moves
        for row in self._events(start, stop):
            self._observe(row)
        refs = self._columns["ref"]
        self._assign_refs(start, stop)
        if self.tree.moves != moves:
            self._moved = True
        self._refresh_nodes()
        times = columns["time_ns"][start:stop]
        if len(times):
            self.clock_ns = max(self.clock_ns, int(times.max()))
        self._count(start, stop, self._node_array[refs[start:stop]])
        self._fed = stop

    def _events(self, start: int, stop: int) -> list[int]:
        """Rows that may shape the tree: the first of each key, and reasoning starts, in order."""
        columns = self._capture.columns
        start_kind = self._capture.strings.find("reasoning/start") or -1
        rows = np.flatnonzero(columns["kind"][start:stop] == start_kind) + start
        pairs = self._pairs(start, stop)
        keys, first = np.unique(pairs, return_index=True)
        new = [
            int(place) + start
            for key, place in zip(keys.tolist(), first.tolist(), strict=True)
            if key & 0xFFFFFFFF and (key >> 32, key & 0xFFFFFFFF) not in self._ref_ids
        ]
        return sorted({*rows.tolist(), *new})

    def _pairs(self, start: int, stop: int) -> Array:
        columns = self._capture.columns
        return columns["space"][start:stop].astype(np.uint64) << np.uint64(32) | columns["context"][start:stop]

    def _observe(self, row: int) -> None:
        """Let one message shape the tree: make its context's node, and its own when it starts one."""
        columns, strings = self._capture.columns, self._capture.strings
        space, key = int(columns["space"][row]), int(columns["context"][row])
        node = MAIN
        if key and (space, key) in self._ref_ids:
            node = self.tree.resolve(self._ref_nodes[self._ref_ids[space, key]])
        elif key:
            node = self.tree.of_key(space, strings[key])
            if strings[key].startswith(OBJECT_KEY):
                node = self._observe_object(space, row, node)
            self._ref_ids[space, key] = len(self._ref_nodes)
            self._ref_nodes.append(node)
        if self._capture.string("kind", row) == "reasoning/start":
            self._declare(space, row, node)
        self._grow()

    def _declare(self, space: int, row: int, above: int) -> None:
        identifier = self._capture.envelope_id(row)
        if not identifier or not self._capture.columns["id_hash"][row]:
            return
        text = text_shown("reasoning/start", self._capture.payload(row)) or ""
        label = " ".join(text.split())[:_LABEL_LENGTH] or None
        node = self.tree.declare(space, identifier, above, label)
        self._grow()
        if self.started_by[node] < 0:
            self.started_by[node] = row
            self._note_reasoning(node)

    def _observe_object(self, space: int, row: int, node: int) -> int:
        """The object form `{id, parent}`; parents may nest (protocols.md 7)."""
        header = self._capture.record(row).header
        context = header.context if header is not None else None
        for _ in range(64):
            above = context.get("parent") if isinstance(context, dict) else None
            name = above.get("id") if isinstance(above, dict) else above
            if not isinstance(name, str) or not name:
                break
            current = self.tree.of_id(space, str(context.get("id"))) if isinstance(context, dict) else node
            self.tree.place(current, self.tree.of_id(space, name))
            context = above
        return self.tree.resolve(node)

    def _assign_refs(self, start: int, stop: int) -> None:
        pairs = self._pairs(start, stop)
        keys, inverse = np.unique(pairs, return_inverse=True)
        ids = [self._ref_ids.get((k >> 32, k & 0xFFFFFFFF), 0) for k in keys.tolist()]
        self._columns["ref"][start:] = np.array(ids, np.int32)[inverse] if ids else 0

    def _refresh_nodes(self) -> None:
        """Renew the map from keys to nodes, and what merged nodes leave behind."""
        self._grow()
        for node, into in self.tree.merged:
            self._inherit(node, into)
        if self.tree.merged or len(self._node_array) != len(self._ref_nodes) or self._moved:
            self._ref_nodes = [self.tree.resolve(n) for n in self._ref_nodes]
            self._node_array = np.array(self._ref_nodes, np.int32)
        self.tree.merged.clear()

    def _inherit(self, node: int, into: int) -> None:
        rows = [r for r in (self.first_row[node], self.first_row[into]) if r >= 0]
        self.first_row[into] = min(rows, default=-1)
        self.last_row[into] = max(self.last_row[node], self.last_row[into])
        self.last_ns[into] = max(self.last_ns[node], self.last_ns[into])
        self.started_by[into] = max(self.started_by[node], self.started_by[into])
        self.concluded_by[into] = max(self.concluded_by[node], self.concluded_by[into])
        self._end[into] = max(self._end[node], self._end[into])
        self._reasons[into] = self._reasons[into] or self._reasons[node]
        self.speakers[into] = dict.fromkeys([*self.speakers[into], *self.speakers[node]])

    def _grow(self) -> None:
        for _ in range(len(self.tree) - len(self.first_row)):
            self.first_row.append(-1)
            self.last_row.append(-1)
            self.last_ns.append(NO_TIME)
            self.started_by.append(-1)
            self.concluded_by.append(-1)
            self.speakers.append({})
            self._end.append(0)
            self._reasons.append(False)

    def _count(self, start: int, stop: int, nodes: Array) -> None:
        columns = self._capture.columns
        main = columns["space"][start:stop][nodes == MAIN]
        for space, count in zip(*(a.tolist() for a in np.unique(main, return_counts=True)), strict=True):
            self.main_counts[space] = self.main_counts.get(space, 0) + count
        inside = np.flatnonzero(nodes != MAIN)
        if not len(inside):
            return
        held = nodes[inside]
        order = np.argsort(held, kind="stable")
        found, first, counts = np.unique(held[order], return_index=True, return_counts=True)
        times = columns["time_ns"][start:stop][inside]
        for node, low, count in zip(found.tolist(), first.tolist(), counts.tolist(), strict=True):
            places = order[low : low + count]
            self.tree.count(node, count)
            if self.first_row[node] < 0:
                self.first_row[node] = start + int(inside[places[0]])
            self.last_row[node] = start + int(inside[places[-1]])
            self.last_ns[node] = max(self.last_ns[node], int(times[places].max()))
            self.touched.add(node)
        self._note_kinds(start, inside, held, columns["kind"][start:stop][inside])
        pairs = np.unique(held.astype(np.uint64) << np.uint64(32) | columns["sender"][start:stop][inside])
        for pair in pairs.tolist():
            if pair & 0xFFFFFFFF:
                self.speakers[pair >> 32].setdefault(pair & 0xFFFFFFFF)

    def _note_kinds(self, start: int, inside: Array, nodes: Array, kinds: Array) -> None:
        names = self._capture.strings
        for kind in np.unique(kinds).tolist():
            name = names[kind]
            if not name.startswith("reasoning/"):
                continue
            here = kinds == kind
            for node in np.unique(nodes[here]).tolist():
                self._note_reasoning(node)
            end = _ENDS.get(name, 0)
            for place in np.flatnonzero(here).tolist() if end else ():
                node = int(nodes[place])
                if end > self._end[node]:
                    self._end[node] = end
                    self.concluded_by[node] = start + int(inside[place])

    def _note_reasoning(self, node: int) -> None:
        if not self._reasons[node]:
            self._reasons[node] = True
            if 0 <= self.first_row[node] < self._fed:
                self._moved = True  # `context.type` of messages that were already read changes
            self.type_version += 1

    def take_changes(self) -> Rows:
        """No single message changes here: either nothing, or the tree moved."""
        return NO_ROWS

    def take_moved(self) -> bool:
        """Whether nodes appeared, moved or changed their type since the last call."""
        moved, self._moved = self._moved, False
        return moved

    # Asking

    @property
    def spaces(self) -> list[int]:
        """String ids of the spaces that hold messages, in the order first seen; 0 where none is named."""
        return list(dict.fromkeys([*self.main_counts, *self.tree.roots]))

    def nodes(self) -> Array:
        """(n,) int32, the node of each message, MAIN for the main context."""
        return self._node_array[self._columns["ref"]]

    def node_of(self, row: int) -> int:
        """The node a message belongs to; MAIN for the main context."""
        return int(self._node_array[self._columns["ref"][row]])

    def depths(self) -> Array:
        """(n,) int32, depth of each message's context; 0 in main."""
        return self._depths.values(self.tree.moves)[self.nodes()]

    def types(self) -> Array:
        """(n,) int32, 1 where the message's context counts as reasoning, else 0."""
        return self._types.values(self.tree.moves + self.type_version)[self.nodes()]

    def state(self, node: int, now_ns: int | None = None) -> str:
        """active, idle, concluded or cancelled (design.md 2).

        Args:
            now_ns: the wall clock for live traffic; without it, the time of the last record.
        """
        if self._end[node]:
            return "cancelled" if self._end[node] == _CANCELLED else "concluded"
        last = self._last_in_reach(node)
        now = self.clock_ns if now_ns is None else now_ns
        return "active" if last != NO_TIME and now - last <= IDLE_AFTER_S * 1_000_000_000 else "idle"

    def _last_in_reach(self, node: int) -> int:
        """Time of the last message; an ancestor that holds none itself goes by those below."""
        if self.last_ns[node] != NO_TIME:
            return self.last_ns[node]
        below = [self.last_ns[child] for child in self.tree.children[node]]
        started = self.started_by[node]
        if started >= 0:
            below.append(int(self._capture.columns["time_ns"][started]))
        return max(below, default=NO_TIME)

    def type(self, node: int) -> str | None:
        """`reasoning`, or None."""
        root = self.tree.name[self.tree.root_of(node)]
        return "reasoning" if self._reasons[node] or root.startswith("reason") else None

    def type_reason(self, node: int) -> str:
        """Why the node counts as reasoning, as a sentence; "" when it does not."""
        if self.started_by[node] >= 0:
            return f"Opened by reasoning/start, No. {self.started_by[node] + 1}."
        if self._reasons[node]:
            return "Holds reasoning messages."
        if self.type(node):
            return "Its first segment starts with “reason”."
        return ""

    def label(self, node: int) -> str:
        """What the tree shows: a reasoning's first words, else the name."""
        return self.tree.label[node] or self.tree.name[node]


_ENDS = {"reasoning/conclusion": _CONCLUDED, "reasoning/cancel": _CANCELLED}
