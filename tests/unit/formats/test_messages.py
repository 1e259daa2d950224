"""Message arrays of model APIs: what each shape means, histories that are sent again, and what is no such thing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.line_reading import read_line_as
from inspector.protocol.record import Shape
from inspector.protocol.timestamps import parse_time
from tests.builders import GrowingLog, document_at, document_of
from tests.samples import FORMAT_SAMPLES

SAMPLE = FORMAT_SAMPLES["messages.jsonl"]
ASK = {"role": "user", "content": "Is berth 4 free?"}
CALL = {"type": "function_call", "call_id": "c1", "name": "berths", "arguments": '{"berth":4}'}
FOUND = {"type": "function_call_output", "call_id": "c1", "output": "free"}


def values(field: str, *lines: Any) -> list[object]:
    document = document_of(*lines)
    return [FIELD_BY_NAME[field].value(document.analysis, m) for m in range(len(document.capture))]


def test_the_sample() -> None:
    document = document_at(SAMPLE)
    calls, usage = tool_calls(document.analysis), document.analysis.usage.total()
    assert (calls.tools, calls.answered, calls.failed) == (5, 5, 2)
    assert calls.by_tool == {"berths": 4, "mcp__harbour__reserve": 1}
    assert usage is not None
    assert usage._asdict() == {"input": 230, "output": 36, "cache_read": 310, "cache_write": 10}
    assert document.analysis.usage.calls_by_model() == {"gpt-5.2": 2, "claude-opus-5": 1, "gemini-3-pro": 1}
    assert len(document.analysis.contexts.spaces) == 3


def test_a_note_of_the_program_hides_no_message_of_its_history() -> None:
    said = [{"role": "user", "content": "bake"}, {"role": "assistant", "content": "baked"}]
    assert values("kind", {"platform": "cli", "messages": [*said, {"role": "session_meta"}]}) == ["chat", "chat"]


def test_a_history_that_is_sent_again_is_the_same_messages() -> None:
    first = {"messages": [ASK]}
    second = {"messages": [ASK, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "Thanks"}]}
    assert values("repeats", first, second) == [None, 1, None, None]
    assert len(set(values("space", first, second))) == 1


def test_a_history_is_the_same_whenever_a_logger_wrote_it() -> None:
    asked, answered = {"messages": [ASK]}, {"choices": [{"message": {"role": "assistant", "content": "Yes"}}]}
    again = {"messages": [ASK, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "Sure?"}]}
    pairs = [
        {"timestamp": f"2026-01-05T09:00:0{second}Z", "request": one, "response": answered}
        for second, one in enumerate((asked, again))
    ]
    assert values("repeats", *pairs) == [None, None, 1, 2, None, None]


def test_what_stands_alone_is_said_again_and_no_copy() -> None:
    go_on, done = {"role": "user", "content": "Go on"}, {"role": "assistant", "content": "Done"}
    assert values("repeats", go_on, done, go_on, done) == [None] * 4
    call = {"functionCall": {"name": "look", "args": {}}}
    looks = [{"candidates": [{"content": {"role": "model", "parts": [call]}}]}] * 2
    assert values("repeats", *looks) == [None, None]
    said = {"message": {"role": "assistant", "content": "yes"}}
    named = [{"id": name, "choices": [said], "usage": {}} for name in ("a", "b", "a")]
    assert values("repeats", *named) == [None, None, 1]


def test_answers_without_an_id_are_calls_of_their_own() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1}
    answers = [{"choices": [{"message": {"role": "assistant", "content": "yes"}}], "usage": usage}] * 3
    document = document_of(*answers)
    total = document.analysis.usage.total()
    assert total is not None
    assert (total.input, total.output) == (30, 3)


def test_what_asks_gemini_needs_no_role_and_what_answers_may_be_a_list_of_chunks() -> None:
    parts = [{"text": "Is berth 4 free?"}]
    assert values("from", {"contents": [{"parts": parts}]}, {"contents": {"parts": parts}}) == ["user", "user"]
    chunks = [
        {"candidates": [{"content": {"parts": [{"text": text}]}}], "usageMetadata": {"promptTokenCount": 7}}
        for text in ("It ", "is.")
    ]
    saved = {"method": "generateContentStream", "response": chunks}
    assert values("text", saved) == ["It is."]
    assert values("usage.input", saved) == [7]
    assert values("kind", saved, {"method": "x", "response": [{"a": 1}]}) == ["chat", ""]


def test_a_system_prompt_is_of_its_own_conversation() -> None:
    told = {"role": "system", "content": "Be brief"}
    lines = {"messages": [told, ASK]}, {"messages": [told, {"role": "user", "content": "Another thing"}]}
    assert values("repeats", *lines) == [None] * 4
    assert len(set(values("space", *lines))) == 2


def test_items_in_an_array_are_a_models_and_not_a_thread(tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    for items in ([ASK, CALL, FOUND], [CALL, FOUND]):
        path.write_text(json.dumps(items, indent=1), "utf-8")
        document = document_at(path)
        assert (document.format, document.unreadable) == ("messages", 0)
        assert tool_calls(document.analysis).answered == 1


_SAVED = {"id": "r1", "model": "m-1", "choices": [{"message": {"role": "assistant", "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "berths", "arguments": "{}"}}]}}]}  # fmt: skip


def test_a_call_in_an_answer_saved_without_its_request_waits_for_nothing() -> None:
    document = document_of(_SAVED, {**_SAVED, "id": "r2"})
    found = tool_calls(document.analysis)
    assert (found.tools, found.unanswered, found.untraced) == (2, 0, 2)
    assert document.analysis.states.state_of(0) is MessageState.NONE
    # With its request, the log would have the result.
    asked = document_of({"model": "m-1", "messages": [ASK]}, _SAVED)
    assert (tool_calls(asked.analysis).unanswered, tool_calls(asked.analysis).untraced) == (1, 0)


def test_a_call_in_a_saved_answer_waits_once_another_message_comes() -> None:
    log = GrowingLog()
    log.write(json.dumps(_SAVED).encode())
    assert log.document.analysis.states.state_of(0) is MessageState.NONE
    assert 0 in {row for changes in log.write(json.dumps(ASK).encode()) for row in changes.changed.tolist()}
    assert log.document.analysis.states.state_of(0) is MessageState.WAITING


def test_calls_without_ids_are_answered_by_name_and_order() -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "berths", "arguments": "{}"}}
    given_ = {"role": "function", "name": "berths", "content": "free"}
    assert values("answers", {"messages": [ASK, asked, given_, asked, given_]}) == [None, None, 2, None, 4]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []}, {"messages": ["a"]}, {"messages": [{"role": "pilot", "content": "x"}]},
        {"messages": [{"info": {}, "parts": []}]}, {"history": [ASK]}, {"role": "user"},
        {"role": "user", "content": "x", "sessionId": "s"}, {"choices": []}, {"output": []},
        {"error": {"message": "down"}, "level": "error"}, {"response": {"body": {"error": {"message": "not found"}}}},
        {"request": {"url": "/"}, "response": {"message": {"role": "user", "content": "x"}}}, {"error": "down"},
        {"model": "m", "input": "2+2", "output": "4", "score": 1}, {"output": [{"type": "a"}], "usage": 1},
    ],
)  # fmt: skip
def test_what_is_none(value: Any) -> None:
    assert read_line_as(json.dumps(value).encode())[1] != "messages"


_EVENTS = (
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m1","model":"gpt-5.2","usage":{}}}\n\n'
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Yes"}}\n\n'
    'data: {"type":"message_delta","delta":{"stop_reason":"stop"},"usage":{"output_tokens":1}}\n\n'
)
_ANSWER = {"choices": [{"message": {"role": "assistant", "content": "Yes"}, "finish_reason": "stop"}],
           "model": "gpt-5.2", "usage": {"prompt_tokens": 9, "completion_tokens": 1}}  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ({"request": {"messages": [ASK]}}, {"response": _ANSWER}),
        ({"messages": [ASK], "call_type": "completion"}, {"response": _ANSWER}),
        ({"request": {"url": "/v1", "body": json.dumps({"messages": [ASK]})}}, {"response": {"body": _ANSWER}}),
        ({"request": {"body": {"messages": [ASK]}}}, {"response": {"status_code": "200", "body": _EVENTS}}),
        ({"url": "/v1", "request_body": {"messages": [ASK]}}, {"response_body": _ANSWER}),
    ],
)
def test_a_request_and_its_answer_in_one_line(asked: dict[str, Any], answered: dict[str, Any]) -> None:
    document = document_of({"time": "2026-01-05T09:00:00Z", **asked, **answered})
    assert [FIELD_BY_NAME["text"].value(document.analysis, row) for row in range(2)] == ["Is berth 4 free?", "Yes"]
    assert document.analysis.usage.calls_by_model() == {"gpt-5.2": 1}
    assert FIELD_BY_NAME["time"].value(document.analysis, 1) == parse_time("2026-01-05T09:00:00Z")
    assert FIELD_BY_NAME["stop_reason"].value(document.analysis, 1) == "stop"


def test_what_tools_of_geminis_own_side_brought_is_input() -> None:
    usage = {
        "promptTokenCount": 21,
        "candidatesTokenCount": 96,
        "thoughtsTokenCount": 86,
        "toolUsePromptTokenCount": 160,
    }
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "28"}]}}], "usageMetadata": usage}
    total = document_of(answer).analysis.usage.total()
    assert total is not None
    assert (total.input, total.output) == (181, 182)


def test_lines_of_batches() -> None:
    refused = {"error": {"type": "invalid_request_error", "message": "too long"}}
    lines = (
        {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": [ASK]}},
        {"custom_id": "a", "response": {"status_code": 200, "body": _ANSWER}, "error": None},
        {"custom_id": "b", "response": {"status_code": 400, "body": refused}, "error": None},
        {"custom_id": "c", "result": {"type": "errored", "error": {"type": "error", **refused}}},
    )
    told = "invalid_request_error: too long"
    assert values("text", *lines) == ["Is berth 4 free?", "Yes", told, told]
    assert values("error", *lines) == [None, None, True, True]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"role": "assistant", "type": "message", "content": [], "stop_reason": "refusal", "usage": {}}, "refusal"),
        ({"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": {"promptTokenCount": 8}}, "SAFETY"),
        ({"promptFeedback": {"blockReason": "OTHER"}}, "OTHER"),
    ],
)
def test_an_answer_without_a_word_says_why(body: dict[str, Any], said: str) -> None:
    assert values("text", body) == [f"nothing was said: {said}"]


@pytest.mark.parametrize(
    ("given_back", "failed"),
    [
        ({"type": "web_fetch_tool_result_error", "error_code": "unavailable"}, True),
        ({"type": "bash_code_execution_result", "return_code": 2, "stdout": ""}, True),
        ({"type": "bash_code_execution_result", "return_code": 0, "stderr": "warning"}, False),
        ([{"outcome": {"type": "exit", "exit_code": 1}, "stdout": ""}], True),
        ([{"outcome": {"type": "timeout"}, "stdout": ""}], True),
        ([{"type": "web_search_result", "title": "timeout"}], False),
    ],
)
def test_what_the_models_side_gave_back_tells_a_failure(given_back: Any, failed: bool) -> None:
    block = {"type": "server_tool_use", "id": "s1", "name": "run", "input": {}}
    result = {"type": "run_tool_result", "tool_use_id": "s1", "content": given_back}
    calls = tool_calls(document_of({"role": "assistant", "content": [block, result]}).analysis)
    assert (calls.tools, calls.answered, calls.failed) == (1, 1, int(failed))


def test_items_of_tools_that_nobody_knew() -> None:
    output = [{"type": "lathe_call", "call_id": "l1", "operation": {"turn": 3}, "status": "completed"},
              {"type": "lathe_call_output", "call_id": "l1", "output": "3 mm"},
              {"type": "verdict", "id": "v1"}]  # fmt: skip
    assert values("tool", {"object": "response", "output": output}) == ["lathe", "lathe", None]
    assert values("text", {"object": "response", "output": output})[2] == '{"type":"verdict","id":"v1"}'


def test_envelopes_stay_envelopes() -> None:
    written = {"kind": "chat", "from": "a", "payload": {"messages": [ASK], "role": "user"}}
    assert read_line_as(json.dumps(written).encode())[1] == "envelopes"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    | st.sampled_from(["user", "assistant", "tool", "function_call", "tool_use", "data:image/png;base64,AA"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["role", "content", "type", "parts", "id", "name", "tool_calls", "function", "text", "usage",
                         "call_id", "output", "source", "functionCall", "arguments", "x"]), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@example("output", {"role": ["user"]}, {})  # a role that no set can hold
@given(st.sampled_from(["messages", "contents", "input", "choices", "output", "candidates"]), _VALUES, _VALUES)
def test_values_of_any_type_are_read(key: str, one: Any, usage: Any) -> None:
    message = {"role": "user", **one} if isinstance(one, dict) else one
    written = {key: [{"role": "user", "content": "Go"}, message], "usage": usage, "model": "m"}
    record, _ = read_line_as(json.dumps(written).encode())
    assert record.shape in Shape
    document = document_of(ASK, written)
    for row in range(len(document.capture)):
        for name in ("text", "info", "repeats", "model"):
            FIELD_BY_NAME[name].value(document.analysis, row)
