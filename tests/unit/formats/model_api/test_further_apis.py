"""Bodies and streams of Bedrock Converse, Cohere, Google's Interactions, and text completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.views.account.tool_calls import tool_calls
from inspector.document.document import CaptureDocument
from inspector.formats.model_api.operations import asked_model, operation_of
from inspector.formats.model_api.reader import tools_in
from inspector.formats.model_api.streams import AnswerStream, stream_of
from inspector.formats.model_api.usage import api_call
from inspector.protocol.json_values import json_text
from tests.builders import document_at, lines_of, log_file, opened_document

ROOT = Path(__file__).parents[4]
SAMPLES = ROOT / "inspector/formats/model_api/samples"
STREAMS = ROOT / "tests/data/model-apis"


def usage(document: CaptureDocument) -> tuple[int, int, int, int]:
    found = document.analysis.usage.total()
    assert found is not None
    return found.input, found.output, found.cache_read, found.cache_write


def read(lines: list[dict[str, Any]], block_bytes: int) -> CaptureDocument:
    return opened_document(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes)


@pytest.mark.parametrize("name", ["converse-stream", "cohere-stream", "interaction-stream"])
def test_stream_is_one_answer_in_pieces_of_any_size(name: str) -> None:
    path = STREAMS / f"{name}.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    whole, pieces = document_at(path), read(lines, 1)
    assert usage(whole) == usage(pieces)
    assert len(whole.capture) == len(pieces.capture)


def test_streamed_call_has_its_arguments() -> None:
    for name in ("converse-stream", "cohere-stream", "interaction-stream"):
        document = document_at(STREAMS / f"{name}.jsonl")
        call = next(
            one
            for row in range(len(document.capture))
            if (one := document.capture.records.payload(row).get("params")) is not None
        )
        assert call == {"name": "oven", "arguments": {"rack": 2}}


def test_calls_meet_their_results() -> None:
    document = document_at(SAMPLES / "calls-of-apis.jsonl")
    payloads = map(document.capture.records.payload, range(len(document.capture)))
    texts = [one["result"]["content"][0]["text"] for one in payloads if "result" in one]
    assert tool_calls(document.analysis).answered == 3
    assert texts == ['{"celsius":200}', '{"celsius":200}', "hot"]


@pytest.mark.parametrize(
    ("reported", "tokens"),
    [
        ({"inputTokens": 20, "outputTokens": 5, "cacheReadInputTokens": 70, "cacheWriteInputTokens": 9},
         (20, 5, 70, 9)),
        ({"billed_units": {"input_tokens": 11}, "tokens": {"input_tokens": 150, "output_tokens": 20},
          "cached_tokens": 100}, (50, 20, 100, 0)),
        ({"billed_units": {"input_tokens": 11, "output_tokens": 2}}, (11, 2, 0, 0)),
        ({"total_input_tokens": 22, "total_output_tokens": 5, "total_thought_tokens": 3, "total_tool_use_tokens": 8,
          "total_cached_tokens": 10}, (20, 8, 10, 0)),
    ],
)  # fmt: skip
def test_usage(reported: dict[str, Any], tokens: tuple[int, ...]) -> None:
    call = api_call({"usage": reported})
    assert call is not None
    assert (call.input, call.output, call.cache_read, call.cache_write) == tokens


@pytest.mark.parametrize("named", ["", "prompted"])
def test_text_completion(named: str) -> None:
    chunk = {"id": named, "object": "text_completion", "model": "m-1"}
    lines = [
        {**chunk, "choices": [{"text": "Two ", "index": 0, "finish_reason": None}]},
        {**chunk, "choices": [{"text": "hours.", "index": 0, "finish_reason": "stop"}]},
        {**chunk, "choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}},
    ]
    whole = {**chunk, "choices": [{"text": "Two hours.", "finish_reason": "stop"}], "usage": lines[-1]["usage"]}
    for document in (read(lines, 1 << 20), read([whole], 1 << 20)):
        assert [document.capture.records.payload(0)["text"], len(document.capture)] == ["Two hours.", 1]
        assert usage(document) == (9, 3, 0, 0)


def test_answer_that_begins_twice_is_one() -> None:
    begun = {"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 7}}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hot."}}
    document = read([begun, begun, block, {"type": "message_delta", "usage": {"output_tokens": 2}}], 1 << 20)
    assert len(document.capture) == 1
    assert usage(document) == (7, 2, 0, 0)


@pytest.mark.parametrize(
    ("path", "body", "name", "model"),
    [
        ("/model/us.m-1%3A0/converse", {"messages": []}, "Converse", "us.m-1:0"),
        ("/model/m-1/converse-stream", {"messages": []}, "ConverseStream", "m-1"),
        ("/model/m-1/invoke", {"anthropic_version": "b", "messages": []}, "InvokeModel", "m-1"),
        ("/v2/chat", {"model": "command-x", "messages": []}, "chat", "command-x"),
        ("/v1beta/interactions", {"agent": "deep", "input": "Hi"}, "interactions.create", "deep"),
        ("/v1/completions", {"model": "m-1", "prompt": "Hi"}, "completions.create", "m-1"),
        ("/v1/chat/completions", {"model": "m-1", "messages": []}, "chat.completions.create", "m-1"),
        ("/other/interactions", {"page": 1}, None, None),
    ],
)
def test_operation(path: str, body: dict[str, Any], name: str | None, model: str | None) -> None:
    found = operation_of(path, body)
    assert (found.name if found is not None else None) == name
    assert asked_model(path, body) == model


def test_tools_of_bedrock() -> None:
    tools = [{"toolSpec": {"name": "oven"}}, {"cachePoint": {"type": "default"}}]
    assert tools_in({"toolConfig": {"tools": tools}}) == [{"name": "oven"}]


def joined(*events: dict[str, Any]) -> dict[str, Any]:
    stream: AnswerStream | None = stream_of(events[0])
    assert stream is not None
    for event in events:
        stream.add_event(event)
    return stream.body()


def test_failure_within_a_stream() -> None:
    converse = joined({"messageStart": {"role": "assistant"}}, {"throttlingException": {"message": "too fast"}})
    assert converse["error"] == {"type": "throttlingException", "message": "too fast"}
    begun = {"event_type": "interaction.created", "interaction": {"id": "v1"}}
    assert joined(begun, {"event_type": "error", "error": {"message": "no"}})["error"] == {"message": "no"}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "text", "thinking", "oven", "model_output"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "event_type", "delta", "message", "content", "tool_calls", "function", "contentBlockDelta", "text",
             "contentBlockStart", "start", "toolUse", "contentBlockIndex", "index", "step", "interaction", "arguments",
             "messageStop", "metadata", "usage", "reasoningContent", "signature"]
        ), inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.text(max_size=3), _VALUES) | _VALUES, max_size=8))
def test_events_of_any_type(events: list[Any]) -> None:
    firsts = (
        {"messageStart": {"role": "assistant"}},
        {"type": "message-start", "delta": {}},
        {"event_type": "interaction.created", "interaction": {}},
    )
    for first in firsts:
        body = joined(first, *(one for one in events if isinstance(one, dict)))
        assert json_text(str(body))
        api_call(body)
