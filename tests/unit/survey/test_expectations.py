"""What logs and surveys are held to: as it is written, and the same of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from inspector.engine.requests.run_tables import CountRun
from inspector.survey.expectations import SUBJECTS, ExpectationError, parse_expectation
from inspector.survey.folder import SurveyFolder
from inspector.survey.one_run import SurveyOptions, survey_run
from inspector.survey.run_places import find_runs

LOG = Path(__file__).parents[2] / "data/recordings/mew/coding-agent/envelope-history.jsonl"


@pytest.mark.parametrize(
    ("text", "name", "operator", "number"),
    [
        ("tool write_file >= 1", "write_file", ">=", 1), ("finding secret-in-clear", "secret-in-clear", ">=", 1),
        ("failed<=3", "", "<=", 3), ('tool "a b" == 0', "a b", "==", 0), ("  seconds < 1.5 ", "", "<", 1.5),
        ("tool read_*>2", "read_*", ">", 2),
    ],
)  # fmt: skip
def test_an_expectation_is_a_subject_a_name_and_a_number(text: str, name: str, operator: str, number: float) -> None:
    found = parse_expectation(text)
    assert (found.name, found.operator, found.number) == (name, operator, number)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expects nothing"), ("tools x", "Did you mean tool?"), ("tool", "which tool?"),
        ("messages all", "has no names"), ("finding secret-in-cler", "Did you mean secret-in-clear?"),
        ("failed < many", "many is no number"), ("zzz", "There are: tool,"),
    ],
)  # fmt: skip
def test_what_is_none_says_why(text: str, words: str) -> None:
    with pytest.raises(ExpectationError) as error:
        parse_expectation(text)
    assert words in str(error.value)


def test_a_log_and_the_survey_of_it_have_the_same_of_everything(tmp_path: Path) -> None:
    (place,) = find_runs([str(LOG)])
    folder = SurveyFolder(tmp_path)
    folder.add(survey_run(place, SurveyOptions(tokens=False)))
    folder.finish()
    folder.close()
    log = Log.read([Target(LOG)], OpenOptions(checked=True))
    counts = log.answer_to(CountRun())
    assert counts.keys() == SUBJECTS.keys()
    names = {"tool": "*_file", "finding": "request-*"}
    for word, subject in SUBJECTS.items():
        wanted = parse_expectation(f"{word} {names.get(word, '')}" if subject.named else word)
        value = wanted.of_counts(counts)
        assert wanted.of_survey(tmp_path) == pytest.approx(value), word
        assert wanted.of_each(tmp_path) == ([] if word == "failures" else [(str(LOG), pytest.approx(value))]), word
        assert word in ("failures", "errors", "unreadable", "failed", "unanswered") or value, word
    log.close()
