"""Searches the messages of a new filter and scope in time slices, while the window stays responsive."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.filters import DisplayFilter
from inspector.filters.search import Search
from inspector.filters.visible import Scope, VisibleRows
from inspector.ui import budgets


class RunningSearch(QObject):
    """Searches the messages of one filter and scope at a time.

    Signals:
        searching(float | None, int): progress and number of hits, a few times a second; None at the end.
        found(Search): the search is complete.
    """

    searching = Signal(object, int)
    found = Signal(object)

    def __init__(self, rows: VisibleRows, parent: QObject) -> None:
        super().__init__(parent)
        self._rows = rows
        self._search: Search | None = None
        self._reports = budgets.Reports()
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.setInterval(budgets.current.awaited_ms)
        self._more.timeout.connect(lambda: self._go_on_until(time.perf_counter() + budgets.current.awaited_slice_s))

    @property
    def busy(self) -> bool:
        """True while a search runs."""
        return self._search is not None

    @property
    def filter(self) -> DisplayFilter:
        """The filter in search, else the one in force."""
        return self._rows.filter if self._search is None else self._search.filter

    @property
    def scope(self) -> Scope | None:
        """The scope in search, else the one in force."""
        return self._rows.scope if self._search is None else self._search.scope

    def start(self, filter_: DisplayFilter, scope: Scope | None) -> None:
        """Starts a search and cancels the running one. Cheap searches complete at once."""
        if self._search is not None:
            self._end()
        self._search, self._reports = Search(self._rows, filter_, scope), budgets.Reports()
        self._go_on_until(time.perf_counter() + budgets.current.first_s)

    def take_in(self, changes: AnalysisChanges) -> None:
        if self._search is not None:
            self._search.on_changes(changes)

    def stop(self) -> None:
        """Cancels the search because the document is about to close."""
        self._search = None
        self._more.stop()

    def _go_on_until(self, until: float) -> None:
        search = self._search
        if search is None:
            return
        if not search.step(until):
            if self._reports.due():
                self.searching.emit(search.fraction, search.found)
            self._more.start()
            return
        self._end()
        self.found.emit(search)

    def _end(self) -> None:
        self.stop()
        self.searching.emit(None, 0)
