"""Chain rail of the message table: marks the visible rows of the selected message's causal chain."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.requests.chains import Chain, ChainOfMessage, MayHaveChanged
from inspector.engine.update import Update
from inspector.ui import intervals
from inspector.ui.panels.messages.view_rows import ViewRows
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.rest_timer import RestTimer


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

    def __init__(self, client: Client, rows: ViewRows, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._rows = rows
        self._selected: int | None = None
        self._found_for: int | None = None
        self._chain = Chain((), ())
        self.rail = ChainRail()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(intervals.REPEAT_MS)
        self._timer.timeout.connect(self._find)
        self._resting = RestTimer(self._find, self)
        self._pending: Pending | None = None

    def find_for(self, selected: int | None) -> None:
        """Schedules the search for a message's chain; None for no message.

        A message of the same chain keeps its rail meanwhile.
        """
        self._selected = selected
        self._set_rail(self.rail.members if selected in self.rail.members else ())
        self._timer.stop()
        if self._pending is not None:
            self._pending.cancel()
        self._resting.call()

    def rows_replaced(self) -> None:
        """Draws the rail again after a sort or a change of the visible rows."""
        self._set_rail(self.rail.members)
        self._schedule_search()

    def _schedule_search(self) -> None:
        if self._selected is not None and not self._is_due:
            self._timer.start()

    @property
    def _is_due(self) -> bool:
        return self._timer.isActive() or self._resting.is_waiting

    def take_in(self, changes: Update) -> None:
        """Searches the chain again if a flush may have changed it. O(new and changed messages)."""
        selected = self._selected
        # A pending search will see these changes, too.
        if selected is None or self._is_due:
            return
        if selected != self._found_for:
            self._timer.start()
            return
        question = MayHaveChanged(
            selected, self._chain.members, changes.start, changes.stop, changes.changed, changes.tree_moved
        )
        self._client.send_request(question, lambda may: self._on_checked(selected, may))

    def _on_checked(self, message: int, may_have_changed: bool) -> None:
        # Another message may have been selected meanwhile; its chain is searched anyway.
        if message != self._selected:
            return
        if may_have_changed:
            self._timer.start()
        else:
            self._update_rail()

    def _find(self) -> None:
        selected = self._selected
        if selected is not None:
            self._pending = self._client.send_request(
                ChainOfMessage(selected), lambda chain: self._take(selected, chain)
            )

    def _take(self, message: int, chain: Chain) -> None:
        # Another message may have been selected meanwhile.
        if message == self._selected:
            self._found_for, self._chain = message, chain
            self._update_rail()

    def _update_rail(self) -> None:
        """Draws the rail if the chain's visible messages changed. O(chain)."""
        # The filter may hide members of the chain.
        self._rows.request_rows(self._chain.turn)
        shown = {message for message in self._chain.turn if self._rows.position(message) is not None}
        if shown != self.rail.members or self._selected != self.rail.selected:
            self._set_rail(shown)

    def _set_rail(self, members: Iterable[int]) -> None:
        """Draws the rail; positions are looked up only in sorted tables."""
        by = self._rows.sorted_by
        if by is None:
            self.rail = ChainRail(self._selected, members)
        else:
            self.rail = ChainRail(self._selected, members, self._rows.position, joined=by.field == "no")
        self.rail_changed.emit()
