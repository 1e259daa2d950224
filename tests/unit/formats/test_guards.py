"""Code of plug-ins inside a guard: the first failure switches it off with a reason."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inspector.formats import guards
from inspector.formats.guards import GarbageError, Guard, check_size


@pytest.fixture(autouse=True)
def renewed() -> Iterator[None]:
    guards.renew()
    yield
    guards.renew()


def _raise(error: BaseException) -> Any:
    raise error


def same(answer: object) -> object:
    return answer


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: _raise(ValueError("no\x1b[31m surface\nhere")), "it raised ValueError: no [31m surface here"),
        (lambda: sys.exit(3), "it raised SystemExit: 3"),
        (lambda: _raise(UnspeakableError()), "it raised UnspeakableError"),
        (lambda: _raise(MemoryError()), "it raised MemoryError"),
        (lambda: next(iter(())), "it raised StopIteration"),
    ],
)
def test_a_failure_switches_off(call: Callable[[], object], reason: str) -> None:
    guard = Guard("plug-in toy, check one")
    assert guard.call(5, call, checked=same) is None
    assert guard.is_off
    assert [trip.reason for trip in guards.trips()] == [reason]
    assert guards.trips()[0].sentence == f"Plug-in toy, check one is switched off for this log: {reason}."
    assert guard.call(5, lambda: 1, checked=same) is None
    assert len(guards.trips()) == 1


def test_a_key_across_the_limit_of_a_reason_is_masked_whole() -> None:
    key = "sk-ant-api03-" + "Ab3dEf6hIj" * 6
    for before in range(275, 293):  # a key that is cut first has too few characters to be one
        words = guards.error_words(ValueError(f"{'x' * (before - 1)} {key}"))
        assert len(words) <= len("ValueError: ") + 300
        assert "ant-api" not in words


def test_output_of_overlapping_calls_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    began, ended = threading.Event(), threading.Event()
    first, second = Guard("plug-in toy, check one"), Guard("plug-in toy, check two")

    def talk() -> None:
        began.set()
        ended.wait(10)
        print("second")

    other = threading.Thread(target=lambda: second.call(20, talk, checked=same))

    def begin_other() -> None:
        other.start()
        began.wait(10)
        print("first")

    first.call(20, begin_other, checked=same)
    ended.set()
    other.join()
    print("of the program")
    assert capsys.readouterr() == ("of the program\n", "first\nsecond\n")


def test_an_interrupt_of_the_user_is_no_failure() -> None:
    guard = Guard("plug-in toy, check one")
    with pytest.raises(KeyboardInterrupt):
        guard.call(5, lambda: _raise(KeyboardInterrupt()), checked=same)
    assert not guard.is_off


def test_a_slow_call_switches_off() -> None:
    guard = Guard("plug-in toy, check one")

    def loop() -> None:
        while True:
            pass

    assert guard.call(0.1, loop, checked=same) is None
    assert [trip.reason for trip in guards.trips()] == ["it took longer than 0.1 s"]


def test_parts_that_are_off_read_their_earlier_lines_again() -> None:
    guard = Guard("plug-in toy, format one")
    guard.trip("it raised ValueError")
    with guards.reading_again():
        assert guard.call(5, lambda: 1, checked=same) == 1
    assert guard.call(5, lambda: 1, checked=same) is None


def test_another_document_tries_again() -> None:
    guard = Guard("plug-in toy, check one")
    guard.trip("it raised ValueError")
    guards.renew()
    assert guard.call(5, lambda: 1, checked=same) == 1


@pytest.mark.parametrize("answer", ["x" * 2_000, [b"x" * 600, {"a": "y" * 600}], [1 << 20_000], [[0] * 50_000] * 40])
def test_too_much_is_refused(answer: object) -> None:
    with pytest.raises(GarbageError, match="more than"):
        check_size(answer, 1_000)
