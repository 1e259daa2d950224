"""Asks the engine for the messages of a new filter and scope, with progress, while the window stays responsive."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.requests.filters import Scope, ValidFilter
from inspector.engine.requests.views import FilterRows, Progress, ProgressOfView, ShownRows
from inspector.ui import intervals
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.widgets.latest_answer import Client, Pending


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
        self._client = client
        self._rows = rows
        self._wanted: tuple[ValidFilter, Scope | None] | None = None
        self._pending: Pending | None = None
        self._pending_progress: Pending | None = None
        self._progress = QTimer(self)
        self._progress.setSingleShot(True)
        self._progress.timeout.connect(self._request_progress)

    @property
    def busy(self) -> bool:
        """True while a search runs."""
        return self._wanted is not None

    @property
    def filter(self) -> ValidFilter:
        """The filter in search, else the one in force."""
        return self._rows.filter if self._wanted is None else self._wanted[0]

    @property
    def scope(self) -> Scope | None:
        """The scope in search, else the one in force."""
        return self._rows.scope if self._wanted is None else self._wanted[1]

    def start(self, filter_: ValidFilter, scope: Scope | None) -> None:
        """Starts a search and cancels the running one. Cheap searches complete at once."""
        if self.busy:
            self._end()
        self._wanted = filter_, scope
        question = FilterRows(VIEW, filter_.text, filter_.selected_context, scope)
        pending = self._client.send_request(question, self._on_found, lambda _sentence: self._end())
        if self.busy:
            self._pending = pending
            self._progress.start(round(intervals.QUIET_S * 1000))

    def stop(self) -> None:
        """Cancels the search, for example because the document is about to close."""
        for pending in (self._pending, self._pending_progress):
            if pending is not None:
                pending.cancel()
        self._wanted = self._pending = self._pending_progress = None
        self._progress.stop()

    def _on_found(self, shown: ShownRows) -> None:
        if self._wanted is None:
            return
        found = Found(*self._wanted, shown)
        self._end()
        self.found.emit(found)

    def _request_progress(self) -> None:
        if self.busy:
            self._pending_progress = self._client.send_request(ProgressOfView(VIEW), self._report)

    def _report(self, progress: Progress) -> None:
        if self.busy:
            # Not before the answer: requests would pile up in a slow engine and hold up the search itself.
            self._progress.start(round(intervals.TELL_S * 1000))
            self.searching.emit(progress.fraction, progress.found)

    def _end(self) -> None:
        self.stop()
        self.searching.emit(None, 0)
