"""The time range that a brush chooses for all views: a condition of the filter, described in a sentence."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.steps import DescribeRange
from inspector.present.time_ranges import is_range, range_bounds
from inspector.ui import intervals
from inspector.ui.docview.filter_state import FilterState
from inspector.ui.docview.visited_places import VisitedPlaces
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

_REST = 4
"""Pause after an answer, as a multiple of its duration."""


class ChosenRange(QObject):
    """The range of one document.

    Signals:
        described(str): the range and the steps in it; "" without a range.
    """

    described = Signal(str)

    def __init__(
        self, client: Client, state: FilterState, visited: VisitedPlaces, current: Callable[[], int | None],
        parent: QObject,
    ) -> None:  # fmt: skip
        """Starts without a range.

        Args:
            client: asks the engine.
            state: its filter has the range as a condition.
            visited: Back restores the filter before the range.
            current: returns the current message.
            parent: the owner.
        """
        super().__init__(parent)
        self._state, self._visited, self._current = state, visited, current
        self._latest = LatestAnswer(
            self, client, lambda: DescribeRange(VIEW, self.condition), self._show, every_ms=lambda: intervals.LISTS_MS,
            rest=_REST, ready=lambda: bool(self.condition),
        )  # fmt: skip

    @property
    def condition(self) -> str:
        """The condition in force; "" without a range."""
        conditions, place = self._state.stack.conditions, self._place
        return "" if place is None else conditions[place].text

    @property
    def bounds(self) -> tuple[int, int] | None:
        """First and last nanosecond; None without a range of times."""
        return range_bounds(self.condition)

    @property
    def _place(self) -> int | None:
        conditions = self._state.stack.conditions
        return next((place for place, one in enumerate(conditions) if one.on and is_range(one.text)), None)

    def choose(self, condition: str) -> None:
        """Filters by a range in place of the present one."""
        message = self._current()
        self._visited.add_view(message)
        stack, place = self._state.stack, self._place
        if place is not None:
            stack = stack.without_condition(place)
        self._state.apply_stack(stack.with_condition(condition))
        self._visited.add_stop(message)

    def end(self) -> bool:
        """Removes the range from the filter. Returns False without one."""
        place = self._place
        if place is not None:
            self._state.apply_stack(self._state.stack.without_condition(place))
        return place is not None

    def refresh(self) -> None:
        """Describes the range again, because other messages are shown."""
        if self.condition:
            self._latest.invalidate()
        else:
            self.described.emit("")

    def stop(self) -> None:
        """Ends all requests."""
        self._latest.stop()

    def _show(self, sentence: str) -> None:
        self.described.emit(sentence if self.condition else "")
