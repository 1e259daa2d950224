"""Where runs lie: what is one, what belongs to another, and what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.survey.run_places import PlaceError, find_runs


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def found(*paths: Path | str, leave_out: Path | None = None) -> list[str]:
    return [place.path for place in find_runs(map(str, paths), leave_out)]


def test_a_gateways_log_has_its_decisions_and_a_session_its_sub_agents(tmp_path: Path) -> None:
    log = write(tmp_path / "space/envelope-history.jsonl", {})
    decisions = write(tmp_path / "space/capability-decisions.jsonl", {"more": 1})
    session = write(tmp_path / "claude/s-1.jsonl", {})
    write(tmp_path / "claude/s-1/subagents/agent-a.jsonl", {})
    beside = write(tmp_path / "claude/agent-b.jsonl", {"sessionId": "s-1"})
    alone = write(tmp_path / "claude/agent-c.jsonl", {"sessionId": "elsewhere"})
    assert found(tmp_path) == [str(alone), str(session), str(log)]
    places = {place.path: place for place in find_runs([str(tmp_path)])}
    assert places[str(log)].size == log.stat().st_size + decisions.stat().st_size
    assert places[str(session)].size == session.stat().st_size + beside.stat().st_size + 3


def test_decisions_alone_are_a_run(tmp_path: Path) -> None:
    alone = write(tmp_path / "capability-decisions.jsonl", {})
    assert found(tmp_path) == [str(alone)]


def test_below_a_folder_only_logs_are_runs_and_what_is_named_is_one(tmp_path: Path) -> None:
    log, notes = write(tmp_path / "deep/er/a.jsonl", {}), write(tmp_path / "deep/notes.txt", {})
    write(tmp_path / "deep/.hidden.jsonl", {})
    (tmp_path / "deep/link.jsonl").symlink_to(log)
    write(tmp_path / "out/runs.jsonl", {})
    write(tmp_path / "out/below/a.jsonl", {})
    assert found(tmp_path, leave_out=tmp_path / "out") == [str(log)]
    assert found(tmp_path / "deep", notes) == [str(log), str(notes)]


@pytest.mark.parametrize("name", ["results.eval", "task-1.traj"])
def test_evaluation_files_below_a_folder_are_runs_by_their_usual_names(tmp_path: Path, name: str) -> None:
    file = write(tmp_path / "night" / name, {})
    assert found(tmp_path) == [str(file)]


def test_globs_and_the_same_log_twice(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1/a.jsonl", {}), write(tmp_path / "2/a.jsonl", {})
    write(tmp_path / "2/b.jsonl", {})
    assert found(tmp_path / "*/a.jsonl", one) == [str(one), str(two)]


@pytest.mark.parametrize("missing", ["nowhere", "nothing*.jsonl", "empty"])
def test_a_path_where_nothing_is_has_a_sentence(tmp_path: Path, missing: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(PlaceError, match=r"There (is nothing|are no logs) at "):
        found(tmp_path / missing)
    with pytest.raises(PlaceError, match="memory://"):
        found("memory://nothing/here")
