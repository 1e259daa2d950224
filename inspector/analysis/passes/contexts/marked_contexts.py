"""Handles contexts that marker messages begin and end, as in option 4 of ADR k9j (docs/protocols.md 7).

`context/start` names a context. Messages that correlate to that name are in it, until `context/end` closes it.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.contexts.context_objects import note_description, stamp_of
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.naming_notes import ContextNotes
from inspector.analysis.passes.contexts.node_facts import CONCLUDED, NodeFacts
from inspector.protocol.context_places import END_KIND, START_KIND, looks_like_id
from inspector.store.columns.columns import Array
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_HASH
from inspector.store.messages.capture import Capture

_MAX_OPEN = 100_000
_CORRELATED = Flag.CORRELATED.value


class MarkedContexts:
    """Applies markers to the tree, and finds the messages between them.

    Args:
        settle: called after nodes may have merged.
        typed: called with a node that got its first declared type.
        is_void: tells if a message has no effect.
        named: gets the hash (`MessageIds.hash_in_space`) of the id of each context that a marker names.
    """

    def __init__(
        self, capture: Capture, tree: ContextTree, facts: NodeFacts, notes: ContextNotes, *,
        settle: Callable[[], None], typed: Callable[[int], None], named: array[int], is_void: Callable[[int], bool],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._tree = tree
        self._facts = facts
        self._merge_facts = settle
        self._on_typed = typed
        self._named_ids = named
        self._notes = notes
        self._is_void = is_void
        self._open: dict[int, int] = {}  # nodes by the hash of their name in its space
        self._names_by_start_id: dict[int, int] = {}  # these hashes by the hash of their start's envelope id

    def affected_messages(self, start: int, stop: int) -> NDArray[np.bool_] | None:
        """Returns (n,) flags of markers and of messages that may be between them, or None."""
        columns = self._capture.columns
        codes = [code for code in map(self._capture.strings.find, (START_KIND, END_KIND)) if code is not None]
        if not codes:
            return None
        marks: Array = are_any_of(columns["kind"][start:stop], codes)
        if not (self._open or marks.any()):
            return None
        within = (columns["flags"][start:stop] & _CORRELATED != 0) & (columns["context"][start:stop] == 0)
        # A context named by the message itself has priority over markers.
        return marks | within

    def observe(self, space: int, row: int, above: int) -> int | None:
        """Processes a message, in the order of arrival.

        Args:
            space: its space.
            row: the message.
            above: the node that the message itself states.

        Returns:
            The node by the markers; None if they do not decide.
        """
        kind = self._capture.string("kind", row)
        if kind == START_KIND:
            return self._begin(space, row, self._context_named_by(row) if above == MAIN else above)
        node = self._end_context(space, row) if kind == END_KIND else self._context_named_by(row)
        return None if node == MAIN else node

    def _context_named_by(self, row: int) -> int:
        """Returns the first open context that a message correlates to, or MAIN."""
        found = (self._tree.resolve(self._open.get(name, MAIN)) for name in self._capture.named_hashes(row))
        return next((node for node in found if node != MAIN), MAIN)

    def _end_context(self, space: int, row: int) -> int:
        """Ends and returns the context that a `context/end` names by payload, or by correlation to it or its start."""
        capture = self._capture
        given = capture.records.decoded_record(row).payload.get("context_id")
        name = given if isinstance(given, str) and looks_like_id(given) else None
        names = capture.named_hashes(row) if name is None else [capture.ids.hash_in_space(space, name)]
        for one in [*names, *(self._names_by_start_id.get(one, NO_HASH) for one in names)]:
            node = self._tree.resolve(self._open.get(one, MAIN))
            if node == MAIN:
                continue
            if not self._is_void(row):
                del self._open[one]
                self._facts.reach(node)
                self._facts.note_end(node, CONCLUDED, row)
            return node
        return MAIN

    def _begin(self, space: int, row: int, above: int) -> int | None:
        identifier, payload = self._capture.records.decoded_record(row)[:2]
        wanted = (payload.get("context_id"), payload.get("id"), identifier)
        name = next(filter(looks_like_id, wanted), None)
        if not isinstance(name, str):
            return None
        facts, ids, version = self._facts, self._capture.ids, self._tree.version
        node = self._tree.declare_context(space, name, above, None)
        parent = payload.get("parent")
        if isinstance(parent, str) and looks_like_id(parent):
            node = self._tree.place(node, self._tree.node_of_id(space, parent))
            self._named_ids.append(ids.hash_in_space(space, parent))
        self._merge_facts()
        key = ids.hash_in_space(space, name)
        self._named_ids.append(key)
        self._notes.add_id(node, row, name)
        if self._tree.version != version:
            self._notes.add_depth(self._tree, self._tree.resolve(node), row)
        if self._is_void(row):
            return node
        # Bounds memory in logs with contexts that are never closed.
        if len(self._open) < _MAX_OPEN:
            self._open[key] = node
            if identifier is not None and identifier != name:
                self._names_by_start_id[ids.hash_in_space(space, identifier)] = key
        facts.note_start(node, row, int(self._capture.columns["sender"][row]), mark=True)
        note_description(self._facts, self._notes, self._on_typed, node, row, stamp_of(row), payload)
        return node
