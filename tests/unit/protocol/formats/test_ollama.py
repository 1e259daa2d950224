"""Answers of Ollama, saved as the lines they came in."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.filters.sentences import info
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import closed_at_end, lines_of, log_file


def line(second: int, *, done: bool = False, **fields: Any) -> dict[str, Any]:
    counts = {"done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3} if done else {}
    return {"model": "m-1", "created_at": f"2026-03-01T08:00:0{second}.1Z", **fields, "done": done, **counts}


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text, **fields}}


CALL = {"function": {"name": "oven", "arguments": {"rack": 2}}}
CHAT = [line(1, **said("Two")), line(2, **said(" hours.")), line(3, done=True, **said(""))]
GENERATED = [line(1, response="Two"), line(2, response=" hours."), line(3, done=True, response="", context=[1, 2])]
CALLED = [line(4, **said("", tool_calls=[CALL])), line(5, done=True, **said(""))]


def read(lines: list[dict[str, Any]], block_bytes: int) -> CaptureDocument:
    document = closed_at_end(CaptureDocument())
    for _ in document.open_log(log_file(lines_of(*lines), "test.jsonl"), block_bytes=block_bytes):
        pass
    return document


@pytest.mark.parametrize("block_bytes", [1, 1 << 20])
@pytest.mark.parametrize("lines", [CHAT, GENERATED, [line(3, done=True, **said("Two hours."))]])
def test_answer(lines: list[dict[str, Any]], block_bytes: int) -> None:
    document = read(lines, block_bytes)
    assert (document.format, len(document.capture), document.unreadable) == ("messages", 1, 0)
    assert info(document.analysis, 0) == "Two hours."
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (reported.input, reported.output) == (9, 3)


def test_answers_and_calls() -> None:
    document = read([*CHAT, *GENERATED, *CALLED], 1 << 20)
    assert [document.capture.string("kind", row) for row in range(len(document.capture))] == [
        "chat", "chat", "mcp/request",
    ]  # fmt: skip
    assert document.capture.records.payload(2)["params"] == {"name": "oven", "arguments": {"rack": 2}}
    reported = document.analysis.usage.total()
    assert reported is not None
    assert (reported.input, reported.output) == (27, 9)


def test_other_lines_with_done() -> None:
    task = {"model": "m-1", "created_at": "today", "message": "wash up", "done": False}
    with pytest.raises(UnknownFormatError):
        read([task], 1 << 20)
