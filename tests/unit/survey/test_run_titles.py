"""Runs of sessions are named by their title, and surveys made before that open as they did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest

from inspector.survey.folder import SurveyFolder
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import find_runs
from inspector.survey.runs import SurveyRuns
from inspector.ui.panels.runs.table import Column, RunsModel

SESSION = "3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"


def record(number: int, kind: str, message: Mapping[str, object]) -> dict[str, object]:
    return {
        "parentUuid": None, "isSidechain": False, "sessionId": SESSION, "version": "2.1.30", "type": kind,
        "uuid": f"u{number}", "timestamp": f"2026-03-04T09:16:{number:02}.000Z", "message": message,
    }  # fmt: skip


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    usage = {"input_tokens": 400, "output_tokens": 90, "cache_read_input_tokens": 500}
    answer = {"role": "assistant", "id": "m1", "model": "claude-opus-4-5", "content": "In the shed.", "usage": usage}
    asked = record(1, "user", {"role": "user", "content": "Where are the kites?"})
    state = {"type": "cost-state", "sessionId": SESSION, "totalCostUSD": 0.12, "timestamp": "2026-03-04T09:17:00.000Z"}
    lines = [asked, record(2, "assistant", answer), state]
    (tmp_path / f"{SESSION}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    folder = SurveyFolder(tmp_path / "survey")
    for place in find_runs([str(tmp_path)], tmp_path / "survey"):
        folder.add(survey_run(place, SurveyOptions()))
    folder.finish()
    folder.close()
    return tmp_path / "survey"


def test_a_run_of_a_session_has_its_title_and_its_reported_tokens(survey: Path) -> None:
    runs = SurveyRuns(survey)
    assert runs.value(0, "title") == "Where are the kites?"
    model = RunsModel(runs)
    shown = {column: model.text(0, column) for column in (Column.PATH, Column.TOKENS, Column.COST)}
    assert shown == {Column.PATH: "Where are the kites?", Column.TOKENS: "990", Column.COST: "$0.120"}


def test_a_survey_without_titles_opens_and_names_runs_by_their_path(survey: Path) -> None:
    old = survey / "runs.parquet"
    with duckdb.connect() as made:
        made.execute(f"CREATE TABLE runs AS SELECT * EXCLUDE (title, stated_cost) FROM read_parquet('{old}')")
        made.execute(f"COPY runs TO '{old}' (FORMAT parquet)")
    model = RunsModel(SurveyRuns(survey))
    assert model.text(0, Column.PATH).endswith(f"{SESSION}.jsonl")
    assert model.text(0, Column.TOKENS) == "990"
