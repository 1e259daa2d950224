"""Long requests about the table, such as a search or a sort: one at a time, with its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, QTimer

from inspector.engine.requests.views import FilterRows, Progress, ProgressOfView, SortRows
from inspector.ui import intervals
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client, Pending

W = TypeVar("W")


class ViewWork(Generic[W]):
    """The running request.

    Attributes:
        wanted: what the running request is for; None without one.
    """

    def __init__(
        self,
        client: Client,
        report: Callable[[Progress | None], None],
        take: Callable[[W, Any], None],
        parent: QObject,
    ) -> None:
        """Prepares requests.

        Args:
            client: access to the engine.
            report: shows the progress a few times a second; None at the end.
            take: receives the answer, and what it was for.
            parent: owner of the timer.
        """
        self.wanted: W | None = None
        self._client = client
        self._report, self._take = report, take
        self._pending: Pending | None = None
        self._pending_progress: Pending | None = None
        self._timer = QTimer(parent)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._request_progress)

    def start(self, wanted: W, request: FilterRows | SortRows) -> None:
        """Sends a request and cancels the running one. Cheap requests are answered at once."""
        if self.wanted is not None:
            self.end()
        self.wanted = wanted
        pending = self._client.send_request(request, self._on_answer, lambda _sentence: self.end())
        if self.wanted is not None:
            self._pending = pending
            self._timer.start(round(intervals.QUIET_S * 1000))

    def stop(self) -> None:
        """Cancels the running request without a report, for example because the document is about to close."""
        for pending in (self._pending, self._pending_progress):
            if pending is not None:
                pending.cancel()
        self.wanted = self._pending = self._pending_progress = None
        self._timer.stop()

    def end(self) -> None:
        """Cancels the running request and reports its end."""
        self.stop()
        self._report(None)

    def _on_answer(self, answer: Any) -> None:
        wanted = self.wanted
        if wanted is not None:
            self.end()
            self._take(wanted, answer)

    def _request_progress(self) -> None:
        if self.wanted is not None:
            self._pending_progress = self._client.send_request(ProgressOfView(VIEW), self._on_progress)

    def _on_progress(self, progress: Progress) -> None:
        if self.wanted is not None:
            # Not before the answer: requests would pile up in a slow engine and hold up the work itself.
            self._timer.start(round(intervals.TELL_S * 1000))
            self._report(progress)
