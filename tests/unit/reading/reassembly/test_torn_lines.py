"""Events of Copilot CLI with raw line ends in a text, and output that goes on a line of a client's log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from inspector.store.messages.original_lines import LoggedLines
from tests.builders import GrowingLog, log_file, opened_document
from tests.pages import ROOT


def event(number: int, sort: str, **data: Any) -> str:
    head = {"type": sort, "data": data, "id": f"e{number}", "timestamp": f"2026-04-01T10:00:0{number}.000Z"}
    return json.dumps({**head, "parentId": None})


ASKED = {"messageId": "m1", "content": "", "toolRequests": [{"toolCallId": "k1", "name": "web_fetch", "arguments": {}}]}
SESSION = (
    event(1, "session.start", sessionId="s1", version=1, producer="copilot-agent", copilotVersion="1.0.24"),
    event(2, "user.message", content="fetch the page"),
    event(3, "assistant.message", **ASKED),
    event(4, "tool.execution_complete", toolCallId="k1", success=True, result={"content": "one \ntwo\n\n  three"}),
    event(5, "assistant.message", messageId="m2", content="It says three lines", toolRequests=[]),
)


def written(lines: tuple[str, ...] = SESSION) -> bytes:
    """The session with the line ends of its texts as they are."""
    return "".join(f"{line}\n" for line in lines).replace("\\n", "\n").encode()


def read(data: bytes, block_bytes: int = 1 << 20) -> CaptureDocument:
    return opened_document(log_file(data, "events.jsonl"), block_bytes=block_bytes)


def told(document: CaptureDocument) -> list[tuple[str | None, str | None]]:
    rows = range(len(document.capture))
    return [(document.capture.string("kind", row), info(document.analysis, row)) for row in rows]


@pytest.mark.parametrize("block_bytes", [1, 40, 1 << 20])
def test_an_event_with_raw_line_ends_is_one(block_bytes: int) -> None:
    document = read(written(), block_bytes)
    assert (document.format, document.unreadable) == ("copilot-cli", 0)
    calls = tool_calls(document.analysis)
    assert (calls.tools, calls.answered, calls.unanswered) == (1, 1, 0)
    assert told(document) == told(read("".join(f"{line}\n" for line in SESSION).encode()))
    answer = [row for row in range(len(document.capture)) if document.capture.string("kind", row) == "mcp/response"]
    assert document.capture.records.payload(answer[0])["result"]["content"][0]["text"] == "one \ntwo\n\n  three"


def test_a_growing_session_reads_the_same() -> None:
    log = GrowingLog()
    for byte in written().splitlines(keepends=True):
        log.write_bytes(byte)
    assert told(log.end()) == told(read(written()))


@pytest.mark.parametrize("kept", range(1, 4))
def test_what_does_not_become_json_stays_in_lines(kept: int) -> None:
    lines = written().split(b"\n")
    torn = lines[3:][:kept]
    document = read(b"\n".join((*lines[:3], *torn, *lines[-2:])))
    assert document.unreadable == len([line for line in torn if line])
    assert info(document.analysis, len(document.capture) - 1) == "It says three lines"
    document = read(b"\n".join((*lines[:3], *torn)))
    assert document.unreadable == len([line for line in torn if line])


def test_many_lines_are_no_event() -> None:
    lines = written().split(b"\n")
    document = read(b"\n".join((*lines[:3], lines[3], *[b"word"] * 300, *lines[-2:])))
    assert document.unreadable == 301


@pytest.mark.parametrize("block_bytes", [1, 60, 1 << 20])
def test_output_goes_on_the_line_above(block_bytes: int) -> None:
    data = (ROOT / "tests/data/mcp_logs/cd-inspect.log").read_bytes()
    document = read(data, block_bytes)
    assert (len(document.capture), document.unreadable) == (9, 0)
    text = b"\n".join(LoggedLines(document.capture, 1))
    assert text.startswith(b"2026-03-01T08:00:00.005Z [info] [pantry] Using MCP server command")
    assert text.endswith(b"}")
