"""Conclusions of background sub-agents: their own last text, not the notice of their end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.document.summary import conclusion_of
from inspector.present.sub_agent_facts import result_message, sub_agent_of
from inspector.present.subject import Subject, text_of
from tests.builders import document_at

SESSION, AGENT = "5b1c7c1e-2f53-4f4b-9f2a-0d6b5f6c1a11", "ac2435ceac6b4a990"


def record(number: int, sort: str, content: Any, *, inside: bool = False, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": sort, "content": content}
    if sort == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-opus-4-5", "type": "message"}
    place = {"isSidechain": True, "agentId": AGENT} if inside else {"isSidechain": False}
    return {
        "type": sort, "uuid": f"u-{number}", "parentUuid": None if number in (0, 3) else f"u-{number - 1}",
        "sessionId": SESSION, "timestamp": f"2026-11-20T10:00:{number:02d}.000Z", "version": "2.1.332",
        "message": message, **place, **more,
    }  # fmt: skip


def session(status: str, *, answers: bool = True) -> list[dict[str, Any]]:
    """A session with a background sub-agent and the notice of its end."""
    call = {"type": "tool_use", "id": "toolu_1", "name": "Agent",
            "input": {"description": "count the files", "prompt": "List the files."}}  # fmt: skip
    launched = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "Async agent launched successfully."}
    notice = f"<task-notification>\n<task-id>{AGENT}</task-id>\n<status>{status}</status>\n</task-notification>"
    return [
        record(0, "user", "Count my files."),
        record(1, "assistant", [call]),
        record(2, "user", [launched],
               toolUseResult={"isAsync": True, "status": "async_launched", "agentId": AGENT}),
        record(3, "user", "List the files.", inside=True),
        *([record(4, "assistant", [{"type": "text", "text": "There are 2 files."}], inside=True)] if answers else []),
        record(5, "user", notice, parentUuid="u-2"),
        record(6, "assistant", [{"type": "text", "text": "Done."}]),
    ]  # fmt: skip


def opened(folder: Path, lines: list[dict[str, Any]]) -> CaptureDocument:
    path = folder / f"{SESSION}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return document_at(path)


@pytest.mark.parametrize(
    ("status", "answers", "expected"),
    [("completed", True, "There are 2 files."), ("failed", True, f"task {AGENT} failed"),
     ("completed", False, f"task {AGENT} completed")],
)  # fmt: skip
def test_a_background_agent_concludes_with_its_last_text(
    tmp_path: Path, status: str, answers: bool, expected: str
) -> None:
    document = opened(tmp_path, session(status, answers=answers))
    [node] = document.analysis.contexts.tree.alive()
    assert conclusion_of(document, node) == expected
    call = Subject(document, 1)
    agent = sub_agent_of(call)
    assert agent is not None
    back = result_message(call, agent)
    assert back is not None
    assert text_of(document.capture, back) == expected
