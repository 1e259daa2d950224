"""Finds the next shown message among given ones; no Qt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.filters.visible import Messages, VisibleRows


def are_shown(messages: Rows, shown: VisibleRows) -> NDArray[np.bool_]:
    """Returns a mask of the messages that the table shows; frames count as their stream. O(messages log rows)."""
    visible = shown.chosen
    if not len(visible) or not len(messages):
        return np.zeros(len(messages), np.bool_)
    places = np.minimum(visible.searchsorted(messages.astype(np.uint32)), len(visible) - 1)
    return visible[places] == messages


def next_shown(messages: Rows, shown: VisibleRows, current: int | None, step: int) -> int | None:
    """Returns the next (1) or previous (-1) shown message of ascending ones, if any, wrapping around."""
    messages = np.unique(shown.row_messages(messages[are_shown(messages, shown)]))
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
"""Messages tested at once; a near match ends the search early."""


def next_alike(
    shown: VisibleRows, current: int, step: int, alike: Callable[[Messages], NDArray[np.bool_]]
) -> int | None:
    """Returns the next (1) or previous (-1) shown message similar to the current one, if any, wrapping around.

    Args:
        shown: the rows of the table.
        current: a message, shown or not.
        step: 1 or -1.
        alike: returns a mask of the similar messages.
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
