"""Records the messages and pages that the user leaves, and restores them with their view: Back and Forward."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from inspector.engine.requests.filters import ValidFilter
from inspector.present.places import Place
from inspector.ui.docview.filter_state import FilterState
from inspector.ui.docview.navigation_history import NavigationHistory, Stop
from inspector.ui.panels.details.panel import DetailsPanel


class VisitedPlaces:
    """Visited messages and details pages of one document.

    Attributes:
        suspended: True while a place is restored; the caller then adds none.
    """

    def __init__(self, state: FilterState, details: DetailsPanel, show: Callable[[Stop], None]) -> None:
        """Starts without places.

        Args:
            state: filter and scope of the table.
            details: shows messages and pages.
            show: shows a stop in the table and the details; its view is restored before.
        """
        self._state = state
        self._details = details
        self._show = show
        self._history = NavigationHistory()
        self.suspended = False

    @contextmanager
    def suspend(self) -> Generator[None]:
        """Adds no place that `add` reports meanwhile."""
        self.suspended = True
        try:
            yield
        finally:
            self.suspended = False

    def add(self, shown: int | Place) -> None:
        """Adds a message or page, unless it is the last one or is being restored."""
        self._note_scroll()
        last = self._history.last
        if not self.suspended and (last is None or last.shown != shown):
            self.add_stop(shown)

    @property
    def before_last(self) -> int | Place | str | None:
        """The place before the present one, if any."""
        stop = self._history.before_last
        return None if stop is None else stop.shown

    def add_stop(self, shown: int | Place | str | None) -> None:
        """Adds a message or page in the current view, or a view; None is the page What happened."""
        self._history.add(self._stop(shown))

    def add_view(self, message: int | None) -> None:
        """Adds a message with the current view before the view changes."""
        self._note_scroll()
        here = self._stop(message)
        if self._history.last != here:
            self._history.add(here)

    def replace_filter(self, before: ValidFilter, after: ValidFilter) -> None:
        """Replaces a filter by the version that follows it."""
        self._history.replace(before, after)

    def go_back(self) -> None:
        """Goes back to the previous place, with its view unless the user has chosen another since."""
        self._restore(self._history.back())

    def go_forward(self) -> None:
        """Reverts `go_back`."""
        self._restore(self._history.forward())

    def _restore(self, way: tuple[Stop, Stop] | None) -> None:
        if way is None:
            return
        place, left = way
        state = self._state
        with self.suspend():
            if state.filter is left.filter and state.scope == left.scope:  # the view has not changed since
                state.put_view(place.filter, place.scope)
            self._show(place)

    def _stop(self, shown: int | Place | str | None) -> Stop:
        return Stop(shown, self._state.filter, self._state.scope)

    def _note_scroll(self) -> None:
        self._history.note_scroll(self._details.place, self._details.scrolled)
