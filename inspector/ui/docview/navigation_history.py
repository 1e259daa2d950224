"""Where the user was, for Back and Forward. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from inspector.filters import DisplayFilter
from inspector.filters.visible import Scope
from inspector.present.subject import Place
from inspector.ui.panels.trail import Trail


@dataclass(frozen=True, slots=True)
class Stop:
    """A message or what else the details showed, and the view it was seen in."""

    shown: int | Place | None
    """None for what happened."""
    filter: DisplayFilter
    scope: Scope | None
    scrolled: int = 0
    """Where the page of a context or participant stood when it was left; pixels."""


class NavigationHistory(Trail[Stop]):
    """The stops of a document."""

    def note_scroll(self, shown: Place | None, pixels: int) -> None:
        """Keep where a page stands that may be left: the way back leads there."""
        last = self.last
        if last is not None and shown is not None and last.shown == shown:
            self.renew(replace(last, scrolled=pixels))

    def replace(self, before: DisplayFilter, after: DisplayFilter) -> None:
        """A filter went on as another one: whoever returns to it finds that."""
        for stops in (self._stops, self._ahead):
            stops[:] = [replace(stop, filter=after) if stop.filter is before else stop for stop in stops]
