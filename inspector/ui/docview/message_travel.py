"""Goes to messages: leaves a view that hides them, and waits for rows on their way."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.filters import ValidFilter
from inspector.ui.docview.filter_state import FilterState, View
from inspector.ui.docview.visited_places import VisitedPlaces
from inspector.ui.panels.details.panel import DetailsPanel
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import ViewRows


class MessageTravel(QObject):
    """Selects messages of one document in the table.

    Signals:
        view_left(int, str, put_back): a message was hidden by this filter or scope, and the view has changed to show
            it; `put_back` restores the view.
        went_to(): a message was selected on request.
    """

    view_left = Signal(int, str, object)
    went_to = Signal()

    def __init__(
        self, state: FilterState, rows: ViewRows, table: MessagesPanel, details: DetailsPanel, visited: VisitedPlaces,
        *, show_bookkeeping: Callable[[], None], hider_words: Callable[[View], str], parent: QObject,
    ) -> None:  # fmt: skip
        """Selects no message yet.

        Args:
            state: filter and scope.
            rows: the visible messages.
            table: the messages.
            details: shows a message that has no row of its own.
            visited: Back and Forward.
            show_bookkeeping: shows bookkeeping rows of this view.
            hider_words: names the cause of hidden messages in a view.
            parent: owner.
        """
        super().__init__(parent)
        self._state, self._rows, self._table, self._details = state, rows, table, details
        self._visited = visited
        self._show_bookkeeping, self._hider_words = show_bookkeeping, hider_words
        self._acts: list[Callable[[], object]] = []  # of the user, for rows on their way

    def go_to(self, message: int) -> None:
        """Selects a message. If the view hides it, removes filter and scope and emits `view_left`.

        Conditions are switched off.
        """
        before, current = self._state.view, self._table.current_message()
        hider = self._hider_words(before)
        self._locate(message)

        def reveal() -> None:
            state = self._state
            filtered = state.filter.text.strip() != "" or state.scope is not None
            hidden = filtered and self._rows.row_of(message) is None
            if hidden and current is not None and not self._visited.suspended:
                self._visited.add_view(current)
            if hidden:
                state.put_view(ValidFilter(), None, state.stack.with_only(""))
            self.when_shown(lambda: self._select(message))
            if hidden:
                self.view_left.emit(message, hider, lambda: self._restore_view(before, current))

        self.when_shown(reveal)

    def go_to_hit(self, message: int) -> None:
        """Selects a message that a search in the view has found."""
        self._locate(message)

        def select() -> None:
            self._table.go_to(message)
            self._details.scroll_to_hit()

        self.when_shown(select)

    def when_shown(self, act: Callable[[], object]) -> None:
        """Acts as soon as the table shows the requested rows; at once if it does."""
        if self._state.search.busy or self._rows.is_awaited:
            self._acts.append(act)
        else:
            act()

    def act_on_rows(self) -> None:
        """Does what waited for the rows, once they have arrived."""
        acts, self._acts = self._acts, []
        for act in acts:
            self.when_shown(act)

    def _locate(self, message: int) -> None:
        if self._rows.locate(message):
            self._show_bookkeeping()

    def _select(self, message: int) -> None:
        self.went_to.emit()
        self._rows.locate(message)
        self._table.go_to(message)
        if self._rows.row_message(message) != message:  # the row shows the stream, but this frame was requested
            self._details.show_message(message)

    def _restore_view(self, view: View, message: int | None) -> None:
        self._state.put_view(*view)

        def select() -> None:
            if message is not None and self._rows.row_of(message) is not None:
                self._table.go_to(message)

        self.when_shown(select)
