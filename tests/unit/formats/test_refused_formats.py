"""Files that are refused: the sentences name the right kind, state true facts and a next step."""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.line_reading import read_line_as
from inspector.formats.refused_formats import HOW_TO_DECLARE, known_refusal, record_words, text_words
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, lines_of, log_file
from tests.commands import asked
from tests.samples import DATA

_NOT_YET = f"It is not read yet. {HOW_TO_DECLARE}"
_AS_OTLP = "It is not read yet. Export OTLP instead, to a file or to a collector."
_FOLDER = "Open the storage folder as a whole."
_CALL = {"id": "c1", "type": "function", "function": {"name": "oven", "arguments": "{}"}}
_USER = {"role": "user", "content": "bake"}
_SPAN = {"trace_id": "t", "span_id": "s"}

_KNOWN: tuple[tuple[Any, str, str], ...] = (
    ({"parentUuid": None, "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "bake"}]}},
     "a chat of Qwen Code (keys `parentUuid`, `sessionId`)", _NOT_YET),
    ({"type": "session", "version": 3, "id": "p", "timestamp": "2026-05-01T10:00:00Z", "cwd": "/w"},
     "a session of Pi (keys `type`, `version`, `id`, `timestamp`, `cwd`)", _NOT_YET),
    ([{"role": "user", "content": [{"type": "text", "text": "<task>\nbake\n</task>"}], "ts": 1}],
     "a conversation of Cline (keys `role`, `content`)", _NOT_YET),
    ([{"ts": 1, "type": "say", "say": "text", "text": "bake"}],
     "messages of Cline's window (keys `ts`, `type`)", _NOT_YET),
    ({"working_dir": "/w", "description": "Bread", "message_count": 4},
     "a session of goose (keys `working_dir`, `message_count`)", _NOT_YET),
    ({"id": "1", "working_dir": "/w", "conversation": [_USER]},
     "a session of goose (keys `working_dir`, `conversation`)", _NOT_YET),
    ({"v": 12, "id": "T-1", "created": 1, "messages": [{"role": "user", "messageId": 0, "content": []}]},
     "a thread of Amp (keys `v`, `id`, `messages`)", _NOT_YET),
    ({"role": "user", "message": {"content": [{"type": "text", "text": "bake"}]}},
     "a transcript of Cursor (keys `role`, `message`)", _NOT_YET),
    ({"version": "v1", "kind": "Prompt", "data": {"message_id": "k1", "content": []}},
     "a session of Kiro (keys `version`, `kind`, `data`)", _NOT_YET),
    ({"sessionId": "c1", "title": "Bread", "workspaceDirectory": "/w", "history": []},
     "a session of Continue (keys `sessionId`, `workspaceDirectory`, `history`)", _NOT_YET),
    ([{"uuid": "x1", "name": "Bread", "chat_messages": [{"uuid": "y1", "text": "bake", "sender": "human"}]}],
     "an export of claude.ai (keys `uuid`, `chat_messages`)", _NOT_YET),
    ([{"title": "Bread", "create_time": 1.5, "mapping": {"n": {"message": None}}, "current_node": "n"}],
     "an export of ChatGPT (keys `mapping`, `current_node`)", _NOT_YET),
    ({"id": "e1", "processed_at": "2026-08-16T18:21:35Z", "type": "user.message", "content": []},
     "events of a managed agent (keys `processed_at`, `type`)", _NOT_YET),
    ("data: " + json.dumps({"type": "RUN_STARTED", "threadId": "t", "runId": "r"}),
     "events of AG-UI (keys `type`, `threadId`, `runId`)", _NOT_YET),
    ({"$schemaVersion": "1.19", "context": {}, "current_agent": {"name": "baker"}, "original_input": "bake"},
     "a saved run of the OpenAI Agents SDK (keys `$schemaVersion`, `current_agent`, `original_input`)", _NOT_YET),
    ([{"source": "user", "models_usage": None, "metadata": {}, "content": "bake", "type": "TextMessage"}],
     "messages of AutoGen (keys `source`, `models_usage`, `type`)", _NOT_YET),
    ([{"type": "human", "data": {"content": "bake"}}], "messages of LangChain (keys `type`, `data`)", _NOT_YET),
    ({"spans": [], "final_output": "Two hours."}, "a trace of any-agent (keys `spans`, `final_output`)", _NOT_YET),
    ({"messageStart": {"role": "assistant"}}, "events of Bedrock's Converse API (key `messageStart`)", _NOT_YET),
    ({"id": "i", "object": "interaction", "outputs": []},
     "an answer of Google's Interactions API (keys `object`, `outputs`)", _NOT_YET),
    ("data: " + json.dumps({"type": "message-start", "delta": {"message": {}}}),
     "events of Cohere's chat API (keys `type`, `delta`)", _NOT_YET),
    ({"version": 1, "interactions": []}, "a cassette of VCR (keys `version`, `interactions`)", _NOT_YET),
    ({"schema_version": "ATIF-v1.4", "session_id": "h1", "steps": [{"source": "user", "message": "bake"}]},
     "a trajectory in ATIF (key `schema_version`)", _NOT_YET),
    ({"trajectory": [{"action": "ls", "observation": ""}], "history": [], "info": {"exit_status": "submitted"}},
     "a trajectory of SWE-agent (keys `trajectory`, `info`)", _NOT_YET),
    ({"environment": "e", "trajectory": [{"action": "ls"}], "history": [_USER]},
     "a trajectory of SWE-agent (keys `trajectory`, `history`)", _NOT_YET),
    ([{"id": 0, "source": "user", "message": "bake", "action": "message", "args": {}}],
     "a trajectory of OpenHands (keys `id`, `source`)", _NOT_YET),
    ({"instance_id": "bread-1", "history": [{"source": "user"}], "metrics": {}, "error": "RuntimeError: oven"},
     "an evaluation by OpenHands (keys `instance_id`, `history`, `metrics`)", _NOT_YET),
    ({"task_id": 0, "reward": 1.0, "info": {}, "traj": [_USER], "trial": 0},
     "runs of tau-bench (keys `task_id`, `reward`, `traj`)", _NOT_YET),
    ({"version": 2, "status": "success", "eval": {"task": "bread", "model": "m-1"}, "samples": []},
     "an evaluation log of Inspect (keys `version`, `status`, `eval`)", _NOT_YET),
    ({"input": {"messages": [_USER]}, "preferred_output": [_USER], "non_preferred_output": [_USER]},
     "pairs of preferred answers for training (keys `preferred_output`, `non_preferred_output`)", _NOT_YET),
    ({"id": "a1", "conversations": [{"from": "human", "value": "bake"}, {"from": "gpt", "value": "Two hours."}]},
     "conversations in the form of ShareGPT (key `conversations`)", _NOT_YET),
    ({"name": "chat m-1", "context": _SPAN, "kind": "SpanKind.INTERNAL", "attributes": {}},
     "spans as an SDK of OpenTelemetry prints them (keys `context`, `kind`)", _AS_OTLP),
    ({"hrTime": [1, 2], "instrumentationScope": {"name": "agent"}, "attributes": {}},
     "records of OpenTelemetry as its SDK prints them (keys `hrTime`, `instrumentationScope`)", _AS_OTLP),
    ([{"id": "1", "name": "turn", "context": _SPAN, "span_kind": "AGENT", "attributes": {"input.value": "bake"}}],
     "spans of Phoenix (keys `context`, `span_kind`, `attributes`)", _NOT_YET),
    ({"trace": {"id": "t", "name": "bread"}, "observations": [{"id": "o", "type": "GENERATION"}]},
     "an export of Langfuse (keys `trace`, `observations`)", _NOT_YET),
    ({"id": "r", "run_type": "llm", "trace_id": "t", "dotted_order": "1", "inputs": {}, "error": None},
     "runs of LangSmith (keys `run_type`, `dotted_order`)", _NOT_YET),
    ({"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "tool_use", "usage": {}},
     "an answer of Bedrock's Converse API (keys `output`, `stopReason`, `usage`)", _NOT_YET),
    ({"mcpServers": {"files": {"command": "files-server"}}}, "a configuration of MCP servers (key `mcpServers`)",
     "It has no messages. A tap records those of its servers: context-inspector tap install."),
    ({"agentType": "general-purpose", "description": "bake", "toolUseId": "t1"},
     "the description of a sub-agent of Claude Code (key `agentType`)",
     "It has no messages. Open the session's file, or the folder it is in."),
    ({"display": "bake", "pastedContents": {}, "timestamp": 1, "project": "/w"},
     "the history of prompts of Claude Code (keys `display`, `pastedContents`, `timestamp`)",
     "It has no sessions. List them with `context-inspector sessions`."),
    ({"id": "m", "sessionID": "s", "role": "user", "time": {"created": 1}},
     "a message in a storage folder of OpenCode (keys `id`, `sessionID`, `role`, `time`)", _FOLDER),
    ({"id": "p", "messageID": "m", "type": "text", "text": "bake"},
     "a part of a message in a storage folder of OpenCode (keys `id`, `messageID`, `type`)", _FOLDER),
    ({"name": "baker", "version": "1", "skills": [], "capabilities": {}},
     "the card of an A2A agent (keys `skills`, `capabilities`)",
     "It has no messages. A tap records them: context-inspector tap."),
    ({"kind": 1, "k": ["requests"], "v": []}, "changes of a chat session of VS Code (key `kind`)",
     "Its beginning is missing. Open the whole file of the session."),
    ("# aider chat started at 2026-05-01 10:00:00\n\n#### bake", "a chat of Aider in Markdown", _NOT_YET),
    ("<!-- Generated by SpecStory -->\n\n# Bread", "a chat of SpecStory in Markdown", _NOT_YET),
    ("interactions:\n- request:\n    body: ''", "a cassette of VCR in YAML", _NOT_YET),
    ('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":0,"result":{}}',
     "messages framed by Content-Length, as language servers speak", _NOT_YET),
)  # fmt: skip
"""First records of files of known kinds, and their sentences."""

_UNKNOWN: tuple[tuple[Any, str], ...] = (
    ({"a": 1, "b": 2, "c": 3}, "It is an object with the keys `a`, `b`, `c`"),
    ({}, "It is an object without keys"),
    ({str(number): number for number in range(9)}, "It is an object with the keys `0`, `1`, `2`, `3`, `4` and 4 more"),
    ('{"a":1}\n{"b":2}', "Its first line is an object with the key `a`"),
    ([{"a": 1}, {"a": 2}], "Its first element is an object with the key `a`"),
    ('{"a": 1,\n"b": {"c": 2},\n"d": 3}', "It is an object with the keys `a`, `b`, `d`, over several lines"),
    ('{\n  "a": 1,\n  "b": 2\n}', "It is an object with the keys `a`, `b`"),
    ("{'a': 1}", "It is text that begins as an object of JSON: no JSON at byte 1: Expecting property name enclosed in "
     "double quotes"),
    ("{\"a\": 1,\n{\"b\": 2}", "Its first line is JSON that is cut after 8 B"),
    ("7", "Its first line is a number, where an object was expected"),
    ("hello\nworld", "Its first line is plain text"),
    ("#!/bin/sh\necho '{}'", "Its first line is the beginning of a script"),
    ("# Bread\n\nBake.", "Its first line is a comment, or a heading of Markdown"),
    ("[project]\nname = 'x'", "Its first line is a section in brackets, as in TOML"),
    ("name = 'x'", "Its first line is a name and a value, as in settings"),
    ("name: x\nother: y", "Its first line is a name and a value, as in YAML"),
    ("---\ntitle: Bread", "Its first line is the beginning of a document in YAML, TOML or Markdown"),
    ("event: start\ndata: {}", "Its first line is a line of an event stream"),
    ('data: {"a": 1}\n\ndata: {"b": 1}', "Its first line is an event with an object with the key `a`"),
    ("<html><body>", "Its first line is a tag of HTML or XML"),
    ("time,sender,text\n1,a,b", "Its first line is values separated by commas"),
    ("time\tsender\ttext", "Its first line is values separated by tabs"),
    ('"""Bakes bread."""\nimport os', "Its first line is the beginning of a text in triple quotes"),
    ("import os\n", "Its first line is a line of a program"),
    ("-----BEGIN CERTIFICATE-----\n", "Its first line is the beginning of a key or certificate in PEM"),
    ("2026-05-01 10:00:00 INFO oven is hot", "Its first line is text that begins with a time"),
    ("[12:30:01] oven is hot", "Its first line is text that begins with a time"),
    ("[INFO] oven is hot\n[WARN] oven is cold", "Its first line is text that begins with a name in brackets"),
    ("10.0.0.1 - - [01/May/2026:10:00:00 +0000] \"GET / HTTP/1.1\" 200 2", "Its first line is plain text"),
)  # fmt: skip


def _refused(data: Any, name: str = "bread.log") -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    with pytest.raises(UnknownFormatError) as refused:
        document_at(log_file(text.encode(), name))
    return str(refused.value)


def _sentence_count(text: str) -> int:
    return len(re.findall(r"(?<!\.\.)\.(?: (?=[A-Z])|$)", text.replace("bread.log ", "It ")))


@pytest.mark.parametrize(("record", "words", "remedy"), _KNOWN, ids=[words for _, words, _ in _KNOWN])
def test_a_known_kind_is_named_with_its_keys_and_a_next_step(record: Any, words: str, remedy: str) -> None:
    said = _refused(record)
    assert said == f"bread.log looks like {words}. {remedy}"
    assert _sentence_count(said) <= 3


@pytest.mark.parametrize(("data", "words"), _UNKNOWN, ids=[words for _, words in _UNKNOWN])
def test_an_unknown_record_is_described_as_it_is(data: Any, words: str) -> None:
    said = _refused(data)
    assert said == f"bread.log is no log that can be read. {words}. {HOW_TO_DECLARE}"
    assert _sentence_count(said) <= 3


def test_binary_data_have_another_next_step() -> None:
    said = _refused("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert said == (
        "bread.log is no log that can be read. It is binary data. Open a log as text, or packed as .gz or .zst."
    )


@pytest.mark.parametrize("cut", ['{"a": 1, "b', '{"a": 1, "b"'])
def test_a_record_without_its_end_has_another_next_step(cut: str) -> None:
    assert _refused(cut) == (
        f"bread.log is no log that can be read. It is JSON that is cut after {len(cut)} B. Open a complete copy of it."
    )


def test_an_archive_that_ends_in_its_first_record_is_named_as_damaged(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps({"a": random.Random(1).randbytes(2_000).hex()}).encode())
    path = tmp_path / "bread.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(UnknownFormatError, match=r"bread\.jsonl\.gz is damaged or not complete: it ends in the middle"):
        document_at(path)


@pytest.mark.parametrize(
    ("first", "words", "end"),
    [
        ("# Logs\nlog = '''", "a text in quotes", "'''"),
        ("# Logs\n```json", "a code block", "```"),
        ("#!/bin/sh\ncat > x.jsonl <<'END'", "a here-document of a shell", "END"),
    ],
)
def test_messages_in_a_text_of_a_document_make_no_log(first: str, words: str, end: str) -> None:
    line = lines_of({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).decode()
    assert f", and its JSON lies in {words}. " in _refused(f"{first}\n{line}")
    # Forced, and after the end of such a text, they do.
    forced = CaptureDocument()
    forced.load(log_file(f"{first}\n{line}".encode()), reading="json-rpc")
    lines = [forced.capture.records.read_line_of(m).strip() for m in range(len(forced.capture))]
    assert line.strip().encode() in lines
    forced.close()
    assert len(document_at(log_file(f"{first}\nx\n{end}\n{line}".encode())).capture) > 1


def test_the_examples_of_the_specifications_are_no_log() -> None:
    path = DATA / "specifications" / "examples.toml"
    done = asked("summary", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("examples.toml is no log that can be read. Its first line is a comment")


@pytest.mark.parametrize(
    "rows",
    [
        [{"id": "bread-1", "error": "RuntimeError: oven"}],
        [{"id": "bread-1", "score": 1.0, "error": None}, {"id": "bread-2", "error": "RuntimeError: oven"}],
        [{"error": "oven"}, {"error": "oven", "code": 3}],
        [{"row": 1, "data": {"error": "oven"}}],
    ],
)
def test_rows_that_merely_have_an_error_are_no_log(rows: list[dict[str, Any]]) -> None:
    assert "is no log that can be read. " in _refused(lines_of(*rows).decode())


def test_an_error_of_a_gateway_is_read_beside_other_messages() -> None:
    document = document_at(log_file(lines_of({"error": "no kind"}, {"kind": "chat", "from": "a", "id": "1"})))
    assert (len(document.capture), document.unreadable) == (2, 0)


_MESSAGE = {"role": "assistant", "content": "Two hours."}


@pytest.mark.parametrize(
    "beside",
    [
        {"tool_calls": [_CALL]}, {"toolCalls": [_CALL]}, {"method": "Bash"}, {"tool": "Bash", "input": {}},
        {"tools": []}, {"function_call": {}}, {"toolUseResult": {}}, {"call_id": "c1"},
    ],
)  # fmt: skip
def test_a_line_with_calls_of_its_own_is_no_wrapper(beside: dict[str, Any]) -> None:
    line = lines_of({"message": _MESSAGE, **beside}).strip()
    assert read_line_as(line)[1] is None
    assert (
        read_line_as(lines_of({"message": _MESSAGE, "caller": "main.go:1", "function": "run"}).strip())[1] == "wrapped"
    )


def test_json_rpc_beside_its_method_is_read_under_its_own_name() -> None:
    inside = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    record, label = read_line_as(lines_of({"message": inside, "method": "tools/list", "t": 1}).strip())
    assert (label, json.loads(record.raw)) == ("json-rpc", inside)


def test_an_archive_opens_whatever_its_own_fields_are(tmp_path: Path) -> None:
    entry = {
        "startedDateTime": "2026-03-01T08:00:00.000Z", "time": 1,
        "request": {"method": "GET", "url": "https://bread.example/", "headers": []},
        "response": {"status": 200, "headers": [], "content": {"text": ""}},
    }  # fmt: skip
    for own, inner in (({}, {"_recordingName": "oven"}), ({"_from": {"x": [1]}}, {"comment": "", "_own": {"a": [1]}})):
        path = tmp_path / "bread.har"
        path.write_text(json.dumps({**own, "log": {**inner, "version": "1.2", "entries": [entry]}}))
        assert document_at(path).format == "har"


def test_near_misses_are_not_named() -> None:
    for value in (
        {"kind": "chat", "v": 1}, {"kind": 0, "from": "a", "v": 1}, {"log": "text"}, {"info": "x"}, {"data": [1]},
        {"trajectory": "x", "info": {}}, {"source": "api", "id": 1}, {"role": "user", "message": "bake"},
        {"agentType": "x", "events": []}, {"version": 1, "status": "ok", "eval": "x"},
        {"trace": "x", "observations": []},
    ):  # fmt: skip
        assert known_refusal(json.dumps(value).encode()) is None


def test_a_message_that_names_keys_of_a_known_kind_is_read() -> None:
    text = json.dumps({"trajectory": [], "info": {}, "mcpServers": {}, "traj": [], "task_id": 1, "reward": 1})
    document = document_at(log_file(lines_of({"kind": "chat", "from": "a", "id": "1", "payload": {"text": text}})))
    assert document.unreadable == 0


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_record_has_words(record: bytes) -> None:
    assert record_words(record)
    assert text_words(record)
    known_refusal(record)


def test_keys_of_a_hostile_file_are_shortened() -> None:
    assert f"the key `{'k' * 40}…`" in _refused({"k" * 1_000: 1})


def test_a_long_document_is_described_by_its_beginning() -> None:
    data = b'{"a":1,"b":[' + b"[]," * (8 << 20) + b"[]]}"
    assert record_words(data) == "a long object that begins with the keys `a`, `b`"
    lines = b'{"a": 1,\n"b": ["' + b"x" * (17 << 20) + b'"],\n"c": 1}'
    with pytest.raises(UnknownFormatError, match="It begins with an object with the keys `a`, `b`, over several lines"):
        document_at(log_file(lines))
