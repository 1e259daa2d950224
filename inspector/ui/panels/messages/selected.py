"""Which messages are selected, where they are more than the current one; no Qt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from inspector.filters.visible import Messages, VisibleRows

_NONE = np.empty(0, np.uint32)
_FEW = 2_000
"""So many sorted rows are asked for one by one sooner than all of them are put in order."""


class SelectedMessages:
    """The selected messages of one table: the current one alone, until the user makes them several.

    Several are kept as one bool a message, by its place in the capture: they stay selected however rows are filtered,
    sorted, expanded, appended or reset. What a filter or scope hides does not count while it is hidden: it is neither
    copied nor exported nor counted, as nothing should happen to what cannot be seen. Shown again it is selected again,
    unless the user has selected something else alone meanwhile. Where none of several is shown, the current one
    alone is selected.

    Attributes:
        anchor: the message ranges start from; None for the current one.
        gathering: the user picks them one by one, so that there may be several although there is but one yet.
    """

    def __init__(self, rows: VisibleRows) -> None:
        self._rows = rows
        self._mask: NDArray[np.bool_] | None = None
        self._base: NDArray[np.bool_] | None = None
        self._counted: tuple[object, int] | None = None
        self._number = 0
        self.anchor: int | None = None
        self.gathering = False

    # What is selected

    @property
    def count(self) -> int:
        """How many of several are shown; 0 where the current one is all. O(rows) after a change, then O(1)."""
        if self._mask is None:
            return 0
        visible = self._rows.visible
        # Every change of what is shown makes another array, or a longer view of the same.
        known = self._counted
        if known is None or known[0] is not visible.base or known[1] != len(visible):
            self._number = int(np.count_nonzero(self._among(visible)))
            self._counted = (visible.base, len(visible))
        return self._number

    @property
    def several(self) -> bool:
        """Whether the user has made a selection that is not just the current message, and some of it is shown."""
        return self.count > 0

    def holds(self, message: int, current: int | None) -> bool:
        """Whether a message that is shown is selected. O(1)."""
        if not self.several or self._mask is None:
            return message == current
        return message < len(self._mask) and bool(self._mask[message])

    def shown(self) -> Messages:
        """Those of several that are shown, ascending; none where the current one is all. O(rows)."""
        visible = self._rows.visible
        return _NONE if self._mask is None else visible[self._among(visible)]

    def shown_in_order(self) -> Messages:
        """As `shown`, as they stand in the table."""
        standing = self._rows.in_order()
        return _NONE if self._mask is None else standing[self._among(standing)]

    def _among(self, messages: Messages) -> NDArray[np.bool_]:
        mask = self._wide()
        if len(messages) == len(mask) and self._rows.sorted_by is None:
            return mask
        return mask.take(messages)

    def _wide(self) -> NDArray[np.bool_]:
        """The mask, as long as the capture at least; new messages are not selected."""
        needed = len(self._rows.analysis)
        mask = self._mask
        if mask is None or len(mask) < needed:
            wider = np.zeros(needed, np.bool_)
            if mask is not None:
                wider[: len(mask)] = mask
            self._mask = mask = wider
        return mask

    # Selecting

    def alone(self) -> None:
        """The current message is all that is selected."""
        self._mask = self._base = self._counted = None
        self.anchor = None
        self.gathering = False

    def everything(self) -> None:
        """Select every message shown, and no other. O(rows)."""
        mask = np.zeros(len(self._rows.analysis), np.bool_)
        visible = self._rows.visible
        if len(visible) == len(mask):
            mask[:] = True
        else:
            mask[visible] = True
        self._put(mask)

    def begin(self, anchor: int | None, current: int | None, *, add: bool) -> None:
        """Begin a range.

        Args:
            anchor: the message it starts from; None for where the last one did, else the current one.
            current: the current message.
            add: what is selected already stays.
        """
        if anchor is None and self.anchor is not None and self._rows.position(self.anchor) is not None:
            anchor = self.anchor
        self.anchor = current if anchor is None else anchor
        self._base = self._held(current).copy() if add else None

    def reach(self, message: int) -> None:
        """Select from the anchor to a message as they stand in the table, with what was selected when it began."""
        rows = self._rows
        to = rows.position(message)
        if to is None:
            return
        start = None if self.anchor is None else rows.position(self.anchor)
        if start is None:
            start, self.anchor = to, message
        first, last = min(start, to), max(start, to)
        mask = np.zeros(len(rows.analysis), np.bool_)
        if self._base is not None:
            mask[: len(self._base)] = self._base
        self._mark_between(mask, first, last)
        if first == last and self._base is None:
            self._mask = self._counted = None
            return
        self._put(mask)

    def _mark_between(self, mask: NDArray[np.bool_], first: int, last: int) -> None:
        """Mark the messages at positions, both ends included."""
        rows = self._rows
        if rows.sorted_by is None:
            run = rows.visible[first : last + 1]
            begin, end = int(run[0]), int(run[-1])
            if end - begin == last - first:
                mask[begin : end + 1] = True
            else:
                mask[run] = True
        elif last - first < _FEW:
            mask[[rows.message_at(position) for position in range(first, last + 1)]] = True
        else:
            mask[rows.in_order()[first : last + 1]] = True

    def toggle(self, message: int, current: int | None) -> None:
        """Select one more message, or one less; where the current one is all, it is held for more to come. O(rows)."""
        held = self.several or message != current
        mask = self._held(current)
        if message >= len(mask):
            return
        if held:
            mask[message] = not mask[message]
        self._put(mask)
        self.anchor, self._base, self.gathering = message, None, True

    def _held(self, current: int | None) -> NDArray[np.bool_]:
        """The mask of what is selected now: of the current message where it is all."""
        if self.several:
            return self._wide()
        mask = np.zeros(len(self._rows.analysis), np.bool_)
        if current is not None and self._rows.position(current) is not None:
            mask[current] = True
        return mask

    def _put(self, mask: NDArray[np.bool_]) -> None:
        self._mask, self._counted = mask, None
