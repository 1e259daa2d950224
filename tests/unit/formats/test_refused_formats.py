"""Files that are refused: the sentences name the right kind, state true facts and a next step."""

from __future__ import annotations

import gzip
import json
import random
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.line_reading import read_line_as
from inspector.formats.refused_formats import HOW_TO_DECLARE, known_refusal, record_words, text_words
from inspector.protocol import json_size
from inspector.reading.files import format_detection
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, lines_of, log_file
from tests.commands import asked
from tests.samples import DATA

_NOT_YET = f"It is not read yet. {HOW_TO_DECLARE}"
_FOLDER = "Open the storage folder as a whole."
_CALL = {"id": "c1", "type": "function", "function": {"name": "oven", "arguments": "{}"}}
_USER = {"role": "user", "content": "bake"}

_KNOWN: tuple[tuple[Any, str, str], ...] = (
    ({"session_id": "k1", "cwd": "/w", "title": "Bread", "session_state": {"version": "v1"}},
     "facts about a session of Kiro (keys `session_id`, `cwd`, `session_state`)",
     "It has no messages. Open the file with the same name that ends with .jsonl."),
    ({"executionId": "e1", "chat": [{"role": "human", "content": "bake"}], "metadata": {"modelId": "m"}},
     "a chat of the editor Kiro (keys `executionId`, `chat`, `metadata`)", _NOT_YET),
    ([{"id": "e1", "session_id": "s1", "parent_id": None, "stream_id": {"stream_type": "main"}, "type": "user",
       "content": {"text": "bake"}, "metadata": {}}],
     "events of agtrace (keys `stream_id`, `session_id`, `parent_id`, `type`)",
     "They are a copy of an agent's session in another form. Open the session itself."),
    ([{"type": "human", "data": {"content": "bake"}}], "messages of LangChain (keys `type`, `data`)", _NOT_YET),
    *((line, "a log of a vLLM server", "It has statistics, and no answers; prompts only as one text, if at all. "
       "A tap records them: context-inspector tap --model.") for line in (
        "INFO 04-10 03:35:27 [loggers.py:80] Avg prompt throughput: 13.0 tokens/s, Running: 0 reqs",
        "(APIServer pid=9) INFO 02-13 11:33:33 [logger.py:49] Received request chatcmpl-a: params: SamplingParams(n=1)",
        "INFO 10-01 18:43:27 logger.py:36] Received request cmpl-c: prompt: 'Bake', params: SamplingParams(n=1)",
    )),
    *((line, "a log of an Ollama server", "It has times and sizes of requests, and no messages. "
       "A tap records them: context-inspector tap --model.") for line in (
        'time=2024-08-19T14:09:56.520+08:00 level=INFO source=images.go:782 msg="total blobs: 0"',
        '2024/08/19 14:09:56 routes.go:1123: INFO server config env="map[OLLAMA_DEBUG:true]"',
        '[GIN] 2024/12/11 - 09:58:58 | 200 | 29.1s | 127.0.0.1 | POST     "/api/chat"',
    )),
    ({"mcpServers": {"files": {"command": "files-server"}}}, "a configuration of MCP servers (key `mcpServers`)",
     "It has no messages. A tap records those of its servers: context-inspector tap install."),
    ({"agentType": "general-purpose", "description": "bake", "toolUseId": "t1"},
     "the description of a sub-agent of Claude Code (key `agentType`)",
     "It has no messages. Open the session's file, or the folder it is in."),
    ({"model": "m", "providerLock": "p", "tokenUsage": {}},
     "the settings of a session of Factory Droid (keys `tokenUsage`, `providerLock`)",
     "It has no messages. Open the session's `.jsonl` beside it, which is read with its tokens."),
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
    ('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":0,"result":{}}',
     "messages framed by Content-Length, as language servers speak", _NOT_YET),
)  # fmt: skip
"""First records of files of known kinds, and their sentences."""

