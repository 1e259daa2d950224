"""Reasoning sequences: what comes after their end, or without their beginning (docs/protocols.md 8)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.changes import NO_ROWS, Rows
from inspector.analysis.context_tree import MAIN
from inspector.analysis.distinct import ascending
from inspector.analysis.findings.batch import Array, Batch, Marks
from inspector.analysis.findings.beginning import BEFORE
from inspector.analysis.findings.check import NOTE, WARNING, Check
from inspector.analysis.findings.ends import Ends
from inspector.analysis.findings.requests import are_copies
from inspector.analysis.node_facts import as_numpy
from inspector.protocol.times import NO_TIME

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


class Reasoning:
    """Knows by context when its sequence began and ended, whichever way messages write the context."""

    def __init__(self) -> None:
        self._ends = Ends()
        self._begun = Marks(np.bool_)  # contexts as written (their numbers) that a start lies in
        self._begun_nodes = Marks(np.bool_)  # and what these have become
        self._unbegun: dict[int, list[int]] = {}  # by node, ends that no start opened
        self._moves = 0

    def feed(self, batch: Batch) -> None:
        """Look at the reasoning of a batch, and at what else is said in its contexts."""
        starts, ends, cancels = batch.rows(_START), batch.rows(_CONCLUSION), batch.rows(_CANCEL)
        thoughts = batch.rows(_THOUGHT)
        if not (len(starts) or len(ends) or len(cancels) or len(thoughts) or self._ends.any):
            return
        refs = batch.passes.contexts.refs(batch.start, batch.stop)
        for rows in (thoughts, ends):
            outside = rows[refs[rows - batch.start] == 0]
            # Drafts grouped by reasoning_id, under other kinds (docs/protocols.md 8).
            drafted = batch.of("kind", outside) != batch.of("kind_raw", outside)
            batch.findings.add(WITHOUT_CONTEXT, outside[~drafted])
        first = self._judge(batch) if self._ends.any or len(ends) or len(cancels) else NO_ROWS
        self._without_start(batch, first, refs[starts - batch.start])
        self._moves = batch.passes.contexts.tree.moves

    def _judge(self, batch: Batch) -> Rows:
        """Look at what comes after an end; returns the first end of each context, or since it began again."""
        ends, start, tree = self._ends, batch.start, batch.passes.contexts.tree
        if tree.moves != self._moves and ends.follow(tree):
            # Messages lie in or below other contexts than they seemed to: all is looked at again.
            for check in (AFTER_CONCLUSION, AFTER_CANCEL, CONCLUDED_AGAIN):
                batch.findings.withdraw(check, batch.findings.rows_of(check))
            start = ends.forget()
        ends.reach(tree)
        codes = [batch.code(kind) for kind in (_START, _CONCLUSION, _CANCEL)]
        rows = np.flatnonzero(np.isin(batch.capture.columns["kind"][start : batch.stop], codes)) + start
        nodes, kinds = batch.passes.contexts.nodes_of(rows).tolist(), batch.of("kind", rows).tolist()
        opened = _Opened(batch, start)
        first: list[int] = []
        again: list[tuple[int, int]] = []
        for row, node, kind in zip(rows.tolist(), nodes, kinds, strict=True):
            if kind == codes[0]:
                begun = [one for one in opened.by(row, node) if ends.has(one)]
                if begun:
                    self._goes_on(batch, start, row)
                    start = row
                    for one in begun:
                        ends.begin_again(tree, one)
            elif node != MAIN:
                if not ends.has(node):
                    first.append(row)
                elif kind == codes[1] and not ends.is_cancelled(node):
                    again.append((row, ends.of(node)))
                # After a cancel released agents conclude up to three times (docs/protocols.md 8 and 16).
                ends.note(tree, node, row, cancelled=kind == codes[2])
        self._goes_on(batch, start, batch.stop)
        rows, ends_ = np.array(again, np.int64).reshape(-1, 2).T
        other = ~are_copies(batch, rows, ends_)
        batch.findings.add(CONCLUDED_AGAIN, rows[other], others=ends_[other])
        return np.array([row for row in first if row >= batch.start], np.int64)

    def _goes_on(self, batch: Batch, start: int, stop: int) -> None:
        """The messages that act in a context, or below one, after its end."""
        codes = [batch.code(kind) for kind in _ACTS]
        acts = np.flatnonzero(np.isin(batch.capture.columns["kind"][start:stop], codes)) + start
        if not len(acts) or not self._ends.any:
            return
        nodes = batch.passes.contexts.nodes_of(acts)
        done, stopped = self._ends.above(nodes)
        late = stopped < acts
        batch.findings.add(AFTER_CANCEL, acts[late], others=stopped[late])
        late = ~late & (done < acts)
        late[late] = ~_were_written_before(batch, acts[late], done[late])
        batch.findings.add(AFTER_CONCLUSION, acts[late], others=done[late])

    def _without_start(self, batch: Batch, new: Rows, refs: Array) -> None:
        """Find ends of what no start opened, and take back those of what one has opened by now.

        Args:
            new: the first ends of their contexts.
            refs: the contexts as written (their numbers) that the starts of the batch lie in.
        """
        self._take_back(batch, refs)
        aliased = batch.of("kind", new) != batch.of("kind_raw", new)  # drafts had no start (docs/protocols.md 8)
        new = new[~aliased]
        nodes = batch.passes.contexts.nodes_of(new)
        unopened = ~self._are_opened(batch, nodes)
        new, nodes = new[unopened], nodes[unopened]
        # A sequence may go on for long: the end of one that somebody began before is no surprise at any time.
        before = batch.beginnings.others_were_here(new)
        batch.findings.add(WITHOUT_START, new[~before])
        batch.findings.add(BEFORE, new[before], details="reasoning")
        for row, node in zip(new.tolist(), nodes.tolist(), strict=True):
            self._unbegun.setdefault(node, []).append(row)

    def _take_back(self, batch: Batch, refs: Array) -> None:
        """Note what the starts of a batch open; nothing is missing there any more."""
        contexts = batch.passes.contexts
        refs = ascending(refs[refs != 0])
        if len(refs):
            self._begun.put(refs, True)
        if contexts.tree.moves == self._moves:
            opened = [contexts.nodes_of_refs(refs), contexts.facts.started_since(batch.start)[1]]
        else:
            refs = self._begun.marked()
            self._begun_nodes = Marks(np.bool_)
            waiting = np.array([row for rows in self._unbegun.values() for row in rows], np.int64)
            self._unbegun = {}
            nodes = contexts.nodes_of(waiting)
            for row, node in zip(waiting.tolist(), nodes.tolist(), strict=True):
                self._unbegun.setdefault(node, []).append(row)
            opened = [contexts.nodes_of_refs(refs), nodes]
        begun = opened[0][opened[0] != MAIN]
        if len(begun):
            self._begun_nodes.put(begun, True)
        if not self._unbegun:
            return
        nodes = ascending(*opened)
        nodes = nodes[self._are_opened(batch, nodes)].tolist()
        rows = np.array(sorted(row for node in nodes for row in self._unbegun.pop(node, ())), np.int64)
        for check in (WITHOUT_START, BEFORE):
            batch.findings.withdraw(check, rows[batch.findings.has(check, rows)])

    def _are_opened(self, batch: Batch, nodes: Array) -> Array:
        """Which of some contexts a start has opened, by its id or by lying in them."""
        if not len(nodes):
            return np.zeros(0, np.bool_)
        begun = self._begun_nodes.of(nodes)
        return (nodes != MAIN) & ((as_numpy(batch.passes.contexts.started_by)[nodes] >= 0) | begun)


def _were_written_before(batch: Batch, rows: Rows, ends: Rows) -> Array:
    """Which of some messages their sender wrote before it concluded, by its own clock: only the log's order is odd."""
    ours, theirs = batch.of("ts_ns", rows), batch.of("ts_ns", ends)
    known = (ours != NO_TIME) & (theirs != NO_TIME) & (batch.of("sender", rows) == batch.of("sender", ends))
    return known & (ours < theirs)


class _Opened:
    """The contexts that reasoning starts open, or begin again."""

    def __init__(self, batch: Batch, start: int) -> None:
        self._batch = batch
        self._started_by = batch.passes.contexts.started_by
        rows, nodes = batch.passes.contexts.facts.started_since(start)
        self._by_row = dict(zip(rows.tolist(), nodes.tolist(), strict=True))

    def by(self, row: int, within: int) -> list[int]:
        """What a start opens: the context named by its id, and the one it lies in where no start before names that."""
        contexts = self._batch.passes.contexts
        node = contexts.tree.resolve(self._by_row.get(row, MAIN))
        if node == MAIN:  # its id was given to a start before
            node = contexts.started_again.get(row, MAIN)
        reused = within != MAIN and not 0 <= self._started_by[within] < row
        return [one for one in (contexts.tree.resolve(node), within if reused else MAIN) if one != MAIN]
