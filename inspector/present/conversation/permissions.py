"""Finds proposals that ask a person to permit a call of the same sender, and describes the decision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.steps.approvals import decision_times
from inspector.analysis.views.steps.step_columns import StepKind, StepState, StepTable
from inspector.present import formats
from inspector.present.states import BY_USER
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.hashes import NO_ROW

_WORDS = {
    StepState.OK: "allowed by the user", StepState.REJECTED: BY_USER, StepState.CANCELLED: "withdrawn",
    StepState.WAITING: "waits for permission",
}  # fmt: skip


class Permissions(NamedTuple):
    """Proposals that ask for permissions.

    Attributes:
        proposals: (n,) int64, steps of the proposals.
        calls: (n,) int64, steps of the calls that they are about.
        answers: (m,) int64, steps of messages that answer them.
        answered: (m,) int64, the calls of these answers.
    """

    proposals: Rows
    calls: Rows
    answers: Rows
    answered: Rows


def permissions_of(analysis: Analysis, table: StepTable) -> Permissions:
    """Returns all proposals of which the cause is a call of the same sender."""
    count, none = len(table.step_of), np.zeros(0, np.int64)
    code = analysis.capture.strings.find(kinds.PROPOSAL)
    kind, sender = (analysis.capture.columns[name][:count] for name in ("kind", "sender"))
    rows = table.rows[(table.kinds == StepKind.CALL) & (kind[table.rows] == code)] if code else none
    if not len(rows):
        return Permissions(none, none, none, none)
    causes = np.asarray(analysis.correlation.columns["cause"][:count]).astype(np.int64)
    causes[(causes < 0) | (causes >= count)] = NO_ROW
    asked = causes[rows]
    known = (asked != NO_ROW) & (sender[rows] == sender[asked]) & (kind[asked] != code)
    known &= (table.step_of[asked] >= 0) & (table.kinds[np.maximum(table.step_of[asked], 0)] == StepKind.CALL)
    rows, asked = rows[known], asked[known]
    proposals, calls = table.step_of[rows], table.step_of[asked]
    call_of = np.full(count, -1, np.int64)
    call_of[rows] = calls
    answers = np.flatnonzero((causes != NO_ROW) & (table.step_of >= 0))
    answers = answers[(call_of[causes[answers]] >= 0) & (table.kinds[table.step_of[answers]] == StepKind.OTHER)]
    return Permissions(proposals, calls, table.step_of[answers], call_of[causes[answers]])


def permission_words(analysis: Analysis, table: StepTable, call: int) -> str:
    """Describes the decision about a call: "allowed by the user after 12 s"; "" if nobody was asked."""
    found = permissions_of(analysis, table)
    place = np.flatnonzero(found.calls == call)
    if not len(place):
        return ""
    proposal = int(found.proposals[place[-1]])
    words = _WORDS.get(StepState(int(table.states[proposal])), "")
    answers = found.answers[(found.answered == call) & (found.answers > proposal)]
    asked = int(table.starts_ns[proposal])
    decided = int(decision_times(analysis.capture, table.rows[answers[:1]])[0]) if len(answers) else NO_TIME
    if not words or NO_TIME in (asked, decided) or decided < asked:
        return words
    return f"{words} after {formats.duration(decided - asked)}"
