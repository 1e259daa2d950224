"""An unsaved capture in words."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from inspector.present.unsaved_captures import more_words, unsaved_sentence
from inspector.store.files.capture_folder import UnsavedCapture

NOW = datetime(2026, 11, 21, 20, 0).astimezone()


def unsaved(
    first: datetime | None, last: datetime | None, messages: int | None = 8_412, space: str = "demo"
) -> UnsavedCapture:
    times = [None if one is None else int(one.timestamp()) * 1_000_000_000 for one in (first, last)]
    return UnsavedCapture(Path("demo 2026.ctxcap"), space, messages, 620_000_000, times[0], times[1])


def at(day: int, hour: int, minute: int, month: int = 11, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute).astimezone()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        pytest.param(unsaved(at(21, 18, 4), at(21, 18, 31)), "demo, 8,412 messages, 18:04 to 18:31", id="today"),
        pytest.param(unsaved(at(21, 18, 4), at(21, 18, 4), 1), "demo, 1 message, 18:04", id="a-moment"),
        pytest.param(
            unsaved(at(20, 18, 4), at(20, 18, 31)), "demo, 8,412 messages, yesterday 18:04 to 18:31", id="yesterday"
        ),
        pytest.param(
            unsaved(at(20, 23, 4), at(21, 1, 31)),
            "demo, 8,412 messages, yesterday 23:04 to today 01:31",
            id="overnight",
        ),
        pytest.param(
            unsaved(at(1, 8, 0, 2), at(3, 9, 0, 2)),
            "demo, 8,412 messages, 1 February 08:00 to 3 February 09:00",
            id="days",
        ),
        pytest.param(unsaved(at(21, 8, 0), at(21, 9, 0), None), "demo, 620 MB, 08:00 to 09:00", id="too-many-to-count"),
        pytest.param(unsaved(None, None, 3, ""), "demo 2026, 3 messages", id="nothing-known"),
    ],
)
def test_what_was_not_saved(one: UnsavedCapture, words: str) -> None:
    assert unsaved_sentence(one, NOW) == f"A capture was not saved when the program last ended: {words}."


def test_those_not_listed() -> None:
    one = unsaved(None, None)
    assert more_words([one]) == "1 more capture was not saved, 620 MB."
    assert more_words([one, one]) == "2 more captures were not saved, 1240 MB."
