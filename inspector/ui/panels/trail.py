"""Back and forward through visited places of a document or a survey. No Qt."""

from __future__ import annotations

from typing import Generic, TypeVar

MOST_STOPS = 100
S = TypeVar("S")


class Trail(Generic[S]):
    """Visited places in order, and the places that Forward can return to."""

    def __init__(self) -> None:
        self._stops: list[S] = []
        self._forward_stops: list[S] = []

    @property
    def last(self) -> S | None:
        """The present place."""
        return self._stops[-1] if self._stops else None

    @property
    def before_last(self) -> S | None:
        """The place before the present one."""
        return self._stops[-2] if len(self._stops) > 1 else None

    def add(self, stop: S) -> None:
        """Adds a new place and clears the places of Forward."""
        # A new place ends the way forward, as in browsers.
        self._stops = [*self._stops[-MOST_STOPS:], stop]
        self._forward_stops = []

    def renew(self, stop: S) -> None:
        """Replaces the present place."""
        self._stops[-1] = stop

    def back(self) -> tuple[S, S] | None:
        """Goes one place back. Returns the new and the left place, or None at the first."""
        if len(self._stops) < 2:
            return None
        left = self._stops.pop()
        self._forward_stops.append(left)
        return self._stops[-1], left

    def forward(self) -> tuple[S, S] | None:
        """Goes one place forward. Returns the new and the left place, or None at the last."""
        if not self._forward_stops:
            return None
        left = self._stops[-1]
        self._stops.append(self._forward_stops.pop())
        return self._stops[-1], left
