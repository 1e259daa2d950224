"""The events of a streamed answer, joined into the body that would have come at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats.model_api import growing_texts
from inspector.formats.model_api.growing_texts import MAX_JOINED, MAX_PIECES
from inspector.formats.model_api.streams import (
    AnswerStream,
    AnthropicStream,
    ChatStream,
    GeminiStream,
    ResponsesStream,
    stream_of,
)


def joined(stream: AnswerStream, *events: dict[str, Any]) -> dict[str, Any]:
    for event in events:
        stream.add_event(event)
    return stream.body()


def delta(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def begun(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def part(index: int, state: str, **item: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{state}", "output_index": index, "item": item}


def test_anthropic_blocks_are_told_apart_by_number() -> None:
    found = joined(
        AnthropicStream(),
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 9, "output_tokens": 1}}},
        begun(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"), {"type": "ping"},
        begun(1, type="tool_use", id="t1", name="tide", input={}),
        delta(1, type="input_json_delta", partial_json=""), delta(1, type="input_json_delta", partial_json='{"port"'),
        delta(0, type="signature_delta", signature="c2ln"), delta(1, type="input_json_delta", partial_json=':"Elbe"}'),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7, "x": None}},
        {"type": "message_stop"},
    )  # fmt: skip
    assert found == {
        "type": "message", "role": "assistant", "id": "msg_1", "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 7},
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "tide", "input": {"port": "Elbe"}},
        ],
    }  # fmt: skip


def test_a_call_without_pieces_has_no_arguments_and_a_torn_one_what_came() -> None:
    call = begun(0, type="tool_use", name="now", input={})
    assert joined(AnthropicStream(), call)["content"][0]["input"] == {}
    torn = joined(AnthropicStream(), call, delta(0, type="input_json_delta", partial_json='{"a":'))
    assert torn["content"][0]["input"] == '{"a":'


def test_an_error_in_the_stream_stays_with_what_came() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert joined(AnthropicStream(), error) == error
    assert (
        joined(AnthropicStream(), {"type": "message_start", "message": {"id": "m"}}, error)["error"] == error["error"]
    )


def test_choices_and_calls_of_chat_chunks_are_told_apart_by_number() -> None:
    def chunk(**delta: Any) -> dict[str, Any]:
        return {"id": "c1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}

    found = joined(
        ChatStream(), chunk(role="assistant", content=""), chunk(content="Let me "), chunk(content="see."),
        chunk(tool_calls=[{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]),
        chunk(tool_calls=[{"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": '{"x":'}}]),
        chunk(tool_calls=[{"index": 0, "function": {"arguments": "1}"}}]),
        {"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}], "usage": None},
        {"id": "c1", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )  # fmt: skip
    assert found["choices"] == [
        {
            "index": 0, "finish_reason": "tool_calls",
            "message": {
                "role": "assistant", "content": "Let me see.",
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
                    {"id": "b", "function": {"name": "g", "arguments": "{}"}},
                ],
            },
        }
    ]  # fmt: skip
    assert found["usage"] == {"prompt_tokens": 5, "completion_tokens": 2}


def test_the_last_event_of_a_response_holds_all_of_it() -> None:
    whole = {"object": "response", "id": "r1", "status": "completed", "output": [{"type": "message", "content": []}]}
    begun = {"type": "response.created", "response": {"object": "response", "id": "r1", "output": []}}
    text = {"type": "response.output_text.delta", "output_index": 0, "delta": "Ye"}
    assert joined(ResponsesStream(), begun, text, {"type": "response.completed", "response": whole}) == whole


def test_a_response_that_never_ends_is_as_far_as_it_came() -> None:
    found = joined(
        ResponsesStream(),
        {"type": "response.created", "response": {"object": "response", "id": "r1", "output": []}},
        part(0, "done", type="reasoning", id="rs", summary=[]),
        part(1, "added", type="message", role="assistant", content=[]),
        {"type": "response.output_text.delta", "output_index": 1, "delta": "Ye"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "s"},
        part(2, "added", type="function_call", call_id="c", name="f"),
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"a"'},
    )  # fmt: skip
    assert [item.get("content", item.get("arguments", item["type"])) for item in found["output"]] == [
        "reasoning", [{"type": "output_text", "text": "Yes"}], '{"a"',
    ]  # fmt: skip


def test_parts_of_one_sort_are_one_in_geminis_answer() -> None:
    def chunk(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}

    found = joined(
        GeminiStream(), chunk({"text": "hm", "thought": True}), chunk({"text": "Ye"}), chunk({"text": "s"}),
        {**chunk({"functionCall": {"name": "f"}}, finishReason="STOP"), "usageMetadata": {"promptTokenCount": 3}},
    )  # fmt: skip
    assert found["candidates"][0] == {
        "finishReason": "STOP",
        "content": {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, {"text": "Yes"}, {"functionCall": {"name": "f"}}],
        },
    }


def test_what_is_longer_than_is_joined_is_left_out_and_said_so() -> None:
    long = "x" * (MAX_JOINED // 2 + 1)
    found = joined(AnthropicStream(), delta(0, type="text_delta", text=long), delta(0, type="text_delta", text=long))
    assert (len(found["content"][0]["text"]), found["left_out"]) == (len(long), len(long))


_INNER = ("text", "partial_json", "content", "index", "function", "message", "delta", "parts")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from(["", "a", "text_delta", "input_json_delta"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_INNER), inner, max_size=3),
    max_leaves=8,
)
_KEYS = (
    "index", "delta", "content_block", "message", "usage", "choices", "response", "item", "output_index", "candidates",
    "error",
)  # fmt: skip
_TYPES = (
    "message_start", "content_block_start", "content_block_delta", "message_delta", "error", "response.created",
    "response.output_item.added", "response.output_item.done", "response.output_text.delta", "response.completed", "",
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(_TYPES), st.dictionaries(st.sampled_from(_KEYS), _VALUES)), max_size=6))
def test_events_of_any_shape_are_taken_in(events: list[tuple[str, dict[str, Any]]]) -> None:
    for stream in (AnthropicStream(), ChatStream(), ResponsesStream(), GeminiStream()):
        for sort, members in events:
            stream_of({"type": sort, **members})
            stream.add_event({"type": sort, **members})
        assert isinstance(stream.body(), dict)


def test_texts_and_arguments_of_gemini_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_texts, "MAX_JOINED", 100)

    def chunk(*parts: dict[str, Any]) -> dict[str, Any]:
        return {"candidates": [{"content": {"parts": list(parts)}}]}

    def argument(text: str, **more: Any) -> dict[str, Any]:
        piece = {"jsonPath": "$.text", "stringValue": text}
        return {"functionCall": {"partialArgs": [piece], "willContinue": True, **more}}

    words = [chunk({"text": "w" * 30}) for _ in range(9)]
    pieces = [chunk(argument("a" * 30, **({"name": "write"} if not number else {}))) for number in range(9)]
    for events in (
        words,
        pieces,
        [*words, *pieces],
        [chunk({"text": "t" * 30, "thought": bool(n % 2)}) for n in range(9)],
    ):
        assert len(str(joined(GeminiStream(), *events))) < 900
    paths = [{"jsonPath": f"$.p{number}", "numberValue": number} for number in range(2 * MAX_PIECES)]
    call = joined(GeminiStream(), chunk({"functionCall": {"name": "write", "partialArgs": paths}}))
    assert len(call["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]) == MAX_PIECES
