"""Texts are counted by a process of its own, which is replaced when it dies and ends with whoever asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inspector.base.workers.pool import WorkerPool
from inspector.tokens import text_counts
from inspector.tokens.text_counts import TextCounts


@pytest.fixture
def counts() -> Iterator[TextCounts]:
    made = TextCounts()
    yield made
    made.end()


def poll_until(counts: TextCounts, done: Callable[[], bool]) -> None:
    """Polls as a window does."""
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until
        counts.poll()
        time.sleep(0.01)


@pytest.mark.real
def test_counts_come_from_another_process(counts: TextCounts) -> None:
    assert counts.count_of_text("what is a kelvin?") is None
    assert counts.is_counting
    poll_until(counts, lambda: counts.version > 0)
    assert counts.count_of_text("what is a kelvin?") == 6
    assert counts.count_of_text("") == 0


def test_nothing_is_counted_that_is_not_wanted(counts: TextCounts) -> None:
    assert counts.count_of_text("text", wanted=False) is None
    assert not counts.is_counting
    counts.count_of_text("text")
    counts.count_here()
    assert counts.count_of_text("text", wanted=False) == 1


@pytest.mark.real
def test_a_process_that_dies_is_replaced(counts: TextCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    start = WorkerPool.start

    def start_and_kill(pool: WorkerPool[Any], most: int | None = None) -> None:
        start(pool, most)
        if not pool.deaths:
            pool._workers[0]._process.kill()  # before it brings anything back

    monkeypatch.setattr(WorkerPool, "start", start_and_kill)
    counts.count_of_text("first")
    poll_until(counts, lambda: counts.version > 0)
    assert counts._pool.deaths == 1
    assert counts.count_of_text("first") == 1


@pytest.mark.real
def test_three_deaths_end_it(counts: TextCounts, monkeypatch: pytest.MonkeyPatch) -> None:
    start = WorkerPool.start

    def start_and_kill(pool: WorkerPool[Any], most: int | None = None) -> None:
        start(pool, most)
        for worker in pool._workers:
            worker._process.kill()

    monkeypatch.setattr(WorkerPool, "start", start_and_kill)
    counts.count_of_text("first")
    poll_until(counts, lambda: bool(counts.error))
    assert counts.error == text_counts.GIVEN_UP
    assert not counts.is_counting
    assert counts._pool.deaths == 3


@pytest.mark.real
def test_an_idle_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_counts, "_IDLE_S", 0.0)
    counts = TextCounts()
    counts.count_of_text("first")
    poll_until(counts, lambda: counts.version > 0)
    poll_until(counts, lambda: counts.is_idle)
    counts.count_of_text("second")
    poll_until(counts, lambda: counts.version > 1)
    assert counts.count_of_text("second") == 1
    counts.end()
