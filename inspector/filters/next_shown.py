"""Which of some messages the table shows, and the next one of them. No Qt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changes import Rows
from inspector.filters.visible import Messages, VisibleRows


def are_shown(messages: Rows, shown: VisibleRows) -> NDArray[np.bool_]:
    """Which of some messages the table shows, frames in the rows of their streams too. O(messages log rows)."""
    visible = shown.chosen
    if not len(visible) or not len(messages):
        return np.zeros(len(messages), np.bool_)
    places = np.minimum(visible.searchsorted(messages.astype(np.uint32)), len(visible) - 1)
    return visible[places] == messages


def next_shown(messages: Rows, shown: VisibleRows, current: int | None, step: int) -> int | None:
    """The next (1) or previous (-1) of some ascending messages that is shown, around the end; None where none is."""
    messages = np.unique(shown.standing_for(messages[are_shown(messages, shown)]))
    if not len(messages):
        return None
    if current is None:
        return int(messages[0 if step > 0 else -1])
    if step > 0:
        place = int(np.searchsorted(messages, current, side="right"))
    else:
        place = int(np.searchsorted(messages, current)) - 1
    return int(messages[place % len(messages)])


_BLOCK = 65_536
"""So many messages are looked at together: what is near is found without looking at everything."""


def next_alike(
    shown: VisibleRows, current: int, step: int, alike: Callable[[Messages], NDArray[np.bool_]]
) -> int | None:
    """The next (1) or previous (-1) message shown that is like the current one, around the end; None where none is.

    Args:
        shown: what the table shows.
        current: a message, shown or not.
        step: 1 or -1.
        alike: says of some messages which ones are like it.
    """
    visible = shown.visible
    here = int(visible.searchsorted(np.uint32(current)))
    after = here + int(here < len(visible) and visible[here] == current)
    parts = [(after, len(visible)), (0, here)] if step > 0 else [(0, here), (after, len(visible))]
    for start, stop in parts:
        for begin in range(start, stop, _BLOCK):
            low = begin if step > 0 else max(start, stop - (begin - start) - _BLOCK)
            high = min(begin + _BLOCK, stop) if step > 0 else stop - (begin - start)
            found = np.flatnonzero(alike(visible[low:high]))
            if len(found):
                return int(visible[low + int(found[0 if step > 0 else -1])])
    return None
