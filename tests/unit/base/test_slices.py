"""Long work, a little at a time."""

from __future__ import annotations

import math
from collections.abc import Generator

from inspector.base.slices import SlicedWork, run_to_end, run_until


def _steps(done: list[int], upto: int) -> SlicedWork[str]:
    for number in range(upto):
        done.append(number)
        yield
    return "made"


def test_one_step_is_done_however_late_it_is_and_it_goes_on_where_it_stopped() -> None:
    done: list[int] = []
    work: Generator[None, None, str] = _steps(done, 2)
    assert [run_until(work, 0.0) for _ in range(4)] == [False, False, True, True]
    assert done == [0, 1]


def test_with_time_all_is_done() -> None:
    done: list[int] = []
    assert run_until(_steps(done, 5), math.inf)
    assert done == [0, 1, 2, 3, 4]


def test_what_comes_of_it_at_once() -> None:
    assert run_to_end(_steps([], 3)) == "made"
