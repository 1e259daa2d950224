"""Which rows the chain rail runs through: the messages of the selected one's causal chain, as far as they are shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RailMark:
    """What the gutter shows in one row: line above, line below, ring, disc."""

    above: bool
    below: bool
    member: bool
    selected: bool


class ChainRail:
    """The chain of one message.

    Rows are in the order of messages, so that a row's place on the rail follows from its message alone: the rail
    runs from the first member shown to the last one, also through rows in between and past the edges of the view.
    """

    def __init__(self, selected: int | None = None, members: Iterable[int] = ()) -> None:
        """A rail.

        Args:
            selected: the message whose chain it is.
            members: messages of the chain that are shown, itself included.
        """
        self.selected = selected
        self.members = frozenset(members)
        self._first = min(self.members, default=0)
        self._last = max(self.members, default=-1)

    def __bool__(self) -> bool:
        return len(self.members) > 1

    def mark(self, message: int, part: int = 0) -> RailMark | None:
        """The mark of a row; None where the rail does not pass."""
        if not self or not self._first <= message <= self._last:
            return None
        if part:
            return RailMark(True, True, False, False) if message < self._last else None
        return RailMark(message > self._first, message < self._last, message in self.members, message == self.selected)
