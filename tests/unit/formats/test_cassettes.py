"""Cassettes of VCR and flows of mitmproxy: the exchanges of another container."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from inspector.base import optional_dependencies
from inspector.document.document import CaptureDocument
from inspector.formats.exchange_entries import entry_to_lines
from inspector.formats.http_bodies import amazon_events, unpacked_body
from inspector.formats.mitmproxy.conversion import CONVERSION as FLOWS
from inspector.formats.vcr.conversion import begins_cassette
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, log_file

FORMATS = Path(__file__).parents[3] / "inspector/formats"
ASKED = {"model": "m-1", "messages": [{"role": "user", "content": "Bake"}]}
ANSWER = {
    "id": "c-1", "object": "chat.completion", "model": "m-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Two hours."}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3},
}  # fmt: skip


def tokens(document: CaptureDocument) -> tuple[int, int] | None:
    found = document.analysis.usage.total()
    return None if found is None else (found.input, found.output)


def cassette(request: dict[str, Any], response: dict[str, Any]) -> CaptureDocument:
    url = "https://api.example.com/v1/chat/completions"
    interaction = {
        "request": {"method": "POST", "uri": url, "headers": {}, **request},
        "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, **response},
    }
    return document_at(log_file(json.dumps({"version": 1, "interactions": [interaction]}).encode(), "kitchen.json"))


PACKED = base64.b64encode(gzip.compress(json.dumps(ANSWER).encode())).decode()
GZIP = {"Content-Encoding": ["gzip"]}


@pytest.mark.parametrize(
    ("request_body", "response"),
    [
        ({"body": json.dumps(ASKED)}, {"body": {"string": json.dumps(ANSWER)}}),
        ({"body": {"string": json.dumps(ASKED)}}, {"body": json.dumps(ANSWER)}),
        ({"parsed_body": ASKED}, {"parsed_body": ANSWER}),
        ({"body": json.dumps(ASKED)}, {"body": {"base64_string": PACKED}, "headers": GZIP}),
        ({"body": json.dumps(ASKED)}, {"body": {"string": json.dumps(ANSWER)}, "headers": GZIP}),
        ({"body": json.dumps(ASKED)}, {"parsed_body": ANSWER, "status": "200 OK", "code": 200}),
    ],
)
def test_bodies(request_body: dict[str, Any], response: dict[str, Any]) -> None:
    document = cassette(request_body, response)
    assert document.format == "vcr"
    assert [document.capture.string("kind", row) for row in range(len(document.capture))] == [
        "mcp/request", "chat", "mcp/response", "chat",
    ]  # fmt: skip
    assert tokens(document) == (9, 3)


def test_an_answer_has_the_time_of_its_date() -> None:
    header = {"name": "Date", "value": "Fri, 24 Apr 2026 03:06:41 GMT"}
    lines = [line for _, line in entry_to_lines({"response": {"status": 200, "headers": [header]}}, 1)]
    assert [line["t"] for line in lines] == [None, *["2026-04-24T03:06:41+00:00"] * 2]


def test_an_entry_without_times_has_none() -> None:
    lines = [line for _, line in entry_to_lines({"request": {}, "response": {"status": 200}}, 1)]
    assert [line["t"] for line in lines] == [None, None, None]


def test_chunks_of_gemini_in_a_list() -> None:
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}], "responseId": "r-1",
         "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}, "modelVersion": "gemini-x"}
        for text in ("Two ", "hours.")
    ]  # fmt: skip
    asked = {"contents": [{"role": "user", "parts": [{"text": "Bake"}]}]}
    url = "https://api.example.com/v1beta/models/gemini-x:streamGenerateContent"
    document = cassette({"parsed_body": asked, "uri": url}, {"parsed_body": chunks})
    assert document.capture.records.payload(3)["text"] == "Two hours."
    assert tokens(document) == (9, 3)


def test_yaml_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    monkeypatch.setattr(optional_dependencies, "_is_installed", lambda _name: False)
    with pytest.raises(UnknownFormatError, match=r"it is in YAML\. This needs the extra yaml .*\[yaml\]"):
        document_at(FORMATS / "vcr/samples/kitchen-cassette.yaml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("interactions:\n- request: {uri: [}\n", "it is no valid YAML in line 2"),
        ("interactions:\n- request: &a\n    parsed_body: [*a, *a]\n  response: *a\n", ""),
        ("interactions:\n- request:\n    parsed_body: &a [1]\n  response: !!python/object:os.x {a: *a}\n", ""),
    ],
)
def test_damaged_and_hostile_yaml(text: str, reason: str) -> None:
    path = log_file(text.encode(), "kitchen.yaml")
    if reason:
        with pytest.raises(UnknownFormatError, match=reason):
            document_at(path)
    else:
        assert document_at(path).unreadable == 0


def test_repeated_aliases_take_no_memory() -> None:
    rows = "".join(f"    - &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 20))
    text = f"interactions:\n- request:\n    uri: https://a.example/v1\n    parsed_body:\n    - &a0 [x]\n{rows}"
    document = document_at(log_file(text.encode(), "kitchen.yaml"))
    assert len(document.capture) == 2


@pytest.mark.parametrize("text", ["interactions:\n- kind: message\n", "interactions: 3\n", "other:\n- request: {}\n"])
def test_other_yaml_is_no_cassette(text: str) -> None:
    assert not begins_cassette(text.encode())


def test_flows_of_other_protocols_are_left_out() -> None:
    document = document_at(FORMATS / "mitmproxy/samples/kitchen.flow")
    assert document.format == "mitmproxy"
    assert document.capture.records.payload(len(document.capture) - 1)["error"]
    assert tokens(document) == (55, 14)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data[:-20], "it ends in the middle of its flow"),
        (lambda data: data + b"4:abcd?", "its flow 5 is damaged"),
        (lambda data: data + b"x", "its flow 5 is damaged"),
        (lambda data: data + b"999999999999:a", "its flow 5 has"),
    ],
)
def test_damaged_flows(change: Any, reason: str) -> None:
    path = log_file(change((FORMATS / "mitmproxy/samples/kitchen.flow").read_bytes()), "kitchen.flow")
    conversion = FLOWS.convert(path)
    with pytest.raises(ValueError, match=reason):
        list(conversion.lines())


@given(st.binary(max_size=200))
def test_any_bytes_as_a_body(data: bytes) -> None:
    for encoding in (None, "gzip", "deflate", "zstd", "br", "identity"):
        assert isinstance(unpacked_body(data, encoding), bytes | None)
    assert all(isinstance(one, dict) for one in amazon_events(data))


def test_encodings() -> None:
    data = b"Two hours."
    assert unpacked_body(gzip.compress(data), "gzip") == data
    assert unpacked_body(zlib.compress(data), "deflate") == data
    assert unpacked_body(zstandard.compress(data), "zstd") == data
    assert unpacked_body(data, "br") == data
    assert unpacked_body(b"\xff\xfe", "br") is None
