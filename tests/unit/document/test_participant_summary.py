"""What a server's tools were used for, what they cost, and how they changed."""

from __future__ import annotations

import json
from pathlib import Path

from inspector.document.participant_summary import ParticipantStory, story_of
from inspector.document.summary import participant_stories
from inspector.present.participant_facts import change_of_tools_rows, tool_rows, tool_use_rows
from tests.builders import document_at, document_of, envelope, tool_call, tool_result
from tests.mcp_lines import call, done, hello, listed, process, tool

MODERN = Path(__file__).parents[2] / "data" / "recordings" / "mcp" / "py2-stdio-modern.jsonl"


def test_a_server_of_a_recording() -> None:
    document = document_at(MODERN)
    document.count_tokens()
    story = story_of(document, 0, "server")
    assert story is not None
    assert story.offered is not None
    assert story.server == "harbour-office 0.9.0, MCP 2026-07-28"
    used = {name: (use.calls, use.failed) for name, use in story.tool_use.items()}
    assert (used["unload"], used["tide"], used["no_such_tool"], used["reserve"]) == ((5, 0), (2, 1), (1, 1), (1, 0))
    assert [(one.row + 1, one.tool, one.what) for one in story.offered.changes] == [
        (56, "pilot", ("new",)), (62, "tide", ("description", "arguments", "hints")),
    ]  # fmt: skip
    assert story.offered.lists == 3
    assert story.offered.tokens.keys() == {one.name for one in story.tools or ()}
    assert sum(story.offered.tokens.values()) > 500
    assert "is not destructive" in story.offered.hints["unload"]
    head, first, *_ = tool_use_rows(story, "server")
    assert head.values == ("Calls", "Failed", "Median", "Tokens")
    assert (first.name, first.values[:2]) == ("unload", ("5", ""))
    assert next(row.value for row in change_of_tools_rows(document, story)).startswith(
        "description, arguments, hints, at"
    )
    assert any(row.value == "ship: text, crates: whole number, pause?: number" for row in tool_rows(story, "server"))
    (told,) = (one for one in participant_stories(document) if one["name"] == "server")
    assert told["tool_changes"][-1] == {
        "no": 62,
        "before": 56,
        "tool": "tide",
        "what": ["description", "arguments", "hints"],
    }
    assert json.dumps(told["tools"])


def test_lists_of_other_connections_and_pages_are_no_changes() -> None:
    lines = [
        *hello(), *listed(1, 1, tool(), nextCursor="2"), *listed(2, 2, tool("b")),
        *process(2, *hello(name="other"), *listed(3, 3, tool(title="Scales"))), call(4, 4), done(5, 4),
    ]  # fmt: skip
    story = story_of(document_of(*lines), 0, "server")
    assert story is not None
    assert story.offered is not None
    assert story.offered.changes == ()
    assert {name: use.calls for name, use in story.tool_use.items()} == {"weigh": 1}


def test_in_a_space_it_is_who_was_asked() -> None:
    listing = envelope("mcp/request", {"method": "tools/list"}, to=["files"], id="q1")
    tools = {"result": {"tools": [{"name": "grep", "inputSchema": {"properties": {"any": {}}, "required": [7]}}, 5]}}
    answer = envelope("mcp/response", tools, sender="files", correlation_id=["q1"])
    asked, other = tool_call("grep", id="q2"), tool_call("grep", to="others", id="q3")
    document = document_of(listing, answer, asked, other, tool_result(asked, result={"isError": True}))
    story = story_of(document, 0, "files")
    assert isinstance(story, ParticipantStory)
    assert {name: (use.calls, use.failed) for name, use in story.tool_use.items()} == {"grep": (1, 1)}
    assert story.offered is not None
    assert story.offered.arguments == {"grep": ("any?: anything",)}
    assert story.server == ""
