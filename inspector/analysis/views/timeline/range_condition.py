"""Builds filter conditions for a time range selected in a timeline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.timeline.message_positions import PER_MESSAGE, MessageTimes
from inspector.protocol.timestamps import format_time

# Each run is a term of the filter that the user reads.
MAX_RUNS = 50
"""Named runs of messages without a time, longest first; more occur only if times jump back and forth."""


def time_condition(times: MessageTimes, first_ns: int, last_ns: int) -> str | None:
    """Returns a condition for messages between two times; None if a time cannot be formatted.

    A message without a time has the position of the previous one, which time comparisons do not find. Such messages are
    named by number.

    Args:
        times: positions of messages.
        first_ns, last_ns: both included; equal for one instant.
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
    """Returns a condition for messages between two positions of `MessageOrder`, or None."""
    low, high = max(0, -(-first // PER_MESSAGE)), last // PER_MESSAGE
    return f"no >= {low + 1} && no <= {high + 1}" if low <= high else None


def _runs(messages: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Returns first and last of the longest runs of neighbours, ascending."""
    if not len(messages):
        return []
    borders = np.flatnonzero(np.diff(messages) > 1) + 1
    runs = [(int(run[0]), int(run[-1])) for run in np.split(messages, borders)]
    return sorted(sorted(runs, key=lambda run: run[0] - run[1])[:MAX_RUNS])
