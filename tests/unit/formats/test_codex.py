"""Threads of Codex: which messages a record means, and what these say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.codex.tool_outputs import read_output
from inspector.formats.line_reading import payload_of, read_line, read_line_as
from inspector.protocol.message_text import text_shown
from inspector.protocol.record import Record, Shape
from tests.builders import GrowingLog

TIME = "2026-03-04T09:00:01.037Z"


def line(type_: str, **payload: Any) -> bytes:
    return json.dumps({"timestamp": TIME, "type": type_, "payload": payload}).encode()


def item(type_: str, **payload: Any) -> bytes:
    return line("response_item", type=type_, **payload)


def texts(read: Record) -> list[str | None]:
    return [text_shown(one.kind, payload_of(read, number)) for number, one in enumerate(read.derived_messages)]


@pytest.mark.parametrize(
    ("role", "text", "sender", "to"),
    [
        ("user", "Go.", "user", "codex"),
        ("user", "<environment_context>\n", "codex-cli", "codex"),
        ("user", "# AGENTS.md instructions for /w", "codex-cli", "codex"),
        ("developer", "Be brief.", "codex-cli", "codex"),
        ("assistant", "Done.", "codex", "user"),
    ],
)
def test_who_says_a_message(role: str, text: str, sender: str, to: str) -> None:
    read = read_line(item("message", role=role, content=[{"type": "input_text", "text": text}]))
    (one,) = read.derived_messages
    assert (one.kind, one.sender, one.to, texts(read)) == ("chat", sender, (to,), [text])


def test_a_search_of_the_models_side_is_answered_though_it_has_no_id() -> None:
    asked, answered = read_line(
        item("web_search_call", action={"type": "search", "query": "rounding"})
    ).derived_messages
    assert asked.identifier == answered.correlation == f"web_search at {TIME}"


def test_each_part_of_a_summary_is_a_thought() -> None:
    parts = [{"type": "summary_text", "text": text} for text in ("one", "two")]
    read = read_line(item("reasoning", summary=parts, encrypted_content="gAAA"))
    assert [one.kind for one in read.derived_messages] == ["reasoning/thought"] * 2
    assert texts(read) == ["one", "two"]
    assert texts(read_line(item("reasoning", summary=[], encrypted_content="gAAA"))) == ["thinking, not readable"]


def test_a_call_and_its_answer_go_by_the_id_of_the_call() -> None:
    asked = read_line(item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1", id="fc1"))
    (call,) = asked.derived_messages
    assert (call.kind, call.method, call.target, call.identifier) == ("mcp/request", "tools/call", "shell", "c1")
    assert payload_of(asked, 0)["params"] == {"name": "shell", "arguments": {"command": ["ls"]}}
    (answer,) = read_line(item("function_call_output", call_id="c1", output="a.txt")).derived_messages
    assert (answer.kind, answer.correlation, answer.failed) == ("mcp/response", "c1", False)


def test_tools_of_a_namespace_are_those_of_a_server() -> None:
    (one,) = read_line(
        item("function_call", name="open", namespace="mcp__ide", arguments="{}", call_id="c")
    ).derived_messages
    assert one.to == ("mcp:ide",)


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Exit code: 0\nOutput:\n", False),
        ("Exit code: 1\nOutput:\n", True),
        ("Exit code: -9\nOutput:\n", True),
        ("It printed Exit code: 1\n", False),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nx", True),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", False),
        ('{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}', True),
        ('{"output":"x","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ('{"output":"\\"metadata\\":{\\"exit_code\\":2}","metadata":{"exit_code":0}}', False),
        ('{"output":"' + "x" * 5_000 + '","metadata":{"exit_code":1}}', True),
        ({"content": "no", "success": False}, True),
        ({"content": "yes", "success": True}, False),
        ([{"type": "input_text", "text": "Exit code: 1\n"}], True),
        (
            [
                {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"},
                {"type": "input_text", "text": '{"wall_time_seconds":0.1,"exit_code":3,"output":"no"}'},
            ],
            True,
        ),
        (
            [
                {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"},
                {"type": "input_text", "text": '{"exit_code":0,"output":"yes"}'},
            ],
            False,
        ),
        (
            [
                {"type": "input_text", "text": "Script failed\nWall time 0.2 seconds\nOutput:\n"},
                {"type": "input_text", "text": "ReferenceError"},
            ],
            True,
        ),
        (
            [
                {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"},
                {"type": "input_text", "text": '{"exit_code":3}'},
            ],
            False,
        ),
        ('Script completed\nWall time 0.2 seconds\nOutput:\n{"exit_code":3,"output":"no"}', True),
        (None, False),
    ],
)
def test_an_exit_code_is_a_failure(output: object, failed: bool) -> None:
    assert read_output(output).failed is failed


@pytest.mark.parametrize(
    ("output", "declined", "failed"),
    [
        ("exec command rejected by user", True, False),
        ([{"type": "input_text", "text": "rejected by user"}], True, False),
        (
            [{"type": "input_text", "text": "Exit code: 1\nWall time: 3 seconds\nOutput:\nrejected by user"}],
            False,
            True,
        ),
        ([{"type": "input_text", "text": "Wall time: 3 seconds\nOutput:\nrejected by user"}], False, False),
    ],
)
def test_what_a_command_printed_is_no_refusal(output: object, declined: bool, failed: bool) -> None:
    (answer,) = read_line(item("function_call_output", call_id="c", output=output)).derived_messages
    assert (answer.declined, answer.failed) == (declined, failed)


def test_usage_is_counted_in_one_arithmetic_and_known_by_its_total() -> None:
    last = {"input_tokens": 100, "cached_input_tokens": 70, "cache_write_input_tokens": 10, "output_tokens": 9}
    info = {"total_token_usage": {**last, "total_tokens": 109}, "last_token_usage": last}
    (one,) = read_line(line("event_msg", type="token_count", info=info)).derived_messages
    call = one.call
    assert call is not None
    assert (call.input, call.cache_read, call.cache_write, call.output) == (20, 70, 10, 9)
    (record,) = read_line(
        line("token_usage_record", usage=last, thread_token_usage={**last, "total_tokens": 109})
    ).derived_messages
    assert record.call is not None
    assert record.call.identifier == call.identifier
    (nothing,) = read_line(line("event_msg", type="token_count", info=None)).derived_messages
    assert nothing.call is None


def test_pictures_and_what_is_encrypted_are_told_by_their_size() -> None:
    url = "data:image/png;base64," + "iVBORw0K" * 100
    read = read_line(item("message", role="user", content=[{"type": "input_image", "image_url": url}]))
    assert texts(read) == ["image, image/png, 600 B"]
    found = payload_of(read_line(item("compaction", encrypted_content="g" * 1_000)), 0)
    assert found["encrypted_content"] == "encrypted, 1,000 characters"


BARE = [
    {"id": "t1", "timestamp": TIME, "instructions": "Be brief.", "git": None},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"},
    {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
    {"type": "function_call_output", "call_id": "c1", "output": "ok"},
]


def test_items_of_the_first_generation_stand_alone() -> None:
    read = [read_line_as(json.dumps(one).encode()) for one in BARE]
    assert {label for _, label in read} == {"codex"}
    assert [one.kind for record, _ in read for one in record.derived_messages] == [
        "codex/session_meta", "chat", "codex/state", "chat", "reasoning/thought", "mcp/request", "mcp/response",
    ]  # fmt: skip
    assert texts(read[0][0])[1] == "Be brief."


@pytest.mark.parametrize(
    "other",
    [
        {"type": "message", "role": "user", "content": "Go."},
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "input_text"}]},
        {"timestamp": TIME, "instructions": "x"},
        {"record_type": "order", "id": 1},
        {"protocol": "mew/v0.4", "id": "1", "ts": TIME, "from": "a", "kind": "chat", "payload": {"timestamp": 1}},
        {"timestamp": TIME, "payload": {"type": "message"}},
        {"timestamp": 5, "type": "session_meta", "payload": {}},
        {"timestamp": TIME, "type": "session_meta", "payload": "x"},
    ],
)
def test_what_is_none_of_a_thread(other: dict[str, Any]) -> None:
    assert read_line_as(json.dumps(other).encode())[1] != "codex"


def test_a_type_that_came_later_is_a_row_but_makes_no_file_one_of_codex() -> None:
    record, label = read_line_as(line("mood_changed", mood="calm"))
    assert (record.shape, record.derived_messages[0].kind, label) == (Shape.DERIVED, "codex/mood_changed", None)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["type", "text", "content", "role", "info", "item", "id", "source"]), inner),
    max_leaves=10,
)  # fmt: skip


@given(
    type_=st.sampled_from(["session_meta", "response_item", "event_msg", "turn_context", "compacted", "other_one"]),
    inner=st.sampled_from([
        "message", "reasoning", "function_call", "function_call_output", "token_count", "item_completed",
        "user_message",
        "web_search_call", "agent_message", "thread_rolled_back", "exec_command_end", "error",
    ]),
    members=st.dictionaries(
        st.sampled_from([
            "content", "summary", "output", "arguments", "call_id", "info", "item", "message", "source", "id", "action",
            "base_instructions", "replacement_history", "usage", "command", "num_turns", "encrypted_content", "images",
        ]), _JSON, max_size=5,
    ),
)  # fmt: skip
def test_whatever_its_members_are_a_record_is_read_and_says_something(
    type_: str, inner: str, members: dict[str, Any]
) -> None:
    read = read_line(line(type_, **members, type=inner))
    assert read.shape is Shape.DERIVED
    assert read.derived_messages
    for number in range(len(read.derived_messages)):
        assert isinstance(payload_of(read, number), dict)


@given(
    sort=st.sampled_from(["thread.started", "turn.completed", "turn.failed", "item.started", "item.completed"]),
    item=st.sampled_from(["command_execution", "mcp_tool_call", "collab_tool_call", "todo_list", "agent_message", "x"]),
    members=st.dictionaries(
        st.sampled_from([
            "id", "text", "command", "exit_code", "status", "aggregated_output", "arguments", "result", "error", "tool",
            "server", "items", "agents_states", "receiver_thread_ids", "prompt", "changes",
        ]), _JSON, max_size=6,
    ), other=_JSON,
)  # fmt: skip
def test_whatever_an_event_of_exec_holds_it_is_read_and_says_something(
    sort: str, item: str, members: dict[str, Any], other: Any
) -> None:
    items: tuple[dict[str, Any], ...] = ({"item": {"type": item, **members}}, {"item": other})
    for more in (*(items if sort.startswith("item.") else ()), {"usage": other}, {"error": other}):
        read = read_line(json.dumps({"type": sort, **more}).encode())
        if isinstance(more.get("error"), str):  # Codex writes an object: this is the error of a gateway
            assert read.shape is Shape.ERROR
            continue
        assert read.shape is Shape.DERIVED
        assert read.derived_messages
        assert all(payload_of(read, number) for number in range(len(read.derived_messages)))


def test_a_thread_read_from_its_middle_has_no_session_until_it_names_one() -> None:
    log = GrowingLog()
    for one in ({"type": "turn.started"}, {"type": "turn.completed"}, {"type": "thread.started", "thread_id": "t1"}):
        log.write(one)
    spaces = [FIELD_BY_NAME["space"].value(log.document.analysis, row) for row in range(3)]
    assert spaces == [None, None, "t1"]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "turn.started"},
        {"type": "turn.completed"},
        {"type": "turn.completed", "sessionId": "s", "turnId": "t", "stopReason": "end_turn"},
        {"type": "turn.completed", "usage": {"input_tokens": 3, "output_tokens": 1}},
        {"type": "turn.failed", "reason": "timeout"},
        {"type": "item.completed", "item": {"type": "note", "text": "done"}},
        {"type": "thread.started", "name": "main"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "b3Bh", "status": "completed"},
    ],
)
def test_events_that_other_programs_print_alike_make_no_file_one_of_codex(event: dict[str, Any]) -> None:
    assert read_line_as(json.dumps(event).encode())[1] != "codex"
