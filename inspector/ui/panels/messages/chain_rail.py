"""Chain rail of the message table: marks the visible rows of the selected message's causal chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.causes.chain import may_change_chain, steps_of_turn
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.ui import budgets


@dataclass(frozen=True, slots=True)
class RailMark:
    """Rail in the gutter of one row: line above, line below, ring, disc."""

    above: bool
    below: bool
    member: bool
    selected: bool


class ChainRail:
    """Rail of one message's chain.

    The rail runs from the first visible member to the last, through other rows and past the edges of the view. In a
    table not sorted by number, a line would suggest a wrong order of time. Members then have only their rings.
    """

    def __init__(
        self,
        selected: int | None = None,
        members: Iterable[int] = (),
        place: Callable[[int], int | None] = lambda message: message,
        *,
        joined: bool = True,
    ) -> None:
        """Creates a rail.

        Args:
            selected: the message of the chain.
            members: visible messages of the chain, the selected one included.
            place: returns a message's position among the visible ones.
            joined: rows are sorted by number, so that a line joins them.
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
        """Returns the mark of a row; None outside of the rail."""
        # A line would suggest a wrong order of time.
        if not self._joined:
            shown = bool(self) and not part and message in self.members
            return RailMark(False, False, True, message == self.selected) if shown else None
        place = self._place(message) if self else None
        if place is None or not self._first <= place <= self._last:
            return None
        if part:
            return RailMark(True, True, False, False) if place < self._last else None
        return RailMark(place > self._first, place < self._last, message in self.members, message == self.selected)


class SelectedChain(QObject):
    """Finds the chain of the selected message and draws its rail.

    Signals:
        rail_changed(): `rail` is a new one.

    Attributes:
        rail: rail of the latest chain, limited to visible messages.
    """

    rail_changed = Signal()

    def __init__(self, document: CaptureDocument, rows: VisibleRows, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._rows = rows
        self._selected: int | None = None
        self._found_for: int | None = None
        self._members: set[int] = set()
        self._steps: set[int] = set()
        self.rail = ChainRail()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(budgets.current.repeat_ms)
        self._timer.timeout.connect(self._find)

    def find_for(self, selected: int | None) -> None:
        """Schedules the search for a message's chain; None for no message.

        A message of the same chain keeps its rail meanwhile.
        """
        self._selected = selected
        self._set_rail(self.rail.members if selected in self.rail.members else ())
        self._schedule_search()

    def rows_replaced(self) -> None:
        """Draws the rail again after a sort or a change of the visible rows."""
        self._set_rail(self.rail.members)
        self._schedule_search()

    def _schedule_search(self) -> None:
        if self._selected is not None and not self._timer.isActive():
            self._timer.start()

    def take_in(self, changes: AnalysisChanges) -> None:
        """Searches the chain again if a flush may have changed it. O(new and changed messages)."""
        selected = self._selected
        # A pending search will see these changes, too.
        if selected is None or self._timer.isActive():
            return
        if selected != self._found_for or may_change_chain(self._document.analysis, selected, self._members, changes):
            self._timer.start()
        else:
            self._update_rail()

    def _find(self) -> None:
        selected = self._selected
        if selected is not None:
            self._found_for, chain = selected, self._document.chain(selected)
            self._members = {step.message for step in chain}
            self._steps = {step.message for step in steps_of_turn(self._document.analysis, chain, selected)}
            self._update_rail()

    def _update_rail(self) -> None:
        """Draws the rail if the chain's visible messages changed. O(chain)."""
        # The filter may hide members of the chain.
        shown = {message for message in self._steps if self._rows.position(message) is not None}
        if shown != self.rail.members or self._selected != self.rail.selected:
            self._set_rail(shown)

    def _set_rail(self, members: Iterable[int]) -> None:
        """Draws the rail; positions are looked up only in sorted tables."""
        by = self._rows.sorted_by
        if by is None:
            self.rail = ChainRail(self._selected, members)
        else:
            self.rail = ChainRail(self._selected, members, self._rows.position, joined=by.field.name == "no")
        self.rail_changed.emit()
