"""Values that filters, SQL, exports and scripts name stay the same when classes in the source are renamed."""

from __future__ import annotations

from inspector.analysis.findings import Severity
from inspector.analysis.passes.calls.correlation_pass import RULE_NAMES, ToolRule
from inspector.analysis.passes.calls.proposal_states import PROPOSAL_STATE_NAMES, ProposalState
from inspector.analysis.states.state_pass import STATE_NAMES, MessageState
from inspector.analysis.views.model_context import Role
from inspector.filters.fields import FIELDS

VALUES = {
    "tool.rule": "kind, payload, correlation, rpc id, unknown",
    "correlation.names": "message, later message, context, stream, nothing seen",
    "context.told": "envelope, kind, payload.context, context/start, thread_id, reasoning_id, stream",
    "context.state": "active, idle, concluded, cancelled",
    "mcp.era": "legacy, modern",
    "badge": "transient, consumed, collapsed",
    "waiting": "answer, decision",
    "state": "answered, failed, unanswered, waiting, fulfilled, rejected, withdrawn, running, concluded,"
    " cancelled, open, closed",
    "proposal.state": "open, rejected, withdrawn, fulfilled, answered",
}


def test_values_of_fields() -> None:
    found = {field.name: ", ".join(field.only) for field in FIELDS if field.only and field.name != "finding"}
    assert found == VALUES


def test_each_state_has_its_value() -> None:
    assert (MessageState.FULFILLED, STATE_NAMES[MessageState.FULFILLED]) == (5, "fulfilled")
    assert (MessageState.CLOSED, STATE_NAMES[MessageState.CLOSED]) == (len(STATE_NAMES) - 1, "closed")
    assert (ProposalState.FULFILLED, PROPOSAL_STATE_NAMES[ProposalState.FULFILLED]) == (4, "fulfilled")
    assert (ToolRule.RPC_ID, RULE_NAMES[ToolRule.RPC_ID]) == (4, "rpc id")
    assert [len(names) for names in (STATE_NAMES, PROPOSAL_STATE_NAMES, RULE_NAMES)] == [
        len(values) for values in (MessageState, ProposalState, ToolRule)
    ]


def test_words_of_severities_and_roles() -> None:
    assert [one.word for one in Severity] == ["note", "warning", "error"]
    assert [one.word for one in Role] == ["", "system", "user", "assistant", "tool", "tools"]
