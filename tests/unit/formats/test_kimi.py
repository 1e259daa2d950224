"""Sessions of Kimi whose lines alone look like those of another format."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.source_set import logs_in
from inspector.document.summary import summary
from inspector.survey.run_places import find_runs
from tests.builders import document_at, lines_of, log_file, opened_document

USER = {"role": "user", "content": [{"type": "text", "text": "Count the loaves."}]}


def _summary(*lines: dict[str, Any]) -> dict[str, Any]:
    return summary(document_at(log_file(b"".join(json.dumps(one).encode() + b"\n" for one in lines))), "")


def test_a_record_among_the_first_decides_the_format_of_messages_before_it() -> None:
    failed = {"role": "tool", "content": "<system>ERROR: no shelf</system>", "tool_call_id": "a"}
    call = {"type": "function", "id": "a", "function": {"name": "Shell", "arguments": "{}"}}
    asked = {"role": "assistant", "content": [], "tool_calls": [call]}
    found = _summary(USER, {"role": "_checkpoint", "id": 0}, asked, failed)
    assert (found["format"], found["unreadable"]) == ("kimi", 0)
    assert (found["calls"]["tools"], found["calls"]["failed"]) == (1, 1)


def test_a_packed_context_is_read_as_the_file_in_it(tmp_path: Path) -> None:
    path = tmp_path / "context.jsonl.gz"
    path.write_bytes(gzip.compress(lines_of({"role": "_checkpoint", "id": 0}, USER)))
    document = document_at(path)
    assert [document.capture.string("protocol", row) for row in range(len(document.capture))] == ["kimi", "kimi"]


FORGED = (
    {"type": "metadata", "protocol_version": "1"}, {"type": "plugin.loaded", "time": 1764500000000},
    {"role": "session_meta", "tools": []},
)  # fmt: skip
"""Records that name the file's format in a log of another one."""
ASKED = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count", "arguments": {}}}
ANSWERED = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "rye"}]}}


def _typed(text: str) -> dict[str, Any]:
    return {
        "type": "user", "uuid": text, "parentUuid": None, "sessionId": "s", "timestamp": "2026-01-01T10:00:00Z",
        "message": {"role": "user", "content": text},
    }  # fmt: skip


@pytest.mark.parametrize("forged", FORGED, ids=str)
@pytest.mark.parametrize("others", [(ASKED, ANSWERED), (_typed("one"), _typed("two"))], ids=["rpc", "transcript"])
def test_a_record_among_lines_of_another_format_decides_only_for_itself(
    forged: dict[str, Any], others: tuple[dict[str, Any], ...], tmp_path: Path
) -> None:
    first, second = others
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(lines_of(forged, first, second)))
    for path in (log_file(lines_of(forged, first, second)), log_file(lines_of(first, forged, second)), packed):
        found = summary(document_at(path), "")
        assert found["unreadable"] == 0


def test_a_line_of_another_format_after_the_first_ones_is_read(tmp_path: Path) -> None:
    found = _summary({"role": "_checkpoint", "id": 0}, *[USER] * 30, ASKED, ANSWERED)
    assert (found["unreadable"], found["calls"]["tools"], found["calls"]["answered"]) == (0, 1, 1)


def test_a_chosen_format_refuses_a_log_of_another_one() -> None:
    told = CliRunner().invoke(app, ["summary", str(log_file(lines_of(ASKED, ANSWERED))), "--read-as", "kimi"])
    assert told.exit_code == 2
    assert "Kimi session" in told.output


def _folder(path: Path, *wire: dict[str, Any]) -> Path:
    """A session's folder with both files of one conversation."""
    called = {"type": "function", "id": "a", "function": {"name": "Shell", "arguments": "{}"}}
    answer = {"role": "tool", "content": "rye", "tool_call_id": "a"}
    asked = {"role": "assistant", "content": [], "tool_calls": [called]}
    (path / "context.jsonl").write_bytes(lines_of({"role": "_checkpoint", "id": 0}, USER, asked, answer))
    (path / "context_1.jsonl").write_bytes(lines_of({"role": "_checkpoint", "id": 0}, USER))
    events = [
        {"timestamp": 1771000001 + number, "message": {"type": type_, "payload": payload}}
        for number, (type_, payload) in enumerate(
            (
                ("TurnBegin", {"user_input": "Count the loaves."}),
                ("ToolCall", called),
                ("ToolResult", {"tool_call_id": "a", "return_value": {"is_error": False, "output": "rye"}}),
            )
        )
    ]
    (path / "wire.jsonl").write_bytes(lines_of(*(wire or ({"type": "metadata", "protocol_version": "1.9"}, *events))))
    return path


def test_a_folder_with_both_files_of_a_conversation_counts_it_once(tmp_path: Path) -> None:
    found = summary(opened_document(_folder(tmp_path)), "")
    assert (found["calls"]["tools"], found["messages"], found["findings"]) == (1, 4, {})


def test_both_files_of_a_conversation_are_one_run(tmp_path: Path) -> None:
    assert [Path(one.path).name for one in find_runs([str(_folder(tmp_path))])] == ["wire.jsonl"]
    assert [path.name for path in logs_in(tmp_path)] == ["wire.jsonl"]


def test_a_context_beside_a_file_without_messages_is_read(tmp_path: Path) -> None:
    _folder(tmp_path, {"type": "metadata", "protocol_version": "1.9"})
    assert [path.name for path in logs_in(tmp_path)] == ["context.jsonl", "context_1.jsonl", "wire.jsonl"]


def test_messages_without_such_a_record_are_those_of_a_model_api() -> None:
    assert _summary(USER, {"role": "assistant", "content": "Two."})["format"] == "messages"


def test_turns_that_the_user_took_back_have_left() -> None:
    def said(role: str, text: str, time: int) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}], "toolCalls": []}
        return {"type": "context.append_message", "message": message, "time": time}

    path = log_file(
        lines_of(
            said("user", "one", 1), said("assistant", "first", 2), said("user", "two", 3), said("assistant", "no", 4),
            {"type": "context.undo", "count": 1, "time": 5}, said("user", "three", 6),
        )
    )  # fmt: skip
    told = CliRunner().invoke(app, ["model-sees", str(path), "--participant", "kimi", "--json"])
    assert [entry["no"] for entry in json.loads(told.stdout)["entries"]] == [1, 2, 6]
