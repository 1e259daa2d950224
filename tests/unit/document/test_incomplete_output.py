"""Output tokens that were recorded when an answer began are said to be incomplete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from tests.unit.present.test_account import account
from tests.unit.present.test_overview import overview_in

SESSION = "3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"
CALL = {"type": "tool_use", "id": "tu_1", "name": "Bash", "input": {"command": "make"}}
TEXT = {"type": "text", "text": "The kites are in the shed, behind the ladder and the two old bicycles."}

WRITTEN = {"type": "tool_use", "id": "tu_2", "name": "Write", "input": {"file_path": "a", "content": "a kite " * 300}}


def answer(
    number: int, content: Any, output: int, stop: str | None, message: str = "msg_1", version: str = "2.1.17"
) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "sessionId": SESSION, "version": version, "type": "assistant",
        "uuid": f"u{number}", "timestamp": f"2026-03-04T09:16:{number:02}.000Z", "requestId": "req_1",
        "message": {
            "role": "assistant", "id": message, "model": "claude-opus-4-5", "content": [content], "stop_reason": stop,
            "usage": {"input_tokens": 4, "output_tokens": output},
        },
    }  # fmt: skip


def document_with(path: Path, *records: dict[str, Any]) -> CaptureDocument:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    document = CaptureDocument()
    document.load(path)
    return document


@pytest.mark.parametrize(("output", "version"), [(26, "1.0.108"), (26, "unknown"), (3, "2.1.33")])
def test_output_that_cannot_be_that_of_the_content_is_incomplete(output: int, version: str, tmp_path: Path) -> None:
    document = document_with(tmp_path / f"{SESSION}.jsonl", answer(1, WRITTEN, output, None, version=version))
    assert summary(document, "")["incomplete_output"] == 1
    document.close()


@pytest.mark.parametrize("content", [CALL, TEXT], ids=["call", "text"])
def test_output_of_the_first_moment_is_incomplete(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    document = document_with(path, answer(1, content, 3, None), answer(2, CALL, 60, "tool_use", "msg_2"))
    assert summary(document, "")["incomplete_output"] == 1
    said = " ".join(line.text for line in account(document).lines)
    assert "Output tokens incomplete: 1 call" in str(overview_in(document))
    assert "output tokens incomplete: 1 call" in said
    document.close()
    printed = CliRunner().invoke(app, ["summary", str(path)])
    assert "63 out" in printed.output
    assert "output tokens incomplete: 1 call" in printed.output


@pytest.mark.parametrize(
    "records",
    [
        [answer(1, TEXT, 3, None), answer(2, CALL, 60, "tool_use")],
        [answer(1, TEXT, 3, None), answer(2, TEXT, 20, None)],
        [answer(1, {"type": "text", "text": "Done."}, 2, None)],
        [answer(1, TEXT, 3, "max_tokens")],
        [answer(1, CALL, 5, None, version="2.1.250")],
        [answer(1, WRITTEN, 900, None)],
    ],
    ids=["final record", "later record", "short answer", "stopped", "later version", "long"],
)
def test_output_of_a_whole_answer_is_complete(records: list[dict[str, Any]], tmp_path: Path) -> None:
    document = document_with(tmp_path / f"{SESSION}.jsonl", *records)
    assert "incomplete_output" not in summary(document, "")
    assert "incomplete" not in str(overview_in(document))
    document.close()
