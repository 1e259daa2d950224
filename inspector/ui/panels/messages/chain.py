"""Which rows the chain rail runs through: the messages of the selected one's causal chain, as far as they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

    The rail runs from the first member shown to the last one, also through rows in between and past the edges of the
    view. Where rows are sorted by something else than their number a line would say that time goes down: then members
    have their rings alone.
    """

    def __init__(
        self,
        selected: int | None = None,
        members: Iterable[int] = (),
        place: Callable[[int], int | None] = lambda message: message,
        *,
        joined: bool = True,
    ) -> None:
        """A rail.

        Args:
            selected: the message whose chain it is.
            members: messages of the chain that are shown, itself included.
            place: where a message stands among those shown.
            joined: rows stand by their number, so that a line joins them.
        """
        self.selected = selected
        self.members = frozenset(members)
        self._place = place
        self._joined = joined
        places = [place_ for place_ in map(place, self.members) if place_ is not None]
        self._first = min(places, default=0)
        self._last = max(places, default=-1)

    def __bool__(self) -> bool:
        return len(self.members) > 1

    def mark(self, message: int, part: int = 0) -> RailMark | None:
        """The mark of a row; None where the rail does not pass."""
        if not self._joined:
            shown = bool(self) and not part and message in self.members
            return RailMark(False, False, True, message == self.selected) if shown else None
        place = self._place(message) if self else None
        if place is None or not self._first <= place <= self._last:
            return None
        if part:
            return RailMark(True, True, False, False) if place < self._last else None
        return RailMark(place > self._first, place < self._last, message in self.members, message == self.selected)
