"""What became of a proposal, in any order of arrival (docs/protocols.md 5)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from inspector.filters.fields import FIELD_BY_NAME
from tests.builders import GrowingLog, document_of, envelope

CALL = {"method": "tools/call", "params": {"name": "write_file"}}
PROPOSAL = envelope("mcp/proposal", CALL, id="p", sender="coder")
REJECT = envelope("mcp/reject", {"reason": "unsafe"}, sender="files", correlation_id=["p"])
WITHDRAW = envelope("mcp/withdraw", {"reason": "timeout"}, sender="coder", correlation_id=["p"])
WITHDRAW_BY_ANOTHER = envelope("mcp/withdraw", {}, sender="files", correlation_id=["p"])
FULFIL = envelope("mcp/request", CALL, id="f", sender="lead", correlation_id=["p"])
ANSWER = envelope("mcp/response", {"result": {}}, sender="files", correlation_id=["f"])


def state(*lines: Any) -> object:
    document = document_of(*lines)
    states = [FIELD_BY_NAME["proposal.state"].value(document.analysis, row) for row in range(len(lines))]
    assert [s for row, s in enumerate(states) if lines[row] is not PROPOSAL] == [None] * (len(lines) - 1)
    return states[lines.index(PROPOSAL)]


@pytest.mark.parametrize(
    ("others", "became"),
    [
        ([], "open"),
        ([REJECT], "rejected"),
        ([REJECT, {**REJECT, "from": "reviewer"}], "rejected"),
        ([WITHDRAW], "withdrawn"),
        ([WITHDRAW_BY_ANOTHER], "open"),
        ([REJECT, WITHDRAW_BY_ANOTHER], "rejected"),
        ([FULFIL], "fulfilled"),
        ([FULFIL, REJECT], "fulfilled"),
        ([FULFIL, WITHDRAW], "fulfilled"),
        ([FULFIL, ANSWER], "answered"),
        ([FULFIL, ANSWER, REJECT], "answered"),
        ([{**FULFIL, "correlation_id": "p"}, ANSWER], "answered"),
        ([envelope("mcp/response", {"result": {}}, correlation_id=["p"])], "open"),
        ([envelope("chat", correlation_id=["p"])], "open"),
        ([{**FULFIL, "correlation_id": ["p", "other"]}], "fulfilled"),
        ([{**REJECT, "correlation_id": ["p", "q"]}], "rejected"),
    ],
    ids=[
        "open", "rejected", "rejected twice", "withdrawn", "withdrawn by another", "rejected, withdrawn by another",
        "fulfilled", "fulfilled though rejected", "fulfilled though withdrawn", "answered", "answered though rejected",
        "a string", "a response to the proposal itself", "a chat about it", "named among others", "rejected too",
    ],
)  # fmt: skip
def test_states_in_any_order(others: list[Any], became: str) -> None:
    for order in itertools.permutations([PROPOSAL, *others]):
        assert state(*order) == became


def test_a_proposal_named_second_behind_a_chat() -> None:
    question = envelope("chat", id="c")
    fulfil = {**FULFIL, "correlation_id": ["c", "p"]}
    document = document_of(question, PROPOSAL, fulfil)
    assert FIELD_BY_NAME["proposal.state"].value(document.analysis, 1) == "fulfilled"
    assert document.analysis.correlation.causes(2) == [0, 1]


def test_changes_are_reported_for_the_proposal() -> None:
    log = GrowingLog()
    log.write(PROPOSAL)
    assert [told[0].changed.tolist() for told in (log.write(REJECT), log.write(FULFIL), log.write(ANSWER))] == [
        [0], [0], [0, 2],
    ]  # fmt: skip


def test_the_first_fulfilment_counts() -> None:
    document = document_of(PROPOSAL, FULFIL, {**FULFIL, "id": "g"})
    assert document.analysis.correlation.columns["answer"].tolist() == [1, -1, -1]
    assert FIELD_BY_NAME["answered"].value(document.analysis, 0) is None
