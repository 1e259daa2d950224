"""Where the user was, for Back and Forward. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from inspector.filters import DisplayFilter
from inspector.filters.visible import Scope
from inspector.present.subject import Place

MOST_STOPS = 100


@dataclass(frozen=True, slots=True)
class Stop:
    """A message or what else the details showed, and the view it was seen in."""

    shown: int | Place | None
    """None for what happened."""
    filter: DisplayFilter
    scope: Scope | None
    scrolled: int = 0
    """Where the page of a context or participant stood when it was left; pixels."""


S = TypeVar("S")


class Trail(Generic[S]):
    """Stops in the order they were made, and those that Back has left, until another way is taken."""

    def __init__(self) -> None:
        self._stops: list[S] = []
        self._ahead: list[S] = []

    @property
    def last(self) -> S | None:
        """Where the user is."""
        return self._stops[-1] if self._stops else None

    def add(self, stop: S) -> None:
        """The user has come somewhere else."""
        self._stops = [*self._stops[-MOST_STOPS:], stop]
        self._ahead = []

    def renew(self, stop: S) -> None:
        """The user is where they were, which is another stop by now."""
        self._stops[-1] = stop

    def back(self) -> tuple[S, S] | None:
        """Go one stop back; where the user comes to, and what is left. None at the first."""
        if len(self._stops) < 2:
            return None
        left = self._stops.pop()
        self._ahead.append(left)
        return self._stops[-1], left

    def forward(self) -> tuple[S, S] | None:
        """Go where `back` came from; alike."""
        if not self._ahead:
            return None
        left = self._stops[-1]
        self._stops.append(self._ahead.pop())
        return self._stops[-1], left


class NavigationHistory(Trail[Stop]):
    """The stops of a document."""

    def note_scroll(self, shown: Place | None, pixels: int) -> None:
        """Keep where a page stands that may be left: the way back leads there."""
        last = self.last
        if last is not None and shown is not None and last.shown == shown:
            self.renew(replace(last, scrolled=pixels))

    def exchange(self, before: DisplayFilter, after: DisplayFilter) -> None:
        """A filter went on as another one: whoever returns to it finds that."""
        for stops in (self._stops, self._ahead):
            stops[:] = [replace(stop, filter=after) if stop.filter is before else stop for stop in stops]
