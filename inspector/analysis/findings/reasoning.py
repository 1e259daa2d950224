"""Reasoning sequences: what comes after their end, or without their beginning (protocols.md 8)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.context_tree import MAIN
from inspector.analysis.findings.batch import Array, Batch
from inspector.analysis.findings.beginning import BEFORE
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.node_facts import as_numpy

AFTER_CONCLUSION = Check(
    "message-after-conclusion", WARNING, "Message after the conclusion",
    "{who} goes on in {context} with {kind}, though {other} concluded it.",
    "Whoever waited for the conclusion has moved on, and does not see what follows.",
    "Conclude last, or open a new context; late answers belong to the main context.",
    "MEW v0.4, reasoning/conclusion",
)  # fmt: skip
AFTER_CANCEL = Check(
    "message-after-cancel", WARNING, "Message after the cancel",
    "{who} goes on in {context} with {kind}, though {other} cancelled it.",
    "The agent may not have noticed that it was told to stop, and goes on spending.",
    "Let the agent look for reasoning/cancel before each step.",
    "MEW v0.4, reasoning/cancel",
)  # fmt: skip
CONCLUDED_AGAIN = Check(
    "concluded-again", NOTE, "Concluded twice",
    "{who} concludes {context} again, after {other}.",
    "Readers show one of the two as the result.",
    "Conclude a sequence once.",
    "MEW v0.4, reasoning/conclusion",
)  # fmt: skip
WITHOUT_START = Check(
    "conclusion-without-start", WARNING, "Conclusion or cancel without a start",
    "{who} sent {kind} in {context}, which no reasoning/start opened.",
    "Nobody can tell what was concluded. The start may lie before this capture.",
    "Use the id of the reasoning/start envelope as the context.",
    "MEW v0.4, reasoning/start; its id is the context",
)  # fmt: skip
WITHOUT_CONTEXT = Check(
    "reasoning-without-context", NOTE, "Reasoning without a context",
    "{who} sent {kind} in the main context.",
    "It cannot be told to which sequence it belongs. Released agents do it when they are cancelled.",
    "Put the id of the reasoning/start into context.",
    "MEW v0.4, reasoning/thought and reasoning/conclusion",
)  # fmt: skip
CHECKS = (AFTER_CONCLUSION, AFTER_CANCEL, WITHOUT_START, CONCLUDED_AGAIN, WITHOUT_CONTEXT)

_START, _THOUGHT = "reasoning/start", "reasoning/thought"
_CONCLUSION, _CANCEL = "reasoning/conclusion", "reasoning/cancel"
_ACTS = ("reasoning/start", _THOUGHT, "mcp/request", "mcp/proposal", "chat")
_NEVER = np.iinfo(np.int64).max


class Reasoning:
    """Knows by context when its sequence began and ended. A context is the (space, key) that messages wrote."""

    def __init__(self) -> None:
        self._ended = np.full(1024, _NEVER, np.int64)  # by context number: the row of its first end
        self._cancelled = np.full(1024, _NEVER, np.int64)
        self._begun = np.zeros(1024, np.bool_)  # a start lies in it
        self._told = np.zeros(1024, np.bool_)  # that it goes on after its end has been said
        self._unbegun: Rows = NO_ROWS
        self._any_end = False
        self._moves = 0

    def feed(self, batch: Batch) -> None:
        """Look at the reasoning of a batch, and at what else is said in its contexts."""
        starts, ends, cancels = batch.rows(_START), batch.rows(_CONCLUSION), batch.rows(_CANCEL)
        thoughts = batch.rows(_THOUGHT)
        told = len(starts) + len(ends) + len(cancels) + len(thoughts)
        if not (told or self._any_end):
            return
        refs = batch.passes.contexts.refs(batch.start, batch.stop)
        self._reach(int(refs.max()) if len(refs) else 0)
        for rows in (thoughts, ends):
            outside = rows[refs[rows - batch.start] == 0]
            # Drafts grouped by reasoning_id, under other kinds (protocols.md 8).
            drafted = batch.of("kind", outside) != batch.of("kind_raw", outside)
            batch.findings.add(WITHOUT_CONTEXT, outside[~drafted])
        self._begun[refs[starts - batch.start]] = True
        self._begun[0] = False
        self._ends(batch, refs, ends, cancels)
        if self._any_end:
            self._goes_on(batch, refs)
        moves = batch.passes.contexts.tree.moves
        look_again = len(starts) > 0 or moves != self._moves
        self._moves = moves
        self._without_start(batch, np.sort(np.concatenate((ends, cancels))), refs, look_again=look_again)

    def _reach(self, most: int) -> None:
        if most >= len(self._ended):
            more = max(most + 1, 2 * len(self._ended)) - len(self._ended)
            self._ended = np.concatenate((self._ended, np.full(more, _NEVER, np.int64)))
            self._cancelled = np.concatenate((self._cancelled, np.full(more, _NEVER, np.int64)))
            self._begun = np.concatenate((self._begun, np.zeros(more, np.bool_)))
            self._told = np.concatenate((self._told, np.zeros(more, np.bool_)))

    def _ends(self, batch: Batch, refs: Array, ends: Rows, cancels: Rows) -> None:
        for table, rows in ((self._ended, ends), (self._ended, cancels), (self._cancelled, cancels)):
            np.minimum.at(table, refs[rows - batch.start], rows)
        self._ended[0] = self._cancelled[0] = _NEVER
        self._any_end = self._any_end or len(ends) + len(cancels) > 0
        where = refs[ends - batch.start]
        # After a cancel released agents conclude up to three times (protocols.md 8 and 16).
        again = (self._ended[where] < ends) & (self._cancelled[where] > ends)
        batch.findings.add(CONCLUDED_AGAIN, ends[again], others=self._ended[where][again])

    def _goes_on(self, batch: Batch, refs: Array) -> None:
        """The first message of each context that acts after its end."""
        rows = np.arange(batch.start, batch.stop)
        late = np.flatnonzero(rows > self._ended[refs])
        late = late[~self._told[refs[late]]]
        if not len(late):
            return
        codes = [batch.code(kind) for kind in _ACTS]
        late = late[np.isin(batch.new("kind")[late], codes)]
        found, first = np.unique(refs[late], return_index=True)
        self._told[found] = True
        late = late[np.sort(first)]
        where = refs[late]
        cancelled = self._cancelled[where] < rows[late]
        last, concluded = where[cancelled], where[~cancelled]
        batch.findings.add(AFTER_CANCEL, rows[late[cancelled]], others=self._cancelled[last])
        batch.findings.add(AFTER_CONCLUSION, rows[late[~cancelled]], others=self._ended[concluded])

    def _without_start(self, batch: Batch, rows: Rows, refs: Array, *, look_again: bool) -> None:
        where = refs[rows - batch.start]
        new = rows[(where != 0) & (self._ended[where] == rows)]  # the first end of each context
        aliased = batch.of("kind", new) != batch.of("kind_raw", new)  # drafts had no start (protocols.md 8)
        new = new[~aliased]
        waiting = self._unbegun
        if look_again and len(waiting):
            open_ = self._unopened(batch, waiting)
            begun = waiting[~open_]
            for check in (WITHOUT_START, BEFORE):
                batch.findings.withdraw(check, begun[batch.findings.has(check, begun)])
            waiting = waiting[open_]
        new = new[self._unopened(batch, new)]
        # A sequence may go on for long: the end of one that somebody began before is no surprise at any time.
        before = batch.beginnings.others_were_here(batch, new)
        batch.findings.add(WITHOUT_START, new[~before])
        batch.findings.add(BEFORE, new[before], details="reasoning")
        self._unbegun = np.concatenate((waiting, new))

    def _unopened(self, batch: Batch, rows: Rows) -> Array:
        """Which of some messages lie in a context that no start opened."""
        contexts = batch.passes.contexts
        nodes = contexts.nodes_of(rows)
        started = as_numpy(contexts.started_by)[nodes] >= 0 if len(contexts.started_by) else np.zeros(len(rows), bool)
        begun = self._begun[contexts.refs_of(rows)]
        return ~(started & (nodes != MAIN)) & ~begun
