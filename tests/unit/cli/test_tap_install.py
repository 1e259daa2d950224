"""`tap install`, `tap uninstall` and `tap list` as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inspector.startup.program import app

ENTRY = {
    "command": "npx",
    "args": ["-y", "@example/server", "--api-key", "planted-secret-1"],
    "env": {"K": "planted-2"},
}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv("CONTEXT_INSPECTOR_HOME", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    found = tmp_path / ".cursor" / "mcp.json"
    found.parent.mkdir()
    found.write_text(json.dumps({"mcpServers": {"records": ENTRY}}, indent=2))
    return found


def run(*words: str, typed: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["tap", *words], input=typed)
    return result.exit_code, result.output


def test_a_change_is_shown_asked_for_and_undone(file: Path) -> None:
    before = file.read_bytes()
    code, said = run("install", "cursor", "records", typed="n\n")
    assert (code, file.read_bytes()) == (0, before)
    assert "Nothing was changed" in said
    code, said = run("install", "cursor", "records", "--dry-run")
    assert (code, file.read_bytes()) == (0, before)
    code, said = run("install", "Cursor", "records", "-o", "captures", typed="y\n")
    assert code == 0
    assert "planted" not in said
    assert "+ args: tap -o" in said
    assert "belongs to a project" in said
    arguments = json.loads(file.read_bytes())["mcpServers"]["records"]["args"]
    assert arguments[-7:] == [f"{file.parents[1] / 'captures'}/", "--", "npx", *ENTRY["args"]]
    _, said = run("list")
    assert "tapped" in said
    assert "planted" not in said
    (listed,) = json.loads(run("list", "--json")[1])
    assert (listed["client"], listed["server"], listed["kind"], listed["tapped"]) == (
        "cursor",
        "records",
        "stdio",
        True,
    )
    assert run("uninstall", "cursor", "records", "--yes")[0] == 0
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("install", "cursor", "other"), "Its servers: records."),
        (("install", "cursor", "other"), "Searched: "),
        (("install", "windsurf", "records"), "serverUrl"),
        (("install", "nobody", "records"), "tap -o FOLDER/ --"),
        (("uninstall", "cursor", "records"), "not tapped"),
        (("install", "codex", "records"), "config.toml"),
    ],
)
def test_what_cannot_be_is_a_sentence(file: Path, words: tuple[str, ...], why: str) -> None:
    code, said = run(*words)
    assert code == 2
    assert why in said.replace("\n", "")


def test_the_tap_itself_says_what_it_needs() -> None:
    assert "Name a capture" in run("--", "cat")[1]
    assert "with --http URL" in run("-o", "x")[1]
