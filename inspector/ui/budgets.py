"""Time budgets of the window: lengths of work slices, delays of background work, pace of progress reports.

All times that keep the window responsive are fields of `current`, read at each use. Other times stay where they are
used: animations, watched files, retries, and times of the whole run.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budgets:
    """Times in seconds (`_s`) or milliseconds (`_ms`)."""

    # Work without returning to the event loop

    slice_s: float = 0.008
    """Slice of work that the user waits for, or that must be done."""
    awaited_slice_s: float = 0.016
    """Slice of a search or sort: longer, since the user waits only for it and each slice has overhead."""
    background_slice_s: float = 0.005
    """Slice of background work: deferred checks, counts, lists behind the traffic."""
    painting_slice_s: float = 0.003
    """Decoding while rows are painted; the rest follows later."""
    first_s: float = 0.03
    """A search or sort up to this time finishes at once, without progress."""
    copied_s: float = 0.06
    """A copy up to this time finishes before the key is released."""
    summaries_s: float = 0.02
    """One slice of counting tokens of summaries."""
    cheap_s: float = 0.002
    """Computations up to this time need no pause before the next one."""
    large: int = 10_000
    """Messages above which a window works in slices."""

    # Pauses between slices

    more_ms: int = 4
    """Default pause between two slices."""
    awaited_ms: int = 1
    """Pause between slices of work that the user waits for."""
    background_ms: int = 25
    """Pause between background slices: a sixth of the time at most, and short enough for the heartbeat."""
    summaries_ms: int = 30
    """Pause between slices of counting summaries."""
    input_s: float = 0.003
    """Interval of polling decoder processes for output."""
    poll_ms: int = 10
    """Interval of polling a thread for a finished picture."""

    # Background work

    rest_s: float = 0.2
    """Longest pause during a running search: new traffic may restart it, so that it never ends."""
    waste_rest_s: float = 2.0
    """Shortest pause between two searches for waste during traffic; longer if a search takes long."""
    waste_poll_ms: int = 2_000
    """Interval of checking that traffic has ended."""
    counting_start_ms: int = 700
    """Delay of token counting after new messages: they are read, checked and painted first."""
    counter_idle_s: float = 10.0
    """Idle time until a counting process is ended."""
    write_ms: int = 400
    """Delay of saving frequent changes (marks, column widths), so that they are stored together."""

    # Views behind the traffic

    # Measured: rows inserted every 33 ms delay the loop by 44 to 49 ms at most, at 20,000 messages a second.
    flush_ms: int = 33
    """Interval of updates to views while they are cheap."""
    slowest_flush_ms: int = 250
    """Longest interval of updates to views."""
    minimap_ms: int = 120
    """Interval of the minimap."""
    lists_ms: int = 250
    """Shortest interval of lists and lanes; longer if they are slow."""
    figures_ms: int = 1_000
    """Shortest interval of sums and ages."""
    conditions_ms: int = 400
    """Delay of counts of conditions after new traffic."""
    chain_ms: int = 300
    """Delay of updates to a growing chain: finding one reads all links."""
    details_ms: int = 400
    """Delay of updates to the details from traffic; the page's own changes are shown at once."""

    # Progress of work

    quiet_s: float = 0.3
    """Shorter work shows no progress."""
    tell_s: float = 0.1
    """Interval of a search's progress: each update resizes labels and lays out panes."""
    progress_s: float = 0.25
    """Interval of an export's progress."""
    counts_s: float = 0.5
    """Interval of updates on counted tokens."""

    # Pauses of the user

    repeat_ms: int = 30
    """Delay of work on the current message while a key repeats, so that only the last message is computed."""
    follow_ms: int = 60
    """The same delay for whole plots."""
    typing_ms: int = 150
    """Delay after the last key before an expression is tried: an unfinished one may be slow or match everything."""
    patience_ms: int = 350
    """Pause in typing a filter before its error is shown."""
    edit_s: float = 2.0
    """Edits of one entry within this time are one undo step."""


current = Budgets()
"""Budgets of this process."""


class Reports:
    """Throttles progress reports: none for short work, then a few a second."""

    def __init__(self) -> None:
        self._next_s = time.perf_counter() + current.quiet_s

    def due(self) -> bool:
        """Returns True if a report is due now, and schedules the next."""
        now_s = time.perf_counter()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + current.tell_s
        return True


def turn_ends(messages: int) -> float:
    """Returns the end of this slice (`time.perf_counter`) for so many messages; infinity for few."""
    return time.perf_counter() + current.slice_s if messages > current.large else math.inf
