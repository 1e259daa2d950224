"""Rows that changed between two looks."""

from __future__ import annotations

from inspector.analysis.passes.changed_rows import ChangedRows


def test_collects_and_forgets() -> None:
    rows = ChangedRows()
    rows.add(5)
    rows.update([3, 5, 1])
    assert rows.take_rows().tolist() == [1, 3, 5]
    assert rows.take_rows().tolist() == []
