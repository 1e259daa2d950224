"""Answers about the place of a plot's cursor, which may arrive after the cursor has moved on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from inspector.engine.request import Request
from inspector.ui.widgets.latest_answer import Client, Pending

AnswerT = TypeVar("AnswerT")


class CursorAnswer(Generic[AnswerT]):
    """The answer to the latest of several questions. Each question is asked once and replaces the one before."""

    def __init__(self, client: Client, changed: Callable[[], object]) -> None:
        """Starts without a question.

        Args:
            client: asks the engine.
            changed: called when an answer has arrived later than its question.
        """
        self._client, self._changed = client, changed
        self._request: Request[AnswerT] | None = None
        self._answer: AnswerT | None = None
        self._pending: Pending | None = None
        self._is_asking = False

    def answer_to(self, request: Request[AnswerT]) -> AnswerT | None:
        """Returns the answer, or None until it has arrived."""
        if request != self._request:
            self.drop_answer()
            self._request, self._is_asking = request, True
            self._pending = self._client.send_request(request, self._on_answer)
            self._is_asking = False
        return self._answer

    def drop_answer(self) -> None:
        """Drops the question and its answer, as after a change of the document."""
        if self._pending is not None:
            self._pending.cancel()
        self._request = self._answer = self._pending = None

    def _on_answer(self, answer: AnswerT) -> None:
        self._answer = answer
        if not self._is_asking:
            self._changed()
