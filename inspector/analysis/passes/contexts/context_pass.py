"""Assigns messages to context nodes, and derives each node's state, activity and type (docs/protocols.md 6 to 8)."""

from __future__ import annotations

from itertools import islice

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.changed_rows import NO_ROWS, ChangedRows, Rows
from inspector.analysis.passes.contexts.context_builder import SUB_AGENT, ContextBuilder
from inspector.analysis.passes.contexts.context_tree import MAIN, MAX_LEVELS
from inspector.analysis.passes.contexts.log_clock import LogClock
from inspector.analysis.passes.contexts.node_ancestry import living_nodes, subtree_totals
from inspector.analysis.passes.contexts.node_columns import (
    REASONING_START,
    IdTable,
    LeafTable,
    NodeTypes,
    PathTable,
    RootTable,
)
from inspector.analysis.passes.contexts.node_facts import CANCELLED
from inspector.analysis.passes.contexts.reasoning_sequences import RUNNING
from inspector.base.idle_time import IDLE_AFTER_S
from inspector.protocol import msp
from inspector.protocol.context_labels import START
from inspector.protocol.context_places import ContextSource
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.columns import Array, GrowingColumns
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture

STATES = ("", "active", "idle", "concluded", "cancelled")
"""Names of the numbers in `ContextPass.states`."""

REASONING_TYPE = "reasoning"
"""The type of reasoning contexts without a declared type."""
WHOLE_WORK_TYPES = frozenset({SUB_AGENT, msp.SUBSESSION_TYPE})
"""Declared types of contexts that are a participant's whole work, not a reasoning."""
_ALL_ROWS = slice(None)
# A context may begin again without end, and each message asks for its start.
_MAX_STARTS_SEARCHED = 256  # limit of starts of one context searched for a message's own
# A few steps cost less than the array, which is rebuilt after each move of the tree.
_MAX_STEPS_UP = 64  # limit of steps to the root; deeper nodes use an array of all roots

_END = (Flag.GAP | Flag.ERROR).value
"""Flags of the mark that a recording ended with an error, at the recording's own time."""


