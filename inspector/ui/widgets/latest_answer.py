"""Keeps the answer to a question current for a view: asks when the document changes, at intervals, only in sight.

The last answer stays shown until the next one arrives. If that takes longer than 150 ms, the answer is marked as
being updated.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.engine.document_state import DocumentState
from inspector.engine.request import PartsRequest, Request, RequestError
from inspector.ui.widgets.rest_timer import RestTimer

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")

UPDATING_MS = 150
"""Time after which a pending answer is marked."""


class Pending(Protocol):
    """A pending request."""

    def cancel(self) -> None:
        """Cancels it; no callback follows."""
        ...


class Client(Protocol):
    """Asks about one document.

    Attributes:
        changed: Signal() after each change of the document.
        state: the document besides its messages.
    """

    changed: Any

    @property
    def state(self) -> DocumentState: ...

    def send_request(
        self, request: Request[Any], answered: Callable[[Any], object], failed: Callable[[str], object] = ...
    ) -> Pending:  # fmt: skip
        """Asks a question; calls `answered` with the answer, now or later."""
        ...

    def request_parts(
        self, request: PartsRequest[PartT, Any], on_part: Callable[[PartT], object], answered: Callable[[Any], object],
        failed: Callable[[str], object] = ...,
    ) -> Pending:  # fmt: skip
        """Asks a question with an answer in parts; all parts come before the answer."""
        ...

    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        """Returns the answer to a short question of one act of the user. Raises RequestError."""
        ...


def raise_failure(sentence: str) -> None:
    """Raises RequestError for an act of the user that failed; the window shows the sentence (`app/failures.py`)."""
    raise RequestError(sentence)


class LatestAnswer(QObject, Generic[AnswerT]):
    """The answer to a question that changes with the document.

    Signals:
        answered(object): a new answer is shown.
        updating_changed(bool): the shown answer is being updated, or is current again.
        failed(str): the question cannot be answered; carries a sentence.

    Attributes:
        answer: the last answer; None before the first.
        is_stale: the document or the question has changed since it was asked.
    """

    answered = Signal(object)
    updating_changed = Signal(bool)
    failed = Signal(str)

    def __init__(
        self, view: QObject, client: Client, question: Callable[[], Request[AnswerT]],
        show: Callable[[AnswerT], object] = lambda _answer: None, *, every_ms: Callable[[], float], rest: float = 0,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        """Starts without an answer, and asks again after changes of the document.

        Args:
            view: owner. A widget asks only while it is visible; another object always counts as visible.
            client: asks the engine.
            question: returns the present request.
            show: shows an answer; others connect to `answered`.
            every_ms: returns the shortest time between two requests.
            rest: pause after an answer, as a multiple of the time it took.
            ready: returns True if there is something to ask.
        """
        super().__init__(view)
        self._widget = view if isinstance(view, QWidget) else None
        self._client, self._question, self._show = client, question, show
        self._every_ms, self._rest, self._ready = every_ms, rest, ready
        self.answer: AnswerT | None = None
        self.is_stale = True
        self._pending: Pending | None = None
        self._asking = self._stopped = self._updating = False
        self._asked_at = self._rest_until = 0.0
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.timeout.connect(self._ask)
        self._resting = RestTimer(self._ask, self)
        self._late = QTimer(self)
        self._late.setSingleShot(True)
        self._late.setInterval(UPDATING_MS)
        self._late.timeout.connect(lambda: self._set_updating(True))
        client.changed.connect(self.invalidate)
        if self._widget is not None:
            self._widget.installEventFilter(self)

    @property
    def is_pending(self) -> bool:
        """A request has been sent and not been answered."""
        return self._asking

    @property
    def is_current(self) -> bool:
        """The shown answer is that of the present document and question."""
        return self.answer is not None and not (self.is_stale or self._asking)

    def invalidate(self) -> None:
        """Marks the answer as stale after a change of the document, and asks again as soon as allowed."""
        self.is_stale = True
        if self._may_ask and not (self._asking or self._due.isActive() or self._resting.is_waiting):
            self._due.start(max(0, round((self._rest_until - time.perf_counter()) * 1000)))

    def request_now(self) -> None:
        """Asks at once, because the question has changed. A hidden view asks when it is shown."""
        self.is_stale = True
        self._cancel()
        if self._may_ask:
            self._ask()

    def request_rested(self) -> None:
        """Like `request_now`; of quick changes of the question only the last one is asked, after a pause."""
        self.is_stale = True
        self._drop_request()
        if self._may_ask:
            self._await_answer()
            self._resting.call()

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        self._cancel()

    @property
    def _may_ask(self) -> bool:
        return not self._stopped and (self._widget is None or self._widget.isVisible()) and self._ready()

    def _cancel(self) -> None:
        self._late.stop()
        self._resting.stop()
        self._drop_request()

    def _await_answer(self) -> None:
        """Marks the shown answer if the next one is late."""
        if self.answer is not None and not self._late.isActive():
            self._late.start()

    def _drop_request(self) -> None:
        self._due.stop()
        if self._pending is not None:
            self._pending.cancel()
        self._pending, self._asking = None, False

    def _ask(self) -> None:
        self._due.stop()
        if not self._may_ask:
            return
        self.is_stale, self._asking, self._asked_at = False, True, time.perf_counter()
        self._await_answer()
        pending = self._client.send_request(self._question(), self._on_answer, self._on_failure)
        # A short answer has arrived already; showing it may have asked again.
        if self._asking and self._pending is None:
            self._pending = pending

    def _on_answer(self, answer: AnswerT) -> None:
        self.answer = answer
        self._end()
        self._show(answer)
        self.answered.emit(answer)
        if self.is_stale:
            self.invalidate()

    def _on_failure(self, sentence: str) -> None:
        changed, self.is_stale = self.is_stale, True
        self._end()
        self.failed.emit(sentence)
        # The same question would fail again.
        if changed:
            self.invalidate()

    def _end(self) -> None:
        now = time.perf_counter()
        self._pending, self._asking = None, False
        self._rest_until = now + max(self._every_ms() / 1000, self._rest * (now - self._asked_at))
        self._late.stop()
        self._set_updating(False)

    def _set_updating(self, updating: bool) -> None:
        if updating != self._updating:
            self._updating = updating
            self.updating_changed.emit(updating)

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            if self._asking:
                self.is_stale = True
            self._cancel()
        # Before it is painted, so that a short answer is in the first picture.
        elif event.type() == QEvent.Type.Show and self.is_stale and self._may_ask and not self._asking:
            self._ask()
        return super().eventFilter(watched, event)
