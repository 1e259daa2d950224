"""Surveys that somebody else made: whatever their files hold, they are read as declared, or a sentence says why not."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest

from inspector.survey import runs as survey_runs
from inspector.survey.folder import SurveyError
from inspector.survey.runs import SurveyRuns
from inspector.survey.schema import SURVEY_TABLES


def survey(folder: Path, runs: Mapping[str, str], *, more: str = "", **others: str) -> Path:
    """A survey with these values of its runs, and tables that answer these queries; all else is absent."""
    with closing(duckdb.connect()) as made:
        for table in SURVEY_TABLES:
            given = runs if table.name == "runs" else {}
            values = ", ".join(f'{given.get(one.name, "NULL")} AS "{one.name}"' for one in table.columns)
            where = more if table.name == "runs" else "WHERE false"
            query = others.get(table.name, f"SELECT {values} {where}")
            made.execute(f"COPY ({query}) TO '{folder / table.name}.parquet' (FORMAT parquet)")
    return folder


def seen(found: SurveyRuns) -> int:
    """Ask everything of a survey; how many runs it has."""
    everything = np.arange(len(found))
    for text in ("failed_calls > 0", 'path contains "x"', 'finding == "a"', 'tool == "x"', 'first > "2026-01-01"'):
        found.matching_places(found.compile(text))
    found.findings_of(everything)
    found.tools_of(everything)
    found.trends(everything)
    return len(found)


RUN = {"path": "'/x'", "run": "'r'"}


@pytest.mark.parametrize(
    ("odd", "name", "value"),
    [
        ({"tokens": "'many'"}, "tokens", None),
        ({"tokens": "170141183460469231731687303715884105727::HUGEINT"}, "tokens", None),
        ({"duration": "'nan'::DOUBLE"}, "duration", None),
        ({"cost": "'-inf'::DOUBLE"}, "cost", None),
        ({"tools": "[NULL, 'a']"}, "tools", ["a"]),
        ({"path": "7"}, "path", "7"),
        ({"path": "'/x' || chr(0)"}, "path", "/x\0"),
    ],
)
def test_values_are_of_the_types_declared(tmp_path: Path, odd: dict[str, str], name: str, value: object) -> None:
    found = SurveyRuns(survey(tmp_path, RUN | odd))
    assert seen(found) == 1
    assert found.value(0, name) == value


def test_rows_of_no_run_are_none_and_absent_names_are_empty(tmp_path: Path) -> None:
    assert seen(SurveyRuns(survey(tmp_path, {}))) == 0
    odd = {"findings": "SELECT 'r' AS run, '/x' AS path, NULL AS code", "failures": "SELECT 7 AS z"}
    found = SurveyRuns(survey(tmp_path, RUN, **odd))
    assert (seen(found), [one.name for one in found.findings_of(np.arange(1))]) == (1, [""])


def test_what_is_no_column_at_all_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SurveyError, match="cannot be read"):
        SurveyRuns(survey(tmp_path, RUN | {"tools": "'a'"}))


def test_one_run_said_again_and_again_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_runs, "_MOST_RUNS", 3)
    with pytest.raises(SurveyError, match="has 4 runs"):
        SurveyRuns(survey(tmp_path, RUN, more="FROM range(4)"))


def test_tokens_are_those_reported_and_an_estimate_says_so(tmp_path: Path) -> None:
    run = {"path": "'/x'", "tokens": "500", "usage_input": "1000", "usage_cache_read": "30000"}
    times = "FROM range(2) AS t(i)"
    dated = run | {"run": "'r' || i", "first": "TIMESTAMPTZ '2026-01-01' + to_hours(i::INTEGER)"}
    reported = SurveyRuns(survey(tmp_path, dated, more=times))
    both = np.arange(2)
    assert reported.tokens().tolist() == [31_000, 31_000]
    assert reported.tokens_words(both) == "tokens"
    assert (reported.trends(both)[0].title, np.nanmax(reported.trends(both)[0].values)) == ("Tokens", 31_000)
    (tmp_path / "b").mkdir()
    mixed = dated | {"usage_input": "CASE i WHEN 0 THEN 1000 END", "usage_cache_read": "NULL"}
    partly = SurveyRuns(survey(tmp_path / "b", mixed, more=times))
    assert sorted(partly.tokens().tolist()) == [500, 1_000]
    assert partly.trends(both)[0].title == "Tokens, partly estimate"
    (tmp_path / "d").mkdir()
    unknown = mixed | {"tokens": "NULL"}
    assert SurveyRuns(survey(tmp_path / "d", unknown, more=times)).tokens_words(both) == "tokens"
    (tmp_path / "c").mkdir()
    estimate = SurveyRuns(
        survey(tmp_path / "c", dated | {"usage_input": "NULL", "usage_cache_read": "NULL"}, more=times)
    )
    assert estimate.trends(both)[0].title == "Tokens, estimate"
