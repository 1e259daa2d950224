"""Contexts that messages of their own begin and end, as option 4 of ADR k9j had them (docs/protocols.md 7).

`context/start` names one; messages that correlate to that name are in it, until `context/end` does.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.context_tree import MAIN, ContextTree
from inspector.analysis.node_facts import CONCLUDED, NodeFacts
from inspector.capture.capture import Capture
from inspector.capture.columns import Array
from inspector.capture.flags import Flag
from inspector.protocol.context_forms import END, START, is_name

_MOST_OPEN = 100_000
_CORRELATED = Flag.CORRELATED.value


class MarkedContexts:
    """Lets markers shape the tree, and finds who is between them.

    Args:
        settle: called after nodes may have merged.
        typed: called with a node that has got its first declared type.
        named: gains the hash (`MessageIds.hash_in`) of the id of each context that a marker names.
    """

    def __init__(
        self, capture: Capture, tree: ContextTree, facts: NodeFacts, *,
        settle: Callable[[], None], typed: Callable[[int], None], named: array[int],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._tree = tree
        self._facts = facts
        self._settle = settle
        self._typed = typed
        self._named = named
        self._open: dict[int, int] = {}  # nodes by the hash of their name in its space

    def concerned(self, start: int, stop: int) -> NDArray[np.bool_] | None:
        """Which messages mark a context, or may be between such marks; None where there are none."""
        columns = self._capture.columns
        codes = [code for code in map(self._capture.strings.find, (START, END)) if code is not None]
        if not codes:
            return None
        marks: Array = np.isin(columns["kind"][start:stop], codes)
        if not (self._open or marks.any()):
            return None
        within = (columns["flags"][start:stop] & _CORRELATED != 0) & (columns["context"][start:stop] == 0)
        return marks | within

    def observe(self, space: int, row: int, above: int) -> int | None:
        """Take in a message, in the order of arrival.

        Args:
            space: its space.
            row: the message.
            above: the node it stands in by what it says itself.

        Returns:
            The node it belongs to by the markers; None where they do not say.
        """
        kind = self._capture.string("kind", row)
        if kind == START:
            return self._begin(space, row, above)
        name = self._ended(space, row) if kind == END else int(self._capture.columns["correlation_hash"][row])
        node = self._tree.resolve(self._open.get(name, MAIN))
        if node == MAIN:
            return None
        if kind == END:
            self._open.pop(name, None)
            self._facts.reach(node)
            self._facts.note_end(node, CONCLUDED, row)
        return node

    def _ended(self, space: int, row: int) -> int:
        """The hash of the name that a `context/end` ends: in its payload, as a start has it, else what it names."""
        name = self._capture.records.decoded(row).payload.get("context_id")
        if isinstance(name, str) and is_name(name):
            return self._capture.ids.hash_in(space, name)
        return int(self._capture.columns["correlation_hash"][row])

    def _begin(self, space: int, row: int, above: int) -> int | None:
        identifier, payload = self._capture.records.decoded(row)[:2]
        wanted = (payload.get("context_id"), payload.get("id"), identifier)
        name = next(filter(is_name, wanted), None)
        if not isinstance(name, str):
            return None
        node = self._tree.declare(space, name, above, None)
        parent = payload.get("parent")
        if isinstance(parent, str) and is_name(parent):
            node = self._tree.place(node, self._tree.of_id(space, parent))
            self._named.append(self._capture.ids.hash_in(space, parent))
        self._settle()
        self._named.append(self._capture.ids.hash_in(space, name))
        if len(self._open) < _MOST_OPEN:
            self._open[self._capture.ids.hash_in(space, name)] = node
        self._facts.note_start(node, row)
        declared = payload.get("type")
        if isinstance(declared, str) and declared and self._facts.declared.get(node) is None:
            self._facts.note_type(node, row, declared)
            self._typed(node)
        return node
