"""Exporting a context as a sub-session by the command line, and what the schema says of what is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.cli import app
from inspector.msp.schema import BoxModel
from tests.msp_samples import desk, written


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, list(arguments))
    return found.exit_code, found.output


def test_a_context_is_written_by_its_path_or_id(tmp_path: Path) -> None:
    path = written(tmp_path, desk())
    for number, name in enumerate(("s1/s2", "s2")):
        target = tmp_path / f"{number}.json"
        code, said = run("export", str(path), "-o", str(target), "--format", "msp", "--context", name)
        assert code == 0, said
        value = json.loads(target.read_text(encoding="utf-8"))
        BoxModel.model_validate(value)
        assert [sub["subsession_id"] for sub in value["subsessions"]] == ["s2"]
        assert value["subsessions"][0]["parent_session_id"] == "m1"
        assert run("check", str(target))[0] == 0
        assert "no findings" in run("check", str(target))[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--format", "msp"], "--context"),
        (["--format", "msp", "--context", "nowhere"], "There is no context nowhere"),
        (["--context", "s1"], "--format msp"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, arguments: list[str], words: str) -> None:
    code, said = run("export", str(written(tmp_path, desk())), "-o", str(tmp_path / "out.json"), *arguments)
    assert code == 2
    assert words in said


def test_the_document_itself_is_never_written_over(tmp_path: Path) -> None:
    path = written(tmp_path, desk())
    before = path.read_bytes()
    for arguments in (["--format", "msp", "--context", "s1"], ["--format", "jsonl"]):
        assert run("export", str(path), "-o", str(path), *arguments)[0] == 2
    assert path.read_bytes() == before


def test_requests_are_told_in_words(tmp_path: Path) -> None:
    log, target = tmp_path / "log.jsonl", tmp_path / "out.json"

    def asked(identifier: str, kind: str, method: str, **params: str) -> str:
        payload = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        envelope = {"protocol": "mew/v0.4", "id": identifier, "from": "lead", "kind": kind, "payload": payload}
        return json.dumps(envelope | {"context": "think"})

    start = {"protocol": "mew/v0.4", "id": "think", "from": "lead", "kind": "reasoning/start", "payload": {}}
    log.write_text("\n".join((
        json.dumps(start), asked("a", "mcp/request", "tools/call", name="multiply"),
        asked("b", "mcp/proposal", "tools/call", name="multiply"),
        asked("c", "mcp/request", "resources/read", uri="x:y"), asked("d", "mcp/proposal", "tools/list"),
    )))  # fmt: skip
    code, said = run("export", str(log), "-o", str(target), "--format", "msp", "--context", "think")
    assert code == 0, said
    messages = json.loads(target.read_text(encoding="utf-8"))["subsessions"][0]["messages"]
    assert [one["content"].partition("\n")[0] for one in messages] == [
        "Calls the tool multiply", "Proposes to call the tool multiply", "Asks for resources/read x:y",
        "Proposes tools/list",
    ]  # fmt: skip
