"""A full memory budget: reading stops in a clear state, goes on when asked, and nothing is lost."""

from __future__ import annotations

from itertools import count

import pytest
from typer.testing import CliRunner

from inspector.base import memory_budget
from inspector.cli.commands import app
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, closed_at_end, envelope, lines_of, log_file

_LINES = [envelope("chat", {"text": "x" * 200}) for _ in range(400)]


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that seems to hold 40 MB more each time somebody looks."""
    held = count(0, 40_000_000)
    monkeypatch.setattr(memory_budget, "resident_bytes", lambda: next(held))


@pytest.mark.usefixtures("growing")
def test_reading_stops_and_goes_on() -> None:
    document = closed_at_end(CaptureDocument())
    document.memory.limit_to(memory_budget.MIN_BUDGET_MB)
    for _ in document.open_log(log_file(lines_of(*_LINES)), block_bytes=1 << 12):
        pass
    stopped_at = len(document.capture)
    assert 0 < stopped_at < 400
    assert document.memory.is_full
    assert document.read_errors == [document.memory.full_message]
    assert not document.analysis.findings.unchecked_count, "what was read is looked at"
    while document.sources.can_go_on and len(document.capture) < 400:
        for _ in document.resume_reading(block_bytes=1 << 12):
            pass
    assert len(document.capture) == 400
    assert [document.capture.records.envelope_id(row) for row in range(400)] == [line["id"] for line in _LINES]


@pytest.mark.usefixtures("growing")
def test_a_live_capture_goes_on_to_disk() -> None:
    log = GrowingLog()
    log.document.memory.limit_to(memory_budget.MIN_BUDGET_MB)
    for start in range(0, 400, 20):
        log.write(*_LINES[start : start + 20])
    assert log.document.memory.is_full
    assert len(log.document.capture) < 400
    log.document.memory.limit_to(1_000_000)
    while log.document.poll():
        pass
    assert [log.document.capture.records.envelope_id(row) for row in range(400)] == [line["id"] for line in _LINES]


def test_half_of_what_is_free_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_budget, "available_bytes", lambda: 8_000_000_000)
    budget = memory_budget.MemoryBudget()
    assert budget.limit_bytes == 4_000_000_000
    budget.limit_to(500)
    assert budget.limit_bytes == 500_000_000
    budget.limit_to(1)
    assert budget.limit_bytes == memory_budget.MIN_BUDGET_MB * 1_000_000
    monkeypatch.setattr(memory_budget, "available_bytes", lambda: None)
    budget.limit_to(0)
    assert budget.limit_bytes is None
    budget.update()
    assert not budget.is_full


def test_this_process_holds_something() -> None:
    assert memory_budget.resident_bytes() > 10_000_000


def test_commands_say_that_they_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    held = count(0, 200_000_000)
    monkeypatch.setattr(memory_budget, "resident_bytes", lambda: next(held))
    path = log_file(lines_of(*(envelope("chat", {"text": "x" * 2_000}) for _ in range(2_000))))
    result = CliRunner().invoke(app, ["summary", str(path), "--memory", "100", "--json"])
    assert result.exit_code == 0, "as for other results that are not all there is"
    assert "Reading stopped" in result.stderr
    assert "The file keeps the rest" in result.stderr
