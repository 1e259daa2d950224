"""Parses timestamps of many lines at once into a column; a vectorized `times.parse_time`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from inspector.protocol.timestamps import NO_TIME, parse_time

# Positions of digits in JavaScript's form, `2026-01-05T09:00:00.000Z`, and of the separators between them.
_WIDTH = 24
_DIGITS = np.array([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22])
_BETWEEN = np.array([4, 7, 10, 13, 16, 19, 23])
_MARKS = np.frombuffer(b"--T::.Z", np.uint8)[:, None]
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int32)


def parse_times(texts: Sequence[str | None]) -> NDArray[np.int64]:
    """Returns `parse_time` of each text: (n,) int64 nanoseconds, NO_TIME for None and invalid ones."""
    found = np.full(len(texts), NO_TIME, np.int64)
    places, usual = slice(None), texts
    # Times of a usual width are parsed together; numpy needs equal lengths.
    if not _all_usual(texts):
        texts = [_with_milliseconds(text) for text in texts]
        places = [n for n, text in enumerate(texts) if text and len(text) == _WIDTH]
        usual = [texts[place] for place in places]
    letters = np.frombuffer("".join(filter(None, usual)).encode("ascii", "replace"), np.uint8)
    times, good = _parse_usual(letters.reshape(-1, _WIDTH).T)
    found[places] = np.where(good, times, NO_TIME)
    # All other notations, one by one.
    for place in np.flatnonzero(found == NO_TIME).tolist():
        found[place] = parse_time(texts[place])
    return found


def _with_milliseconds(text: str | None) -> str | None:
    """Returns a time of whole seconds in the regular form."""
    whole = text is not None and len(text) == _WIDTH - 4 and text.endswith("Z")
    return f"{text[:-1]}.000Z" if whole and text is not None else text


def _all_usual(texts: Sequence[str | None]) -> bool:
    try:
        return {*map(len, texts)} == {_WIDTH}  # type: ignore[arg-type] - raises TypeError for None
    except TypeError:
        return False


def _parse_usual(letters: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns the times of letters (24, n), and a mask of valid ones."""
    digits = letters[_DIGITS] - np.uint8(ord("0"))  # values below 0 wrap to above 9
    good = (digits <= 9).all(axis=0) & (letters[_BETWEEN] == _MARKS).all(axis=0)
    d = digits.astype(np.int32)
    year = d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3]
    month, day, hour, minute, second = (d[place] * 10 + d[place + 1] for place in (4, 6, 8, 10, 12))
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = _MONTH_DAYS[np.clip(month, 0, 12)] + (leap & (month == 2))
    good &= (year >= 1700) & (year < 2262) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= longest)
    good &= (hour < 24) & (minute < 60) & (second < 60)
    # Days since the epoch of the proleptic Gregorian calendar, counted in years that begin in March.
    years, months = year - (month <= 2), (month + 9) % 12
    days = years * 365 + years // 4 - years // 100 + years // 400 + (months * 153 + 2) // 5 + day - 719_469
    millis = ((hour * 60 + minute) * 60 + second) * 1000 + (d[14] * 100 + d[15] * 10 + d[16])
    return days.astype(np.int64) * 86_400_000_000_000 + millis.astype(np.int64) * 1_000_000, good
