"""Formats times since the start of a capture, and ranges of them, for all panes."""

from __future__ import annotations

import re

from inspector.protocol.timestamps import NO_TIME, parse_time

_SECOND = 1_000_000_000
_MINUTE = 60 * _SECOND
LONG_NS = 7_200 * _SECOND
"""Duration from which times are in hours."""
# The form that `analysis.views.timeline.range_condition` writes.
_RANGE = re.compile(r'time >= "([^"]{1,40})" && time <= "([^"]{1,40})"(?: \|\| !time && \(.+\))?')
_NUMBERS = re.compile(r"no >= \d{1,12} && no <= \d{1,12}")
_STEPS = (1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000)
_EXACT = 20
"""Minimum number of steps in a range, for its precision."""


def since_words(since_ns: int, step_ns: int = 1_000_000, *, of_ns: int = 0) -> str:
    """Formats a time since the start with the precision of `step_ns`: "10 s", "40.900 s", "2:05 h", "2:05:03.2 h".

    Args:
        since_ns: the time.
        step_ns: step size of the axis.
        of_ns: total duration; from two hours on, all times are in hours, so that an axis has one unit.
    """
    decimals = 0
    while step_ns % 10 ** (9 - decimals) and decimals < 9:
        decimals += 1
    whole, rest = divmod(abs(since_ns), _SECOND)
    sign = "\N{MINUS SIGN}" if since_ns < 0 else ""
    fraction = f".{rest:09d}"[: 1 + decimals] if decimals else ""
    if of_ns < LONG_NS:
        return f"{sign}{whole:,}{fraction} s"
    minutes, seconds = divmod(whole, 60)
    exact = f":{seconds:02d}{fraction}" if step_ns % _MINUTE else ""
    return f"{sign}{minutes // 60:,}:{minutes % 60:02d}{exact} h"


def range_words(condition: str, start_ns: int) -> str | None:
    """Formats the range of a condition of `time_condition`: "24.4 to 31.3 s"; None for other conditions.

    Args:
        condition: a display filter.
        start_ns: the zero of times.
    """
    bounds = range_bounds(condition)
    if bounds is None or start_ns == NO_TIME:
        return None
    first, last = bounds
    # The precision fits the length of the range: a long one needs no milliseconds.
    step = next((n for n in _STEPS if n * _EXACT <= last - first), _STEPS[-1])
    return f"{since_words(first - start_ns, step).removesuffix(' s')} to {since_words(last - start_ns, step)}"


def range_bounds(condition: str) -> tuple[int, int] | None:
    """Returns first and last nanosecond of a condition of `time_condition`; None for other conditions."""
    found = _RANGE.fullmatch(condition.strip())
    if found is None:
        return None
    first, last = (parse_time(text) for text in found.groups())
    return None if NO_TIME in (first, last) else (first, last)


def is_range(condition: str) -> bool:
    """Returns True for a condition that a brush made, by time or by number."""
    return range_bounds(condition) is not None or _NUMBERS.fullmatch(condition.strip()) is not None
