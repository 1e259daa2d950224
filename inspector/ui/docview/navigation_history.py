"""Back and Forward: the history of visited messages and pages. Without Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.present.places import Place
from inspector.ui.panels.trail import Trail


@dataclass(frozen=True, slots=True)
class Stop:
    """A visited message, details page or view, with the view that showed it."""

    shown: int | Place | str | None
    """A message, a page, the id of a view, or None for the page What happened."""
    filter: ValidFilter
    scope: Scope | None
    scrolled: int = 0
    """Scroll position of a page when it was left; pixels."""


class NavigationHistory(Trail[Stop]):
    """The visited places of a document."""

    def note_scroll(self, shown: Place | None, pixels: int) -> None:
        """Stores the scroll position of a page before it is left, so that Back restores it."""
        last = self.last
        if last is not None and shown is not None and last.shown == shown:
            self.renew(replace(last, scrolled=pixels))

    def replace(self, before: ValidFilter, after: ValidFilter) -> None:
        """Replaces a filter by the version that follows it, in all entries."""
        for stops in (self._stops, self._forward_stops):
            stops[:] = [replace(stop, filter=after) if stop.filter is before else stop for stop in stops]
