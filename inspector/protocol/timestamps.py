"""Parses and formats timestamps (nanoseconds since the Unix epoch, UTC), and durations in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

NO_TIME = -(2**63)
"""Sentinel of every time column: unknown time."""

DATED_FROM_NS = 946_684_800 * 1_000_000_000
"""The year 2000. An earlier time is relative: a log's clock starts with itself or its machine."""

MINUS = "\N{MINUS SIGN}"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LIMIT = 2**63 - 1
# The magnitude of a number determines its unit: seconds until the year 5138, then milli-, micro- and nanoseconds.
_UNITS = ((1e11, 1_000_000_000), (1e14, 1_000_000), (1e17, 1_000))


_MILLISECONDS = {f"{number:03d}": number * 1_000_000 for number in range(1_000)}


@lru_cache(maxsize=4096)
def _second_ns(text: str) -> int:
    """Returns nanoseconds of `YYYY-MM-DDTHH:MM:SS.` as UTC. Raises ValueError for other texts."""
    if text[19] != ".":
        raise ValueError(text)
    return (datetime.fromisoformat(text[:19]).replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) * 1_000_000_000


def parse_time(value: object) -> int:
    """Parses an RFC 3339 text or a number of seconds, milli-, micro- or nanoseconds; else returns NO_TIME.

    Texts without an offset are UTC; texts of ten digits and more are numbers. A time beyond a column's range (after
    2262) returns NO_TIME.
    """
    if isinstance(value, str):
        if value[-1:].isdigit() and _NUMBER.fullmatch(value):  # some would also parse as days and hours: 1712011230123
            return _numbered(float(value) if "." in value else int(value))
        found = parse_instant(value)
        return found if abs(found) <= _LIMIT else NO_TIME
    # NaN is not equal to itself.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return NO_TIME
    return _numbered(value)


def parse_text_time(value: object) -> int:
    """Parses as `parse_time`, but returns NO_TIME for numbers, for formats with times as texts."""
    return parse_time(value) if isinstance(value, str) else NO_TIME


_NUMBER = re.compile(r"[1-9][0-9]{9,18}(?:\.[0-9]{1,9})?")
_EXACT = 1_000
"""Resolution in nanoseconds of fractional seconds in this century: a float has 16 digits."""


def _numbered(value: float) -> int:
    scale = next((unit for limit, unit in _UNITS if abs(value) < limit), 1)
    scaled = value * scale
    if not abs(scaled) <= _LIMIT:
        return NO_TIME
    return scaled if isinstance(scaled, int) else round(scaled / _EXACT) * _EXACT


def parse_date(value: object) -> int:
    """Parses as `parse_time`, but returns NO_TIME for numbers that are no date (12345).

    For absolute times, such as `ts`.
    """
    found = parse_time(value)
    return found if found >= DATED_FROM_NS or isinstance(value, str) else NO_TIME


def parse_instant(text: str) -> int:
    """Parses an RFC 3339 text of any year from 1 to 9999; returns NO_TIME for others."""
    try:
        # JavaScript's form, and so that of nearly every log line: three digits and a Z.
        if len(text) == 24 and text[23] == "Z" and (fraction := _MILLISECONDS.get(text[20:23])) is not None:
            return _second_ns(text[:20]) + fraction
        text = text.upper()  # RFC 3339 allows "t" and "z"
        head, dot, tail = text.partition("," if "," in text else ".")
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
    """Returns RFC 3339 in UTC with the necessary digits (at least milliseconds); None for NO_TIME."""
    if time_ns == NO_TIME:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    try:
        head = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:
        # Beyond the year 9999.
        return None
    digits = f"{rest:09d}"
    while len(digits) > 3 and digits.endswith("000"):
        digits = digits[:-3]
    return f"{head}.{digits}Z"


def log_time(time_ns: int) -> str | None:
    """Returns a log time for display: as `format_time`; "+3.700 s" for a relative one."""
    if time_ns == NO_TIME or not abs(time_ns) < DATED_FROM_NS:
        return format_time(time_ns)
    whole, rest = divmod(abs(time_ns), _SECOND_NS)
    return f"{MINUS if time_ns < 0 else '+'}{whole:,}.{rest // 1_000_000:03d} s"


_SECOND_NS = 1_000_000_000


def duration_in_words(delta_ns: int) -> str:
    """Returns a time difference in words, with its sign: "<1 ms", "73 ms", "1.2 s", "3 min 4 s", "2:05:09"."""
    if delta_ns < 0:
        return MINUS + duration_in_words(-delta_ns)
    milliseconds = round(delta_ns / 1_000_000)
    if delta_ns < 1_000_000:
        return "<1 ms"
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    # From 59.95 s on, rounding would show "60.0 s".
    if milliseconds < 59_950:
        return f"{milliseconds / 1_000:.1f} s"
    whole = round(delta_ns / _SECOND_NS)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return hours_in_words(whole) if whole < _MOST_HOURS * 3600 else f"{round(whole / 86_400):,} days"


_MOST_HOURS = 100


def hours_in_words(whole_s: int) -> str:
    """Returns seconds as "h:mm:ss", from 100 hours on as "4 d 5:06"."""
    minutes, seconds = divmod(whole_s, 60)
    hours, minutes = divmod(minutes, 60)
    if hours < _MOST_HOURS:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{hours // 24:,} d {hours % 24}:{minutes:02}"
