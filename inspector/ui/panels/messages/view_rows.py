"""The rows of a table as the engine answered them, with the filter and scope that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.engine.requests.views import (
    ArrangeRows,
    ChangedRows,
    PlacesOfMessages,
    RowPlaces,
    ShownRows,
    TableRows,
    ViewState,
)
from inspector.ui.widgets.latest_answer import Client

VIEW = 1
"""Number of a document's table in the engine."""


class ViewRows(TableRows):
    """A copy of the rows that the engine holds, for painting, selection and scrolling. Empty until its model asks.

    Attributes:
        filter, scope: in force.
        state: figures about the rows.
        revision: number of changes in the engine; 0 before the first answer.
        folding_enabled: streams and copies fold, unless the filter is about them.
        hides_bookkeeping: bookkeeping is hidden, unless the filter tests more than a place.
        located: called when the row of a folded message becomes known later than it was needed.
    """

    def __init__(self, client: Client) -> None:
        super().__init__()
        self._client = client
        self.filter = ValidFilter()
        self.scope: Scope | None = None
        self.state = ViewState()
        self.revision = 0
        self.folding_enabled, self.hides_bookkeeping = True, False
        self.located: Callable[[], object] = lambda: None
        self._heads: dict[int, int] = {}  # by message that may be folded: the message with its row
        self._requests = 0

    @property
    def is_filtered(self) -> bool:
        """Returns True if a filter or a scope is in force."""
        return self.scope is not None or bool(self.filter.text.strip())

    @property
    def is_folded(self) -> bool:
        """Returns True if streams and copies are folded now."""
        return self.state.is_folded

    @property
    def is_behind(self) -> bool:
        """Returns True if new or changed messages wait for evaluation."""
        return self.state.is_behind

    @property
    @override
    def seen_count(self) -> int:
        return self.state.seen

    @property
    def bookkeeping(self) -> int:
        """Number of filtered bookkeeping messages that are hidden, or would be."""
        return self.state.bookkeeping

    def hidden_calls(self) -> tuple[int, int]:
        """Returns the numbers of requests and proposals that the filter or scope hides."""
        return self.state.hidden_requests, self.state.hidden_proposals

    # Changes

    @property
    def is_awaited(self) -> bool:
        """True while all rows are on their way."""
        return self._requests > 0

    def request_all(self, take: Callable[[ShownRows], object]) -> None:
        """Asks for all rows, with the wanted folding; `take` shows them."""

        def show(shown: ShownRows) -> None:
            self._requests -= 1
            take(shown)

        def fail(_sentence: str) -> None:
            self._requests -= 1

        self._requests += 1
        self._client.send_request(ArrangeRows(VIEW, self.folding_enabled, self.hides_bookkeeping), show, fail)

    def show(self, shown: ShownRows) -> None:
        """Replaces all rows."""
        self.state, self.revision = shown.state, shown.revision
        self._heads.clear()
        self.replace(shown.visible)

    def apply(self, changed: ChangedRows) -> None:
        """Applies the effect of new traffic. O(new rows) if rows are only appended."""
        self.state, self.revision = changed.state, changed.revision
        if changed.replaced is not None:
            self._heads.clear()
            self.replace(np.concatenate((changed.replaced, changed.new)))
        elif len(changed.new):
            self.append(changed.new)

    # Folded messages

    def locate(self, message: int) -> bool:
        """Asks for the row of a message, for one act of the user. Returns True if it is hidden as bookkeeping."""
        if not self.state.has_folded:
            return False
        try:
            places = self._client.answer_now(PlacesOfMessages(VIEW, np.array([message], np.int64)))
        except RequestError:
            return False
        self._heads[message] = int(places.rows[0])
        return bool(places.hidden[0])

    def row_message(self, message: int) -> int:
        """Returns the message whose row stands for a folded frame or copy; else, or if unknown, the message itself."""
        head = self._head_of(message)
        return message if head is None else head

    @override
    def _head_of(self, message: int) -> int | None:
        if not self.state.has_folded:
            return None
        if message not in self._heads:
            self.request_rows([message])
        head = self._heads[message]
        return None if head == message else head

    def request_rows(self, messages: Iterable[int]) -> None:
        """Asks for the rows of messages together, unless they are known; they count as hidden until `located`."""
        wanted = [message for message in messages if message not in self._heads] if self.state.has_folded else []
        if not wanted:
            return
        self._heads.update(zip(wanted, wanted, strict=True))
        replaced, in_call = self.replaced, True

        def take(places: RowPlaces) -> None:
            found = {message: row for message, row in zip(wanted, places.rows.tolist(), strict=True) if message != row}
            if found and replaced == self.replaced:
                self._heads |= found
                if not in_call:
                    self.located()

        self._client.send_request(PlacesOfMessages(VIEW, np.array(wanted, np.int64)), take)
        in_call = False
