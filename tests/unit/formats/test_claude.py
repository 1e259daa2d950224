"""Sessions of Claude Code: which messages a record means, and what these say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.line_reading import payload_of, read_line, read_line_as
from inspector.formats.value_conversions import describe_record
from inspector.protocol.message_text import text_shown
from inspector.protocol.record import Record
from tests.builders import document_of

SESSION = "5f0c3a52-8d17-4a0e-9b3e-6f2f1f6f0a01"


def record(type_: str, uuid: str | None = "r1", **more: Any) -> bytes:
    made = {
        "parentUuid": "r0", "isSidechain": False, "sessionId": SESSION, "type": type_, "uuid": uuid,
        "timestamp": "2026-03-04T09:00:01.037Z",
    }  # fmt: skip
    return json.dumps({**made, **more}, separators=(",", ":")).encode()


def spoken(role: str, content: Any, **more: Any) -> bytes:
    return record(role, message={"role": role, "content": content}, **more)


def texts(read: Record) -> list[str | None]:
    return [text_shown(one.kind, payload_of(read, number)) for number, one in enumerate(read.derived_messages)]


@pytest.mark.parametrize(
    ("content", "kind", "sender"),
    [
        ("Look at it.", "chat", "user"),
        ("<command-name>/exit</command-name>", "chat", "claude-code"),
        (
            "<command-message>fix is running…</command-message>\n<command-name>/fix</command-name>\n"
            "<command-args>the @shop</command-args>",
            "chat",
            "user",
        ),
        (
            "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args></command-args>",
            "chat",
            "claude-code",
        ),
        (
            "<command-name>/model</command-name>\n<command-message>model</command-message>\n"
            "<command-args>opus</command-args>",
            "chat",
            "claude-code",
        ),
        ([{"type": "text", "text": "<ide_opened_file>x.py"}], "chat", "claude-code"),
        ([{"type": "text", "text": "[Request interrupted by user for tool use]"}], "reasoning/cancel", "claude-code"),
        ([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "12"}], "mcp/response", "tools"),
    ],
)
def test_what_stands_as_a_users(content: Any, kind: str, sender: str) -> None:
    (one,) = read_line(spoken("user", content)).derived_messages
    assert (one.kind, one.sender, one.to, one.identifier) == (kind, sender, ("claude",), "r1")
    assert one.correlation == ("toolu_1" if kind == "mcp/response" else "r0")


def test_each_block_is_a_message_and_follows_from_the_one_before() -> None:
    read = read_line(
        spoken("assistant", [
            {"type": "thinking", "thinking": "", "signature": "c2ln"}, {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "toolu_1", "name": "mcp__ide__open", "input": {"path": "a.py"}},
        ])
    )  # fmt: skip
    assert [(one.kind, one.identifier, one.correlation) for one in read.derived_messages] == [
        ("reasoning/thought", "r1#1", "r0"), ("chat", "r1#2", "r1#1"), ("mcp/request", "toolu_1", "r1#2"),
    ]  # fmt: skip
    assert (read.derived_messages[2].to, read.derived_messages[2].target, read.derived_messages[2].record_id) == (
        ("mcp:ide",),
        "mcp__ide__open",
        "r1",
    )
    assert texts(read) == ["thinking, not readable", "I look.", "path=a.py"]


def test_usage_stands_at_the_last_message_of_a_record() -> None:
    usage = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 11}
    message = {"id": "m1", "model": "claude-x", "content": [{"type": "text", "text": "a"}] * 2, "usage": usage}
    first, last = (one.call for one in read_line(record("assistant", message=message)).derived_messages)
    assert first is not None
    assert last is not None
    assert (first.model, first.has_usage, last.has_usage) == ("claude-x", False, True)
    assert (last.identifier, last.input, last.output, last.cache_read, last.cache_write) == ("m1", 3, 5, 7, 11)


def test_words_of_the_program_are_no_call_of_a_model() -> None:
    message = {"id": "m1", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 500"}]}
    (one,) = read_line(record("assistant", message=message, isApiErrorMessage=True)).derived_messages
    assert (one.kind, one.sender, one.failed) == ("system/error", "claude-code", True)
    assert one.call is not None
    assert (one.call.identifier, one.call.model) == ("", None)


def test_pictures_are_their_type_and_size() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD" * 1000}
    inside = [{"type": "image", "source": source}]
    read = read_line(spoken("user", [*inside, {"type": "tool_result", "tool_use_id": "t", "content": inside}]))
    assert texts(read)[0] == "image, image/png, 3,000 B"
    assert b"QUJD" not in json.dumps([payload_of(read, 0), payload_of(read, 1)]).encode()


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (record("weather-report", outlook="sunny"), "claude/weather-report", "weather report: outlook sunny"),
        (record("system", subtype="turn_duration", durationMs=1500), "claude/turn_duration", "the turn took 1.5 s"),
        (record("attachment", attachment={"type": "novelty"}), "chat", "novelty"),
        (record("progress", data={"type": "novelty"}), "claude/novelty", "novelty"),
        (b'{"type":"summary","summary":"Cents","leafUuid":"x"}', "claude/summary", "Cents"),
        (b'{"type":"new-state","sessionId":"' + SESSION.encode() + b'"}', "claude/new-state", "new state"),
        (spoken("assistant", [{"type": "novelty", "x": 1}]), "claude/novelty", None),
        (record("user", message="no object"), "claude/user", "no object"),
    ],
)
def test_what_is_nobodys_word_is_a_row_with_its_name(line: bytes, kind: str, text: str | None) -> None:
    read, label = read_line_as(line)
    assert (label, [one.kind for one in read.derived_messages], texts(read)) == ("claude-code", [kind], [text])


def test_what_is_printed_names_sub_agents_by_their_calls() -> None:
    session = "e2e5d603-84de-4626-ba8c-465748f4914b"

    def printed(sort: str, number: int, parent: str | None, *blocks: dict[str, Any]) -> dict[str, Any]:
        message = {"id": f"m{number}", "model": "claude-opus-5", "role": sort, "content": list(blocks)}
        told = {"type": sort, "message": message, "parent_tool_use_id": parent}
        return {**told, "session_id": session, "uuid": f"u{number}"}

    task = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"description": "count", "prompt": "Count"}}
    document = document_of(
        {"type": "system", "subtype": "init", "session_id": session, "uuid": "u0"},
        printed("assistant", 1, None, task),
        printed("user", 2, "toolu_1", {"type": "text", "text": "Count"}),
        printed("assistant", 3, "toolu_1", {"type": "text", "text": "two"}),
        printed("user", 4, None, {"type": "tool_result", "tool_use_id": "toolu_1", "content": "two"}),
        {"type": "stream_event", "event": {}, "session_id": session, "parent_tool_use_id": None, "uuid": "u5"},
        {"type": "result", "subtype": "success", "result": "two", "session_id": session, "uuid": "u6"},
    )
    context, kind, state = (
        [FIELD_BY_NAME[name].value(document.analysis, row) for row in range(7)]
        for name in ("context", "kind", "context.state")
    )
    assert context == [None, None, "toolu_1", "toolu_1", None, None, None]
    assert (kind[5:], state[2]) == (["claude/stream_event", "claude/result"], "concluded")
    assert document.unreadable == 0


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"join","sessionId":"s","participantId":"a"}',
        b'{"type":"user","sessionId":"s","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}',
        b'{"kind":"chat","id":"a","from":"b","payload":{"type":"user","uuid":"u","sessionId":"s"}}',
        b'{"type":"rpc","sessionId":"s","uuid":"u","timestamp":"2026-03-04T09:00:01Z","message":{"jsonrpc":"2.0"}}',
    ],
)
def test_other_formats_stay_what_they_are(line: bytes) -> None:
    assert read_line_as(line)[1] != "claude-code"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("\ud83d") | st.just("x" * 5000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
blocks = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image", "odd"])},
        optional=dict.fromkeys(("text", "id", "name", "input", "content", "tool_use_id", "source"), json_values),
    )
    | json_values,
    max_size=4,
)
records = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["user", "assistant", "system", "progress", "attachment", "odd"]),
        "sessionId": st.just(SESSION),
    },
    optional={
        "uuid": json_values, "parentUuid": json_values, "isSidechain": json_values, "timestamp": json_values,
        "message": st.fixed_dictionaries(
            {}, optional={"content": blocks | json_values, "usage": json_values, "id": json_values}
        ),
        "data": json_values, "attachment": json_values, "toolUseResult": json_values, "subtype": json_values,
        "agentId": json_values, "error": json_values,
    },
)  # fmt: skip


@given(records)
def test_any_record_is_read_and_says_something(value: dict[str, Any]) -> None:
    read = read_line(json.dumps(value).encode())
    for number, one in enumerate(read.derived_messages):
        assert isinstance(payload_of(read, number), dict)
        assert one.kind
    content = value.get("message", {}).get("content") if read.derived_messages else None
    if (
        isinstance(content, list)
        and content
        and value["type"] in ("user", "assistant")
        and read.derived_messages[0].identifier
    ):
        assert len(read.derived_messages) == len(content)


def test_a_record_that_says_nothing_is_told_by_what_it_holds() -> None:
    started = {"copilotVersion": "1.0.77", "selectedModel": "gpt-5-mini", "startTime": "2025-12-18T21:32:04Z"}
    inside = {
        "context": {"cwd": "/tmp/repo", "headCommit": "3a97"},
        "resumed": False,
        "api_key": "sk-planted0123456789",
    }
    told = describe_record("session.start", started | inside)
    assert told.startswith("session start: copilot version 1.0.77, selected model gpt-5-mini, cwd /tmp/repo, api key ")
    assert "planted" not in told
    assert describe_record("fileHistory", {"files": {"a/b.py": {"version": 1}}, "notes": [1, 2]}) == (
        "file history: 1 file, 2 notes"
    )
    assert describe_record("agent-name", {"agentName": "Reviewer"}) == "agent name: Reviewer"
