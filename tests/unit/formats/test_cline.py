"""Tasks of Cline: commands as they ran, and the time of the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.analysis.views.steps.step_table import StepKind, step_table
from tests.builders import document_at
from tests.commands import printed
from tests.samples import FORMAT_SAMPLES


def test_a_command_is_shown_without_the_mark_of_its_approval() -> None:
    rows = printed("list", FORMAT_SAMPLES["cline-window.json"], "-Y", "tool", "-e", "kind,info", "--format", "jsonl")
    told = [row["info"] for row in map(json.loads, rows.splitlines()) if row["kind"] == "mcp/request"]
    assert "execute_command cat attic.txt" in told


def test_the_pause_before_a_resumed_task_is_no_time_of_the_model(tmp_path: Path) -> None:
    window: list[dict[str, Any]] = [
        {"ts": 0, "type": "say", "say": "text", "text": "Which kites?"},
        {"ts": 1_000, "type": "say", "say": "api_req_started", "text": '{"request": "Which kites?"}'},
        {"ts": 2_000, "type": "say", "say": "tool", "text": '{"tool": "readFile", "path": "a", "content": "b"}'},
        {"ts": 3_600_000, "type": "ask", "ask": "resume_task"},
        {"ts": 3_601_000, "type": "say", "say": "api_req_started", "text": '{"request": "resumed"}'},
        {"ts": 3_605_000, "type": "say", "say": "text", "text": "Two."},
    ]
    path = tmp_path / "ui_messages.json"
    path.write_text(json.dumps([{**one, "ts": one["ts"] + 1_777_629_600_000} for one in window]))
    table = step_table(document_at(path).analysis)
    outputs = table.kinds == StepKind.MODEL
    assert (table.took_ns[outputs] / 1e9).tolist() == [1, 4]
