"""Tests of `inspector.analysis.passes.log_vocabulary`, and of sentences that use its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.analysis.passes.log_vocabulary import kind_word, kind_words
from inspector.document.document import CaptureDocument
from inspector.present.log_topics import spoken_kinds
from tests.builders import document_at, document_of, envelope, tool_call, tool_result
from tests.transcribed import ClaudeSession

SECRET = "password=q7Lx92mPzT4v"


def session() -> CaptureDocument:
    made = ClaudeSession()
    made.prompt("Write the settings")
    made.says({"type": "thinking", "thinking": "Easy", "signature": ""})
    made.runs("Write", {"file_path": "/work/app/a.env", "content": SECRET}, "written")
    made.text("Done")
    return document_of(*made.records)


def sentences(document: CaptureDocument) -> list[str]:
    return [finding.text for finding in document.analysis.findings.all() if finding.code == "secret-in-clear"]


def words(document: CaptureDocument) -> list[str]:
    return [kind_word(document.capture, message) for message in range(len(document.capture))]


def test_a_session_has_prompts_thoughts_calls_results_and_answers() -> None:
    assert words(session()) == ["prompt", "thought", "call", "result", "answer"]


def test_a_sub_agent_without_a_name_of_its_own_answers_the_user() -> None:
    document = document_at(Path("inspector/formats/crush/samples/crush.jsonl"))
    assert words(document)[11:13] == ["added", "answer"]


def test_mcp_has_requests_responses_and_notifications() -> None:
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}},
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    ]
    assert words(document_of(*said)) == ["request", "response", "notification"]


def test_mew_keeps_the_kinds_of_the_protocol() -> None:
    call = tool_call("grep")
    document = document_of(call, tool_result(call), envelope("reasoning/thought", {"message": "m"}))
    assert words(document) == ["", "", ""]
    assert spoken_kinds(document) == {}


@pytest.mark.parametrize(("topics", "request_word"), [
    (("agent",), "call"), (("trace",), "call"), (("mcp",), "request"), (("agent", "mcp"), "call or request"),
])  # fmt: skip
def test_values_of_the_field_have_words_where_a_whole_log_is_spoken_of(topics: list[str], request_word: str) -> None:
    assert kind_words(topics)["mcp/request"] == request_word


def test_a_secret_in_a_session_is_said_in_words_of_the_session() -> None:
    assert sentences(session()) == ["The call of Write has a secret in plain text in its argument `content`."]


def test_a_secret_in_mew_is_said_with_kind_and_path() -> None:
    call = tool_call("Write", arguments={"content": SECRET})
    wanted = "mcp/request from lead has a secret in plain text in `payload.params.arguments.content`."
    assert sentences(document_of(call)) == [wanted]
