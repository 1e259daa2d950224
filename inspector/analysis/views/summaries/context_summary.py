"""Summarizes contexts: senders, times, rate, sizes, notations, naming problems, findings, children.

Shared by the window's page and the command line, so that both agree.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.findings import Check
from inspector.analysis.findings.naming_problems import CHECK_BY_ODDITY
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.naming_notes import NamingOddity
from inspector.analysis.passes.contexts.node_ancestry import living_nodes
from inspector.protocol.context_places import find_context
from inspector.protocol.object_contexts import operation_of
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.block import OBJECT_KEY
from inspector.store.columns.columns import Array
from inspector.store.columns.flags import Flag

_MESSAGES_PER_STEP = 1 << 20
RECENT_S = 60
"""Seconds of the recent message rate."""


class ContextTally:
    """Running totals of one context. Each message is read once, unless contexts merge.

    Attributes:
        messages, size: number of messages and bytes.
        largest: the largest message; -1 without one.
        first, last: the first and the last message; -1 without one.
        first_ns, last_ns: earliest and latest time; NO_TIME without one.
        senders: messages by sender (string id, 0 without a name), in order of first appearance.
        kinds: messages by kind (string id).
        written: messages by context as written (string id).
        first_written: first message of each notation.
        forms: cached form of each notation.
    """

    def __init__(self, analysis: Analysis, space: int, node: int) -> None:
        self.space, self.node = space, node
        self._analysis = analysis
        self._reset()

    def _reset(self) -> None:
        self.messages = self.size = 0
        self.largest = self.first = self.last = -1
        self.first_ns = self.last_ns = NO_TIME
        self.senders: Counter[int] = Counter()
        self.kinds: Counter[int] = Counter()
        self.written: Counter[int] = Counter()
        self.first_written: dict[int, int] = {}
        self.forms: dict[int, str] = {}
        self._seconds: Counter[int] = Counter()
        self._read_count = 0
        self._merges = self._analysis.contexts.tree.moves

    def update(self) -> None:
        """Takes in new messages. O(new messages) in numpy; rereads all after contexts merged into this one."""
        contexts = self._analysis.contexts
        if self.node != MAIN:
            living = contexts.tree.resolve(self.node)
            if living != self.node:
                self.node = living
                self._reset()
        self._add_new()
        merged = self._merges != contexts.tree.moves
        if merged and self.node != MAIN and self.messages != contexts.tree.own[self.node]:
            self._reset()  # another context merged into this one
            self._add_new()
        self._merges = contexts.tree.moves

    def _add_new(self) -> None:
        stop = len(self._analysis)
        for start in range(self._read_count, stop, _MESSAGES_PER_STEP):
            self._take(self._rows(start, min(stop, start + _MESSAGES_PER_STEP)))
        self._read_count = stop

    def _rows(self, start: int, stop: int) -> Array:
        span = slice(start, stop)
        inside = self._analysis.contexts.nodes_of(span) == self.node
        if self.node == MAIN:
            columns = self._analysis.capture.columns
            inside &= columns["space"][span] == self.space
            inside &= columns["flags"][span] & Flag.GAP.value == 0
        return np.flatnonzero(inside) + start

    def _take(self, rows: Array) -> None:
        if not len(rows):
            return
        columns = self._analysis.capture.columns
        sizes = columns["size"][rows]
        biggest = int(sizes.argmax())
        if self.largest < 0 or int(sizes[biggest]) > int(columns["size"][self.largest]):
            self.largest = int(rows[biggest])
        self.messages += len(rows)
        self.size += int(sizes.sum(dtype=np.int64))
        self.first = int(rows[0]) if self.first < 0 else self.first
        self.last = int(rows[-1])
        _count(columns["sender"][rows], self.senders)
        _count(self._analysis.capture.foreign_rpc.kind_codes(rows), self.kinds)
        for key, first in _count(columns["context"][rows], self.written):
            self.first_written.setdefault(key, int(rows[first]))
        self._add_times(columns["time_ns"][rows])

    def _add_times(self, times: Array) -> None:
        times = times[times != NO_TIME]
        if not len(times):
            return
        first, last = int(times.min()), int(times.max())
        self.first_ns = first if self.first_ns == NO_TIME else min(self.first_ns, first)
        self.last_ns = max(self.last_ns, last)
        since = self.last_ns // _SECOND - RECENT_S
        # Only the recent seconds are kept, so that the rate costs constant memory.
        self._seconds = Counter({second: count for second, count in self._seconds.items() if second > since})
        seconds = times // _SECOND
        _count(seconds[seconds > since], self._seconds)

    @property
    def span_ns(self) -> int:
        """Nanoseconds between first and last message; 0 if unknown."""
        return 0 if NO_TIME in (self.first_ns, self.last_ns) else self.last_ns - self.first_ns

    @property
    def rate(self) -> float | None:
        """Messages per second between first and last; None for few messages or a short span."""
        if self.messages < _FEWEST_FOR_RATE or self.span_ns < _SECOND:
            return None
        return (self.messages - 1) * _SECOND / self.span_ns

    def recent(self, now_ns: int) -> int:
        """Returns the number of messages in the RECENT_S seconds before a time."""
        now = now_ns // _SECOND
        return sum(count for second, count in self._seconds.items() if now - RECENT_S < second <= now)


_SECOND = 1_000_000_000
_FEWEST_FOR_RATE = 10
# Below it the table of all values may be longer than the values themselves.
_SORTED_UP_TO = 4_096


def _count(values: Array, counts: Counter[int]) -> list[tuple[int, int]]:
    """Counts values in order of first appearance; returns each with the index of its first."""
    if len(values) < _SORTED_UP_TO:
        found, first, numbers = np.unique(values, return_index=True, return_counts=True)
    else:  # sorting would take ten times as long
        least = int(values.min())
        places = values.astype(np.int64) - least
        numbers = np.bincount(places)
        first = np.zeros(len(numbers), np.int64)
        first[places[::-1]] = np.arange(len(places) - 1, -1, -1)
        there = np.flatnonzero(numbers)
        found, first, numbers = there + least, first[there], numbers[there]
    order = np.argsort(first)
    firsts = list(zip(found[order].tolist(), first[order].tolist(), strict=True))
    for (value, _), number in zip(firsts, numbers[order].tolist(), strict=True):
        counts[value] += number
    return firsts


@dataclass(frozen=True, slots=True)
class Notation:
    """A notation of a context."""

    text: str
    """Path or id; "" for an operation without a name."""
    form: str
    """"path", "object", or an operation: "push", "pop", "resume"."""
    messages: int
    first: int
    """First message with this notation."""


def notations_of(analysis: Analysis, tally: ContextTally) -> list[Notation]:
    """Returns the notations of a context, most used first."""
    return [
        Notation(_name(analysis, key), _form(analysis, tally, key), count, tally.first_written[key])
        for key, count in tally.written.most_common(MAX_NOTATIONS)
        if key
    ]


MAX_NOTATIONS = 20
"""Notations listed at most."""


def _name(analysis: Analysis, key: int) -> str:
    return analysis.capture.strings[key].removeprefix(OBJECT_KEY)


def _form(analysis: Analysis, tally: ContextTally, key: int) -> str:
    found = tally.forms.get(key)
    if found is None:
        found = "path"
        if analysis.capture.strings[key].startswith(OBJECT_KEY):
            header = analysis.capture.records.read_record(tally.first_written[key]).header
            context = find_context(header)[0] if header is not None else None
            found = (operation_of(context) if isinstance(context, dict) else None) or "object"
        tally.forms[key] = found
    return found


def sizes_of(analysis: Analysis) -> Array:
    """(nodes,) int64, bytes of the messages in each context. O(messages)."""
    contexts, sizes = analysis.contexts, analysis.capture.columns["size"]
    total = np.zeros(len(contexts.tree), np.int64)
    for start in range(0, len(analysis), _MESSAGES_PER_STEP):
        span = slice(start, min(len(analysis), start + _MESSAGES_PER_STEP))
        nodes = contexts.nodes_of(span)
        inside = nodes != MAIN
        np.add.at(total, nodes[inside], sizes[span][inside].astype(np.int64))
    return total


def naming_problem_codes(analysis: Analysis) -> dict[int, list[str]]:
    """Returns the naming problems of contexts as codes of findings, by living context. O(notes)."""
    nodes, _, what = analysis.contexts.notes.arrays()
    if not len(nodes):
        return {}
    lives = np.append(living_nodes(analysis.contexts.tree), MAIN)[nodes].astype(np.int64)
    found: dict[int, list[str]] = {}
    for pair in np.unique(lives << 8 | what).tolist():
        found.setdefault(pair >> 8, []).append(CHECK_BY_ODDITY[NamingOddity(pair & 0xFF)].code)
    return found


def subtree_mask(analysis: Analysis, node: int) -> Array:
    """(nodes + 1,) bool by node: a context and its descendants; the last one, at index -1, is the main context.

    O(nodes log depth).
    """
    tree = analysis.contexts.tree
    parents = np.array(tree.parent, np.int64)
    mask = np.zeros(len(parents) + 1, np.bool_)
    mask[node] = True
    if node == MAIN:
        return mask
    # The node points to itself, so that doubling stops there.
    above = np.where(np.arange(len(parents)) == node, node, parents)
    while True:
        mask[:-1] |= mask[above]
        further = np.where(above >= 0, above[above], above)
        if np.array_equal(further, above):
            return mask
        above = further


def findings_below(analysis: Analysis, space: int, node: int) -> list[tuple[Check, int, int]]:
    """Returns the findings in a context and its descendants: check, count, first message; most severe first.

    O(findings + nodes log depth).
    """
    found = analysis.findings.found
    mask = subtree_mask(analysis, node)
    counts: list[tuple[Check, int, int]] = []
    for check in found.declared:
        if not found.count_of(check):
            continue
        rows = found.rows_of(check)
        rows = rows[mask[analysis.contexts.nodes_of(rows)]]
        if node == MAIN:
            rows = rows[analysis.capture.columns["space"][rows] == space]
        if len(rows):
            counts.append((check, len(rows), int(rows.min())))
    return sorted(counts, key=lambda one: (-one[0].severity, one[0].code))


def children_of(analysis: Analysis, space: int, node: int, most: int) -> tuple[list[int], int]:
    """Returns the direct children of a context, at most `most`, in order of appearance, and their total number."""
    tree = analysis.contexts.tree
    held, owner = (tree.roots, space) if node == MAIN else (tree.children, node)
    return list(islice(held.each(owner), most)), held.count(owner)
