"""`last`: the newest session of all agents, opened with its sub-agents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.base.targets import session_file, session_target
from inspector.startup import program, window_start

SAMPLES = Path(__file__).parents[2] / "inspector" / "formats"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own."""
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in [one for one in os.environ if one.startswith("XDG_") or one.endswith(("_HOME", "_DIR"))]:
        monkeypatch.delenv(name)
    return tmp_path


def test_the_newest_session_of_all_agents_opens_with_its_sub_agents(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[list[str], dict[str, Any]]] = []
    monkeypatch.setattr(program, "start_window", lambda targets, **more: opened.append((targets, more)) or 0)
    refused = CliRunner().invoke(program.app, ["last"])
    assert (refused.exit_code, opened) == (2, [])
    assert refused.stderr
    claude = home / ".claude" / "projects" / "-work" / "bakery.jsonl"
    day = home / ".codex" / "sessions" / "2026" / "01" / "05"
    codex = day / "rollout-2026-01-05T09-00-00-019b0000-0000-7000-8000-000000000001.jsonl"
    for path, sample in ((claude, "claude_code/samples/claude-code.jsonl"), (codex, "codex/samples/codex.jsonl")):
        path.parent.mkdir(parents=True)
        shutil.copyfile(SAMPLES / sample, path)
    for older, newer in ((claude, codex), (codex, claude)):
        os.utime(older, (1_760_000_000, 1_760_000_000))
        os.utime(newer, (1_770_000_000, 1_770_000_000))
        assert CliRunner().invoke(program.app, ["last", "--new-window"]).exit_code == 0
        assert opened.pop() == ([session_target(newer)], {"new_window": True})


def test_a_session_is_named_by_a_path_from_the_current_folder(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "sessions" / "bakery.jsonl"
    own.parent.mkdir()
    shutil.copyfile(SAMPLES / "claude_code" / "samples" / "claude-code.jsonl", own)
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(program.app, ["summary", "session:sessions/bakery.jsonl"])
    assert told.exit_code == 0, told.output
    assert session_file("session:sessions/bakery.jsonl") == own
    assert session_file("session:bakery") is None
    assert session_file("session:" + "bakery" * 100) is None  # longer than a name of a file may be
    assert window_start._session_at("session:sessions/bakery.jsonl") == session_target(own)
    with pytest.raises(window_start.CannotStartError, match="No session begins with"):
        window_start._session_at("session:sessions/other.jsonl")
