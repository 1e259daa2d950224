"""Descriptions of rows: asked for together, and before they come into sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows


class Engine:
    """Notes requests with the functions for their answers."""

    def __init__(self) -> None:
        self.sent: list[tuple[tuple[int, ...], Callable[[Any], object]]] = []

    def send_request(self, request: Any, answered: Callable[[Any], object], _failed: object) -> None:
        self.sent.append((request, answered))

    def answer_all(self) -> None:
        for keys, answered in self.sent:
            answered([(key, "text") for key in keys])
        self.sent.clear()


def described(engine: Any) -> DescribedRows[int, tuple[int, str]]:
    question: Any = lambda keys: keys  # noqa: E731 - the request is never sent
    return DescribedRows(engine, question, lambda one: one[0], lambda _key: None)


@pytest.mark.parametrize("step", [3, -3])
def test_rows_are_described_before_they_come_into_sight(step: int) -> None:
    engine, requests, count, shown = Engine(), 0, 1_000_000, 12
    rows = described(engine)

    def show(first: int) -> int:
        """Paints rows; returns the number of those that were not there."""
        missing = 0
        for row in range(first, first + shown):
            missing += rows.find(row, lambda row=row: range(max(0, row - BEFORE), min(row + AFTER, count))) is None
        return missing

    assert show(500_000) == shown
    engine.answer_all()
    for place in range(1, 101):
        assert show(500_000 + place * step) == 0
        requests += len(engine.sent)
        engine.answer_all()
    assert requests <= 20


def test_a_screen_is_asked_for_in_few_requests() -> None:
    engine = Engine()
    rows = described(engine)
    for row in range(60):
        rows.find(row, lambda row=row: range(max(0, row - BEFORE), row + AFTER))
    assert len(engine.sent) <= 3
