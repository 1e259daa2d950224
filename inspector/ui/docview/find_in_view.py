"""Find in view: connects the find bar with the table, the minimap and the details."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.requests.find import EndFind, FindHits, FindQuery, Hits, PatternError
from inspector.present import formats
from inspector.ui.look.hit_highlight import HitRows, Locate
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.widgets.latest_answer import Client, Pending

_TYPING_MS, _MORE_MS = 150, 1
"""Delays after a key, and before the search goes on."""

_TIMEOUT_TEXT = "This expression takes too long to evaluate."


class FindInView(QObject):
    """The search of one document's table.

    Signals:
        message_requested(int): select this hit.
        changed(): the hits or the query have changed.

    Attributes:
        found: the rows with hits, or None without a query.
    """

    message_requested = Signal(int)
    changed = Signal()

    def __init__(self, client: Client, rows: ViewRows, messages: MessagesPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._rows = rows
        self._messages = messages
        self.bar = messages.find_bar
        self.found: HitRows | None = None
        self._query: FindQuery | None = None
        self._locate: Locate | None = None
        self._hits: Hits | None = None  # the last answer about the query
        self._trouble = ""
        self._pending: Pending | None = None
        self._asking = self._is_outdated = False
        self._asked_at: int | None = None  # the current message of the pending request
        self._wanted = 0
        self._wrapped = False
        self._is_moving = False
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.timeout.connect(self._ask)
        self.bar.query_changed.connect(self._start_search)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.close)
        messages.current_changed.connect(self._on_current_changed)

    # User actions

    def open(self) -> None:
        """Shows the bar and repeats the last search."""
        self.bar.open()
        if self._query is None:
            self._start_search(self.bar.query)

    def switch_match_case(self) -> None:
        self.open()
        self.bar.match_case.toggle()

    def switch_pattern(self) -> None:
        """Toggles between a regular expression and plain text."""
        self.open()
        self.bar.is_pattern.toggle()

    def close(self) -> None:
        """Closes the bar and removes the highlights."""
        self.bar.hide()
        self._start_search(None)
        self._messages.setFocus()

    def step(self, step: int) -> None:
        """Selects the next (1) or previous (-1) hit as soon as it is known, and wraps around."""
        if self.bar.query is None:
            self.open()
            return
        if self.bar.isHidden():
            self.bar.show()
            self._start_search(self.bar.query)
        self._wanted = step
        self._cancel()
        self._ask()

    @property
    def busy(self) -> bool:
        """True while the search runs."""
        return self._more.isActive() or self._asking

    def stop(self) -> None:
        self._cancel()
        self._query = self.found = None

    # Search

    def _start_search(self, query: FindQuery | None) -> None:
        self._cancel()
        self._query = self._locate = self._hits = None
        self._trouble, self._wanted, self._wrapped = "", 0, False
        if query is not None:
            try:
                self._query, self._locate = query, query.locator()
            except PatternError as error:
                self._query, self._trouble = None, error.message
        if self._query is None:
            self._client.send_request(EndFind(VIEW), lambda _done: None)
            self._show_hits(None)
        # half-typed expressions can be slow, so the search waits for a pause in typing
        elif self._query.is_pattern:
            self._show_hits(np.zeros(0, np.uint32))
            self._more.start(_TYPING_MS)
        else:
            self._ask()

    def _cancel(self) -> None:
        self._more.stop()
        if self._pending is not None:
            self._pending.cancel()
        self._pending, self._asking, self._is_outdated = None, False, False

    def _ask(self) -> None:
        """Continues the search in the engine, unless it does so already."""
        self._more.stop()
        if self._query is None:
            return
        if self._asking:
            self._is_outdated = True
            return
        self._asking, self._is_outdated, self._asked_at = True, False, self._messages.current_message()
        known = 0 if self._hits is None else self._hits.revision
        question = FindHits(VIEW, self._query, self._asked_at, self._wanted, known)
        pending = self._client.send_request(question, self._on_hits, self._on_failure)
        # A short answer has arrived already; showing it may have asked again.
        if self._asking and self._pending is None:
            self._pending = pending

    def _on_hits(self, hits: Hits) -> None:
        self._pending, self._asking, self._hits = None, False, hits
        # Without new hits only the words change, and the table need not be painted.
        if hits.messages is not None:
            self._show_hits(hits.messages)
        if hits.next is not None:
            self._go_to(hits.next.message, wrapped=hits.next.wrapped)
        self._show_state()
        if not self._asking and not self._more.isActive():
            self._continue_search(hits)

    def _continue_search(self, hits: Hits) -> None:
        if self._is_outdated or self._asked_at != self._messages.current_message():
            self._ask()
        elif not hits.is_done:
            self._more.start(_MORE_MS)

    def _on_failure(self, sentence: str) -> None:
        self._start_search(None)
        self._trouble = sentence
        self._show_state()

    def _show_hits(self, messages: NDArray[np.uint32] | None) -> None:
        self.found = None if messages is None or self._locate is None else HitRows(self._locate, messages)
        self._messages.view.show_find(self.found)
        self._show_state()
        self.changed.emit()

    def apply_changes(self) -> None:
        """Continues after new traffic, which the table shows."""
        if self._asking:
            self._is_outdated = True
        elif self._query is not None and not self._more.isActive():
            self._more.start(_MORE_MS)

    def apply_view(self) -> None:
        """Continues after a change of filter, scope or order."""
        self._ask()

    # Steps

    def _go_to(self, message: int | None, *, wrapped: bool) -> None:
        self._wanted = 0
        if message is None:
            return
        self._is_moving, self._wrapped = True, wrapped
        self.message_requested.emit(message)
        self._is_moving = False

    def _on_current_changed(self, _message: object) -> None:
        if not self._is_moving:
            self._wrapped = False
            if self._wanted:
                # The user has selected another message meanwhile.
                self._wanted = 0
                self._cancel()
                self._ask()
                return
        # Without an answer, a request is due or on its way.
        if self._hits is not None and not self._more.isActive():
            self._ask()

    def _show_state(self) -> None:
        hits = self._hits
        if self._query is None:
            self.bar.show_state(self._trouble, usable=False, wrong=bool(self._trouble))
        elif hits is None:
            self.bar.show_state("Searching", fraction=0.0)
        elif hits.only_timeouts:
            self.bar.show_state(_TIMEOUT_TEXT, usable=False, wrong=True)
        else:
            self.bar.show_state(
                self._count_words(hits),
                usable=hits.count > 0 or not hits.is_done,
                fraction=None if hits.is_done else hits.fraction,
                aside=_unsearched_remark(hits),
            )

    def _count_words(self, hits: Hits) -> str:
        if not hits.count:
            nothing = "Nothing found in this view" if self._rows.is_filtered else "Nothing found"
            return nothing if hits.is_done else "Searching"
        words = f"{hits.place + 1:,} of {hits.count:,}" if hits.place is not None else f"{hits.count:,} found"
        words = f"wrapped, {words}" if self._wrapped else words
        return words if hits.is_done and not hits.gave_up else f"{words} so far"


def _unsearched_remark(hits: Hits) -> str:
    """Returns a remark about messages that were not searched, or ""."""
    if hits.gave_up:
        return "This expression takes too long, so the rest was not searched"
    if not hits.timeouts:
        return ""
    are = "is" if hits.timeouts == 1 else "are"
    return f"{formats.count_of(hits.timeouts, 'message')} took too long to search and {are} left out"
