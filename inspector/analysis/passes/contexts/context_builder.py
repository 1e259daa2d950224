"""Builds the context tree from messages, in their order (docs/protocols.md 6 and 7).

The tree grows by first messages with a context key, contexts in object form, and reasoning starts. It also grows by
reports of sub-sessions and sub-agents. All other messages only belong to a context that exists already.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.contexts.context_keys import UNKNOWN, ContextNumbers
from inspector.analysis.passes.contexts.context_objects import ContextObjects
from inspector.analysis.passes.contexts.context_tree import MAIN, MAX_LEVELS, ContextTree
from inspector.analysis.passes.contexts.marked_contexts import MarkedContexts
from inspector.analysis.passes.contexts.msp_contexts import MspContexts
from inspector.analysis.passes.contexts.naming_notes import MAX_DEPTH, ContextNotes
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.analysis.passes.contexts.pending_starts import PendingStarts, Start
from inspector.analysis.passes.contexts.reasoning_sequences import STARTED, STARTED_OWN
from inspector.protocol import msp
from inspector.protocol.context_labels import START, label_of_text, labels_of_starts
from inspector.protocol.context_paths import path_depth
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.flags import Flag
from inspector.store.messages.capture import Capture
from inspector.store.messages.transcripts import AgentNews

SUB_AGENT = "sub-agent"
"""The declared type of contexts of sub-agents in transcripts."""

_EVENT_CODES = {START: STARTED, "reasoning/conclusion": CONCLUDED, "reasoning/cancel": CANCELLED}
_NAMES_OTHER_CONTEXT = (Flag.CONTEXT_IN_KIND | Flag.CONTEXT_IN_REASONING).value
_CORRELATED = Flag.CORRELATED.value


# Arrays cost more than steps of Python for a few.
_FEW_EVENTS = 12


class ContextBuilder:
    """Applies messages to the context tree.

    Attributes:
        tree: the nodes.
        facts: the facts of each node.
        refs: the numbers of context keys, and their nodes.
        notes: oddities in the naming of contexts.
        sessions: the facts of spaces that are MSP sessions.
        named: hashes (`MessageIds.hash_in_space`) of ids that named contexts as parents; the reader removes them.
        ending: by message that ends a context by correlation, the node it ends.

    Args:
        typed: called with a node that got its first declared type.
        reasoned: called with (n,) nodes that now count as reasoning.
        touched: called with a node that ended, or began, without a message in it.
        begun: called with (n,) nodes that began, which may have repetitions.
    """

    def __init__(
        self, capture: Capture, *, typed: Callable[[int], None], reasoned: Callable[[Array], None],
        touched: Callable[[int], None], begun: Callable[[Array], None],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._on_typed, self._on_reasoned = typed, reasoned
        self._on_touched, self._on_begun = touched, begun
        self.tree = ContextTree()
        self.facts = NodeFacts(self._was_written_before)
        self.refs = ContextNumbers()
        self.notes = ContextNotes()
        told: dict[str, Any] = {"settle": self._merge_facts, "typed": typed}
        self._objects = ContextObjects(capture, self.tree, self.facts, self.notes, **told)
        self.named = self._objects.parents
        self.sessions = MspContexts(capture, self.tree, self.facts, **told)
        self._marked_contexts = MarkedContexts(
            capture, self.tree, self.facts, self.notes, named=self.named, is_void=lambda row: row in self._void, **told
        )
        self._merged_nodes: list[tuple[int, int]] = []
        self._pending_starts = PendingStarts(capture, self.tree)
        self._early_ends: dict[int, list[int]] = {}  # by the hash of the id they name, while no message bears it
        self.ending: dict[int, int] = {}
        self._agent_labels: Counter[tuple[int, str | None, str]] = Counter()
        self._void: frozenset[int] = frozenset()  # messages of the batch without effect
        self._events = array("q")  # node, row, code and sender of starts and ends that are not applied yet

    def take_in(self, start: int, stop: int, structure: Array | None) -> tuple[Array, list[int]]:
        """Applies messages to the tree.

        Args:
            start, stop: the messages.
            structure: (n,) flags of messages that only report sessions, or None.

        Returns:
            (n,) int32 context numbers of the messages (`refs`), and the spaces of messages that report sessions.
        """
        columns = self._capture.columns
        spaces, keys = columns["space"][start:stop], columns["context"][start:stop]
        refs = self.refs.find_all(spaces, keys)
        operations, told = self._observe_all(start, stop, refs, structure)
        new = np.flatnonzero(refs == UNKNOWN)
        # Keys that were unknown before this batch now have numbers.
        refs[new] = self.refs.find_all(spaces[new], keys[new])
        for place, node in operations.items():
            refs[place] = self.refs.number_of_node(node)
        self._follow_merges()
        return refs, told

    def take_late(self, rows: Array) -> Array:
        """Applies messages that only now got a context; returns (n,) their context numbers."""
        spaces, keys = (self._capture.columns[name][rows] for name in ("space", "context"))
        self._pending_starts.expect_any()
        for place in np.flatnonzero(self.refs.find_all(spaces, keys) == UNKNOWN).tolist():
            self._node_of_key(int(spaces[place]), int(keys[place]), int(rows[place]))
            if self.tree.made:
                self._split_named_starts(int(rows[place]))
        self._follow_merges()
        return self.refs.find_all(spaces, keys)

    def _observe_all(
        self, start: int, stop: int, refs: Array, structure: Array | None
    ) -> tuple[dict[int, int], list[int]]:
        """Visits the messages that shape the tree.

        Returns:
            The nodes of messages with an operation on contexts, by place, and the spaces of messages that report
            sessions.
        """
        operations: dict[int, int] = {}
        of_sessions: list[int] = []
        columns = {name: self._capture.columns[name][start:stop] for name in ("space", "context", "kind", "sender")}
        codes = self._event_codes(columns["kind"])
        objects = self._capture.columns["flags"][start:stop] & Flag.OBJECT_CONTEXT.value != 0
        telling = np.zeros(stop - start, np.bool_) if structure is None else structure
        marked = self._marked_contexts.affected_messages(start, stop)
        marked = np.zeros(stop - start, np.bool_) if marked is None else marked
        news: dict[int, list[AgentNews]] = {}
        for one in self._capture.take_agent_news():
            news.setdefault(one.row - start, []).append(one)
        special = objects | telling | marked
        special[[*news]] = True
        new = np.flatnonzero(refs == UNKNOWN)
        pairs = columns["space"][new].astype(np.int64) << 32 | columns["context"][new]
        shaping = special | (codes != 0)
        # The first message of each new key creates its node; later ones are assigned in bulk.
        first = new[np.unique(pairs, return_index=True)[1]]
        shaping[first] = True
        places = np.flatnonzero(shaping)
        starts = self._starts(np.flatnonzero(codes == STARTED) + start)
        if len(starts) < _FEW_EVENTS or special.any():
            self._pending_starts.expect_any()
        else:
            spaces, keys = (columns[name][first].tolist() for name in ("space", "context"))
            paths = [self._capture.strings[key] for key in keys]
            self._pending_starts.expect_batch(
                np.array(spaces), paths, starts, self._capture.columns["space"][[*starts]].astype(np.int64)
            )
        self._void = self._without_effect(places + start)
        looked_at = (columns["space"], columns["context"], columns["sender"], codes, special)
        for place, space, key, sender, code, is_special in zip(
            places.tolist(), *(values[places].tolist() for values in looked_at), strict=True
        ):
            row, known = start + place, len(self.tree)
            node = self._node_of_key(space, key, row) if key else MAIN
            if is_special:
                for one in news.get(place, ()):
                    self._observe_agent(one)
                if objects[place]:
                    told = self._objects.observe(space, row, node)
                    if told is not None:
                        operations[place] = node = told
                    node = self.tree.resolve(node)
                if marked[place]:
                    self._apply_events()
                    if (told := self._marked_contexts.observe(space, row, node)) is not None:
                        operations[place] = node = told
            if self.tree.made:
                self._split_named_starts(row)
                node = self.tree.resolve(node)
            if code == STARTED:
                if row in starts:
                    self._begin(space, row, node, sender, starts[row], is_new=node >= known)
            elif code:
                self._apply_end(space, row, node, sender, code)
            elif is_special and telling[place]:
                of_sessions.append(space)
                self._apply_events()
                told = self.sessions.observe(space, row, node)
                if told is not None:
                    self._on_touched(told)
            if self.tree.made:
                self._split_named_starts(row)
            if self.tree.merged:
                self._merge_facts()
        self._apply_events()
        return operations, of_sessions

    def _event_codes(self, kinds: Array) -> Array:
        """Returns (n,) int8: STARTED, CONCLUDED or CANCELLED by the kind of a message; 0 for others."""
        codes = np.zeros(len(kinds), np.int8)
        for kind, code in _EVENT_CODES.items():
            found = self._capture.strings.find(kind)
            if found is not None:
                codes[kinds == found] = code
        return codes

    def _without_effect(self, rows: Array) -> frozenset[int]:
        """Returns messages without effect: forged, refused by the gateway, or copied from another thread."""
        flags = self._capture.columns["flags"][rows]
        void = flags & Flag.REFUSED.value != 0
        derived = np.flatnonzero(flags & Flag.DERIVED.value)
        if len(derived):
            void[derived] |= self._capture.repeated_messages(rows[derived])[1]
        impostors = self._capture.impersonations["message"]
        if len(impostors):
            void |= np.isin(rows, impostors)
        return frozenset(rows[void].tolist())

    def _node_of_key(self, space: int, key: int, row: int) -> int:
        known, count = self.refs.find(space, key), len(self.tree)
        if known != UNKNOWN:
            return self.tree.resolve(self.refs.node(known))
        text = self._capture.strings[key]
        is_object = text.startswith(OBJECT_KEY)
        # A path that begins with the id of a waiting start makes that id a node.
        for identifier in () if is_object else self._pending_starts.ids_in_path(space, text):
            self.tree.node_of_id(space, identifier)
        node = MAIN if is_object else self._child_of_known(space, text)
        if node == MAIN:
            node = self.tree.node_of_key(space, text)
        self.refs.add(space, key, node)
        if not is_object and not self._is_of_session(row):
            self.notes.add_path(node, row, text)
            # A new node has no descendants, and is as deep as its path while no context was placed below another.
            if (node < count or self.tree.any_placed) and node != MAIN and path_depth(text) <= MAX_DEPTH:
                self.notes.add_depth(self.tree, node, row)
        return node

    def _is_of_session(self, row: int) -> bool:
        """Tells if a message belongs to an MSP session; contexts there are named by their own specification."""
        code = self._capture.strings.find(msp.PROTOCOL)
        return code is not None and self._capture.columns["protocol"][row] == code

    def _child_of_known(self, space: int, path: str) -> int:
        """Returns the node of a path with a known parent path, or MAIN for any other path. Most new paths have one."""
        above, _, name = path.rpartition("/")
        if not above or not name or self.tree.any_slash or "//" in path or path.count("/") >= MAX_LEVELS:
            return MAIN
        key = self._capture.strings.find(above)
        known = UNKNOWN if key is None else self.refs.find(space, key)
        node = MAIN if known == UNKNOWN else self.tree.resolve(self.refs.node(known))
        return MAIN if node == MAIN else self.tree.child_of(node, name)

    # Reasoning starts and ends

    def _starts(self, rows: Array) -> dict[int, Start]:
        """Returns the starts by message, without those that have neither an id nor a context and begin no reasoning."""
        columns, records = self._capture.columns, self._capture.records
        rows = rows[(columns["id_hash"][rows] != 0) | (columns["context"][rows] != 0)]
        found = [*map(records.decoded_record, rows.tolist())]
        labels = [labels_of_starts([one.payload])[0] if one.label is None else one.label for one in found]
        drafted = (columns["flags"][rows] & _NAMES_OTHER_CONTEXT != 0).tolist()
        names = [one.identifier or "" for one in found]
        hashes = self._capture.ids.hashes_in_spaces(columns["space"][rows], names).tolist()
        return dict(zip(rows.tolist(), map(Start, names, labels, drafted, hashes), strict=True))

    def _begin(self, space: int, row: int, above: int, sender: int, start: Start, *, is_new: bool) -> None:
        """Begins the context that a reasoning start names, unless messages use its own id as a context.

        RULE (docs/protocols.md 8): by its own id it begins a node below the context of its message. In the main context
        it always does so.
        """
        identifier, label, names_other, id_hash = start
        if above == MAIN and not identifier:
            return
        if above == MAIN or (
            not names_other and self._pending_starts.is_named(space, identifier, row, above, is_new=is_new)
        ):
            self._begin_own_context(space, row, above, sender, start)
            return
        if row in self._void:
            return
        if not names_other and identifier:
            self._pending_starts.wait(id_hash, identifier, row, above, label)
        self._note_start(above, row, label, sender, STARTED)

    def _begin_own_context(self, space: int, row: int, above: int, sender: int, start: Start) -> None:
        """Begins a context with the start's own id."""
        node = self._declare_node(space, row, above, start.identifier, start.label)
        # A forged or copied message may begin a context, but not begin it again.
        if row in self._void:
            self._apply_events()
            if self.facts.started_by[node] >= 0:
                return
        self._note_start(node, row, "", sender, STARTED_OWN)

    def _declare_node(self, space: int, row: int, above: int, identifier: str, label: str) -> int:
        # A start inside its own context: the message already names the context that it begins.
        if above != MAIN and self.tree.name[above] == identifier:
            above = self.tree.parent[above]
        version = self.tree.version
        node = self.tree.declare_context(space, identifier, above, label)
        if self.tree.version != version:
            self.notes.add_depth(self.tree, node, row)
        self.facts.reach(node)
        self._merge_facts()
        return self.tree.resolve(node)

    def _note_start(self, node: int, row: int, label: str, sender: int, code: int) -> None:
        """Records the start of a node.

        Args:
            label: used if the node has no label.
            code: STARTED, or STARTED_OWN if the node bears the id of the start.
        """
        if label and not self.tree.label[node]:
            self.tree.label[node] = label
            self._pending_starts.label_starts[node] = row
        self._events.extend((node, row, code, sender))
        if self._early_ends:
            self._apply_events()
            for end in self._early_ends.pop(int(self._capture.columns["id_hash"][row]), ()):
                if end not in self.ending:
                    self._end_start(end, row)

    def _apply_events(self) -> None:
        """Applies the recorded starts and ends to the facts of their nodes.

        They wait for each other, since many take a tenth of the time together. Whatever reads or moves such facts
        applies them first.
        """
        if not self._events:
            return
        events = np.array(self._events, np.int64).reshape(-1, 4)
        self._events = array("q")
        if len(events) < _FEW_EVENTS:
            for node, row, code, sender in events.tolist():
                self.facts.reach(node)
                if code < STARTED:
                    self.facts.note_end(node, code, row, sender, -1)
                else:
                    self.facts.note_start(node, row, sender, own=code == STARTED_OWN)
        else:
            self.facts.note_events(*events.T)
        begun = events[events[:, 2] >= STARTED, 0]
        self._on_begun(begun)
        self.note_reasoning(begun)

    def _was_written_before(self, row: int, end: int) -> bool:
        """Tells if a message was written before the end that it follows, by the clock of the same sender."""
        columns = self._capture.columns
        ours, theirs = int(columns["ts_ns"][row]), int(columns["ts_ns"][end])
        same = int(columns["sender"][row]) == int(columns["sender"][end])
        return same and NO_TIME not in (ours, theirs) and ours < theirs

    def _split_named_starts(self, row: int) -> None:
        """Turns the ids of earlier starts into nodes of their own, since a message has now used them as contexts."""
        for space, identifier, starts in self._pending_starts.take_named():
            self._apply_events()
            for start in starts:
                above = self.tree.resolve(self.facts.sequences.node_of_start(start))
                if above == MAIN:
                    continue
                label = self._label_of(start)
                node = self._declare_node(space, row, above, identifier, label)
                above = self.tree.resolve(above)
                if node == above:
                    continue
                self.facts.move_start(start, above, node)
                self._replace_label(start, above)
                self.note_reasoning(np.array([node]))
                for one in (above, node):
                    self._on_touched(one)

    def _label_of(self, start: int) -> str:
        known = self._pending_starts.label_of(start)
        if known is not None:
            return known
        return labels_of_starts([self._capture.records.decoded_record(start).payload])[0]

    def _replace_label(self, start: int, node: int) -> None:
        """Replaces the label that a start gave to a context by the label of the next start there."""
        if self._pending_starts.label_starts.get(node) != start:
            return
        del self._pending_starts.label_starts[node]
        self.tree.label[node] = ""
        following = self.facts.started_by[node]
        if following >= 0 and (label := self._label_of(following)):
            self.tree.label[node] = label
            self._pending_starts.label_starts[node] = following

    def _apply_end(self, space: int, row: int, node: int, sender: int, code: int) -> None:
        """Applies a conclusion or cancel: ends the start it names by correlation, else the context of its message."""
        if row in self._void:
            return
        columns = self._capture.columns
        if int(columns["flags"][row]) & _CORRELATED and self._apply_named_end(space, row, node):
            return
        if node != MAIN:
            self._events.extend((node, row, code, sender))

    def _apply_named_end(self, space: int, row: int, node: int) -> bool:
        """Ends the start that an end names. The end must be in the main context or beside that start.

        Returns:
            True if it ended a start or context, or is stored until its id appears.
        """
        capture, tree = self._capture, self.tree
        self._apply_events()
        hashes = capture.named_hashes(row)
        for one in hashes:
            # The latest message with that id counts, as for correlation in general.
            for start in reversed([other for other in capture.ids.rows_of(one) if other < row]):
                begun = tree.resolve(self.facts.sequences.node_of_start(start))
                if begun != MAIN and (node in (MAIN, begun) or self._belongs_to(start, node)):
                    self._end_start(row, start)
                    return True
        if node != MAIN:
            return False
        for identifier in capture.records.correlation_ids(row):
            found = tree.find(space, identifier)
            if found != MAIN:
                self._note_end(found, row)
                self.ending[row] = found
                self._on_touched(found)
                return True
        for one in hashes:
            # Logs of several sources may have an end before the start that it names.
            self._early_ends.setdefault(one, []).append(row)
        return False

    def _belongs_to(self, row: int, node: int) -> bool:
        """Tells if a message belongs to a context by its own key."""
        columns = self._capture.columns
        known = self.refs.find(int(columns["space"][row]), int(columns["context"][row]))
        return known != UNKNOWN and self.tree.resolve(self.refs.node(known)) == node

    def _end_start(self, row: int, start: int) -> None:
        node = self.tree.resolve(self.facts.sequences.node_of_start(start))
        # an end of another start ends the context for all senders
        reasoning = self._capture.string("kind", start) == START
        self._note_end(node, row, start if reasoning else -1)
        self.ending[row] = node
        self._on_touched(node)

    def _note_end(self, node: int, row: int, start: int = -1) -> None:
        self.facts.reach(node)
        sender = int(self._capture.columns["sender"][row])
        self.facts.note_end(node, _EVENT_CODES[self._capture.string("kind", row) or ""], row, sender, start)

    def note_reasoning(self, nodes: Array) -> None:
        """Records that nodes have reasoning."""
        new = self.facts.nodes_without_reasoning(nodes)
        if len(new):
            as_numpy(self.facts.has_reasoning)[new] = 1
            self._on_reasoned(new)

    # Sub-agents

    def _observe_agent(self, told: AgentNews) -> None:
        """Places the context of a sub-agent in a transcript below the context of its caller."""
        self._apply_events()
        node = self.tree.node_of_key(told.space, told.context)
        if node == MAIN:
            return
        label = label_of_text(told.label or "")
        if label and not self.tree.label[node]:
            # Agents with the same task below one agent get numbers.
            siblings = told.space, told.parent, label
            self._agent_labels[siblings] += 1
            number = self._agent_labels[siblings]
            self.tree.label[node] = label if number == 1 else f"{label} ({number})"
        if told.parent is not None:
            node = self.tree.place(node, self.tree.node_of_key(told.space, told.parent))
        self._merge_facts()
        if self.facts.declared.get(node) is None:
            self.facts.note_type(node, told.row, SUB_AGENT)
            self._on_typed(node)
        # Transcripts may report the same sub-agent more than once.
        if told.has_begun and self.facts.started_by[node] < 0:
            self.facts.note_start(node, told.row)
        if told.has_ended:
            self.facts.note_end(node, CANCELLED if told.failed else CONCLUDED, told.row)
            self._on_touched(node)

    # Merges

    def _merge_facts(self) -> None:
        """Merges the facts of merged nodes."""
        self.facts.reach(len(self.tree) - 1)
        if not self.tree.merged:
            return
        self._apply_events()
        for node, into in self.tree.merged:
            self.facts.inherit(node, into)
        self._merged_nodes += self.tree.merged
        self.tree.merged.clear()

    def _follow_merges(self) -> None:
        """Updates context numbers after merges, and resizes the arrays to the number of nodes."""
        self._merge_facts()
        self.tree.fit()
        self.facts.fit(len(self.tree))
        if not self._merged_nodes:
            return
        living = np.arange(len(self.tree) + 1, dtype=np.int32)
        living[MAIN] = MAIN
        for node, into in self._merged_nodes:
            living[node] = self.tree.resolve(into)
        self._merged_nodes.clear()
        self.refs.follow(living)
