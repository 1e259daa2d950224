"""What checks of MCP remember of conversations."""

from __future__ import annotations

from collections import deque

import pytest

from inspector import analysis
from inspector.base.slices import run_step, run_to_end
from inspector.document.document import CaptureDocument
from inspector.formats.mcp.checks.conversations import Conversation, McpRequest, settle_request
from inspector.protocol import schema_validation
from inspector.protocol.mcp_notes import McpNote
from tests.builders import closed_at_end, lines_of, log_file
from tests.findings import CASES


def test_of_a_fleet_of_short_conversations_the_latest_answers_are_remembered_and_no_more() -> None:
    lately: deque[tuple[Conversation, int]] = deque()
    talks = [Conversation(key, lately=lately) for key in range(5_000)]
    for row, talk in enumerate(talks):
        asked = talk.open[row] = McpRequest(row, "tools/call", "", McpNote(), 0, False, False, 0, 0)
        settle_request(talk, asked)
    assert [len(talk.settled) for talk in talks] == [0] * 904 + [1] * 4_096
    assert len(lately) == 4_096


def test_judges_of_schemas_are_made_in_a_turn_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(analysis, "_SLICE_S", 0.0)
    monkeypatch.setattr(schema_validation, "are_validators_loaded", lambda: bool(made))
    monkeypatch.setattr(schema_validation, "load_validators", lambda: made.append(1))
    document = closed_at_end(CaptureDocument())
    document.load(log_file(lines_of(*CASES["mcp-arguments-invalid"].wrong)))
    found = document.analysis.findings.found
    assert not made
    assert not run_step(document.postponed_checks())
    assert made == [1]
    assert "mcp-arguments-invalid" not in found.counts()
    run_to_end(document.postponed_checks())
    assert found.counts()["mcp-arguments-invalid"] == 1
