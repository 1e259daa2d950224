"""Runs of one file, read in this process or in a worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.survey import file_runs
from inspector.survey.file_runs import has_several_runs, rows_of_file
from tests.builders import envelope, lines_of
from tests.unit.formats.conformance import FORMATS_FOLDER

LOG = FORMATS_FOLDER / "inspect_ai" / "samples" / "bread.json"


@pytest.mark.real
def test_a_worker_reads_the_runs_of_a_large_file(monkeypatch: pytest.MonkeyPatch) -> None:
    here = file_runs._rows_in(LOG)
    monkeypatch.setattr(file_runs, "WORTHWHILE_BYTES", 0)
    file_runs._read_rows.cache_clear()
    asked: list[object] = []
    monkeypatch.setattr(file_runs, "run_facts", asked.append)  # in this process alone
    assert rows_of_file(LOG) == here
    assert has_several_runs(LOG)
    assert asked == []
    file_runs._read_rows.cache_clear()


def test_a_log_without_runs_needs_no_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines_of(envelope()))
    monkeypatch.setattr(file_runs, "WORTHWHILE_BYTES", 0)
    monkeypatch.setattr(file_runs, "WorkerPool", None)
    assert rows_of_file(path) == ([], "")
    assert not has_several_runs(path)
