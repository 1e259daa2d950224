"""The causal chain that the table shows alone, and steps along a chain."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector.engine.requests.filters import ValidFilter
from inspector.engine.update import Update
from inspector.ui.docview.filter_state import FilterState, View
from inspector.ui.docview.message_travel import MessageTravel
from inspector.ui.docview.single_chain import ChainAlone, ChainWalk
from inspector.ui.docview.visited_places import VisitedPlaces
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.widgets.latest_answer import Client


class ShownChain:
    """Shows one chain in the place of the view, and restores the view."""

    def __init__(
        self, client: Client, state: FilterState, visited: VisitedPlaces, travel: MessageTravel, table: MessagesPanel,
        parent: QObject,
    ) -> None:  # fmt: skip
        """Shows no chain yet.

        Args:
            client: access to the engine.
            state: filter and scope of the table.
            visited: Back and Forward.
            travel: goes to messages.
            table: the messages.
            parent: owner of timers.
        """
        self._state, self._visited, self._travel, self._table = state, visited, travel, table
        self._alone = ChainAlone(client, parent)
        self._walk = ChainWalk(client)
        self._before: View | None = None
        self._alone.grown.connect(self._on_grown)

    def show(self, message: int) -> None:
        """Shows only the causal chain of a message in the table. Back restores the current view."""
        was_alone = self.is_alone

        def show(chain: ValidFilter) -> None:
            self._visited.add_view(message)
            with self._visited.suspend():
                if not was_alone:
                    self._before = self._state.view
                self._state.put_view(chain, None)
            self._travel.when_shown(select)
            self._visited.add_stop(message)

        def select() -> None:
            with self._visited.suspend():
                self._table.go_to(message)

        self._alone.begin(message, show)

    @property
    def is_alone(self) -> bool:
        """True if the table shows a single chain."""
        return self.is_in(self._state.view)

    def is_in(self, view: View) -> bool:
        """Returns True if a view shows the chain."""
        return self._alone.filter is not None and view[0] is self._alone.filter

    def leave(self) -> None:
        """Restores the view before the chain. The current message stays selected."""
        before, self._before = self._before, None
        if before is None or not self.is_alone:
            return
        self._state.put_view(*before)
        message = self._table.current_message()
        if message is not None and not self._visited.suspended:
            self._visited.add_stop(message)  # Back from the next place returns here

    def step(self, step: int) -> None:
        """Selects the next (1) or previous (-1) message of the shown chain, else of the current message's chain."""
        current = self._table.current_message()
        if current is not None:
            self._walk.step(current, step, self._travel.go_to, self._alone.message if self.is_alone else None)

    def stop(self) -> None:
        """Follows the chain no longer."""
        self._alone.stop()

    def apply_changes(self, changes: Update) -> None:
        """Handles a flush. O(new and changed messages)."""
        self._alone.apply_changes(changes, self._state.filter)

    def _on_grown(self, before: ValidFilter, after: ValidFilter) -> None:
        if self._state.filter is before:
            self._visited.replace_filter(before, after)
            self._state.grow(after)
