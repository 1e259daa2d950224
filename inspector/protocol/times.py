"""Timestamps as written on wires and in logs, to nanoseconds since the Unix epoch, UTC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NO_TIME = -(2**63)
"""Sentinel of every time column: no time is known."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT = 2**63 - 1
# A number's size tells its unit: seconds until the year 5138, then milli-, micro- and nanoseconds.
_UNITS = ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000))


_MILLISECONDS = {f"{number:03d}": number * 1_000_000 for number in range(1_000)}


@lru_cache(maxsize=4096)
def _second_ns(text: str) -> int:
    """Nanoseconds of `YYYY-MM-DDTHH:MM:SS.`, read as UTC. Raises ValueError when it is no such text."""
    if text[19] != ".":
        raise ValueError(text)
    return (datetime.fromisoformat(text[:19]).replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) * 1_000_000_000


def parse_time(value: object) -> int:
    """Read an RFC 3339 text or a number of seconds, milli-, micro- or nanoseconds; NO_TIME when it is neither.

    Texts without an offset are read as UTC. A time that a column cannot hold (after 2262) counts as none.
    """
    if isinstance(value, str):
        found = parse_instant(value)
        return found if abs(found) <= _LIMIT else NO_TIME
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return NO_TIME
    scale = next((unit for limit, unit in _UNITS if abs(value) < limit), 1)
    scaled = value * scale
    return int(scaled) if abs(scaled) <= _LIMIT else NO_TIME


# Where digits stand in what JavaScript writes, `2026-01-05T09:00:00.000Z`, and what stands between them.
_WIDTH = 24
_DIGITS = np.array([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22])
_BETWEEN = np.array([4, 7, 10, 13, 16, 19, 23])
_MARKS = np.frombuffer(b"--T::.Z", np.uint8)[:, None]
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int32)


def parse_times(texts: Sequence[str | None]) -> NDArray[np.int64]:
    """What `parse_time` makes of each text: (n,) int64 nanoseconds, NO_TIME for None and for what is no time."""
    if not _all_usual(texts):
        texts = [_widened(text) for text in texts]
    found = np.full(len(texts), NO_TIME, np.int64)
    places = None if _all_usual(texts) else [n for n, text in enumerate(texts) if text and len(text) == _WIDTH]
    usual = texts if places is None else [texts[place] for place in places]
    letters = np.frombuffer("".join(filter(None, usual)).encode("ascii", "replace"), np.uint8)
    times, good = _parse_usual(letters.reshape(-1, _WIDTH).T)
    found[np.flatnonzero(good) if places is None else np.array(places, np.int64)[good]] = times[good]
    for place in np.flatnonzero(found == NO_TIME).tolist():
        found[place] = parse_time(texts[place])
    return found


def _widened(text: str | None) -> str | None:
    """A time of whole seconds in the usual form."""
    whole = text is not None and len(text) == _WIDTH - 4 and text.endswith("Z")
    return f"{text[:-1]}.000Z" if whole and text is not None else text


def _all_usual(texts: Sequence[str | None]) -> bool:
    return {0 if text is None else len(text) for text in texts} == {_WIDTH}


def _parse_usual(letters: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Times of letters (24, n), and which of them are times of the usual form."""
    digits = letters[_DIGITS] - np.uint8(ord("0"))  # what is below 0 wraps to above 9
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


def parse_instant(text: str) -> int:
    """Read an RFC 3339 text of any year from 1 to 9999; NO_TIME when it is none."""
    try:
        # What JavaScript writes, and so nearly every log line: three digits and a Z.
        if len(text) == 24 and text[23] == "Z" and (fraction := _MILLISECONDS.get(text[20:23])) is not None:
            return _second_ns(text[:20]) + fraction
        head, dot, tail = text.partition(".")
        if not dot:
            return _whole(datetime.fromisoformat(text))
        digits = len(tail) - len(tail.lstrip("0123456789"))
        whole = _whole(datetime.fromisoformat(head + tail[digits:]))
        return whole + int(tail[:digits][:9].ljust(9, "0"))
    except (ValueError, OverflowError):
        return NO_TIME


def _whole(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(seconds=1) * 1_000_000_000


def format_time(time_ns: int) -> str | None:
    """RFC 3339 in UTC with the digits that are needed (at least milliseconds); None for NO_TIME."""
    if time_ns == NO_TIME:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    try:
        head = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:
        return None
    digits = f"{rest:09d}"
    while len(digits) > 3 and digits.endswith("000"):
        digits = digits[:-3]
    return f"{head}.{digits}Z"
