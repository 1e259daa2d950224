"""The folder of a survey: what was added is there, of a run surveyed again the last, and nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.survey import is_survey
from inspector.survey.folder import SurveyError, SurveyFolder, query_rows
from inspector.survey.one_run import Row, RunRows, SurveyOptions, failure_row
from inspector.survey.run_places import RunPlace
from inspector.survey.schema import SURVEY_TABLES


def rows(path: str, digest: str, *, at: int, tools: tuple[str, ...] = ("grep",)) -> RunRows:
    same = {"run": f"{path}-{digest}", "path": path}
    run: Row = {**same, "size": 5, "modified": 7, "digest": digest, "version": "v", "surveyed": at * 10**6,
                "messages": 3, "models": ["m"], "first": 1_700_000_000 * 10**9, "duration": 1.5}  # fmt: skip
    return RunRows(RunPlace(path, 5, 7), digest, {"runs": [run], "tools": [{**same, "tool": tool, "calls": 2}
                                                                           for tool in tools]})  # fmt: skip


_ALL = "SELECT path, digest, models, epoch(first), duration, cost FROM runs ORDER BY path"


def tools(folder: Path) -> list[tuple[str, str]]:
    return list(query_rows(folder, "SELECT path, tool FROM tools ORDER BY path, tool"))


def test_of_a_run_surveyed_again_the_last_rows_stay(tmp_path: Path) -> None:
    folder = SurveyFolder(tmp_path / "s")
    folder.add(rows("a", "1", at=1, tools=("grep", "stat")))
    folder.add(rows("b", "1", at=1))
    folder.finish()
    folder.close()
    assert is_survey(tmp_path / "s")
    assert all((tmp_path / f"s/{table.name}.parquet").is_file() for table in SURVEY_TABLES)
    folder = SurveyFolder(tmp_path / "s")
    assert folder.known_runs()["a"].digest == "1"
    folder.add(rows("a", "2", at=2, tools=("write",)))
    folder.finish()
    folder.close()
    assert tools(tmp_path / "s") == [("a", "write"), ("b", "grep")]
    found = list(query_rows(tmp_path / "s", _ALL))
    assert found == [("a", "2", ["m"], 1_700_000_000.0, 1.5, None), ("b", "1", ["m"], 1_700_000_000.0, 1.5, None)]


def test_what_a_killed_survey_had_written_is_taken_in_once(tmp_path: Path) -> None:
    folder = SurveyFolder(tmp_path)
    folder.add(rows("a", "1", at=1))
    folder.finish()
    folder.add(rows("b", "1", at=2))
    folder.flush()
    part = next((tmp_path / ".parts").glob("*-tools.parquet")).read_bytes()
    folder.finish()
    folder.close()
    (tmp_path / ".parts/000009-tools.parquet").write_bytes(part)  # killed before it was removed
    folder = SurveyFolder(tmp_path)
    folder.close()
    assert tools(tmp_path) == [("a", "grep"), ("b", "grep")]
    assert not list((tmp_path / ".parts").glob("*.parquet"))


def test_a_run_that_fails_now_has_no_rows_of_before_and_failures_go_when_it_can_be_read(tmp_path: Path) -> None:
    folder = SurveyFolder(tmp_path)
    folder.add(rows("a", "1", at=1))
    place, options = RunPlace("a", 5, 7), SurveyOptions()
    folder.add(RunRows(place, "", {"failures": [failure_row(place, "worker", "It ended its process.", options)]}))
    folder.finish()
    assert not tools(tmp_path)
    assert "a" not in folder.known_runs(), "it is worth another try"
    later = rows("a", "1", at=9 * 10**12)
    folder.add(later)
    folder.finish()
    folder.close()
    assert tools(tmp_path) == [("a", "grep")]
    assert not list(query_rows(tmp_path, "SELECT * FROM failures"))


def test_a_folder_a_table_is_a_survey_too(tmp_path: Path) -> None:
    folder = SurveyFolder(tmp_path)
    folder.add(rows("a", "1", at=1))
    folder.finish()
    folder.close()
    for table in SURVEY_TABLES:
        inner = tmp_path / table.name / "day=1"
        inner.mkdir(parents=True)
        (tmp_path / f"{table.name}.parquet").rename(inner / "one.parquet")
    assert is_survey(tmp_path)
    assert tools(tmp_path) == [("a", "grep")]


def test_two_do_not_write_to_one_folder_and_what_is_none_is_refused(tmp_path: Path) -> None:
    folder = SurveyFolder(tmp_path / "s")
    with pytest.raises(SurveyError, match="Another survey is being written"):
        SurveyFolder(tmp_path / "s")
    folder.close()
    (tmp_path / "file").write_text("")
    with pytest.raises(SurveyError, match="cannot be written"):
        SurveyFolder(tmp_path / "file")
    (tmp_path / "t").mkdir()
    (tmp_path / "t/runs.parquet").write_text("no parquet")
    with pytest.raises(SurveyError, match="cannot be read"):
        list(query_rows(tmp_path / "t", "SELECT * FROM runs"))


def test_a_full_disk_has_a_sentence_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SurveyFolder(tmp_path)
    folder.add(rows("a", "1", at=1))
    folder.finish()

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(target))

    folder.add(rows("b", "1", at=1))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(SurveyError, match="No space left on device"):
            folder.finish()
    assert tools(tmp_path) == [("a", "grep")]
    folder.finish()
    folder.close()
    assert tools(tmp_path) == [("a", "grep"), ("b", "grep")]
