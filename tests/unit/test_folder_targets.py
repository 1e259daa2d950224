"""The command line's choice for a folder of logs, on its way to the window that opens it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.base.instance_lock import request_for
from inspector.base.targets import folder_target, folder_view, is_session, target_path
from inspector.startup import program, window_start


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Targets of the windows that were opened."""
    found: list[list[str]] = []

    def run_windows(targets: Sequence[str], **_more: Any) -> int:
        found.append(list(targets))
        return 0

    monkeypatch.setattr(window_start, "has_display", lambda: True)
    monkeypatch.setattr(window_start, "is_display_reachable", lambda: True)
    monkeypatch.setattr(window_start.instance_lock, "become_first_or_exit", lambda _request: None)
    monkeypatch.setitem(sys.modules, "inspector.ui.app.application", type("Fake", (), {"run_windows": run_windows}))
    return found


def test_options_choose_the_form_of_folders_and_leave_files(opened: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "log.jsonl").touch()
    folder, file = str(tmp_path / "logs"), str(tmp_path / "log.jsonl")
    for words in (["--runs", folder, file], ["--together", folder], [folder]):
        assert CliRunner().invoke(program.app, ["window", *words]).exit_code == 0
    assert opened == [[f"runs:{folder}", file], [f"document:{folder}"], [folder]]
    refused = CliRunner().invoke(program.app, ["window", "--runs", "--together", folder])
    assert (refused.exit_code, refused.stderr) == (2, "--together and --runs cannot be combined.\n")


def test_a_running_program_gets_the_choice_with_an_absolute_path(tmp_path: Path) -> None:
    target = folder_target(tmp_path, "runs")
    assert request_for([target]).targets == (target,)
    assert (target_path(target), folder_view(target), is_session(target)) == (tmp_path, "runs", False)
    assert folder_view(str(tmp_path)) is None