_UNKNOWN: tuple[tuple[Any, str], ...] = (
    ({"a": 1, "b": 2, "c": 3}, "It is an object with the keys `a`, `b`, `c`"),
    ({str(number): number for number in range(9)}, "It is an object with the keys `0`, `1`, `2`, `3`, `4` and 4 more"),
    ('{"a":1}\n{"b":2}', "Its first line is an object with the key `a`"),
    ([{"a": 1}, {"a": 2}], "Its first element is an object with the key `a`"),
    ('{"a": 1,\n"b": {"c": 2},\n"d": 3}', "It is an object with the keys `a`, `b`, `d`, over several lines"),
    ('{\n  "a": 1,\n  "b": 2\n}', "It is an object with the keys `a`, `b`"),
    ({"instance_id": "rye", "history": [{"source": "user", "message": "bake"}], "metrics": {"cost": 0.1}},
     "It is an object with the keys `instance_id`, `history`, `metrics`"),
    ([{"id": 1, "source": "user", "action": "click"}], "Its first element is an object with the keys `id`, `source`, "
     "`action`"),
    ([{"run_type": "manual", "trace_id": 1, "start_time": 2}], "Its first element is an object with the keys "
     "`run_type`, `trace_id`, `start_time`"),
    ({"id": "T-1", "messages": [{"text": "bake"}]}, "It is an object with the keys `id`, `messages`"),
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


@pytest.mark.parametrize(
    ("data", "noun"), [("[]", "an empty array"), ("[ ]\n\n", "an empty array"), ("{}", "an object without keys")]
)
def test_a_file_without_messages_is_told_from_an_empty_one(data: str, noun: str) -> None:
    said = _refused(data)
    assert said.startswith(f"bread.log has no messages: it is {noun}. Open another file")
    assert _sentence_count(said) <= 3


@pytest.mark.parametrize(
    "data",
    [
        '{\n  // a comment\n  "type": "user",\n  "url": "http://x", \n}\n',
        '// settings\n{"type": 1, "url": "a//b"}\n',
        '{"type": 1, /* why */ "url": 2}\n',
    ],
)
def test_json_with_comments_is_named(data: str) -> None:
    assert _refused(data) == (
        "bread.log is JSON with comments, and no log that can be read. It is an object with the keys `type`, `url`. "
        "Open a copy of it without comments."
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


_TIMES = {"timestamp": "2026-01-05T09:00:00Z"}
_FOREIGN: dict[str, dict[str, Any]] = {
    "a letter": {"id": "<1@x>", "from": "a@x", "to": ["b@x"], "subject": "bread", "date": "2026-01-05", "body": "bake"},
    "a chat": {"from": "kitchen", "to": "cellar", "text": "bake", "time": "10:00"},
    "an event of a container": {"status": "start", "id": "c1", "from": "oven", "Type": "container", "time": 1700000000},
    "an event of a code host": {"id": "1", "type": "PushEvent", "actor": {"id": 1}, "payload": {"size": 1}},
    "an event of a web page": {"type": "track", "event": "Signed up", "userId": "u1", "properties": {}},
    "an event of a cloud": {"specversion": "1.0", "type": "baked", "source": "/oven", "id": "1", "data": {"rack": 2}},
    "an event of a session": {"type": "session", "version": 3, "id": "s1", **_TIMES},
    "an action of a user": {"id": 1, "source": "user", "action": "click", **_TIMES},
    "a ticket": {"id": "T-100", "title": "bread", "messages": [{"author": "a", "text": "bake"}]},
    "a call of no model": {"tool": "oven", "input": "bread", "output": "done", "id": 1},
    "a Matrix event": {"type": "m.room.message", "sender": "@a:x", "event_id": "$1", "content": {"body": "bake"}},
    "a line of a logger": {"level": 30, "time": 1700000000000, "pid": 1, "hostname": "oven", "msg": "baked"},
    "a line of a structured logger": {"event": "baked", "level": "info", **_TIMES},
    "an event of a tracker": {"event": "action", "name": "utter_greet", "timestamp": 1},
    "a request of a server": {"method": "POST", "url": "http://oven/", "params": {"rack": "1"}},
    "a method of a request": {"method": "GET"},
    "a result of a test": {"id": "t1", "result": "passed"},
    "a kind alone": {"kind": "start"},
    "a text message": {"protocol": "sms", "from": "+1", "to": "+2", "body": "bake"},
    "an instruction of a processor": {"instruction": "ADD", "input": "R2", "output": "R1"},
    "a vote": {"candidates": [{"name": "rye", "votes": 3}], "election": "bread"},
    "an update of a database": {"$set": {"rack": 1}},
    "a message of a clerk": {"type": "message", "id": "1", **_TIMES, "message": {"role": "clerk"}},
    "a workplace": {"working_dir": "/oven", "message_count": 3},
}  # fmt: skip


@pytest.mark.parametrize("kind", _FOREIGN)
def test_lines_of_other_programs_are_no_log(kind: str) -> None:
    with pytest.raises(UnknownFormatError):
        document_at(log_file(lines_of(*[_FOREIGN[kind]] * 3)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("interactions:\n- request: please\n  response: no\n", "Its first line is a name and a value, as in YAML"),
        (
            "interactions:\n- request:\n    rack: 3\n  resonse: {}\n",
            "Its first line is a name and a value, as in YAML",
        ),
        ("id: 7\nname: bread\n", "Its first line is a name and a value, as in YAML"),
        ("[oven]\nrack = 1\n", "Its first line is a section in brackets, as in TOML"),
        ("[Sun Dec 04 04:47:44 2005] [notice] hot\n", "Its first line is text that begins with a time"),
        ("[     52ms] [ERROR] hot\n", "Its first line is text that begins with a time"),
    ],
)
def test_texts_of_other_programs_are_described_by_their_first_line(data: str, words: str) -> None:
    assert _refused(data) == f"bread.log is no log that can be read. {words}. {HOW_TO_DECLARE}"


@pytest.mark.parametrize(
    "tables",
    [
        {"users": "id"}, {"session": "id", "message": "id, body", "part": "id, price"},
        {"sessions": "id", "messages": "id, parts"}, {"sessions": "id, parent_session_id", "messages": "id, parts"},
        {"sessions": "id", "messages": "id, content_json"}, {"ItemTable": "key, value"},
        {"ItemTable": "name, value", "cursorDiskKV": "name, value"},
    ],
)  # fmt: skip
def test_databases_of_other_programs_are_no_log(tables: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "bread.db"
    with closing(sqlite3.connect(path)) as made:
        for table, columns in tables.items():
            made.execute(f"CREATE TABLE {table} ({columns})")
    with pytest.raises(UnknownFormatError) as refused:
        document_at(path)
    assert str(refused.value) == (
        "bread.db is a SQLite database without readable sessions of Crush, Cursor, goose or OpenCode. "
        "Open a database of one of these."
    )


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


def test_a_long_document_is_described_by_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_size, "_UNCHECKED_BYTES", 1 << 16)
    monkeypatch.setattr(json_size, "MAX_DECODED_BYTES", 1 << 20)
    data = b'{"a":1,"b":[' + b"[]," * (1 << 18) + b"[]]}"
    assert record_words(data) == "a long object that begins with the keys `a`, `b`"
    monkeypatch.setattr(format_detection, "_MAX_PROBED_LINE", 1 << 20)
    lines = b'{"a": 1,\n"b": ["' + b"x" * (2 << 20) + b'"],\n"c": 1}'
    with pytest.raises(UnknownFormatError, match="It begins with an object with the keys `a`, `b`, over several lines"):
        document_at(log_file(lines))
