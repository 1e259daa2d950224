"""Foreign code that takes too long is ended, in any thread, and nothing arrives in other code afterwards."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from inspector.base.time_bounds import TimeBoundError, call_shielded, call_within

BOUND_S = 0.2


def in_main(work: Callable[[], object]) -> object:
    return work()


def in_thread(work: Callable[[], object]) -> object:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


WHERE = pytest.mark.parametrize("run", [in_main, in_thread])


def loop_for_ever() -> None:
    while True:
        pass


def catch_everything_once() -> None:
    try:
        loop_for_ever()
    except BaseException:  # noqa: BLE001 - as careless code does
        loop_for_ever()


@WHERE
def test_a_result_comes_back(run: Callable[[Callable[[], object]], object]) -> None:
    assert run(lambda: call_within(BOUND_S, lambda one, two=0: one + two, 1, two=2)) == 3


@WHERE
@pytest.mark.parametrize("loop", [loop_for_ever, catch_everything_once])
def test_an_endless_loop_is_ended(run: Callable[[Callable[[], object]], object], loop: Callable[[], None]) -> None:
    began = time.monotonic()
    with pytest.raises(TimeBoundError):
        run(lambda: call_within(BOUND_S, loop))
    assert time.monotonic() - began < 60


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_a_regular_expression_that_backtracks_for_ever_is_ended_in_the_main_thread() -> None:
    with pytest.raises(TimeBoundError):
        call_within(BOUND_S, re.fullmatch, r"(a+)+b", "a" * 64)


@WHERE
def test_code_that_catches_the_end_and_returns_has_failed_all_the_same(
    run: Callable[[Callable[[], object]], object],
) -> None:
    def stubborn() -> str:
        try:
            loop_for_ever()
        except BaseException:  # noqa: BLE001 - as careless code does
            return "done"
        return "never"

    with pytest.raises(TimeBoundError):
        run(lambda: call_within(BOUND_S, stubborn))


@WHERE
def test_nothing_arrives_after_the_call(run: Callable[[Callable[[], object]], object]) -> None:
    def calls() -> int:
        ended = 0
        for _ in range(20):
            try:
                call_within(0.001, time.sleep, 0.001)
            except TimeBoundError:
                ended += 1
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline:
            pass
        return ended

    assert isinstance(run(calls), int)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
def test_a_timer_of_others_goes_on() -> None:
    heard = threading.Event()
    handler = signal.signal(signal.SIGALRM, lambda *_: heard.set())
    before = signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        assert call_within(5, lambda: 1) == 1
        assert heard.wait(10)
    finally:
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *before)


@WHERE
def test_a_call_within_a_call_has_its_own_bound(run: Callable[[Callable[[], object]], object]) -> None:
    def outer() -> None:
        with pytest.raises(TimeBoundError):
            call_within(BOUND_S, loop_for_ever)
        loop_for_ever()

    with pytest.raises(TimeBoundError):
        run(lambda: call_within(3 * BOUND_S, outer))


@WHERE
def test_code_of_this_program_is_not_interrupted(run: Callable[[Callable[[], object]], object]) -> None:
    ended: list[int] = []

    def slow() -> None:
        deadline = time.monotonic() + 2 * BOUND_S
        while time.monotonic() < deadline:
            pass
        ended.append(1)

    def foreign() -> None:
        while True:
            call_shielded(slow)

    with pytest.raises(TimeBoundError):
        run(lambda: call_within(BOUND_S, foreign))
    assert ended == [1]
