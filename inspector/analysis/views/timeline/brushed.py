"""The condition of the filter that chooses the messages of a range of time, as a timeline draws them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.times import PER_MESSAGE, MessageTimes
from inspector.protocol.timestamps import format_time

MOST_RUNS = 50
"""Of neighbours without a time that a condition names, the longest; more stand apart only where times go back and
forth."""


def time_condition(times: MessageTimes, first_ns: int, last_ns: int) -> str | None:
    """A condition that holds for what stands between two times; None where there is no time to name.

    A message without a time stands at that of the message before it, so that no comparison of times finds it: such
    messages are named by number.

    Args:
        times: where messages stand.
        first_ns, last_ns: both included; the same for one instant.
    """
    begin, end = format_time(first_ns), format_time(last_ns)
    if begin is None or end is None or first_ns > last_ns:
        return None
    within = f'time >= "{begin}" && time <= "{end}"' if begin != end else f'time == "{begin}"'
    runs = _runs(times.without(first_ns, last_ns))
    if not runs:
        return within
    named = " || ".join(f"no >= {first + 1} && no <= {last + 1}" for first, last in runs)
    return f"{within} || !time && ({named})"


def number_condition(first: int, last: int) -> str | None:
    """A condition that holds for what stands between two places of `MessageOrder`; None where nothing does."""
    low, high = max(0, -(-first // PER_MESSAGE)), last // PER_MESSAGE
    return f"no >= {low + 1} && no <= {high + 1}" if low <= high else None


def _runs(messages: NDArray[np.int64]) -> list[tuple[int, int]]:
    """First and last of the longest runs of neighbours, ascending."""
    if not len(messages):
        return []
    borders = np.flatnonzero(np.diff(messages) > 1) + 1
    runs = [(int(run[0]), int(run[-1])) for run in np.split(messages, borders)]
    return sorted(sorted(runs, key=lambda run: run[0] - run[1])[:MOST_RUNS])
