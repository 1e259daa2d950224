"""Sessions and sub-sessions as spaces and contexts (docs/protocols.md 14).

A session is a space, its own messages are that space's main context, its sub-sessions are contexts below. Rows of their
own say how those began and ended: they shape the tree, and count as nobody's message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any
from inspector.analysis.passes.contexts.context_tree import ContextTree
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.protocol import msp
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.columns import Array
from inspector.store.messages.capture import Capture

_KINDS = (msp.SESSION, msp.SNAPSHOT, msp.OPENED, msp.CLOSED)
_LABEL_LENGTH = 80


class SessionContexts:
    """Lets what is told of sessions shape the tree.

    Attributes:
        labels: by space (string id) of a session: what it is called; "" where it has no label.
        metadata: by space: the status of a session that has one.
        began: by space: number of the message that says how it began, from 1.

    Args:
        settle: called after nodes may have merged.
        typed: called with a node that has got its first declared type.
    """

    def __init__(
        self, capture: Capture, tree: ContextTree, facts: NodeFacts, *,
        settle: Callable[[], None], typed: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._tree = tree
        self._facts = facts
        self._settle = settle
        self._typed = typed
        self.labels: dict[int, str] = {}
        self.metadata: dict[int, dict[str, object]] = {}
        self.began: dict[int, int] = {}

    @property
    def implied(self) -> set[int]:
        """Sessions that are only named by their sub-sessions."""
        return self.labels.keys() - self.began.keys()

    def of_structure(self, kinds: Array) -> NDArray[np.bool_] | None:
        """Which messages, by their kinds, tell of sessions and say nothing in one; None where there are none."""
        codes = [code for code in map(self._capture.strings.find, _KINDS) if code is not None]
        return are_any(kinds, codes) if codes else None

    def count_structure(self, rows: NDArray[np.integer[Any]] | slice) -> int:
        """How many of some messages only tell of sessions, and count as nobody's."""
        if not self.labels:
            return 0
        structure = self.of_structure(self._capture.columns["kind"][rows])
        return 0 if structure is None else int(np.count_nonzero(structure))

    def observe(self, space: int, row: int, above: int) -> int | None:
        """Take in a row that tells of a session, in the order of arrival.

        Args:
            space: the session.
            row: the message.
            above: the node it stands in, MAIN for the main context.

        Returns:
            The node of the sub-session it tells of; None where it tells of a session.
        """
        kind = self._capture.string("kind", row)
        payload = self._capture.records.decoded(row).payload
        label = _label(payload.get("label"))
        if kind == msp.SESSION:
            self.labels[space] = self.labels.get(space) or label
            self.began.setdefault(space, row + 1)
            status = payload.get("status")
            if isinstance(status, str) and status:
                self.metadata[space] = {"status": mask_text(status)}
            return None
        self.labels.setdefault(space, "")
        name = payload.get("subsession_id")
        if kind == msp.SNAPSHOT or not isinstance(name, str) or not name:
            return None
        node = self._tree.declare(space, name, above, label or None)
        self._settle()
        if self._facts.declared.get(node) is None:
            self._facts.note_type(node, row, msp.SUBSESSION_TYPE)
            self._typed(node)
        status = payload.get("status")
        if isinstance(status, str) and status:
            self._facts.note_metadata(node, row, {"status": mask_text(status)})
        if kind == msp.OPENED:
            self._facts.note_start(node, row)
        elif kind == msp.CLOSED:
            self._facts.note_end(node, CANCELLED if status == msp.DISCARDED else CONCLUDED, row)
        return node


def _label(value: object) -> str:
    """What something is called, on one line; "" where that is no text."""
    text = value[: 8 * _LABEL_LENGTH] if isinstance(value, str) else ""
    return " ".join(mask_text(plain_words(mask_text(text))).split())[:_LABEL_LENGTH]
