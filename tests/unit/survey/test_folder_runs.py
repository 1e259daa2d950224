"""Folders with many logs as runs: their kind, and the facts at the ends of their files."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from inspector.survey.folder_runs import MANY, LogFolder, log_folder_at, rows_of_folder
from inspector.survey.log_figures import LogFigures
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import PlaceError, RunPlace
from inspector.survey.runs import SurveyRuns

SAMPLES = Path(__file__).parents[3] / "inspector" / "formats"
SESSION = SAMPLES / "claude_code" / "samples" / "claude-code.jsonl"
TRAJECTORY = SAMPLES / "atif" / "samples" / "atif-bakery.json"
LOG = SAMPLES / "mcp" / "samples" / "json-rpc.jsonl"


def folder_of(path: Path, sample: Path, count: int = MANY, ending: str = "") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        shutil.copyfile(sample, path / f"log{number}{ending or sample.suffix}")
    return path


@pytest.mark.parametrize(("sample", "kind"), [(SESSION, "sessions"), (TRAJECTORY, "evaluations"), (LOG, "logs")])
def test_a_folder_is_of_the_kind_of_its_logs(tmp_path: Path, sample: Path, kind: str) -> None:
    folder = folder_of(tmp_path / "all", sample)
    assert log_folder_at(folder) == LogFolder(kind, MANY)  # type: ignore[arg-type] - one of the kinds
    assert log_folder_at(folder_of(tmp_path / "few", sample, MANY - 1)) is None
    assert log_folder_at(folder / "log0.jsonl") is None


def test_one_session_or_log_in_many_files_is_no_choice(tmp_path: Path) -> None:
    session = tmp_path / "s"
    folder_of(session / "subagents", SESSION)
    shutil.copyfile(SESSION, tmp_path / "s.jsonl")
    assert log_folder_at(session) is None
    assert log_folder_at(session / "subagents") is None
    rotated = folder_of(tmp_path / "rotated", LOG, 0)
    shutil.copyfile(LOG, rotated / "gateway.log")
    for number in range(1, MANY + 1):
        shutil.copyfile(LOG, rotated / f"gateway.log.{number}")
    assert log_folder_at(rotated) is None


def test_sessions_of_a_folder_state_title_model_and_times(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, SESSION, 3)
    (folder / "log0").mkdir()
    shutil.copytree(folder, tmp_path.parent / "again", dirs_exist_ok=True)
    rows, sessions = rows_of_folder(folder)
    assert sessions == {str(folder / f"log{number}.jsonl") for number in range(3)}
    for row in rows:
        assert (row["format"], row["title"]) == ("claude-code", "Why does the total of an order differ from its lines?")
        assert row["models"] == ["claude-opus-4-5-20251101"]
        assert row["first"] is not None
        assert 20 < row["duration"] < 30


def test_runs_of_evaluations_state_what_their_files_do(tmp_path: Path) -> None:
    rows, sessions = rows_of_folder(folder_of(tmp_path, TRAJECTORY, 2))
    assert (len(rows), sessions) == (2, frozenset())
    assert all(row["format"] == "atif" and row["stated_cost"] for row in rows)


def test_other_logs_state_their_times_and_secrets_are_masked(tmp_path: Path) -> None:
    assert [row["title"] for row in rows_of_folder(folder_of(tmp_path / "a", LOG, 1)).rows if "title" in row] == []
    key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
    asked = {"type": "user", "sessionId": "s", "uuid": "u", "cwd": "/w", "message": {"role": "user", "content": key}}
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "s.jsonl").write_text(json.dumps(asked) + "\n")
    [row] = rows_of_folder(tmp_path / "b").rows
    assert "abcdefghij" not in str(row)


def test_a_folder_of_logs_is_read_as_runs_that_filters_match(tmp_path: Path) -> None:
    runs = SurveyRuns(folder_of(tmp_path, SESSION, 4))
    assert (len(runs), runs.is_survey, len(runs.sessions)) == (4, False, 4)
    assert len(runs.matching_places(runs.compile('title contains "total" && duration > 20'))) == 4
    with pytest.raises(PlaceError, match="There are no logs"):
        rows_of_folder(folder_of(tmp_path / "empty", SESSION, 0))


def figures_of(runs: SurveyRuns) -> LogFigures:
    """Reads the figures of all logs."""
    figures = LogFigures(runs.places_to_read(), (), "", listed=True)
    deadline = time.monotonic() + 50
    while figures.left and time.monotonic() < deadline:
        runs.add_figures(figures.poll())
        time.sleep(0.01)
    return figures


def test_figures_of_a_folder_are_those_of_a_survey(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "all", SESSION, 2)
    shutil.copyfile(TRAJECTORY, folder / "log8.json")
    shutil.copyfile(LOG, folder / "log9.jsonl")
    (folder / "empty.jsonl").touch()
    runs = SurveyRuns(folder)
    places = {Path(runs.value(place, "path")).name: place for place in range(len(runs))}
    stated = runs.value(places["log8.json"], "stated_cost")
    assert stated is not None
    assert [runs.value(place, "tool_calls") for place in places.values()] == [None] * 5
    assert np.isnan(runs.tokens()[places["log0.jsonl"]])
    assert figures_of(runs).left == 0
    assert (runs.unread, [Path(path).name for path, _why in runs.failures]) == (set(), ["empty.jsonl"])
    for name in ("log0.jsonl", "log1.jsonl", "log9.jsonl"):
        place = places[name]
        [row] = survey_run(RunPlace(str(folder / name), 0, 0), SurveyOptions(tokens=False)).tables["runs"]
        for column in ("messages", "tool_calls", "failed_calls", "models", "usage_input", "usage_output", "findings"):
            assert runs.value(place, column) == row.get(column), column
    session = places["log0.jsonl"]
    assert (runs.value(session, "tool_calls"), runs.value(session, "failed_calls")) == (4, 1)
    assert runs.tokens()[session] == 38 + 451 + 35_180 + 6_180
    assert runs.value(session, "cost") is not None, "by the list of prices"
    assert runs.value(places["log8.json"], "stated_cost") == stated
    assert runs.value(places["log8.json"], "cost") is None, "no list has its model"
    chosen = runs.matching_places(runs.compile('tool == "Grep" && failed_calls > 0'))
    assert len(chosen) == 2
    assert {one.name for one in runs.tools_of(chosen)} > {"Grep", "Bash"}
    assert runs.findings_of(chosen)
