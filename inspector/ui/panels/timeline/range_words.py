"""A range of time chosen on an axis, as its condition is named: in seconds, as all panes count them."""

from __future__ import annotations

import re

from inspector.protocol.times import NO_TIME, parse_time
from inspector.ui.panels.timeline.axis import since_words

_RANGE = re.compile(r'time >= "([^"]{1,40})" && time <= "([^"]{1,40})"(?: \|\| !time && \(.+\))?')
_STEPS = (1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000)
_EXACT = 20
"""Steps in a range, at least, for figures as exact as it needs."""


def range_words(condition: str, start_ns: int) -> str | None:
    """The range of a condition that `timeline.brushed` made: "24.4 to 31.3 s"; None for any other condition.

    Args:
        condition: a display filter.
        start_ns: the time that counts as zero.
    """
    found = _RANGE.fullmatch(condition.strip())
    if found is None or start_ns == NO_TIME:
        return None
    first, last = (parse_time(text) for text in found.groups())
    if NO_TIME in (first, last):
        return None
    step = next((n for n in _STEPS if n * _EXACT <= last - first), _STEPS[-1])
    return f"{since_words(first - start_ns, step).removesuffix(' s')} to {since_words(last - start_ns, step)}"
