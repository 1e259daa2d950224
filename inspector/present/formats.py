"""Formats numbers, sizes, times, durations, costs and truncated texts, without a locale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime

from inspector.protocol.payloads.content_blocks import size_in_words
from inspector.protocol.timestamps import DATED_FROM_NS, MINUS, NO_TIME, duration_in_words, hours_in_words, log_time

_SECOND = 1_000_000_000
_HOUR = 3_600


def number(value: int) -> str:
    """Formats a count: "1,216"."""
    return f"{value:,}"


def count_of(value: int, singular: str, plural: str | None = None) -> str:
    """Formats a count with its noun: "1 record", "1,216 messages"."""
    return f"{value:,} {singular if value == 1 else plural or singular + 's'}"


def message_number(message: int) -> str:
    """Formats a message number: "No. 1201"."""
    return f"No. {message + 1}"


def seconds(delta_ns: int) -> str:
    """Formats a time difference in seconds, truncated to milliseconds: "311.364"; from an hour on "1:05:11"."""
    whole, rest = divmod(abs(delta_ns), _SECOND)
    # No minus before 0.000.
    sign = MINUS if delta_ns < 0 and (whole or rest >= 1_000_000) else ""
    return f"{sign}{hours_in_words(whole) if whole >= _HOUR else f'{whole}.{rest // 1_000_000:03d}'}"


def with_unit(text: str) -> str:
    """Adds the unit to a time in seconds: "311.364 s", "1:05:11"."""
    return text if ":" in text or not text else f"{text} s"


def table_time(time_ns: int, start_ns: int) -> str:
    """Formats the time since the capture's first message as `seconds`; "" if unknown (NO_TIME)."""
    return "" if NO_TIME in (time_ns, start_ns) else seconds(time_ns - start_ns)


def size(size_bytes: int) -> str:
    """Formats a size: "183 B", "2.8 kB", "14.2 MB"."""
    return size_in_words(size_bytes)


def duration(delta_ns: int) -> str:
    """Formats a duration with its sign: "<1 ms", "73 ms", "1.2 s", "3 min 4 s", "2:05:09"."""
    return duration_in_words(delta_ns)


def rounded_duration(delta_ns: int) -> str:
    """Formats a duration as `duration`, in whole seconds from 10 s on; both round to the nearest."""
    return duration(delta_ns if abs(delta_ns) < 10 * _SECOND else round(delta_ns / _SECOND) * _SECOND).replace(
        ".0 s", " s"
    )


def latency(latency_ns: int | None) -> str:
    """Formats a latency; "" without an answer."""
    return "" if latency_ns is None else duration(latency_ns)


def waiting_words(waited_ns: int) -> str:
    """Formats a wait: "waiting 0.4 s", from 10 s on in whole seconds: "waiting 12 s"."""
    tenths = max(0, waited_ns) // 100_000_000
    if tenths < 100:
        return f"waiting {tenths / 10:.1f} s"
    return f"waiting {tenths // 10} s" if tenths < 600 else f"waiting {duration(waited_ns // _SECOND * _SECOND)}"


def is_dated(time_ns: int) -> bool:
    """Returns True for a calendar date; False if unknown, or if the log counts from its own start."""
    return time_ns >= DATED_FROM_NS


def clock(time_ns: int) -> str:
    """Formats the local time of day: "20:41:05"; "" without a date (`is_dated`) or outside the calendar."""
    if not is_dated(time_ns):
        return ""
    try:
        return datetime.fromtimestamp(time_ns // _SECOND).astimezone().strftime("%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return ""


def time_of_day(time_ns: int) -> str:
    """Formats the local time of day, truncated to milliseconds: "20:41:05.123"; "" as for `clock`."""
    text = clock(time_ns)
    return text and f"{text}.{time_ns % _SECOND // 1_000_000:03d}"


def log_moment(time_ns: int) -> str:
    """Formats the time of day; "+3.700 s" if the log counts from its own start; "" if unknown."""
    return time_of_day(time_ns) or ("" if is_dated(time_ns) else log_time(time_ns) or "")


def day_and_time(time_ns: int) -> str:
    """Formats local date and time: "2026-01-05 20:41:05.123"; "" as for `clock`."""
    text = time_of_day(time_ns)
    return text and f"{datetime.fromtimestamp(time_ns // _SECOND).astimezone():%Y-%m-%d} {text}"


def truncate(text: str, most: int) -> str:
    """Truncates text to `most` characters with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def full_time(time_ns: int) -> str:
    """Formats local date and time with the UTC offset; "" as for `clock`."""
    if not is_dated(time_ns):
        return ""
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{time_ns % 1_000_000_000 // 1_000_000:03d} {moment:%z}"


def delta(delta_ns: int | None) -> str:
    """Formats a time difference in a chain: "+42 ms", minus for earlier messages, "" if unknown."""
    if delta_ns is None:
        return ""
    # Below the resolution of most clocks.
    if abs(delta_ns) < 1_000_000:
        return "0 ms" if delta_ns == 0 else "< 1 ms" if delta_ns > 0 else "< 1 ms before"
    return duration(delta_ns) if delta_ns < 0 else f"+{duration(delta_ns)}"


def short_count(value: float) -> str:
    """Formats a figure for a gauge: "980", "15.4k", "1.2M"."""
    if abs(value) < 1_000:
        return f"{value:g}" if value == int(value) else f"{value:.1f}"
    if abs(value) < 1_000_000:
        return f"{value / 1_000:.1f}k".replace(".0k", "k")
    return f"{value / 1_000_000:.1f}M".replace(".0M", "M")


def dollars(value: float) -> str:
    """Formats an amount of money: "$12.40", "$0.0123", "$0.000045", "$0"."""
    if value == 0:
        return "$0"
    if abs(value) >= 1:
        return f"${value:,.2f}"
    # Three significant digits, however small the amount.
    places = max(2, 2 - math.floor(math.log10(abs(value))))
    # Sums of equal amounts differ in their last bits, which decide a half.
    return f"${value * (1 + 1e-12):.{min(places, 8)}f}"


def dollars_alike(values: Sequence[float]) -> list[str]:
    """Formats amounts of one list with as many decimals as the largest has in `dollars`, so that they compare."""
    most = max(map(abs, values), default=0.0)
    places = len(dollars(most).partition(".")[2]) or 2
    least = 10.0**-places
    return [f"<${least:.{places}f}" if 0 < value < least else f"${value:,.{places}f}" for value in values]


def day_words(time_s: float, now: datetime) -> str:
    """Formats a day: "today 20:45", "yesterday", "19 November", "19 November 2024".

    Args:
        time_s: seconds since the epoch.
        now: local time.
    """
    try:
        then = datetime.fromtimestamp(time_s).astimezone()
    except (OverflowError, OSError, ValueError):
        return ""
    days = (now.date() - then.date()).days
    if days == 0:
        return f"today {then:%H:%M}"
    if days == 1:
        return "yesterday"
    return f"{then.day} {then:%B}" if then.year == now.year else f"{then.day} {then:%B %Y}"
