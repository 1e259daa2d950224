"""Asks the engine for the messages of a new filter and scope, with progress, while the window stays responsive."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.engine.requests.views import FilterRows, Progress, ShownRows
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.panels.messages.view_work import ViewWork
from inspector.ui.widgets.latest_answer import Client


class Found(NamedTuple):
    """The rows of a filter and scope."""

    filter: ValidFilter
    scope: Scope | None
    shown: ShownRows


class RunningSearch(QObject):
    """Searches the messages of one filter and scope at a time.

    Signals:
        searching(float | None, int): progress and number of hits, a few times a second; None at the end.
        found(Found): the search is complete.
    """

    searching = Signal(object, int)
    found = Signal(object)

    def __init__(self, client: Client, rows: ViewRows, parent: QObject) -> None:
        super().__init__(parent)
        self._rows = rows
        self._work: ViewWork[tuple[ValidFilter, Scope | None]] = ViewWork(client, self._report, self._on_found, self)

    @property
    def busy(self) -> bool:
        """True while a search runs."""
        return self._work.wanted is not None

    @property
    def filter(self) -> ValidFilter:
        """The filter in search, else the one in force."""
        return self._rows.filter if self._work.wanted is None else self._work.wanted[0]

    @property
    def scope(self) -> Scope | None:
        """The scope in search, else the one in force."""
        return self._rows.scope if self._work.wanted is None else self._work.wanted[1]

    def start(self, filter_: ValidFilter, scope: Scope | None) -> None:
        """Starts a search and cancels the running one. Cheap searches complete at once."""
        self._work.start((filter_, scope), FilterRows(VIEW, filter_.text, filter_.selected_context, scope))

    def stop(self) -> None:
        """Cancels the search, for example because the document is about to close."""
        self._work.stop()

    def _on_found(self, wanted: tuple[ValidFilter, Scope | None], shown: ShownRows) -> None:
        self.found.emit(Found(*wanted, shown))

    def _report(self, progress: Progress | None) -> None:
        self.searching.emit(*((None, 0) if progress is None else (progress.fraction, progress.found)))
