"""What checks of MCP remember of conversations."""

from __future__ import annotations

from collections import deque

from inspector.analysis.findings.mcp.conversations import Asked, Talk, put_away
from inspector.protocol.mcp_notes import Note


def test_of_a_fleet_of_short_conversations_the_latest_answers_are_remembered_and_no_more() -> None:
    lately: deque[tuple[Talk, int]] = deque()
    talks = [Talk(key, lately=lately) for key in range(5_000)]
    for row, talk in enumerate(talks):
        asked = talk.open[row] = Asked(row, "tools/call", "", Note(), 0, False, False, 0, 0)
        put_away(talk, asked)
    assert [len(talk.settled) for talk in talks] == [0] * 904 + [1] * 4_096
    assert len(lately) == 4_096
