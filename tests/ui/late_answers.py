"""Answers that come as from an engine process: after the call, encoded and decoded."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest

from inspector.engine import wire
from inspector.engine.request import PartsRequest, Request
from inspector.engine.requests.table import answer_decoder, part_decoder, request_decoder
from inspector.ui.document_client import DocumentClient, Ticket
from tests.ui.engines import client_class

_LATE_MS = 2
_MOST_TURNS = 2_000


class _Ticket:
    """A request that is sent, computed and answered in different turns of the loop."""

    def __init__(self, owner: LateAnswers, client: Any, send: Callable[[_Ticket], Ticket]) -> None:
        self._owner, self._client, self._send = owner, client, send
        self._ticket: Ticket | None = None
        self._is_pending = True
        owner.pending += 1
        QTimer.singleShot(_LATE_MS, client, lambda: self._begin())  # Qt holds a method weakly

    def _begin(self) -> None:
        if self._is_pending:
            self._ticket = self._send(self)

    def deliver(self, call: Callable[[], object], *, ends: bool = True) -> None:
        def arrive() -> None:
            is_wanted = self._is_pending and not self._client._stopped
            if ends:
                self._end()
            if is_wanted:
                call()

        QTimer.singleShot(_LATE_MS, self._client, arrive)

    def _end(self) -> None:
        if self._is_pending:
            self._is_pending = False
            self._owner.pending -= 1

    def cancel(self) -> None:
        """Cancels the request; no callback follows."""
        self._end()
        if self._ticket is not None:
            self._ticket.cancel()


class LateAnswers:
    """Makes answers to windows late until the test ends.

    Attributes:
        pending: number of requests without an answer.
    """

    def __init__(self, patch: pytest.MonkeyPatch, client: DocumentClient | None = None) -> None:
        """Makes answers late, of one client or of all."""
        self.pending = 0
        kind_of_client = client_class()
        send, send_parts = kind_of_client.send_request, kind_of_client.request_parts
        answer = kind_of_client.answer_now

        def quiet(_sentence: str) -> None:
            pass

        def send_late(
            client: Any, request: Request[Any], answered: Callable[[Any], object],
            failed: Callable[[str], object] = quiet,
        ) -> _Ticket:  # fmt: skip
            asked, again = _copied(request), _copier(answer_decoder(type(request)))
            return _Ticket(self, client, lambda late: send(
                client, asked, lambda value: late.deliver(lambda: answered(again(value))),
                lambda sentence: late.deliver(lambda: failed(sentence)),
            ))  # fmt: skip

        def parts_late(
            client: Any, request: PartsRequest[Any, Any], on_part: Callable[[Any], object],
            answered: Callable[[Any], object], failed: Callable[[str], object] = quiet,
        ) -> _Ticket:  # fmt: skip
            kind = type(request)
            asked, again, part = _copied(request), _copier(answer_decoder(kind)), _copier(part_decoder(kind))
            return _Ticket(self, client, lambda late: send_parts(
                client, asked, lambda value: late.deliver(lambda: on_part(part(value)), ends=False),
                lambda value: late.deliver(lambda: answered(again(value))),
                lambda sentence: late.deliver(lambda: failed(sentence)),
            ))  # fmt: skip

        def answer_again(client: Any, request: Request[Any]) -> Any:
            return _copier(answer_decoder(type(request)))(answer(client, _copied(request)))

        for name, replacement in (
            ("send_request", send_late), ("request_parts", parts_late), ("answer_now", answer_again),
        ):  # fmt: skip
            if client is None:
                patch.setattr(kind_of_client, name, replacement)
            else:
                patch.setattr(client, name, MethodType(replacement, client))

    def settle(self, ready: Callable[[], bool] = lambda: True) -> None:
        """Lets the loop turn until all questions are answered and something is so."""
        for _ in range(_MOST_TURNS):
            QTest.qWait(2 * _LATE_MS)
            if not self.pending and ready():
                return
        pytest.fail(f"{self.pending} requests are not answered, or what was waited for did not come")


def delay_answers(monkeypatch: pytest.MonkeyPatch, client: Any) -> None:
    """Makes the answers of one client arrive after `send_request` has returned."""
    LateAnswers(monkeypatch, client)


def note_requests(monkeypatch: pytest.MonkeyPatch) -> list[Request[Any]]:
    """Returns a list to which each later request of a window is added."""
    sent: list[Request[Any]] = []
    send = client_class().send_request

    def note(client: Any, request: Request[Any], *then: Any) -> Any:
        sent.append(request)
        return send(client, request, *then)

    monkeypatch.setattr(client_class(), "send_request", note)
    return sent


def _copied(request: Any) -> Any:
    return request_decoder().decode(wire.encode(request))


def _copier(decoder: Any) -> Callable[[Any], Any]:
    return lambda value: decoder.decode(wire.encode(value))
