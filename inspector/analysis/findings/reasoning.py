"""Checks reasoning sequences: messages after their end, ends without a start (docs/protocols.md 8)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice

import numpy as np

from inspector.analysis.arrays.array_views import as_numpy
from inspector.analysis.arrays.unique_ints import are_any_of, sorted_unique
from inspector.analysis.findings.batch import Array, Batch, StringNumbers
from inspector.analysis.findings.before_capture import BEGAN_BEFORE_CAPTURE
from inspector.analysis.findings.cancelled_ancestors import CancelledAncestors
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.requests import are_copies
from inspector.analysis.passes.changed_rows import NO_ROWS, Rows
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.contexts.reasoning_sequences import CANCELLED, CONCLUDED
from inspector.protocol.timestamps import NO_TIME

AFTER_CONCLUSION = Check(
    "message-after-conclusion", WARNING, "Message after the conclusion",
    "{who} continues in {context} with {kind}, after {other} concluded it.",
    "Participants that waited for the conclusion have moved on and miss later messages.",
    "Send the conclusion last, or open a new context. Late answers belong to the main context.",
    "MEW v0.4, reasoning/conclusion",
)  # fmt: skip
AFTER_CANCEL = Check(
    "message-after-cancel", WARNING, "Message after the cancel",
    "{who} continues in {context} with {kind}, after {other} cancelled {stopped}.",
    "The agent may have missed the cancel and continues to use tokens.",
    "Make the agent check for reasoning/cancel before each step.",
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
    "{who} sent {kind} in {context}, which has no reasoning/start.",
    "The concluded reasoning is unknown. Its start may lie before this capture.",
    "Use the id of the reasoning/start envelope as the context.",
    "MEW v0.4, reasoning/start; its id is the context",
)  # fmt: skip
WITHOUT_CONTEXT = Check(
    "reasoning-without-context", NOTE, "Reasoning without a context",
    "{who} sent {kind} in the main context.",
    "Its reasoning sequence is unknown. Released agents do this when they are cancelled.",
    "Put the id of the reasoning/start into context.",
    "MEW v0.4, reasoning/thought and reasoning/conclusion",
)  # fmt: skip
CHECKS = (AFTER_CONCLUSION, AFTER_CANCEL, WITHOUT_START, CONCLUDED_AGAIN, WITHOUT_CONTEXT)

_START, _THOUGHT = "reasoning/start", "reasoning/thought"
_CONCLUSION, _CANCEL = "reasoning/conclusion", "reasoning/cancel"
_ACTS = ("reasoning/start", _THOUGHT, "mcp/request", "mcp/proposal", "chat")


class ReasoningChecks:
    """Reads the sequences of contexts (`passes.contexts.reasoning_sequences`) in every notation of a context."""

    def __init__(self) -> None:
        self._started_refs = StringNumbers(np.bool_)  # contexts as written (numbers) that contain a start
        self._started_nodes = StringNumbers(np.bool_)  # their nodes
        self._ends_without_start: dict[int, list[int]] = {}  # by node: ends without a start
        self._cancelled = CancelledAncestors()
        self._moves = 0
        self._ending = 0

    def feed(self, batch: Batch) -> None:
        """Checks the reasoning of a batch, and other messages in its contexts."""
        starts, ends, cancels = batch.rows(_START), batch.rows(_CONCLUSION), batch.rows(_CANCEL)
        thoughts, contexts = batch.rows(_THOUGHT), batch.passes.contexts
        if not (len(starts) or len(ends) or len(cancels) or len(thoughts) or contexts.sequences.any_ended):
            return
        refs = contexts.refs(batch.start, batch.stop)
        ended = [*islice(contexts.ending.items(), self._ending, None)]
        self._check_missing_context(batch, refs, thoughts, ends)
        first = NO_ROWS
        if contexts.sequences.any_ended:
            self._recheck_earlier(batch, self._take_cancels(batch, cancels, ended))
            self._check_acts_after_end(batch, batch.start, batch.stop)
            first = self._judge_ends(batch, np.sort(np.concatenate((ends, cancels))))
        self._check_missing_start(batch, first, refs[starts - batch.start])
        self._moves = contexts.tree.moves

    def _check_missing_context(self, batch: Batch, refs: Array, thoughts: Rows, ends: Rows) -> None:
        """Finds reasoning in the main context, except ends that name their start by correlation."""
        ending = batch.passes.contexts.ending
        for rows in (thoughts, ends):
            outside = rows[refs[rows - batch.start] == 0]
            # Drafts grouped by reasoning_id, under other kinds (docs/protocols.md 8).
            drafted = batch.column_values("kind", outside) != batch.column_values("kind_raw", outside)
            outside = outside[~drafted]
            batch.findings.add(
                WITHOUT_CONTEXT, np.array([row for row in outside.tolist() if row not in ending], np.int64)
            )
        if len(ending) > self._ending:
            new = np.array(sorted(islice(ending, self._ending, None)), np.int64)
            batch.findings.withdraw(WITHOUT_CONTEXT, new[batch.findings.has(WITHOUT_CONTEXT, new)])
            self._ending = len(ending)

    def _take_cancels(self, batch: Batch, cancels: Rows, ended: Sequence[tuple[int, int]]) -> Array:
        """Notes cancelled contexts. Returns contexts as written with a changed place below cancelled ones.

        Args:
            batch: the messages.
            cancels: the cancels among them.
            ended: messages that end a context by correlation, and its node.
        """
        contexts, code = batch.passes.contexts, batch.code(_CANCEL)
        nodes = {node for row, node in ended if int(batch.capture.columns["kind"][row]) == code}
        nodes |= set(contexts.nodes_of(cancels).tolist()) if len(cancels) else set()
        return self._cancelled.add_cancelled(contexts, nodes - {MAIN}, contexts.sequences.rewritten)

    def _recheck_earlier(self, batch: Batch, moved: Array) -> None:
        """Checks earlier messages of contexts with a changed history or place. O(messages) if there are any."""
        contexts = batch.passes.contexts
        if not contexts.sequences.rewritten and not len(moved):
            return
        nodes = sorted_unique(np.array([*map(contexts.tree.resolve, contexts.sequences.rewritten)], np.int64))
        contexts.sequences.rewritten.clear()
        nodes = nodes[nodes != MAIN]
        rows = np.flatnonzero(np.isin(contexts.nodes_of(slice(0, batch.start)), nodes))
        if len(moved):
            rows = np.union1d(rows, np.flatnonzero(np.isin(contexts.refs(0, batch.start), moved)))
        ends = np.array([row for row, node in contexts.ending.items() if node in nodes and row < batch.start], np.int64)
        rows = np.union1d(rows, ends)
        for check in (AFTER_CONCLUSION, AFTER_CANCEL, CONCLUDED_AGAIN):
            batch.findings.withdraw(check, rows[batch.findings.has(check, rows)])
        self._find_late(
            batch, rows[are_any_of(batch.column_values("kind", rows), [batch.code(kind) for kind in _ACTS])]
        )
        self._find_again(batch, nodes.tolist(), 0, batch.start)

    def _check_acts_after_end(self, batch: Batch, start: int, stop: int) -> None:
        """Finds messages that act in a context after its end."""
        codes = [batch.code(kind) for kind in _ACTS]
        self._find_late(batch, np.flatnonzero(are_any_of(batch.capture.columns["kind"][start:stop], codes)) + start)

    def _find_late(self, batch: Batch, acts: Rows) -> None:
        contexts = batch.passes.contexts
        sequences = contexts.sequences
        nodes = contexts.nodes_of(acts)
        acts, nodes = acts[nodes != MAIN], nodes[nodes != MAIN]
        above = self._cancelled.cancels_above(contexts, acts, nodes)
        above[batch.column_values("kind", above) != batch.code(_CANCEL)] = -1
        first = as_numpy(sequences.first_end)[nodes]
        late = (first >= 0) & (first < acts)
        below = ~late & (above >= 0)
        batch.findings.add(AFTER_CANCEL, acts[below], others=above[below])
        acts, nodes, above = acts[late], nodes[late], above[late]
        state, by = np.zeros(len(acts), np.uint8), np.zeros(len(acts), np.int64)
        plain, by[plain], state[plain] = sequences.plain_ends(nodes)
        for node in sorted_unique(nodes[~plain]).tolist():
            here = np.flatnonzero(nodes == node)
            changes = sequences.replay(node).changes
            for place, row in zip(here.tolist(), acts[here].tolist(), strict=True) if len(changes) > 1 else ():
                after = bisect_left(changes, row, key=lambda change: change.row)
                # otherwise the message itself reopens the context
                if after == len(changes) or changes[after].row != row:
                    state[place], by[place] = changes[after - 1].state, changes[after - 1].by
            if len(changes) == 1:
                state[here], by[here] = changes[0].state, changes[0].by
        ended = are_any_of(batch.column_values("kind", by), [batch.code(kind) for kind in (_CONCLUSION, _CANCEL)])
        stopped, done = ended & (state == CANCELLED), ended & (state == CONCLUDED)
        below = ~stopped & ~done & (above >= 0)
        by[below] = above[below]
        stopped |= below
        batch.findings.add(AFTER_CANCEL, acts[stopped], others=by[stopped])
        # A log may list a message after the conclusion although it was sent before it.
        done[done] = ~_were_written_before(batch, acts[done], by[done])
        batch.findings.add(AFTER_CONCLUSION, acts[done], others=by[done])

    def _judge_ends(self, batch: Batch, ends: Rows) -> Rows:
        """Finds repeated ends. Returns the ends of contexts that had no start."""
        contexts = batch.passes.contexts
        nodes = sorted_unique(contexts.nodes_of(ends)).tolist() if len(ends) else []
        ending = contexts.ending
        named = {contexts.tree.resolve(ending[row]) for row in ends.tolist() if row in ending} if ending else set[int]()
        unopened = self._find_again(batch, sorted({*nodes, *named} - {MAIN}), batch.start, batch.stop)
        return np.array(sorted(unopened), np.int64)

    def _find_again(self, batch: Batch, nodes: Sequence[int], start: int, stop: int) -> list[int]:
        """Finds repeated conclusions in some nodes. Returns the ends of contexts without a start."""
        again: list[tuple[int, int]] = []
        unopened: list[int] = []
        sequences = batch.passes.contexts.sequences
        ended = np.array(nodes, np.int64)
        ended = ended[as_numpy(sequences.first_end)[ended] >= 0]
        plain = {*ended[sequences.plain_ends(ended)[0]].tolist()}
        for node in nodes:
            if node in plain:  # one end, and a start before it
                continue
            replay = sequences.replay(node)
            first = bisect_left(replay.again, start, key=lambda one: one.row)
            again += [(row, other) for row, other in replay.again[first:] if row < stop]
            unopened += [row for row in replay.unopened if start <= row < stop]
        rows, others = np.array(sorted(again), np.int64).reshape(-1, 2).T
        kinds_ = [batch.code(kind) for kind in (_CONCLUSION, _CANCEL)]
        other = are_any_of(batch.column_values("kind", others), kinds_) & ~are_copies(batch, rows, others)
        batch.findings.add(CONCLUDED_AGAIN, rows[other], others=others[other])
        return unopened

    def _check_missing_start(self, batch: Batch, new: Rows, refs: Array) -> None:
        """Finds ends without a start, and withdraws findings whose start has appeared.

        Args:
            new: the first ends of their contexts.
            refs: contexts as written (numbers) of the starts in the batch.
        """
        self._note_starts(batch, refs)
        aliased = batch.column_values("kind", new) != batch.column_values(
            "kind_raw", new
        )  # drafts had no start (docs/protocols.md 8)
        new = new[~aliased]
        nodes = batch.passes.contexts.nodes_of(new)
        unopened = ~self._are_opened(batch, nodes)
        new, nodes = new[unopened], nodes[unopened]
        # Sequences may be long: the end of one begun before the capture is plausible at any time.
        before = batch.beginnings.senders_were_present(new)
        batch.findings.add(WITHOUT_START, new[~before])
        batch.findings.add(BEGAN_BEFORE_CAPTURE, new[before], details="reasoning")
        for row, node in zip(new.tolist(), nodes.tolist(), strict=True):
            self._ends_without_start.setdefault(node, []).append(row)

    def _note_starts(self, batch: Batch, refs: Array) -> None:
        """Notes contexts opened by the starts of a batch, and withdraws their findings."""
        contexts = batch.passes.contexts
        refs = sorted_unique(refs[refs != 0])
        if len(refs):
            self._started_refs.set_number(refs, True)
        # Without moves only new starts matter; after moves every number may mean another node.
        if contexts.tree.moves == self._moves:
            opened = [contexts.nodes_of_refs(refs), contexts.sequences.started_since(batch.start)[1]]
        else:
            refs = self._started_refs.marked()
            self._started_nodes = StringNumbers(np.bool_)
            waiting = np.array([row for rows in self._ends_without_start.values() for row in rows], np.int64)
            self._ends_without_start = {}
            nodes = contexts.nodes_of(waiting)
            for row, node in zip(waiting.tolist(), nodes.tolist(), strict=True):
                self._ends_without_start.setdefault(node, []).append(row)
            opened = [contexts.nodes_of_refs(refs), nodes]
        begun = opened[0][opened[0] != MAIN]
        if len(begun):
            self._started_nodes.set_number(begun, True)
        if not self._ends_without_start:
            return
        nodes = sorted_unique(*opened)
        nodes = nodes[self._are_opened(batch, nodes)].tolist()
        rows = np.array(sorted(row for node in nodes for row in self._ends_without_start.pop(node, ())), np.int64)
        for check in (WITHOUT_START, BEGAN_BEFORE_CAPTURE):
            batch.findings.withdraw(check, rows[batch.findings.has(check, rows)])

    def _are_opened(self, batch: Batch, nodes: Array) -> Array:
        """(n,) bool: True for contexts that a start opened, by its id or by lying in them."""
        if not len(nodes):
            return np.zeros(0, np.bool_)
        begun = self._started_nodes.numbers_of(nodes)
        return (nodes != MAIN) & ((as_numpy(batch.passes.contexts.started_by)[nodes] >= 0) | begun)


def _were_written_before(batch: Batch, rows: Rows, ends: Rows) -> Array:
    """(n,) bool: True for messages written before the conclusion by the sender's clock, despite the log's order."""
    ours, theirs = batch.column_values("ts_ns", rows), batch.column_values("ts_ns", ends)
    known = (
        (ours != NO_TIME)
        & (theirs != NO_TIME)
        & (batch.column_values("sender", rows) == batch.column_values("sender", ends))
    )
    return known & (ours < theirs)
