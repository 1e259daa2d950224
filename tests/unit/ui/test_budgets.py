"""When work that goes on says how far it is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from inspector.ui import budgets


def test_how_far_work_is_is_said_at_its_beginning_and_then_some_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "current", budgets.Budgets(tell_s=0.1))
    clock = iter((5.0, 5.05, 5.11, 5.12, 5.22))
    monkeypatch.setattr(budgets, "time", SimpleNamespace(perf_counter=clock.__next__))
    reports = budgets.Reports()
    assert [reports.due() for _ in range(5)] == [True, False, True, False, True]
