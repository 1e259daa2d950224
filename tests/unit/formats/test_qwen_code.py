"""Sessions of Qwen Code that differ from the usual ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.cli import app
from tests.builders import document_at, lines_of, log_file
from tests.samples import FORMAT_SAMPLES


def _record(name: str, parent: str | None, text: str = "", **more: Any) -> dict[str, Any]:
    role = "model" if more.get("type") == "assistant" else "user"
    return {
        "uuid": name, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-05-01T10:00:00Z", "type": "user",
        "cwd": "/w", "message": {"role": role, "parts": [{"text": text}]}, **more,
    }  # fmt: skip


@pytest.mark.parametrize(("kept", "left"), [("a1", [1, 2, 6]), (None, [6])])
def test_messages_after_the_record_that_a_rewind_keeps_have_left(kept: str | None, left: list[int]) -> None:
    rewind = _record("r", kept, type="system", subtype="rewind", systemPayload={"truncatedCount": 2})
    del rewind["message"]
    path = log_file(
        lines_of(
            _record("u1", None, "one"), _record("a1", "u1", "first", type="assistant"), _record("u2", "a1", "two"),
            _record("a2", "u2", "second", type="assistant"), rewind, _record("u3", "r", "three"),
        )
    )  # fmt: skip
    told = CliRunner().invoke(app, ["model-sees", str(path), "--participant", "qwen", "--json"])
    assert [entry["no"] for entry in json.loads(told.stdout)["entries"]] == left


def test_a_sub_agents_call_has_the_duration_of_its_telemetry() -> None:
    document = document_at(FORMAT_SAMPLES["qwen-code.jsonl"])
    answers = [row for row in range(len(document.capture)) if document.capture.string("kind", row) == "mcp/response"]
    taken = {document.analysis.correlation.latency_ns(row) for row in answers}
    assert 5_000_000 in taken
