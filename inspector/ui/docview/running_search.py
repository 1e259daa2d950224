"""A filter and a scope on their way into force: looked for in slices, between which the window goes on."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.filters import DisplayFilter
from inspector.filters.search import Search
from inspector.filters.visible import Scope, VisibleRows
from inspector.ui import budgets


class RunningSearch(QObject):
    """Looks for the messages of one filter and scope at a time.

    Signals:
        searching(float | None, int): how far it is, and what it found so far, some times a second; None when it has
            ended, or was given up.
        found(Search): it is complete.
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
        """Whether a filter and a scope are on their way."""
        return self._search is not None

    @property
    def filter(self) -> DisplayFilter:
        """The filter on its way, else the one in force."""
        return self._rows.filter if self._search is None else self._search.filter

    @property
    def scope(self) -> Scope | None:
        """The scope on its way, else the one in force."""
        return self._rows.scope if self._search is None else self._search.scope

    def start(self, filter_: DisplayFilter, scope: Scope | None) -> None:
        """Look for what a filter and a scope choose; what is cheap to find is found at once.

        What was looked for before is given up.
        """
        if self._search is not None:
            self._end()
        self._search, self._reports = Search(self._rows, filter_, scope), budgets.Reports()
        self._go_on_until(time.perf_counter() + budgets.current.first_s)

    def take_in(self, changes: Changes) -> None:
        """Messages are new or have changed."""
        if self._search is not None:
            self._search.take_in(changes)

    def stop(self) -> None:
        """Read no more of the document: it is about to be closed."""
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
