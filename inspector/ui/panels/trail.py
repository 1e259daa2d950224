"""The way back and forward through what was shown. No Qt."""

from __future__ import annotations

from typing import Generic, TypeVar

MOST_STOPS = 100
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
