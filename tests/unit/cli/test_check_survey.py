"""`check` on a survey, and expectations on a log."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from inspector.analysis.findings.streams import StreamChecks
from inspector.survey.folder import SurveyFolder
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import find_runs
from tests.commands import asked, printed

ROOT = Path(__file__).parents[2] / "data/recordings"
CODER = ROOT / "mew/coding-agent/envelope-history.jsonl"
RUNE = ROOT / "mcp-rune/01-loop-current-names.jsonl"


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey")
    (path / "empty.jsonl").write_bytes(b"")
    folder = SurveyFolder(path / "out")
    for place in find_runs([str(CODER), str(RUNE), str(path / "empty.jsonl")]):
        folder.add(survey_run(place, SurveyOptions(tokens=False)))
    folder.finish()
    folder.close()
    return path / "out"


def test_findings_of_all_runs_name_where_they_are(survey: Path) -> None:
    text = printed("check", survey)
    assert f"{survey}: 2 runs." in text
    assert "warning request-unanswered (2 in 1 run): Request without an answer" in text
    assert f"{CODER} No. 22" in text
    assert "1 log could not be surveyed" in text
    found = json.loads(printed("check", survey, "--json"))
    alone = [one for log in (CODER, RUNE) for one in json.loads(printed("check", log, "--json"))]
    assert sorted((one["code"], one["no"], one["text"]) for one in found) == sorted(
        (one["code"], one["no"], one["text"]) for one in alone
    )
    assert {one["path"] for one in found} == {str(CODER), str(RUNE)}


def _fail(*_: object) -> None:
    raise RuntimeError("broken")


@pytest.mark.logs_warnings
def test_checks_that_failed_in_a_run_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StreamChecks, "feed", _fail)
    folder = SurveyFolder(tmp_path / "out")
    (place,) = find_runs([str(CODER)])
    folder.add(survey_run(place, SurveyOptions(tokens=False)))
    folder.finish()
    folder.close()
    done = asked("check", tmp_path / "out")
    assert done.exit_code == 70
    assert f"{CODER}: The checks of streams ended at No. " in done.stdout
    assert "could not be surveyed" not in done.stdout
    assert asked("check", tmp_path / "out", "--fail-on", "warning").exit_code == 1
    told = [one for one in json.loads(asked("check", tmp_path / "out", "--json").stdout) if one["no"] is None]
    assert [(one["code"], one["path"]) for one in told] == [("checks-failed", str(CODER))]


def test_expectations_end_with_an_exit_code(survey: Path) -> None:
    good = ("--expect", "tool write_file >= 1", "--forbid", "finding secret-in-clear", "--fail-on", "error")
    for held in (survey, CODER):
        assert asked("check", held, *good).exit_code == 0
        failed = asked("check", held, "--expect", "tool write_file >= 9")
        assert (failed.exit_code, "There are 1 calls of write_file." in failed.output) == (1, True)
        assert asked("check", held, "--forbid", "finding request-*").exit_code == 1
        assert asked("check", held, "--expect-tool", "nobody_has_it").exit_code == 1
        assert asked("check", held, "--fail-on", "warning").exit_code == 1
        assert asked("check", held, "--expect", "tool").exit_code == 2
    failed = asked("check", survey, "--expect", "tool write_file", "--each-run")
    assert failed.exit_code == 1
    assert f"expect tool write_file in {RUNE}: There are 0 calls of write_file." in failed.output
    assert asked("check", survey, "--expect", "failures == 0").exit_code == 1


def test_reports_for_continuous_integration_name_the_run(survey: Path) -> None:
    report = printed("check", survey, "--format", "junit", "--forbid", "tool write_file", codes=(1,))
    suite = ElementTree.fromstring(report)
    assert suite.get("failures") == "1"
    assert f"{CODER}, No. 22" in "".join(suite.itertext())
    sarif = json.loads(printed("check", survey, "--format", "sarif"))
    places = [one["locations"][0]["physicalLocation"] for one in sarif["runs"][0]["results"]]
    assert {place["artifactLocation"]["uri"] for place in places} == {str(CODER), str(RUNE)}
