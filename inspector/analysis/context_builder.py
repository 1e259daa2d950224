"""Builds the context tree from messages, in their order (docs/protocols.md 6 and 7).

What shapes it are first messages with a context key, contexts in object form, reasoning starts, and what tells of
sub-sessions and sub-agents. Everybody else only lies in a context that is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from inspector.analysis.context_notes import ContextNotes
from inspector.analysis.context_objects import ContextObjects
from inspector.analysis.context_refs import UNKNOWN, ContextRefs
from inspector.analysis.context_tree import MAIN, MOST_LEVELS, ContextTree
from inspector.analysis.marked_contexts import MarkedContexts
from inspector.analysis.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.analysis.session_contexts import SessionContexts
from inspector.capture.block import OBJECT_KEY
from inspector.capture.capture import Capture
from inspector.capture.columns import Array
from inspector.capture.flags import Flag
from inspector.capture.transcripts import AgentNews
from inspector.protocol import msp
from inspector.protocol.secrets.masking import mask_text, may_hold_secrets
from inspector.protocol.text import text_shown

SUB_AGENT = "sub-agent"
"""The declared type of contexts of sub-agents, as transcripts have them."""

_START = "reasoning/start"
_LABEL_LENGTH = 80
_LOOKED_AT = 8 * _LABEL_LENGTH  # of a text that becomes a label
_TOGETHER = 32  # texts
_DRAFTED = (Flag.CONTEXT_IN_KIND | Flag.CONTEXT_IN_REASONING).value


class ContextBuilder:
    """Lets messages shape the tree.

    Attributes:
        tree: the nodes.
        facts: what is noted of each node.
        refs: the numbers of context keys, and the nodes they lead to.
        notes: what is odd about contexts as messages name them.
        sessions: what is known of spaces that are MSP sessions.
        named: hashes (`MessageIds.hash_in`) of ids that named contexts as parents; who looks at them takes them out.
        started_again: nodes of reasoning starts that bear the id of a start before, by message.

    Args:
        typed: called with a node that has got its first declared type, or counts as reasoning by now.
        touched: called with a node that began or ended although nobody said anything in it.
    """

    def __init__(self, capture: Capture, *, typed: Callable[[int], None], touched: Callable[[int], None]) -> None:
        self._capture = capture
        self._typed = typed
        self._touched = touched
        self.tree = ContextTree()
        self.facts = NodeFacts()
        self.refs = ContextRefs()
        self.notes = ContextNotes()
        told: dict[str, Any] = {"settle": self._settle, "typed": typed}
        self._objects = ContextObjects(capture, self.tree, self.facts, self.notes, **told)
        self.named = self._objects.parents
        self.sessions = SessionContexts(capture, self.tree, self.facts, **told)
        self._marked = MarkedContexts(capture, self.tree, self.facts, named=self.named, **told)
        self._merged: list[tuple[int, int]] = []
        self.started_again: dict[int, int] = {}

    def take_in(self, start: int, stop: int, structure: Array | None) -> tuple[Array, list[int]]:
        """Let messages shape the tree.

        Args:
            start, stop: the messages.
            structure: (messages,) which only tell of sessions; None for none.

        Returns:
            (messages,) int32, the numbers of what each is in (`refs`), and the spaces of those that tell of sessions.
        """
        columns = self._capture.columns
        spaces, keys = columns["space"][start:stop], columns["context"][start:stop]
        refs = self.refs.find_all(spaces, keys)
        operations, told = self._observe_all(start, stop, refs, structure)
        new = np.flatnonzero(refs == UNKNOWN)
        refs[new] = self.refs.find_all(spaces[new], keys[new])
        for place, node in operations.items():
            refs[place] = self.refs.of_node(node)
        self._follow_merges()
        return refs, told

    def take_late(self, rows: Array) -> Array:
        """Let messages shape the tree whose context is only known by now; (rows,) the numbers of what each is in."""
        spaces, keys = (self._capture.columns[name][rows] for name in ("space", "context"))
        for place in np.flatnonzero(self.refs.find_all(spaces, keys) == UNKNOWN).tolist():
            self._node_of_key(int(spaces[place]), int(keys[place]), int(rows[place]))
        self._follow_merges()
        return self.refs.find_all(spaces, keys)

    def _observe_all(
        self, start: int, stop: int, refs: Array, structure: Array | None
    ) -> tuple[dict[int, int], list[int]]:
        """Go through the messages that shape the tree.

        Returns:
            The nodes of messages that carry an operation on contexts, by their place, and the spaces of those that
            tell of sessions.
        """
        operations: dict[int, int] = {}
        of_sessions: list[int] = []
        columns = {name: self._capture.columns[name][start:stop] for name in ("space", "context", "kind", "flags")}
        starting = columns["kind"] == (self._capture.strings.find(_START) or -1)
        objects = columns["flags"] & Flag.OBJECT_CONTEXT.value != 0
        telling = np.zeros(stop - start, np.bool_) if structure is None else structure
        marked = self._marked.concerned(start, stop)
        marked = np.zeros(stop - start, np.bool_) if marked is None else marked
        news: dict[int, list[AgentNews]] = {}
        for one in self._capture.take_agent_news():
            news.setdefault(one.row - start, []).append(one)
        shaping = starting | objects | telling | marked
        shaping[[*news]] = True
        new = np.flatnonzero(refs == UNKNOWN)
        pairs = columns["space"][new].astype(np.int64) << 32 | columns["context"][new]
        shaping[new[np.unique(pairs, return_index=True)[1]]] = True
        places = np.flatnonzero(shaping)
        starts = self._starts(np.flatnonzero(starting) + start)
        looked_at = (columns["space"], columns["context"], objects, starting, telling, marked)
        for place, space, key, is_object, starts_one, tells, marks in zip(
            places.tolist(), *(values[places].tolist() for values in looked_at), strict=True
        ):
            row = start + place
            node = self._node_of_key(space, key, row) if key else MAIN
            for one in news.get(place, ()):
                self._observe_agent(one)
            if is_object:
                told = self._objects.observe(space, row, node)
                if told is not None:
                    operations[place] = node = told
                node = self.tree.resolve(node)
            if marks and (told := self._marked.observe(space, row, node)) is not None:
                operations[place] = node = told
            if starts_one:
                if row in starts:
                    self._begin(space, row, node, *starts[row])
            elif tells:
                of_sessions.append(space)
                told = self.sessions.observe(space, row, node)
                if told is not None:
                    self._touched(told)
            if self.tree.merged:
                self._settle()
        return operations, of_sessions

    def _node_of_key(self, space: int, key: int, row: int) -> int:
        known = self.refs.find(space, key)
        if known != UNKNOWN:
            return self.tree.resolve(self.refs.node(known))
        text = self._capture.strings[key]
        is_object = text.startswith(OBJECT_KEY)
        node = MAIN if is_object else self._below_known(space, text)
        if node == MAIN:
            node = self.tree.of_key(space, text)
        self.refs.add(space, key, node)
        if not is_object and not self._is_of_session(row):
            self.notes.add_path(node, row, text)
        return node

    def _is_of_session(self, row: int) -> bool:
        """Whether a message is of an MSP session, whose contexts are named as its own specification says."""
        code = self._capture.strings.find(msp.PROTOCOL)
        return code is not None and self._capture.columns["protocol"][row] == code

    def _below_known(self, space: int, path: str) -> int:
        """The node of a path whose last segment alone is new: most begin with one that is known. MAIN for another."""
        above, _, name = path.rpartition("/")
        if not above or not name or self.tree.any_slash or "//" in path or path.count("/") >= MOST_LEVELS:
            return MAIN
        key = self._capture.strings.find(above)
        known = UNKNOWN if key is None else self.refs.find(space, key)
        node = MAIN if known == UNKNOWN else self.tree.resolve(self.refs.node(known))
        return MAIN if node == MAIN else self.tree.below(node, name)

    # Reasoning starts

    def _starts(self, rows: Array) -> dict[int, tuple[str, str, bool]]:
        """Of reasoning starts their id, a label, and whether they name what they begin beside their id; by message.

        Those without an id begin nothing.
        """
        columns, records = self._capture.columns, self._capture.records
        rows = rows[columns["id_hash"][rows] != 0]
        found = [records.decoded(row) for row in rows.tolist()]
        texts = [(text_shown(_START, one.payload) or "")[:_LOOKED_AT] for one in found]
        labels = [*map(_label, _masked(texts))]
        drafted = (columns["flags"][rows] & _DRAFTED != 0).tolist()
        return {
            row: (one.identifier, label, names_other)
            for row, one, label, names_other in zip(rows.tolist(), found, labels, drafted, strict=True)
            if one.identifier
        }

    def _begin(self, space: int, row: int, above: int, identifier: str, label: str, names_other: bool) -> None:
        """Let a reasoning start begin the context of its id; or the one it is in, where it names that beside its id."""
        tree, facts = self.tree, self.facts
        names_other = names_other and above != MAIN
        if names_other:
            node = above
            if not tree.label[node]:
                tree.label[node] = label
        else:
            node = tree.declare(space, identifier, above, label)
        facts.reach(node)
        if not facts.note_start(node, row) and not names_other:
            self.started_again[row] = node
        self.note_reasoning(node)

    def note_reasoning(self, node: int) -> None:
        """Let a context count as reasoning."""
        if not self.facts.reasons[node]:
            self.facts.reasons[node] = True
            self._typed(node)

    # Sub-agents

    def _observe_agent(self, told: AgentNews) -> None:
        """Let a sub-agent that a transcript tells of be a context below that of whoever called it."""
        node = self.tree.of_key(told.space, told.context)
        if node == MAIN:
            return
        label = _label(mask_text((told.label or "")[:_LOOKED_AT]))
        if label and not self.tree.label[node]:
            self.tree.label[node] = label
        if told.parent is not None:
            node = self.tree.place(node, self.tree.of_key(told.space, told.parent))
        self._settle()
        if self.facts.declared.get(node) is None:
            self.facts.note_type(node, told.row, SUB_AGENT)
            self._typed(node)
        if told.began:
            self.facts.note_start(node, told.row)
        if told.ended:
            self.facts.note_end(node, CANCELLED if told.failed else CONCLUDED, told.row)
            self._touched(node)

    # Merges

    def _settle(self) -> None:
        """Give what is known of merged nodes to those they became."""
        self.facts.reach(len(self.tree) - 1)
        if not self.tree.merged:
            return
        for node, into in self.tree.merged:
            self.facts.inherit(node, into)
        self._merged += self.tree.merged
        self.tree.merged.clear()

    def _follow_merges(self) -> None:
        """Let keys lead to what nodes became, and facts be as many as there are nodes."""
        self._settle()
        self.tree.fit()
        self.facts.fit(len(self.tree))
        if not self._merged:
            return
        living = np.arange(len(self.tree) + 1, dtype=np.int32)
        living[MAIN] = MAIN
        for node, into in self._merged:
            living[node] = self.tree.resolve(into)
        self._merged.clear()
        self.refs.follow(living)


def _label(text: str) -> str:
    """A text as a label: so many words are more than its length."""
    return " ".join(text.split(maxsplit=_LABEL_LENGTH // 2 + 1))[:_LABEL_LENGTH]


def _masked(texts: list[str]) -> list[str]:
    """Texts without secrets: most hold none, so that some are looked at together, each alone where that finds any."""
    masked = list(texts)
    plain = [place for place, text in enumerate(texts) if text.isascii()]
    suspect = [place for place, text in enumerate(texts) if not text.isascii()]
    for first in range(0, len(plain), _TOGETHER):
        some = plain[first : first + _TOGETHER]
        if may_hold_secrets("\n".join([texts[place] for place in some])):
            suspect += some
    for place in suspect:
        masked[place] = mask_text(texts[place])
    return masked
