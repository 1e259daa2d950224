"""Which lines are looked at in order as ACP or A2A; what becomes of them: `tests/unit/formats/test_agent_rpc.py`."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.base.limited_dicts import MAX_REMEMBERED
from inspector.formats.acp.ordered_lines import AcpLines
from inspector.formats.agent_rpc import AGENT
from inspector.formats.wire_recording.reassembly import ModelAnswers
from inspector.reading.reassembly.agent_protocol_lines import AgentLines
from inspector.reading.reassembly.derived_lines import DerivedLineSpool
from tests.samples import FORMAT_SAMPLES

_INITIALIZE = b'{"jsonrpc": "2.0", "id": 1, "params": {%s}, "method" : "initialize"}\n'


@pytest.mark.parametrize(
    ("data", "matters"),
    [
        (b'{"method":"session/update","params":{}}', True),
        (b'{"params":{},"method" : "message/stream"}', True),
        (b'{"method":"GetTask"}', True),
        (b'{"method":"GetTaskless"}', False),
        (b'{"method":"tools/call","params":{"arguments":{"path":"session/update"}}}', False),
        (_INITIALIZE % b'"clientCapabilities": {}', True),
        (_INITIALIZE % b'"capabilities": {}', False),
        (_INITIALIZE % b"" + b'{"method":"tasks/sendSubscribe"}', True),
        (b"", False),
    ],
)
def test_requests_of_the_two_are_told_by_their_methods(data: bytes, matters: bool) -> None:
    assert AgentLines(DerivedLineSpool("log")).is_relevant(data) == matters


@pytest.mark.parametrize("name", ["a2a.jsonl", "acp.jsonl"])
def test_a_sample_of_either_is_one(name: str) -> None:
    assert AgentLines(DerivedLineSpool("log")).is_relevant(FORMAT_SAMPLES[name].read_bytes())


def test_exchanges_of_a_recording_are_told_by_their_lines() -> None:
    answers = ModelAnswers(DerivedLineSpool("log"))
    assert answers.is_relevant(b'{"kind":"http-request","x":1}')
    assert not answers.is_relevant(b'{"kind":"chat","payload":{"text":"an http-request, an sse-event"}}')


def test_the_tool_used_least_lately_is_forgotten_first() -> None:
    lines, scope = AcpLines(), (0, 0)

    def update(tool: str, **fields: str) -> dict[str, Any]:
        told = {"sessionUpdate": "tool_call_update", "toolCallId": tool, **fields}
        return lines.request_facts(scope, "session/update", {"sessionId": "s", "update": told}, AGENT)

    update("used", title="Read a file")
    for number in range(MAX_REMEMBERED + 10):
        update(f"t{number}", title="Write a file")
        if not number % 1_000:
            update("used")
    assert update("used")["title"] == "Read a file"
    assert update("t1", title="Write a file")["first"]
    assert len(lines._tools) == MAX_REMEMBERED