class ContextPass:
    """The context tree, with the facts and the messages of each node.

    A message refers to its (space, observed key) by a number that is never rewritten; that number refers to a node.

    Attributes:
        tree: the nodes.
        facts: the facts of each node; its arrays `first_row`, `last_row`, `last_ns`, `started_by` and
            `concluded_by` are attributes here too.
        main_counts: messages in main by space (string id).
        notes: oddities in the naming of contexts.
        sessions: the facts of spaces that are MSP sessions.
        sequences: the starts and ends of contexts.
        ending: by message that ends a context by correlation, the node it ends.
        declarations: grows with each type and label that a context gets.
        type_names: names of the numbers in `types`.
        idle_after_s: seconds that a context stays active after its last message.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._builder = ContextBuilder(
            capture, typed=self._type_changed, reasoned=self._reasoning_noted,
            touched=lambda node: self._touched_nodes.add(node),
            begun=lambda nodes: self._touched_nodes.add_array(nodes),
        )  # fmt: skip
        self.tree, self.facts, self._refs = self._builder.tree, self._builder.facts, self._builder.refs
        self.notes, self.sessions = self._builder.notes, self._builder.sessions
        self.sequences, self.ending = self.facts.sequences, self._builder.ending
        self._columns = GrowingColumns({"ref": np.uint32})
        self.main_counts: dict[int, int] = {}
        self._spaces: dict[int, None] = {}
        self.idle_after_s = IDLE_AFTER_S
        self._labels: tuple[tuple[int, ...], Array, list[tuple[str, ...]]] = ((), np.zeros(1, np.uint32), [()])
        self.first_row, self.last_row, self.last_ns = self.facts.first_row, self.facts.last_row, self.facts.last_ns
        self.started_by, self.concluded_by = self.facts.started_by, self.facts.concluded_by
        self._clock = LogClock()
        self._has_moved = False
        self._fed = 0
        self.type_version = 0
        self.declarations = 0
        self._touched_nodes = ChangedRows()
        self.paths = PathTable(self.tree)
        self.roots = RootTable(self.tree, self._root)
        self.leaves = LeafTable(self.tree)
        self.ids = IdTable(self.tree)
        self._types = NodeTypes(self.tree, self.tree.lines, self.facts.declared, self.facts.has_reasoning)
        self.type_names = self._types.names
        self._last_times: Array = np.empty(0, np.int64)
        self._last_times_version: tuple[int, int] = (-1, -1)
        self._node_senders: tuple[Array, Array] = (np.empty(0, np.int64), np.empty(0, np.int64))
        self._node_senders_version: tuple[int, int] = (-1, -1)

    # Feeding

    def feed(self, start: int, stop: int, late: Rows = NO_ROWS) -> None:
        """Processes messages `start` to `stop`.

        Args:
            start, stop: the messages.
            late: earlier messages that only now got a context (`StreamPass`).
        """
        columns = self._capture.columns
        moves = self.tree.moves
        if len(late):
            self._take_late(late)
        structure = self.sessions.are_structure(columns["kind"][start:stop])
        refs, told = self._builder.take_in(start, stop, structure)
        self._spaces.update(dict.fromkeys(told))
        self._columns.append({"ref": refs})
        self.tree.settled = len(self.tree)
        if self.tree.moves != moves:
            self._has_moved = True
        spaces, nodes = columns["space"][start:stop], self._refs.nodes(refs)
        by_senders = np.may_share_memory(columns["time_ns"], columns["ts_ns"])  # the only times are the senders' own
        flags = columns["flags"][start:stop]
        # marks are rows without a sender, at this program's time
        said = flags & Flag.GAP.value == 0
        said = said if structure is None else said & ~structure  # reports about a session have no sender either
        spaces, main = spaces[said], nodes[said] == MAIN
        timed = said if by_senders else said | (flags & _END == _END)
        times, senders = (columns[name][start:stop][timed] for name in ("time_ns", "sender"))
        self._clock.feed(times, senders, by_senders=by_senders)
        self._count_spaces(spaces, main)
        self._count_messages(start, stop, nodes if structure is None else np.where(structure, MAIN, nodes))
        self._fed = stop

    def _take_late(self, rows: Rows) -> None:
        """Moves messages from the main context to the context that is now known."""
        columns = self._capture.columns
        # Only rows that are still counted in the main context move.
        rows = rows[(columns["context"][rows] != 0) & (self._columns["ref"][rows] == 0)]
        spaces, refs = columns["space"][rows], self._builder.take_late(rows)
        self._columns.replace("ref", rows, refs)
        nodes = self._refs.nodes(refs)
        for space, count in zip(*np.unique(spaces, return_counts=True), strict=True):
            self.main_counts[int(space)] -= int(count)
        self.facts.note_earlier(nodes, rows, columns["time_ns"][rows])
        self._touched_nodes.add_array(self.tree.count_all(nodes))
        self._has_moved = True

    def _count_messages(self, start: int, stop: int, nodes: Array) -> None:
        columns = self._capture.columns
        inside = np.flatnonzero(nodes != MAIN)
        if not len(inside):
            return
        held, rows = nodes[inside], start + inside
        self.facts.note_messages(held, rows, columns["time_ns"][start:stop][inside])
        self._touched_nodes.add_array(self.tree.count_all(held))
        self._note_kinds(rows, held, columns["kind"][start:stop][inside])

    def _count_spaces(self, spaces: Array, in_main: Array) -> None:
        """Records the spaces of messages in the order first seen, and counts their messages in main."""
        if not len(spaces):
            return
        if (spaces == spaces[0]).all():
            found, places, main = spaces[:1], [0], [int(np.count_nonzero(in_main))]
        else:
            found, first, inverse = np.unique(spaces, return_index=True, return_inverse=True)
            main = np.bincount(inverse[in_main], minlength=len(found)).tolist()
            places = np.argsort(first).tolist()
        for place in places:
            space = int(found[place])
            self._spaces[space] = None
            if main[place]:
                self.main_counts[space] = self.main_counts.get(space, 0) + main[place]

    def _note_kinds(self, rows: Array, nodes: Array, kinds: Array) -> None:
        names = self._capture.strings
        for kind in sorted_unique(kinds).tolist():
            name = names[kind]
            # Only reasoning kinds make a context count as reasoning.
            if not name.startswith("reasoning/"):
                continue
            here = np.flatnonzero(kinds == kind)
            self._builder.note_reasoning(nodes[here])
            if name != START:
                as_numpy(self.facts.thinks)[nodes[here]] = 1

    def _type_changed(self, node: int) -> None:
        self.declarations += 1
        if 0 <= self.first_row[node] < self._fed:
            self._has_moved = True  # `context.type` of processed messages changes
        if node < len(self._types):
            self.type_version += 1

    def _reasoning_noted(self, nodes: Array) -> None:
        self.declarations += len(nodes)
        first = as_numpy(self.first_row)[nodes]
        if ((first >= 0) & (first < self._fed)).any():
            self._has_moved = True
        self.type_version += int(np.count_nonzero(nodes < len(self._types)))

    def take_changes(self) -> Rows:
        """Returns no rows: changes here move the tree and never a single message."""
        return NO_ROWS

    def take_touched(self) -> set[int]:
        """Returns nodes with new messages, and sub-sessions that began or ended, since the last call."""
        return set(self._touched_nodes.take_rows().tolist())

    def take_parents(self) -> list[int]:
        """Returns hashes (`MessageIds.hash_in_space`) of ids that named contexts as parents since the last call."""
        parents = self._builder.named
        found = parents.tolist()
        del parents[:]
        return found

    def take_moved(self) -> bool:
        """Tells if nodes appeared, moved or changed their type since the last call."""
        moved, self._has_moved = self._has_moved, False
        return moved

    # Lookup

    @property
    def clock_ns(self) -> int:
        """The present time by the log (`LogClock`), used to tell active from idle; NO_TIME if unknown."""
        return self._clock.latest_ns

    @property
    def spaces(self) -> list[int]:
        """String ids of spaces with messages, in the order first seen; 0 for messages without a space."""
        return list(self._spaces)

    def nodes(self) -> Array:
        """Returns (n,) int32, the node of each message, MAIN for the main context. O(messages)."""
        return self._refs.nodes(self._columns["ref"])

    def nodes_of(self, rows: slice | Array) -> Array:
        """Returns (n,) int32, the nodes of some messages. O(n)."""
        return self._refs.nodes(self._columns["ref"][rows])

    def refs(self, start: int, stop: int) -> Array:
        """Returns (stop - start,) numbers of (space, written context) by message: from 1 as first seen, 0 in main."""
        return self._columns["ref"][start:stop]

    def refs_of(self, rows: Array) -> Array:
        """Returns (n,) the same numbers of some messages."""
        return self._columns["ref"][rows]

    def nodes_of_refs(self, refs: Array) -> Array:
        """Returns (n,) int32, the present nodes of numbers from `refs`."""
        return self._refs.nodes(refs)

    @property
    def ref_count(self) -> int:
        """Highest number in `refs`; numbers start at 1."""
        return len(self._refs)

    def node_of(self, row: int) -> int:
        return self._refs.node(int(self._columns["ref"][row]))

    def depths(self, rows: slice | Array = _ALL_ROWS) -> Array:
        """Returns (n,) int32 context depths of all or some messages; 0 in main."""
        return self.tree.lines.depths.take(self.nodes_of(rows))

    def parents(self, rows: slice | Array = _ALL_ROWS) -> Array:
        """Returns (n,) int32 parent nodes of the contexts of all or some messages; MAIN for roots and in main."""
        return np.append(as_numpy(self.tree.parent), np.int32(MAIN))[self.nodes_of(rows)]

    def context_places(self, rows: slice | Array = _ALL_ROWS) -> Array:
        """Returns (n,) uint8 `ContextSource`, the place of the context in each message; 0 in main."""
        columns = self._capture.columns
        elsewhere = _PLACE_BY_FLAG[columns["flags"][rows] >> _PLACE_FLAG_SHIFT & 15]
        here = np.where(columns["context"][rows] != 0, ContextSource.ENVELOPE.value, ContextSource.MARKERS.value)
        here[columns["flags"][rows] & Flag.FRAME.value != 0] = ContextSource.STREAM.value
        return np.where(self.nodes_of(rows) == MAIN, 0, np.where(elsewhere != 0, elsewhere, here)).astype(np.uint8)

    def first_context_place(self, node: int) -> ContextSource:
        """Returns the place of the context in its first message; NOT for a context without messages."""
        first = self.first_row[node]
        return ContextSource(int(self.context_places(np.array([first]))[0])) if first >= 0 else ContextSource.ABSENT

    def first_context_places(self) -> Array:
        """Returns (nodes,) uint8, the same of all contexts."""
        first = as_numpy(self.first_row)
        found = np.zeros(len(first), np.uint8)
        held = np.flatnonzero(first >= 0)
        found[held] = self.context_places(first[held])
        return found

    def labels(self) -> tuple[Array, list[tuple[str, ...]]]:
        """Returns (nodes + 1,) uint32 indexes into label sets, and that list; the last is the main context."""
        generation = (self.tree.moves, self.declarations, len(self.tree))
        if self._labels[0] != generation:
            values = np.zeros(len(self.tree) + 1, np.uint32)
            known: dict[tuple[str, ...], int] = {(): 0}
            for node in self.facts.labels:
                found = self.facts.labels_of(node)
                values[node] = known.setdefault(found, len(known))
            self._labels = (generation, values, list(known))
        return self._labels[1:]

    def types(self, rows: slice | Array = _ALL_ROWS) -> Array:
        """Returns (n,) int32 indexes into `type_names` for the contexts of all or some messages; 0 is none."""
        return self._types.values(self.tree.moves + self.type_version).take(self.nodes_of(rows))

    def types_of_refs(self, refs: Array) -> Array:
        """Returns (n,) indexes into `type_names` for context numbers from `refs`; 0 is none."""
        return self._types.values(self.tree.moves + self.type_version).take(self.nodes_of_refs(refs))

    def state(self, node: int, now_ns: int | None = None) -> str:
        """Returns "active", "idle", "concluded" or "cancelled" (docs/design.md 2).

        Args:
            now_ns: the wall clock for live traffic; None for the time of the last record.
        """
        if self.facts.end[node]:
            return "cancelled" if self.facts.end[node] == CANCELLED else "concluded"
        last = self._last_in_subtree(node)
        if last == NO_TIME and self.tree.subtree[node]:
            return "active"
        return self.activity(last, now_ns)

    def main_state(self, space: int, now_ns: int | None = None) -> str:
        """Returns "active" or "idle" for the main context of a space, by its last message. O(messages)."""
        columns = self._capture.columns
        rows = np.flatnonzero(columns["space"][: self._fed] == space)
        times = columns["time_ns"][rows[self.nodes_of(rows) == MAIN]]
        if len(times) and times.max() == NO_TIME:
            return "active"
        return self.activity(int(times.max()) if len(times) else NO_TIME, now_ns)

    def activity(self, last_ns: int, now_ns: int | None) -> str:
        """Returns "active" or "idle" by the time of the last message; `now_ns` as for `state`.

        A log without any times has no idle context.
        """
        if self.clock_ns == NO_TIME:
            return "active"
        now = self.clock_ns if now_ns is None else now_ns
        return "active" if last_ns != NO_TIME and now - last_ns <= self.idle_after_s * 1_000_000_000 else "idle"

    def states(self, now_ns: int | None = None) -> Array:
        """Returns (nodes + 1,) uint8 states as indexes into `STATES`; the last is the main context's, with no state."""
        last = self._last_in_subtrees()
        untimed = (last == NO_TIME) & (np.asarray(self.tree.subtree) > 0)
        now = self.clock_ns if now_ns is None else now_ns
        # Hostile times may differ by more than 64 bits.
        since = min(max(now - self.idle_after_s * 1_000_000_000, NO_TIME + 1), np.iinfo(np.int64).max)
        # An explicit end outranks activity.
        end = as_numpy(self.facts.end)
        ended = np.where(end == CANCELLED, STATES.index("cancelled"), STATES.index("concluded"))
        running = (last >= since) | untimed | (self.clock_ns == NO_TIME)
        going = np.where(running, STATES.index("active"), STATES.index("idle"))
        states = np.where(end != 0, ended, going).astype(np.uint8)
        return np.append(states[living_nodes(self.tree)], np.uint8(0))

    def _last_in_subtree(self, node: int) -> int:
        """Returns the time of the last message in a context and its descendants, its start included, or NO_TIME."""
        return int(self._last_in_subtrees()[node]) if self.tree.children.any(node) else self._own_last(node)

    def _own_last(self, node: int) -> int:
        started = self.started_by[node]
        begun = int(self._capture.columns["time_ns"][started]) if started >= 0 else NO_TIME
        return max(self.last_ns[node], begun)

    def _last_in_subtrees(self) -> Array:
        """Returns (nodes,) the same of all nodes. A message in a descendant keeps its ancestors active.

        O(nodes log depth) after a change.
        """
        if self._last_times_version != (self._fed, self.tree.version):
            parent, started = (as_numpy(values).astype(np.int64) for values in (self.tree.parent, self.started_by))
            last = as_numpy(self.last_ns).copy()
            begun = np.flatnonzero(started >= 0)
            last[begun] = np.maximum(last[begun], self._capture.columns["time_ns"][started[begun]])
            living = as_numpy(self.tree.aliases) == np.arange(len(parent))
            self._last_times = subtree_totals(last, np.where(living, parent, MAIN), np.maximum)
            self._last_times_version = (self._fed, self.tree.version)
        return self._last_times

    def begun_by(self, row: int) -> int:
        """Returns the context that a message began, or began again, or MAIN."""
        return self.tree.resolve(self.sequences.node_of_start(row))

    def start_before(self, node: int, row: int) -> int:
        """Returns the start of a message's sequence: its sender's latest in the context, else any sender's, or -1.

        A message before all starts gets the first one.
        """
        sender = int(self._capture.columns["sender"][row])
        before = [one for one in islice(self.sequences.starts_of(node), _MAX_STARTS_SEARCHED) if one[0] < row]
        own = next((start for start, whose in before if whose == sender), None)
        if own is not None:
            return own
        return before[0][0] if before else self.started_by[node]

    def contexts_without_start(self) -> Array:
        """Returns (n,) contexts with reasoning but without a start, except sub-agents and sessions.

        Reasoning below a started context belongs to that start.
        """
        facts, started = self.facts, as_numpy(self.started_by)
        found = (as_numpy(facts.thinks) != 0) & (started < 0) & (as_numpy(self.first_row) >= 0)
        nodes = np.flatnonzero(found & (living_nodes(self.tree) == np.arange(len(found))))
        belongs = {MAIN: False}
        nodes = np.array([node for node in nodes.tolist() if not self._has_started_ancestor(node, belongs)], np.int64)
        # Contexts of transcripts have no start messages, so they are no finding.
        flags = self._capture.columns["flags"][as_numpy(self.first_row)[nodes]]
        nodes = nodes[flags & Flag.DERIVED.value == 0]
        return np.array([node for node in nodes.tolist() if self.type(node) not in WHOLE_WORK_TYPES], np.int64)

    def _has_started_ancestor(self, node: int, belongs: dict[int, bool]) -> bool:
        """Returns True if a context above has a start.

        Args:
            node: the context.
            belongs: contexts that are started, or below a started one; updated, so that no chain is walked twice.
        """
        passed, above = list[int](), self.tree.parent[node]
        while above not in belongs:
            if self.started_by[above] >= 0:
                belongs[above] = True
            else:
                passed.append(above)
                above = self.tree.parent[above]
        belongs.update(dict.fromkeys(passed, belongs[above]))
        return belongs[above]

    def has_ended_before(self, node: int, row: int) -> bool:
        """Tells if a context had ended before a message."""
        first = self.sequences.first_end[node]
        if not 0 <= first < row:
            return False
        before = [change for change in self.sequences.replay(node).changes if change.row < row]
        return bool(before) and before[-1].state != RUNNING

    def type(self, node: int) -> str | None:
        """Returns the declared type, else `reasoning` for a reasoning context, else None."""
        declared = self.facts.declared.get(node)
        if declared is not None:
            return declared[1]
        return REASONING_TYPE if self.facts.has_reasoning[node] or self._has_reasoning_name(node) else None

    def _has_reasoning_name(self, node: int) -> bool:
        return self.tree.name[self._root(node)].startswith(REASONING_START)

    def _root(self, node: int) -> int:
        root = node
        for _ in range(_MAX_STEPS_UP):
            above = self.tree.parent[root]
            if above == MAIN:
                return root
            root = above
        return int(self.tree.lines.roots[node])

    def metadata(self, node: int) -> dict[str, object]:
        """Returns the latest value of each metadata key of a context: trigger, confidence, started, ended..."""
        found = self.facts.metadata.get(node, {})
        return {key: value for key, (_, value) in sorted(found.items(), key=lambda item: (item[1][0], item[0]))}

    def type_reason(self, node: int) -> str:
        """Explains the type of a node in a sentence; "" for a node without a type."""
        if node in self.facts.declared:
            return "Its messages say so."
        if self.started_by[node] >= 0:
            return f"Opened by reasoning/start, No. {self.started_by[node] + 1}."
        if self.facts.has_reasoning[node]:
            return "Holds reasoning messages."
        return "Its first segment starts with “reason”." if self._has_reasoning_name(node) else ""

    def note(self, node: int) -> str:
        """Describes an oddity of a node in a sentence, or ""."""
        levels = f"{self.tree.depth(node):,} levels" if node in self.tree.cut else ""
        cut = f"Its path has {levels}: those beyond {MAX_LEVELS:,} are one context."
        return cut if node in self.tree.cut else ""

    def senders_in(self, node: int) -> list[int]:
        """Returns string ids of senders in a context, by first message. O(messages) after a change."""
        # Cached: the summary and the table of contexts ask for every context in turn.
        if self._node_senders_version != (self._fed, self.tree.moves):
            self._node_senders, self._node_senders_version = self._collect_node_senders(), (self._fed, self.tree.moves)
        nodes, senders = self._node_senders
        low, high = np.searchsorted(nodes, [node, node + 1])
        return senders[low:high].tolist()

    def _collect_node_senders(self) -> tuple[Array, Array]:
        """Returns pairs of node and sender, sorted by node and first message."""
        senders, nodes = self._capture.columns["sender"][: self._fed], self.nodes()
        rows = np.flatnonzero((nodes != MAIN) & (senders != 0))
        pairs, first = np.unique(nodes[rows].astype(np.int64) << 32 | senders[rows], return_index=True)
        order = np.lexsort((first, pairs >> 32))
        return pairs[order] >> 32, pairs[order] & 0xFFFFFFFF

    def label(self, node: int) -> str:
        """Returns the label in the tree: a reasoning's first words, a sub-agent's task or type, else the name."""
        if label := self.tree.label[node]:
            return label
        name = self.tree.segments(node, 1)[-1]
        agent = self._capture.transcripts.agents.get(name)
        return self._capture.shown_name(agent.name) if agent is not None and agent.name else name


_PLACE_BY_FLAG = np.zeros(16, np.uint8)
for _bit, _told in enumerate(
    (ContextSource.KIND, ContextSource.PAYLOAD, ContextSource.THREAD, ContextSource.REASONING_ID)
):
    _PLACE_BY_FLAG[1 << _bit] = _told
_PLACE_FLAG_SHIFT = Flag.CONTEXT_IN_KIND.value.bit_length() - 1
