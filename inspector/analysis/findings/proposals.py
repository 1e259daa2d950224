"""Checks proposals: late or repeated fulfilment, wrong withdrawal, no decision (docs/protocols.md 5)."""

from __future__ import annotations

import numpy as np

from inspector.analysis.findings.batch import Batch
from inspector.analysis.findings.check import ERROR, NOTE, WARNING, Check
from inspector.analysis.findings.deadlines import DeadlineQueue
from inspector.analysis.findings.requests import are_copies
from inspector.analysis.passes.calls.proposal_states import ProposalState
from inspector.analysis.passes.changed_rows import Rows
from inspector.protocol import kinds
from inspector.store.columns.hashes import NO_HASH, NO_ROW

UNDECIDED_AFTER_S = 60
"""Seconds after which an open proposal gets a finding."""

AFTER_WITHDRAWAL = Check(
    "proposal-fulfilled-after-withdrawal", ERROR, "Proposal fulfilled after it was withdrawn",
    "{who} fulfils {other}, which its proposer had already withdrawn.",
    "An action ran that the proposer had cancelled.",
    "Check for a withdrawal of the proposal before you fulfil it.",
    "MEW v0.4, mcp/withdraw",
)  # fmt: skip
BY_ANOTHER = Check(
    "withdrawn-by-other", ERROR, "Proposal withdrawn by another participant",
    "{who} withdraws {other}, a proposal of {detail}; it stays open.",
    "Only the proposer may withdraw. Other participants may treat the proposal as closed.",
    "Send mcp/reject instead, or let the proposer withdraw.",
    "MEW v0.4, mcp/withdraw: proposer only",
    example="coder",
)  # fmt: skip
FULFILLED_AGAIN = Check(
    "proposal-fulfilled-again", WARNING, "Proposal fulfilled more than once",
    "{who} fulfils {other}, which {detail} has already fulfilled.",
    "The action runs twice.",
    "Check for a request that names the proposal before you fulfil it.",
    "MEW v0.4, mcp/proposal",
    example="No. 12",
)  # fmt: skip
DIFFERS = Check(
    "fulfilment-differs", WARNING, "Fulfilment differs from the proposal",
    "{who} fulfils {other} with {call}, but the proposal was {detail}{arguments}.",
    "The executed call is not the agreed one.",
    "Use the method, tool and arguments of the proposal unchanged, or reject it with a reason.",
    "MEW v0.4, mcp/proposal",
    example="tools/call read_file",
)  # fmt: skip
UNDECIDED = Check(
    "proposal-undecided", NOTE, "Proposal without a decision",
    "{who} proposed {call} more than {limit} s ago, and it is neither fulfilled nor rejected.",
    "The proposer waits; agents withdraw after a timeout.",
    "Check that a participant may fulfil it, and that no view hides its context.",
    "MEW v0.4, mcp/proposal", limit=UNDECIDED_AFTER_S,
)  # fmt: skip
CHECKS = (AFTER_WITHDRAWAL, BY_ANOTHER, FULFILLED_AGAIN, DIFFERS, UNDECIDED)

OTHER_ARGUMENTS = " with other arguments"
"""Suffix of the detail if only arguments differ; the sentence then names them."""


class Proposals:
    """Tracks proposals until they are decided."""

    def __init__(self) -> None:
        self._withdrawn: dict[int, int] = {}  # by proposal: row of the first withdrawal by its proposer
        self._waiting = DeadlineQueue(UNDECIDED_AFTER_S)

    def feed(self, batch: Batch) -> None:
        self._check_withdrawals(batch)
        self._check_fulfilments(batch)
        self._check_undecided(batch)

    def _check_withdrawals(self, batch: Batch) -> None:
        rows, cause = _about_proposals(batch, kinds.WITHDRAW)
        if not len(rows):
            return
        own = batch.column_values("sender", rows) == batch.column_values("sender", cause)
        for row, proposal in zip(rows[own].tolist(), cause[own].tolist(), strict=True):
            # Changed messages come again, so not always in the order of arrival.
            self._withdrawn[proposal] = min(row, self._withdrawn.get(proposal, row))
        proposers = [batch.string("sender", proposal) for proposal in cause[~own].tolist()]
        batch.findings.replace_findings(BY_ANOTHER, rows, ~own, others=cause, details=proposers)

    def _check_fulfilments(self, batch: Batch) -> None:
        rows, cause = _about_proposals(batch, kinds.REQUEST)
        if not len(rows):
            return
        links, found = batch.links, batch.findings
        withdrawn = self._withdrawn
        late = [withdrawn.get(p, row) < row for row, p in zip(rows.tolist(), cause.tolist(), strict=True)]
        found.replace_findings(AFTER_WITHDRAWAL, rows, np.array(late, np.bool_), others=cause)
        first = links["answer"][cause].astype(np.int64)
        # Logs of several recipients repeat a request, which is then no second fulfilment.
        again = (first != NO_ROW) & (first < rows) & ~are_copies(batch, first, rows)
        by = [f"No. {row + 1}" for row in first[again].tolist()]
        found.replace_findings(FULFILLED_AGAIN, rows, again, others=cause, details=by)
        differs = np.zeros(len(rows), np.bool_)
        for name in ("method", "target"):
            ours, theirs = links[name][rows], links[name][cause]
            # A method or tool that one of both leaves out (0) is no difference.
            differs |= (ours != theirs) & (ours != 0) & (theirs != 0)
        details = [_call_words(batch, proposal) for proposal in cause.tolist()]
        ours, theirs = batch.capture.extracted.argument_hashes(rows), batch.capture.extracted.argument_hashes(cause)
        otherwise = ~differs & (ours != theirs) & (ours != NO_HASH) & (theirs != NO_HASH)
        for place in np.flatnonzero(otherwise).tolist():
            details[place] += OTHER_ARGUMENTS
        differs |= otherwise
        details = [words for words, wrong in zip(details, differs.tolist(), strict=True) if wrong]
        found.replace_findings(DIFFERS, rows, differs, others=cause, details=details)

    def _check_undecided(self, batch: Batch) -> None:
        new, states = batch.rows(kinds.PROPOSAL), batch.links["proposal_state"]
        changed = batch.changed_rows(kinds.PROPOSAL)
        known = changed[batch.findings.has(UNDECIDED, changed)]
        batch.findings.withdraw(UNDECIDED, known[states[known] != ProposalState.OPEN.value])
        self._waiting.add(
            batch.column_values("time_ns", new), new, lambda rows: states[rows] == ProposalState.OPEN.value
        )
        due = self._waiting.take_due(batch.now_ns)
        batch.findings.add(UNDECIDED, due[states[due] == ProposalState.OPEN.value])


def _about_proposals(batch: Batch, kind: str) -> tuple[Rows, Rows]:
    """Returns the messages of a kind that name a proposal, and their proposals."""
    rows = batch.new_and_changed_rows(kind)
    cause = batch.links["cause"][rows].astype(np.int64)
    rows, cause = rows[cause != NO_ROW], cause[cause != NO_ROW]
    fits = batch.column_values("kind", cause) == batch.code(kinds.PROPOSAL)
    return rows[fits], cause[fits]


def _call_words(batch: Batch, row: int) -> str:
    names = (int(batch.links[name][row]) for name in ("method", "target"))
    return " ".join(batch.capture.strings[name] for name in names if name)
