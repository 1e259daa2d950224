"""Contexts: which node each message belongs to, and each node's state, activity and type (protocols.md 6 to 8)."""

from __future__ import annotations

from typing import Any

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.node_columns import NodeNumbers, NodeTable
from inspector.analysis.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.capture.capture import Capture
from inspector.capture.columns import Array, GrowingColumns
from inspector.capture.flags import Flag
from inspector.capture.reader import object_key
from inspector.capture.strings import InternTable
from inspector.protocol.paths import quote_segment
from inspector.protocol.text import text_shown
from inspector.protocol.times import NO_TIME

IDLE_AFTER_S = 30
"""A context is active this long after its last message (design.md 2)."""

_LABEL_LENGTH = 80
_MOST_NESTED = 64  # parents inside parents that are looked at


class ContextPass:
    """The context tree and what is known of each node.

    A message refers to its (space, observed key) by a number that is never rewritten, and that to a node.

    Attributes:
        tree: the nodes.
        facts: what is noted of each node; its lists `first_row`, `last_row`, `last_ns`, `started_by` and
            `concluded_by` are attributes here too.
        main_counts: messages in main by space (string id).
        clock_ns: the latest time seen, by which a log's contexts are active or idle.
        touched: nodes that gained messages; whoever shows counts takes and clears it.
        type_names: what the numbers of `types` stand for.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.tree = ContextTree()
        self._columns = GrowingColumns({"ref": np.int32})
        self._ref_ids: dict[tuple[int, int], int] = {}
        self._ref_nodes = GrowingColumns({"node": np.int32})
        self._ref_nodes.extend(1, {"node": MAIN})
        self.main_counts: dict[int, int] = {}
        self._spaces: dict[int, None] = {}
        self.facts = NodeFacts()
        self.first_row, self.last_row, self.last_ns = self.facts.first_row, self.facts.last_row, self.facts.last_ns
        self.started_by, self.concluded_by = self.facts.started_by, self.facts.concluded_by
        self.clock_ns = NO_TIME
        self._moved = False
        self._fed = 0
        self.type_version = 0
        self.touched: set[int] = set()
        self.paths = NodeTable(self.tree, self.tree.path)
        self._root_of = NodeNumbers(self.tree, lambda node, above: node if above == MAIN else above, MAIN)
        self.roots = NodeTable(self.tree, lambda node: self.tree.path(self._root(node)))
        self.leaves = NodeTable(self.tree, lambda node: quote_segment(self.tree.name[node]))
        self._depths = NodeNumbers(self.tree, lambda _, above: above + 1)
        self.type_names: InternTable[str] = InternTable("")
        self._types = NodeNumbers(self.tree, lambda node, _: self.type_names.intern(self.type(node)))
        self._reach: list[int] = []
        self._reach_of: tuple[int, int] = (-1, -1)

    # Feeding

    def feed(self, start: int, stop: int) -> None:
        """Take in messages `start` to `stop`."""
        columns = self._capture.columns
        self._columns.extend(stop - start, {"ref": 0})
        moves = self.tree.moves
        keys, first, inverse = np.unique(self._pairs(start, stop), return_index=True, return_inverse=True)
        for row in self._events(start, stop, keys, first):
            self._observe(row)
        self.facts.grow(len(self.tree))
        if len(keys):
            refs = np.array([self._ref_ids.get(_split(key), 0) for key in keys.tolist()], np.int32)
            self._columns["ref"][start:] = refs[inverse]
        self._follow_merges()
        if self.tree.moves != moves:
            self._moved = True
        times = columns["time_ns"][start:stop]
        if len(times):
            self.clock_ns = max(self.clock_ns, int(times.max()))
        self._count(start, stop, self.nodes()[start:])
        self._fed = stop

    def _pairs(self, start: int, stop: int) -> Array:
        """Space and observed key of each message as one number."""
        columns = self._capture.columns
        return columns["space"][start:stop].astype(np.uint64) << np.uint64(32) | columns["context"][start:stop]

    def _events(self, start: int, stop: int, keys: Array, first: Array) -> list[int]:
        """Rows that may shape the tree, in order: the first of each key, object contexts, reasoning starts."""
        columns = self._capture.columns
        start_kind = self._capture.strings.find("reasoning/start") or -1
        shaping = columns["kind"][start:stop] == start_kind
        shaping |= columns["flags"][start:stop] & Flag.OBJECT_CONTEXT != 0
        new = [
            place + start
            for key, place in zip(keys.tolist(), first.tolist(), strict=True)
            if key & 0xFFFFFFFF and _split(key) not in self._ref_ids
        ]
        return sorted({*(np.flatnonzero(shaping) + start).tolist(), *new})

    def _observe(self, row: int) -> None:
        """Let one message shape the tree: make its context's node, and its own when it starts one."""
        columns = self._capture.columns
        space, key = int(columns["space"][row]), int(columns["context"][row])
        node = self._node_of_key(space, key) if key else MAIN
        if int(columns["flags"][row]) & Flag.OBJECT_CONTEXT:
            self._observe_object(space, row)
            node = self.tree.resolve(node)
        if self._capture.string("kind", row) == "reasoning/start":
            self._declare(space, row, node)

    def _node_of_key(self, space: int, key: int) -> int:
        known = self._ref_ids.get((space, key))
        if known is not None:
            return self.tree.resolve(int(self._ref_nodes["node"][known]))
        node = self.tree.of_key(space, self._capture.strings[key])
        self._ref_ids[space, key] = self._ref_nodes.extend(1, {"node": node})
        return node

    def _declare(self, space: int, row: int, above: int) -> None:
        identifier = self._capture.envelope_id(row)
        if not identifier or not self._capture.columns["id_hash"][row]:
            return
        text = text_shown("reasoning/start", self._capture.payload(row)) or ""
        label = " ".join(text.split())[:_LABEL_LENGTH] or None
        node = self.tree.declare(space, identifier, above, label)
        self.facts.grow(len(self.tree))
        if self.started_by[node] < 0:
            self.started_by[node] = row
        self._note_reasoning(node)

    def _observe_object(self, space: int, row: int) -> None:
        """The object form `{id, type, parent}` (protocols.md 7). A parent that is an object is observed first."""
        header = self._capture.record(row).header
        context: object = header.context if header is not None else None
        chain: list[dict[str, Any]] = []
        while isinstance(context, dict) and len(chain) < _MOST_NESTED:
            chain.append(context)
            context = context.get("parent")
        for described in reversed(chain):
            key = object_key(described)
            if key is None:
                continue
            node = self.tree.of_id(space, key)
            above = described.get("parent")
            above = object_key(above) if isinstance(above, dict) else above
            if isinstance(above, str) and above:
                node = self.tree.place(node, self.tree.of_id(space, above))
            self.facts.grow(len(self.tree))
            declared = described.get("type")
            if isinstance(declared, str) and declared:
                first = self.facts.declared[node] is None
                self.facts.note_type(node, row, declared)
                if first:
                    self._type_changed(node)

    def _follow_merges(self) -> None:
        """Renew the map from keys to nodes, and what merged nodes leave behind."""
        if not self.tree.merged:
            return
        living = np.arange(len(self.tree) + 1, dtype=np.int32)
        living[MAIN] = MAIN
        for node, into in self.tree.merged:
            self.facts.inherit(node, into)
            living[node] = self.tree.resolve(into)
        self.tree.merged.clear()
        self._ref_nodes["node"][:] = living[self._ref_nodes["node"]]

    def _count(self, start: int, stop: int, nodes: Array) -> None:
        columns = self._capture.columns
        spaces, first = np.unique(columns["space"][start:stop], return_index=True)
        self._spaces.update(dict.fromkeys(spaces[np.argsort(first)].tolist()))
        for space, count in zip(
            *np.unique(columns["space"][start:stop][nodes == MAIN], return_counts=True), strict=True
        ):
            self.main_counts[int(space)] = self.main_counts.get(int(space), 0) + int(count)
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
            rows = start + inside[places]
            self.facts.note_messages(node, int(rows[0]), int(rows[-1]), int(times[places].max()))
            self.touched.add(node)
        self._note_kinds(start, inside, held, columns["kind"][start:stop][inside])
        senders = held.astype(np.uint64) << np.uint64(32) | columns["sender"][start:stop][inside]
        for pair, place in zip(*(a.tolist() for a in np.unique(senders, return_index=True)), strict=True):
            node, sender = _split(pair)
            if sender:
                self.facts.note_speaker(node, sender, start + int(inside[place]))

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
                self.facts.note_end(int(nodes[place]), end, start + int(inside[place]))

    def _note_reasoning(self, node: int) -> None:
        if not self.facts.reasons[node]:
            self.facts.reasons[node] = True
            self._type_changed(node)

    def _type_changed(self, node: int) -> None:
        if 0 <= self.first_row[node] < self._fed:
            self._moved = True  # `context.type` of messages that were already read changes
        if node < len(self._types):
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
        return list(self._spaces)

    def nodes(self) -> Array:
        """(n,) int32, the node of each message, MAIN for the main context."""
        return self._ref_nodes["node"][self._columns["ref"]]

    def node_of(self, row: int) -> int:
        """The node a message belongs to; MAIN for the main context."""
        return int(self._ref_nodes["node"][self._columns["ref"][row]])

    def depths(self) -> Array:
        """(n,) int32, depth of each message's context; 0 in main."""
        return self._depths.values(self.tree.moves)[self.nodes()]

    def types(self) -> Array:
        """(n,) int32, places in `type_names` of the types of the messages' contexts; 0 is none."""
        return self._types.values(self.tree.moves + self.type_version)[self.nodes()]

    def state(self, node: int, now_ns: int | None = None) -> str:
        """active, idle, concluded or cancelled (design.md 2).

        Args:
            now_ns: the wall clock for live traffic; without it, the time of the last record.
        """
        if self.facts.end[node]:
            return "cancelled" if self.facts.end[node] == CANCELLED else "concluded"
        last = self._last_in_reach(node)
        now = self.clock_ns if now_ns is None else now_ns
        return "active" if last != NO_TIME and now - last <= IDLE_AFTER_S * 1_000_000_000 else "idle"

    def _last_in_reach(self, node: int) -> int:
        """Time of the last message; an ancestor that holds none itself goes by its start and by those below."""
        if self.last_ns[node] != NO_TIME:
            return self.last_ns[node]
        started = self.started_by[node]
        own = int(self._capture.columns["time_ns"][started]) if started >= 0 else NO_TIME
        return max(own, self._below()[node]) if self.tree.children.any(node) else own

    def _below(self) -> list[int]:
        """By node, the time of the last message in the nearest contexts below it that hold any. O(nodes) when made."""
        if self._reach_of != (self._fed, self.tree.version):
            tree, last = self.tree, self.last_ns
            self._reach = [NO_TIME] * len(tree)
            for node in reversed(tree.in_order()):
                above = tree.parent[node]
                if above != MAIN:
                    here = last[node] if last[node] != NO_TIME else self._reach[node]
                    self._reach[above] = max(self._reach[above], here)
            self._reach_of = (self._fed, tree.version)
        return self._reach

    def type(self, node: int) -> str | None:
        """The declared type, else `reasoning` where the context or its name says so, else None."""
        declared = self.facts.declared[node]
        if declared is not None:
            return declared[1]
        return "reasoning" if self.facts.reasons[node] or self._named_so(node) else None

    def _named_so(self, node: int) -> bool:
        return self.tree.name[self._root(node)].startswith("reason")

    def _root(self, node: int) -> int:
        """The root a node lies under."""
        return int(self._root_of.values(self.tree.moves)[node])

    def type_reason(self, node: int) -> str:
        """Why the node has its type, as a sentence; "" when it has none."""
        if self.facts.declared[node] is not None:
            return "Declared so by its messages."
        if self.started_by[node] >= 0:
            return f"Opened by reasoning/start, No. {self.started_by[node] + 1}."
        if self.facts.reasons[node]:
            return "Holds reasoning messages."
        return "Its first segment starts with “reason”." if self._named_so(node) else ""

    def speakers_of(self, node: int) -> list[int]:
        """String ids of those who wrote in a context, in the order they first did."""
        speakers = self.facts.speakers[node]
        return sorted(speakers, key=speakers.__getitem__)

    def label(self, node: int) -> str:
        """What the tree shows: a reasoning's first words, else the name."""
        return self.tree.label[node] or self.tree.name[node]


_ENDS = {"reasoning/conclusion": CONCLUDED, "reasoning/cancel": CANCELLED}


def _split(key: int) -> tuple[int, int]:
    """The two numbers that `_pairs` made one of."""
    return key >> 32, key & 0xFFFFFFFF
