"""Applies reports of MSP sessions and sub-sessions to the context tree: a session is a space.

A session is a space. Its own messages are that space's main context, its sub-sessions are contexts below. Separate rows
report their beginnings and ends: they shape the tree, and do not count as messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.unique_ints import are_any_of
from inspector.analysis.passes.contexts.context_tree import ContextTree
from inspector.analysis.passes.contexts.node_facts import CANCELLED, CONCLUDED, NodeFacts
from inspector.protocol import msp
from inspector.protocol.context_labels import MAX_LABEL_LENGTH
from inspector.protocol.payloads.markdown_text import plain_words
from inspector.protocol.secrets.masking import mask_text
from inspector.store.columns.columns import Array
from inspector.store.messages.capture import Capture

_KINDS = (msp.SESSION, msp.SNAPSHOT, msp.SUBSESSION_OPENED, msp.SUBSESSION_CLOSED)


class MspContexts:
    """Applies reports of sessions to the tree.

    Attributes:
        labels: by space (string id) of a session: its label, or "".
        metadata: by space of a session: its status, if it has one.
        began: by space: number of the message that reports its beginning, from 1.

    Args:
        settle: called after nodes may have merged.
        typed: called with a node that got its first declared type.
    """

    def __init__(
        self, capture: Capture, tree: ContextTree, facts: NodeFacts, *,
        settle: Callable[[], None], typed: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._capture = capture
        self._tree = tree
        self._facts = facts
        self._merge_facts = settle
        self._on_typed = typed
        self.labels: dict[int, str] = {}
        self.metadata: dict[int, dict[str, object]] = {}
        self.began: dict[int, int] = {}

    @property
    def implied(self) -> set[int]:
        """Sessions that are only named by their sub-sessions."""
        return self.labels.keys() - self.began.keys()

    def are_structure(self, kinds: Array) -> NDArray[np.bool_] | None:
        """Returns (n,) flags of kinds that only report sessions, or None."""
        codes = [code for code in map(self._capture.strings.find, _KINDS) if code is not None]
        return are_any_of(kinds, codes) if codes else None

    def count_structure(self, rows: NDArray[np.integer[Any]] | slice) -> int:
        """Counts messages that only report sessions and have no sender."""
        if not self.labels:
            return 0
        structure = self.are_structure(self._capture.columns["kind"][rows])
        return 0 if structure is None else int(np.count_nonzero(structure))

    def observe(self, space: int, row: int, above: int) -> int | None:
        """Processes a row that reports a session, in the order of arrival.

        Args:
            space: the session.
            row: the message.
            above: the node of the row, MAIN for the main context.

        Returns:
            The node of the reported sub-session; None for a session.
        """
        kind = self._capture.string("kind", row)
        payload = self._capture.records.decoded_record(row).payload
        label = _label(payload.get("label"))
        if kind == msp.SESSION:
            # The first label stays; later documents of the session may lack it.
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
        node = self._tree.declare_context(space, name, above, label or None)
        self._merge_facts()
        if self._facts.declared.get(node) is None:
            self._facts.note_type(node, row, msp.SUBSESSION_TYPE)
            self._on_typed(node)
        status = payload.get("status")
        if isinstance(status, str) and status:
            self._facts.note_metadata(node, row, {"status": mask_text(status)})
        if kind == msp.SUBSESSION_OPENED:
            self._facts.note_start(node, row)
        elif kind == msp.SUBSESSION_CLOSED:
            self._facts.note_end(node, CANCELLED if status == msp.DISCARDED_STATUS else CONCLUDED, row)
        return node


def _label(value: object) -> str:
    """Returns a label on one line; "" if it is no text."""
    text = value[: 8 * MAX_LABEL_LENGTH] if isinstance(value, str) else ""
    return " ".join(mask_text(plain_words(mask_text(text))).split())[:MAX_LABEL_LENGTH]
