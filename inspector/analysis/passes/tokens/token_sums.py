"""Sums tokens by context, participant, tool and kind; each sum has the same total.

Unchanging values of a message (written context, space, sender, kind) are summed as counts come in. Values that may
change (place of contexts, tool of a call) are looked up when a caller reads the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.passes.calls.correlation_pass import CorrelationPass
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.passes.contexts.context_pass import ContextPass
from inspector.analysis.passes.contexts.context_tree import MAIN, ContextTree
from inspector.analysis.passes.contexts.node_ancestry import living_nodes, subtree_totals
from inspector.store.messages.capture import Capture

_BLOCK_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class NodeTokens:
    """Tokens by context node; the last entry, at index MAIN, sums the main contexts of all spaces.

    Attributes:
        own: (nodes + 1,) int64, of the messages in each context.
        subtree: (nodes + 1,) int64, with all descendants; the grand total for the main context.
        main: by space (string id), of its main context alone.
    """

    own: NDArray[np.int64]
    subtree: NDArray[np.int64]
    main: dict[int, int]


@dataclass(frozen=True, slots=True)
class TokenSums:
    """All sums of the counted tokens; estimates (`tokens.counter.TOKENIZER`).

    Attributes:
        total: of all counted messages.
        uncounted: messages that are not counted yet, or cannot be.
        by_node: by context.
        by_participant: by the name of the sender, over all spaces; "" without a sender.
        by_sender: the same by (space as string id, name).
        by_tool: of calls of each tool and their results; "" for everything else.
        by_kind: by canonical kind.
    """

    total: int
    uncounted: int
    by_node: NodeTokens
    by_participant: dict[str, int]
    by_sender: dict[tuple[int, str], int]
    by_tool: dict[str, int]
    by_kind: dict[str, int]


class TokenTally:
    """Sums counts as they come in. O(counts) each time, for any size of the capture."""

    def __init__(self, capture: Capture, contexts: ContextPass) -> None:
        self._capture = capture
        self._contexts = contexts
        self._by_ref = np.zeros(1, np.int64)
        self._by_sender: Counter[int] = Counter()
        self._by_kind: Counter[int] = Counter()
        self._main: Counter[int] = Counter()
        self.total = 0

    def add(self, rows: Rows, counts: NDArray[np.int32]) -> None:
        """Adds the counts of messages that had none."""
        columns = self._capture.columns
        # Sums by context number survive moves of the tree; nodes are looked up when sums are read.
        refs = self._contexts.refs_of(rows).astype(np.int64)
        most = int(refs.max(initial=0))
        if most >= len(self._by_ref):
            self._by_ref = np.concatenate((self._by_ref, np.zeros(most + 1, np.int64)))
        np.add.at(self._by_ref, refs, counts)
        spaces = columns["space"][rows].astype(np.int64)
        _add_by_key(self._by_sender, spaces << 32 | columns["sender"][rows], counts)
        _add_by_key(self._by_kind, self._capture.foreign_rpc.kind_codes(rows), counts)
        main = self._contexts.nodes_of(rows) == MAIN  # an empty written context counts as main too
        _add_by_key(self._main, spaces[main], counts[main])
        self.total += int(counts.sum(dtype=np.int64))

    def by_node(self) -> NodeTokens:
        """Returns sums by context of the present tree. O(nodes log depth)."""
        tree = self._contexts.tree
        known = np.flatnonzero(self._by_ref)
        own = np.zeros(len(tree) + 1, np.int64)
        np.add.at(own, self._contexts.nodes_of_refs(known), self._by_ref[known])
        subtree = subtree_tokens(tree, own)
        subtree[MAIN] = self.total
        living = np.append(living_nodes(tree), MAIN)
        return NodeTokens(own[living], subtree[living], dict(self._main))

    def by_sender(self) -> dict[tuple[int, str], int]:
        """Returns sums by space and name."""
        strings = self._capture.strings
        return {
            (pair >> 32, _string_or_empty(strings, pair & 0xFFFFFFFF)): n for pair, n in self._by_sender.most_common()
        }

    def sent_by(self, space: int, name: str) -> int:
        """Returns the sum of one sender in one space. O(1)."""
        code = self._capture.strings.find(name)
        return self._by_sender[space << 32 | code] if code is not None else 0

    def by_kind(self) -> dict[str, int]:
        """Returns sums by canonical kind, highest first."""
        return {_string_or_empty(self._capture.strings, kind): tokens for kind, tokens in self._by_kind.most_common()}


def _string_or_empty(strings: Sequence[str], code: int) -> str:
    return strings[code] if code else ""


def _add_by_key(sums: Counter[int], keys: NDArray[np.integer], counts: NDArray[np.int32]) -> None:
    found, inverse = np.unique(keys, return_inverse=True)
    added = np.zeros(len(found), np.int64)
    np.add.at(added, inverse, counts)
    for key, tokens in zip(found.tolist(), added.tolist(), strict=True):
        sums[key] += tokens


def subtree_tokens(tree: ContextTree, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns sums of each node and its descendants. O(nodes log depth).

    Args:
        tree: the nodes.
        own: (nodes + 1,) by node, the main context's last; that entry is copied unchanged.
    """
    return np.append(subtree_totals(own[:-1], as_numpy(tree.parent)), own[-1:])


def tokens_by_tool(
    capture: Capture, correlation: CorrelationPass, counts: NDArray[np.int32], total: int
) -> dict[str, int]:  # fmt: skip
    """Returns sums of each tool's calls and their results, highest first; "" for everything else. O(messages)."""
    call = capture.strings.find("tools/call")
    sums: Counter[int] = Counter()
    for start in range(0, len(counts) if call else 0, _BLOCK_ROWS):
        span = slice(start, start + _BLOCK_ROWS)
        rows = np.flatnonzero((correlation.columns["method"][span] == call) & (counts[span] > 0)) + start
        added = np.bincount(correlation.columns["target"][rows], counts[rows])  # exact up to 2 ** 53
        tools = np.flatnonzero(added)
        sums.update(dict(zip(tools.tolist(), added[tools].astype(np.int64).tolist(), strict=True)))
    found = {_string_or_empty(capture.strings, tool): tokens for tool, tokens in sums.most_common() if tool}
    return {**found, "": total - sum(found.values())}
