"""When work that goes on says how far it is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from inspector.ui import intervals


def test_how_far_work_is_is_said_some_times_a_second_unless_it_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "QUIET_S", 0.3)
    monkeypatch.setattr(intervals, "TELL_S", 0.1)
    clock = iter((5.0, 5.25, 5.31, 5.35, 5.42, 5.43, 5.53))
    monkeypatch.setattr(intervals, "time", SimpleNamespace(perf_counter=clock.__next__))
    reports = intervals.Reports()
    assert [reports.due() for _ in range(6)] == [False, True, False, True, False, True]
