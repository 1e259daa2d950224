"""Find in view: connects the find bar with the table, the minimap and the details."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.changed_rows import NO_ROWS
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery
from inspector.filters.patterns import PatternError
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.ui import budgets
from inspector.ui.panels.messages.panel import MessagesPanel

_TIMEOUT_TEXT = "This expression takes too long to evaluate."
_NO_CHANGES = AnalysisChanges(0, 0, NO_ROWS, tree_moved=False)


class FindInView(QObject):
    """The search of one document's table.

    Signals:
        message_requested(int): select this hit.
        changed(): the hits or the query have changed.

    Attributes:
        search: the search, or None without a query.
    """

    message_requested = Signal(int)
    changed = Signal()

    def __init__(self, rows: VisibleRows, messages: MessagesPanel, parent: QObject) -> None:
        super().__init__(parent)
        self._rows = rows
        self._messages = messages
        self.bar = messages.find_bar
        self.search: FindSearch | None = None
        self._trouble = ""
        self._wanted = 0
        self._wrapped = False
        self._is_moving = False
        self._shown_hits = -1
        self._next_report_at = 0.0
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.timeout.connect(self._continue_search)
        self.bar.query_changed.connect(self._start_search)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.close)
        messages.current_changed.connect(self._on_current_changed)

    # User actions

    def open(self) -> None:
        """Shows the bar and repeats the last search."""
        self.bar.open()
        if self.search is None:
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
        self._go_to_requested()

    @property
    def busy(self) -> bool:
        """True while the search runs."""
        return self._more.isActive()

    def stop(self) -> None:
        self._more.stop()
        self.search = None

    # Search

    def _start_search(self, query: FindQuery | None) -> None:
        self.search, self._trouble, self._wanted, self._wrapped = None, "", 0, False
        self._shown_hits, self._next_report_at = -1, 0.0
        self._more.stop()
        if query is not None:
            try:
                self.search = FindSearch(self._rows, query, self._messages.current_message())
            except PatternError as error:
                self._trouble = error.message
        # half-typed expressions can be slow, so the search waits for a pause in typing
        if self.search is not None and query is not None and query.is_pattern:
            self._show_hits()
            self._more.start(budgets.current.typing_ms)
        else:
            self._continue_search()

    def _continue_search(self) -> None:
        """Searches for one time slice and reports: the first hits, intermediate counts and the end."""
        search = self.search
        if search is None:
            self._show_hits()
            return
        if not search.step(time.perf_counter() + budgets.current.awaited_slice_s):
            self._more.start(budgets.current.awaited_ms)
            now = time.perf_counter()
            # Not throttled: the first hit, which is shown at once.
            if now < self._next_report_at and not (self._shown_hits == 0 and len(search.hits)):
                self._go_to_requested()
                return
            self._next_report_at = now + budgets.current.tell_s
        # The hits are the same, so only the words change and the table need not be painted.
        if self._messages.view.painter.search is search and self._shown_hits == len(search.hits):
            self._show_state()
        else:
            self._show_hits()
        self._go_to_requested()

    def _show_hits(self) -> None:
        self._shown_hits = -1 if self.search is None else len(self.search.hits)
        self._messages.view.show_find(self.search)
        self._show_state()
        self.changed.emit()

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Handles a flush after the table. O(new and changed messages)."""
        if self.search is not None:
            before = len(self.search.hits)
            again = self.search.on_changes(changes, self._messages.current_message())
            if again and not self._more.isActive():
                self._more.start(budgets.current.awaited_ms)
            if before != len(self.search.hits):
                self._shown_hits = len(self.search.hits)
                self._messages.view.show_find(self.search)
                self.changed.emit()
            self._show_state()

    def apply_view(self) -> None:
        """Continues after a change of filter, scope or order."""
        if self.search is not None:
            self.search.on_changes(_NO_CHANGES, self._messages.current_message())
            self._shown_hits, self._next_report_at = -1, 0.0
            self._continue_search()
            self.changed.emit()

    # Steps

    def _go_to_requested(self) -> None:
        search, step = self.search, self._wanted
        current = self._messages.current_message()
        if search is None or not step or not search.knows_next(current, step):
            return
        self._wanted = 0
        found = search.next_hit(current, step)
        if found is None:
            return
        message, wrapped = found
        self._is_moving, self._wrapped = True, wrapped
        self.message_requested.emit(message)
        self._is_moving = False
        self._show_state()

    def _on_current_changed(self, _message: object) -> None:
        if not self._is_moving:
            self._wrapped = False
        if self.search is not None:
            self._show_state()

    def _show_state(self) -> None:
        search = self.search
        if search is None:
            self.bar.show_state(self._trouble, usable=False, wrong=bool(self._trouble))
            return
        count, place = len(search.hits), search.place_of(self._messages.current_message())
        if not count and search.is_done and (search.gave_up or 0 < search.timeout_count == len(self._rows.chosen)):
            self.bar.show_state(_TIMEOUT_TEXT, usable=False, wrong=True)
            return
        if count:
            words = f"{place + 1:,} of {count:,}" if place is not None else f"{count:,} found"
            words = f"wrapped, {words}" if self._wrapped else words
        else:
            nothing = "Nothing found in this view" if self._rows.is_filtered else "Nothing found"
            words = nothing if search.is_done else "Searching"
        if count and (not search.is_done or search.gave_up):
            words += " so far"
        self.bar.show_state(
            words,
            usable=count > 0 or not search.is_done,
            fraction=None if search.is_done else search.fraction,
            aside=_unsearched_remark(search),
        )


def _unsearched_remark(search: FindSearch) -> str:
    """Returns a remark about messages that were not searched, or ""."""
    if search.gave_up:
        return "This expression takes too long, so the rest was not searched"
    if not search.timeout_count:
        return ""
    are = "is" if search.timeout_count == 1 else "are"
    return f"{formats.count_of(search.timeout_count, 'message')} took too long to search and {are} left out"
