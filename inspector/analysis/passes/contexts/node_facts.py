"""Stores facts of context nodes: first and last message, start, end, declared type, labels, metadata."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import sorted_unique
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.reasoning_sequences import (
    ALL_SENDERS,
    CANCELLED,
    CONCLUDED,
    MAIN,
    Outcome,
    ReasoningSequences,
)
from inspector.protocol.message_text import compact_json
from inspector.protocol.timestamps import NO_TIME

__all__ = ["CANCELLED", "CONCLUDED", "MAIN", "NodeFacts", "as_numpy"]


class NodeFacts:
    """Arrays parallel to the nodes of a tree. Their values do not depend on the order of merges.

    There is no Python object per node: objects would take ten times the memory, and slow each garbage collection.

    Attributes:
        first_row, last_row, last_ns: -1 and NO_TIME without messages.
        sequences: the starts and ends; the next three derive from them.
        started_by: the first message that began it, or -1.
        end: 0, CONCLUDED or CANCELLED.
        concluded_by: the message that concluded or cancelled it, or -1; the latest if it began again.
        thinks: it has thoughts, conclusions or cancels.
        has_reasoning: it has reasoning messages, or a reasoning start names it.
        declared: by node with a declared type: the first message that declared it, and the type.
        labels: by node with labels: each label, with a stamp of its first appearance.
        metadata: by node with metadata: the latest value of each key, with a stamp of its appearance.
        inherited: number of nodes that were merged into others.
    """

    def __init__(self, was_written_before: Callable[[int, int], bool] = lambda row, end: False) -> None:
        self.first_row = array("i")
        self.last_row = array("i")
        self.last_ns = array("q")
        self.started_by = array("i")
        self.end = array("b")
        self.concluded_by = array("i")
        self.has_reasoning = array("b")
        self.thinks = array("b")
        self.declared: dict[int, tuple[int, str]] = {}
        self.metadata: dict[int, dict[str, tuple[int, object]]] = {}
        self.labels: dict[int, dict[str, int]] = {}
        self.sequences = ReasoningSequences(was_written_before)
        self.inherited = 0
        rows = (
            self.first_row, self.last_row, self.started_by, self.concluded_by, self.sequences.last,
            self.sequences.first_end,
        )  # fmt: skip
        self._arrays = (
            *((values, array("i", [-1])) for values in rows),
            *((marks, array("b", [0])) for marks in (self.end, self.has_reasoning, self.thinks)),
            (self.last_ns, array("q", [NO_TIME])),
        )

    def fit(self, nodes: int) -> None:
        """Resizes the arrays to a number of nodes."""
        missing = nodes - len(self.first_row)
        for values, empty in self._arrays:
            if missing > 0:
                values.extend(empty * missing)
            else:
                del values[nodes:]

    def reach(self, node: int) -> None:
        """Makes room for a node, and for some later ones."""
        if node >= len(self.first_row):
            self.fit(node + 1 + _GROWTH)

    def inherit(self, node: int, into: int) -> None:
        """Merges the facts of a merged node into its new node."""
        self.inherited += 1
        self.first_row[into] = _earlier_row(self.first_row[node], self.first_row[into])
        self.last_row[into] = max(self.last_row[node], self.last_row[into])
        self.last_ns[into] = max(self.last_ns[node], self.last_ns[into])
        came_to = self.sequences.merge(node, into)
        if came_to is not None:
            self._take(into, came_to)
        self.has_reasoning[into] = self.has_reasoning[into] or self.has_reasoning[node]
        self.thinks[into] |= self.thinks[node]
        declared = self.declared.get(node)
        if declared is not None:
            self.note_type(into, *declared)
        self._merge_metadata(into, self.metadata.pop(node, {}))
        self._merge_labels(into, self.labels.pop(node, {}))

    def note_messages(self, nodes: NDArray[np.integer[Any]], rows: Rows, times: NDArray[np.int64]) -> None:
        """Records messages by node, row and time. Rows ascend and exceed all earlier ones."""
        first, last, last_ns = as_numpy(self.first_row), as_numpy(self.last_row), as_numpy(self.last_ns)
        last[nodes] = rows  # for several messages in one node the last assignment counts
        new = first[nodes] < 0
        first[nodes[new][::-1]] = rows[new][::-1]
        np.maximum.at(last_ns, nodes, times)

    def note_earlier(self, nodes: NDArray[np.integer[Any]], rows: Rows, times: NDArray[np.int64]) -> None:
        """Records earlier messages that only now got a context; later messages may already be recorded."""
        for node, row, time in zip(nodes.tolist(), rows.tolist(), times.tolist(), strict=True):
            self.first_row[node] = _earlier_row(row, self.first_row[node])
            self.last_row[node] = max(row, self.last_row[node])
            self.last_ns[node] = max(time, self.last_ns[node])

    def nodes_without_reasoning(self, nodes: NDArray[np.integer[Any]]) -> Rows:
        """Returns the nodes that do not count as reasoning yet, without duplicates."""
        return sorted_unique(nodes[as_numpy(self.has_reasoning)[nodes] == 0])

    def note_start(self, node: int, row: int, sender: int = 0, *, own: bool = False, mark: bool = False) -> None:
        """Begins a context, or begins it again; `ReasoningSequences` has the rules. Rows of starts ascend."""
        self._take(node, self.sequences.note_start(node, row, sender, own=own, mark=mark))

    def note_end(self, node: int, end: int, row: int, sender: int = 0, target: int = ALL_SENDERS) -> None:
        """Ends a context for all senders, or the sequences that `ReasoningSequences.note_end` selects."""
        self._take(node, self.sequences.note_end(node, row, end, sender, target))

    def note_events(self, nodes: Rows, rows: Rows, codes: Rows, senders: Rows) -> None:
        """Applies many starts and ends of nodes, in the order of rows; arguments as for the sequences."""
        self.reach(int(nodes.max()))
        alone, outcomes = self.sequences.note_events(nodes, rows, codes, senders)
        as_numpy(self.started_by)[nodes[alone]] = rows[alone]
        for node, came_to in outcomes:
            self._take(node, came_to)

    def move_start(self, row: int, node: int, into: int) -> None:
        """Moves a start to the context that it really begins."""
        for one, came_to in zip((node, into), self.sequences.move_start(row, node, into), strict=True):
            self._take(one, came_to)

    def _take(self, node: int, came_to: Outcome) -> None:
        self.started_by[node], self.end[node], self.concluded_by[node] = came_to

    def note_type(self, node: int, row: int, declared: str) -> None:
        """Records a declared type; the first one stays."""
        self.declared[node] = min(self.declared.get(node, (row, declared)), (row, declared))

    def note_labels(self, node: int, stamp: int, labels: Sequence[object]) -> bool:
        """Adds labels of an object to its context, at most 64; returns True if there are new ones."""
        given = [label[:_MAX_KEY_LENGTH] for label in labels[:_MAX_KEYS] if isinstance(label, str) and label]
        first = stamp * _MAX_KEYS
        return self._merge_labels(node, {label: first + place for place, label in enumerate(given)})

    def _merge_labels(self, node: int, given: Mapping[str, int]) -> bool:
        before = self.labels.get(node, {})
        kept = dict(before)
        for label, stamp in given.items():
            kept[label] = min(stamp, kept.get(label, stamp))
        if len(kept) > _MAX_KEYS:
            kept = {label: kept[label] for label in sorted(kept, key=lambda label: (kept[label], label))[:_MAX_KEYS]}
        if kept:
            self.labels[node] = kept
        return kept.keys() != before.keys()

    def labels_of(self, node: int) -> tuple[str, ...]:
        """Returns the labels of a context in the order of appearance."""
        found = self.labels.get(node, {})
        return tuple(sorted(found, key=lambda label: (found[label], label)))

    def note_metadata(self, node: int, stamp: int, metadata: Mapping[str, object]) -> None:
        """Records metadata of an object: the latest value of each key (docs/protocols.md 7).

        Keeps the latest 64 keys of a node, and cuts long values.

        Args:
            stamp: grows with the message, and within it.
        """
        given = islice(metadata.items(), _MAX_KEYS)
        self._merge_metadata(node, {key[:_MAX_KEY_LENGTH]: (stamp, _shortened(value)) for key, value in given})

    def _merge_metadata(self, node: int, given: Mapping[str, tuple[int, object]]) -> None:
        if not given:
            return
        kept = self.metadata.setdefault(node, {})
        for key, (stamp, value) in given.items():
            # Stamps make the result independent of the order of merges.
            if key not in kept or kept[key][0] < stamp:
                kept[key] = (stamp, value)
        if len(kept) > _MAX_KEYS:
            latest = sorted(kept, key=lambda key: (-kept[key][0], key))[:_MAX_KEYS]
            self.metadata[node] = {key: kept[key] for key in latest}


# Contexts appear one by one in live traffic; without room each would resize ten arrays.
_GROWTH = 256
# Labels and metadata come from the wire, and are kept for each context as long as the capture.
_MAX_KEYS = 64
_MAX_KEY_LENGTH = 100
_MAX_VALUE_LENGTH = 400


def _shortened(value: object) -> object:
    """Returns a value, or the beginning of a long one."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else compact_json(value)
    if len(text) <= _MAX_VALUE_LENGTH:
        return value
    return text[: _MAX_VALUE_LENGTH - 1] + "…"


def _earlier_row(row: int, other: int) -> int:
    """Returns the smaller of two rows; -1 counts as absent."""
    return max(row, other) if -1 in (row, other) else min(row, other)
