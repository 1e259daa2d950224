"""Logs of LiteLLM: exchanges from payloads and rows of spend logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.litellm.conversion import CONVERSION, begins_log
from inspector.formats.model_api.usage import stated_cost
from tests.builders import document_at, field_values, log_file

SAMPLES = Path(__file__).parents[3] / "inspector/formats/litellm/samples"
ROW: dict[str, Any] = {
    "request_id": "r", "call_type": "acompletion", "spend": 0.5, "startTime": "2026-04-24T03:06:40Z",
    "endTime": "2026-04-24T03:06:41Z", "model": "m-1", "prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
}  # fmt: skip


def opened(value: Any) -> CaptureDocument:
    return document_at(log_file(json.dumps(value).encode(), "log.json"))


def tokens(document: CaptureDocument) -> tuple[int, int] | None:
    found = document.analysis.usage.total()
    return None if found is None else (found.input, found.output)


@pytest.mark.parametrize("value", [ROW, [ROW], {"data": [ROW], "total": 1}, {"standard_logging_object": ROW}])
def test_tokens_and_cost_of_calls_without_messages(value: Any) -> None:
    document = opened(value)
    assert (document.format, len(document.capture)) == ("litellm", 2)
    assert tokens(document) == (9, 3)
    assert document.capture.extracted.stated_costs()[1].tolist() == [0.5]


def test_stored_messages() -> None:
    document = document_at(SAMPLES / "kitchen-payloads.jsonl")
    assert tokens(document) == (55, 14)
    assert sum(document.capture.extracted.stated_costs()[1].tolist()) == pytest.approx(0.00055)
    failed = document.capture.records.payload(len(document.capture) - 1)
    assert failed["error"]["message"] == "status 429 RateLimitError: Too many requests"


def test_a_failure_without_a_status() -> None:
    document = opened({**ROW, "status": "failure", "error_str": "connection lost"})
    assert document.capture.string("kind", len(document.capture) - 1) == "mcp/response"
    assert field_values(document, "state")[0] == ("failed",)
    assert tokens(document) is None


@pytest.mark.parametrize(
    ("kind", "messages"),
    [("aresponses", "Hi"), ("atext_completion", [{"role": "user", "content": "Hi"}]), ("anthropic_messages", [])],
)
def test_types_of_calls(kind: str, messages: Any) -> None:
    document = opened({**ROW, "call_type": kind, "messages": messages})
    assert document.capture.string("kind", 0) in ("mcp/request", "http/request")


def test_other_files_are_no_logs() -> None:
    assert not begins_log(b'{"call_type": "a", "startTime": 1}')
    assert not begins_log(json.dumps({"data": {"call_type": 1, "startTime": 2}}).encode())


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.5}, 0.5),
        ({"cost": {"total_cost": 0.25}}, 0.25),
        ({"cost": True}, None),
        ({"cost": -1}, None),
        ({}, None),
    ],
)
def test_cost_that_an_answer_states(usage: dict[str, Any], cost: float | None) -> None:
    assert stated_cost({"usage": usage}) == cost


_ANY = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("[1]") | st.just({"a": [1]})
)


@given(st.dictionaries(st.sampled_from([
    *ROW, "messages", "response", "metadata", "status", "error_information", "proxy_server_request", "api_base",
    "model_parameters", "completionStartTime", "session_id",
]), _ANY))  # fmt: skip
def test_values_of_any_type(values: dict[str, Any]) -> None:
    record = {**ROW, **values}
    path = log_file(json.dumps(record).encode(), "log.json")
    assert list(CONVERSION.convert(path).lines())
