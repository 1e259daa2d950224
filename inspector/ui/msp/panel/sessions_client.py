"""Client of the sessions of a window. The views keep it when another projection of the sessions is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QObject, Signal

from inspector.ui.widgets.latest_answer import Client, Pending

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.engine.request import PartsRequest, Request

AnswerT = TypeVar("AnswerT")
PartT = TypeVar("PartT")


class SessionsClient(QObject):
    """Asks about sessions.

    Signals:
        changed(): the document has changed.
        replaced(): another projection of the same sessions is shown; pending requests were cancelled.
    """

    changed = Signal()
    replaced = Signal()

    def __init__(self, client: Client, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        client.changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        self.changed.emit()

    def replace_by(self, client: Client) -> None:
        """Asks another projection of the sessions from now on."""
        if client is not self._client:
            self._client.changed.disconnect(self._on_changed)
            self._client = client
            client.changed.connect(self._on_changed)
            self.replaced.emit()

    @property
    def state(self) -> DocumentState:
        """The document besides its messages."""
        return self._client.state

    def send_request(
        self, request: Request[Any], answered: Callable[[Any], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> Pending:  # fmt: skip
        """Asks a question; calls `answered` with the answer, now or later."""
        return self._client.send_request(request, answered, failed)

    def request_parts(
        self, request: PartsRequest[PartT, Any], on_part: Callable[[PartT], object], answered: Callable[[Any], object],
        failed: Callable[[str], object] = lambda _sentence: None,
    ) -> Pending:  # fmt: skip
        """Asks a question with an answer in parts; all parts come before the answer."""
        return self._client.request_parts(request, on_part, answered, failed)

    def answer_now(self, request: Request[AnswerT]) -> AnswerT:
        """Returns the answer to a short question of one act of the user. Raises RequestError."""
        return self._client.answer_now(request)
