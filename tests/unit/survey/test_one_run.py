"""One run as rows: what they say is what `summary`, `check` and `waste` say of its log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from inspector.survey.one_run import RunRows, SurveyOptions, survey_run
from inspector.survey.run_places import find_runs
from inspector.survey.schema import SURVEY_TABLES
from tests.builders import lines_of, log_file
from tests.commands import printed
from tests.waste import wasteful

ROOT = Path(__file__).parents[2] / "data/recordings"
LOGS = (
    "mew/coding-agent/envelope-history.jsonl", "mew/scenario-3-proposals/envelope-history.jsonl",
    "mcp-rune/01-loop-current-names.jsonl", "mcp-rune/05-consumer-errors.jsonl",
)  # fmt: skip


def surveyed(path: Path, **options: Any) -> RunRows:
    (place,) = find_runs([str(path)])
    return survey_run(place, SurveyOptions(**options))


@pytest.mark.parametrize("log", LOGS)
def test_the_rows_of_a_log_say_what_the_commands_say(log: str) -> None:
    tables = surveyed(ROOT / log).tables
    (run,) = tables["runs"]
    told = json.loads(printed("summary", ROOT / log, "--json", "--tokens"))
    assert (run["format"], run["messages"], run["records"]) == (told["format"], told["messages"], told["records"])
    calls = told["calls"]
    assert (run["tool_calls"], run["failed_calls"], run["unanswered_calls"]) == (
        calls["tools"], calls["failed"], calls["unanswered"],
    )  # fmt: skip
    assert {row["tool"]: row["calls"] for row in tables["tools"]} == told["tool_counts"]
    assert run["tokens"] == told["tokens"]["total"]
    sums = {row["name"]: row["tokens"] for row in tables["tokens"] if row["by"] == "tool"}
    assert sums == told["tokens"]["tools"]
    found = json.loads(printed("check", ROOT / log, "--json"))
    assert [{key: row[key] for key in found[0]} for row in tables["findings"]] == found if found else True
    assert (run["findings"], run["errors"]) == (len(found), sum(one["severity"] == "error" for one in found))
    waste = json.loads(printed("waste", ROOT / log, "--json", "--limit", 0))
    assert run["wasted"] == waste["tokens"]
    assert [row["tokens"] for row in tables["waste"]] == [one["tokens"] for one in waste["wastes"]]
    paths = json.loads(printed("contexts", ROOT / log, "--json"))
    assert [row["context"] for row in tables["contexts"]] == [one["path"] for one in paths]


def test_every_column_is_declared_and_every_row_names_its_run() -> None:
    tables = surveyed(ROOT / LOGS[0]).tables
    for table in SURVEY_TABLES:
        declared = {column.name for column in table.columns}
        for row in tables.get(table.name, ()):
            assert set(row) <= declared
            assert row["run"] == tables["runs"][0]["run"]
            assert row["path"] == str(ROOT / LOGS[0])
    assert {column.name for column in SURVEY_TABLES[0].columns} - set(tables["runs"][0]) <= {
        "usage_input", "usage_output", "usage_cache_read", "usage_cache_write",
    }  # fmt: skip


def test_without_tokens_nothing_is_counted() -> None:
    tables = surveyed(log_file(lines_of(*wasteful())), tokens=False).tables
    assert tables["runs"][0]["tokens"] is None
    assert "waste" not in tables


def test_what_cannot_be_read_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    for name, data, kind, words in (
        ("empty.jsonl", b"", "empty", "It is empty."),
        ("odd.jsonl", b'{"a": 1}\n' * 20, "unknown", "no log that can be read"),
        ("bytes.jsonl", bytes(range(256)) * 40, "unknown", "no log that can be read"),
    ):
        (tmp_path / name).write_bytes(data)
        found = surveyed(tmp_path / name)
        assert found.failed
        (row,) = found.tables["failures"]
        assert (row["kind"], words in row["text"]) == (kind, True), row
        assert "Declare its format" not in row["text"]
    os.mkfifo(tmp_path / "pipe")
    (row,) = surveyed(tmp_path / "pipe").tables["failures"]
    assert (row["kind"], row["text"]) == ("unreadable", "It is no file.")
    gone = find_runs([str(tmp_path / "odd.jsonl")])[0]
    (tmp_path / "odd.jsonl").unlink()
    (row,) = survey_run(gone, SurveyOptions()).tables["failures"]
    assert (row["kind"], row["text"]) == ("unreadable", "It cannot be read: No such file or directory.")


def test_what_is_as_it_was_is_not_read_again() -> None:
    log = log_file(lines_of(*wasteful()))
    before = surveyed(log)
    (place,) = find_runs([str(log)])
    assert survey_run(place, SurveyOptions(), before.digest).unchanged
    with log.open("ab") as file:
        file.write(b"\n")
    assert not survey_run(place, SurveyOptions(), before.digest).unchanged
