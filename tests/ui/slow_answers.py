"""Answers that take as many turns of the loop as their computation has steps."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QTimer

from inspector.engine.request import Part, PartsRequest, Request, Steps
from inspector.ui.pipe_client import PipeClient
from tests.ui.local_client import LocalClient, reported_failure

_MOST_TURNS = 20_000


class _Ticket:
    """A request that is sent, computed a step at a time, and answered in different turns of the loop."""

    def __init__(
        self, client: LocalClient, request: Request[Any], answered: Callable[[Any], object],
        failed: Callable[[str], object], on_part: Callable[[Any], object],
    ) -> None:  # fmt: skip
        self._client, self._request = client, request
        self._answered, self._failed, self._on_part = answered, failed, on_part
        self._steps: Steps[Any] | None = None
        self._is_pending = True
        self._later(self._step)

    def _later(self, call: Callable[[], object]) -> None:
        QTimer.singleShot(0, self._client, lambda: call())  # Qt holds a method weakly

    def _step(self) -> None:
        if not self._is_pending or self._client._stopped:
            return
        try:
            if self._steps is None:
                self._steps = self._client.begin(self._request)
            step = next(self._steps)
        except StopIteration as end:
            self._is_pending = False
            self._answered(end.value)
        except Exception as error:  # noqa: BLE001 - as the client does it
            self._is_pending = False
            self._failed(reported_failure(error)[1])
        else:
            if isinstance(step, Part):
                self._on_part(step.value)
            self._later(self._step)

    def cancel(self) -> None:
        """Cancels the request; no callback follows."""
        self._is_pending = False
        if self._steps is not None:
            self._steps.close()


def step_until(condition: Callable[[], bool]) -> None:
    """Lets the loop turn until something is so that may be over a few turns later."""
    for _ in range(_MOST_TURNS):
        QCoreApplication.processEvents()
        if condition():
            return
    pytest.fail("what was waited for did not come")


def answer_slowly(patch: pytest.MonkeyPatch, client: Any) -> None:
    """Makes the answers of a client slow: a step in each turn of the loop, or when an engine process sends them."""

    def quiet(_value: object) -> None:
        pass

    def send(
        client: Any, request: Request[Any], answered: Callable[[Any], object],
        failed: Callable[[str], object] = quiet,
    ) -> _Ticket:  # fmt: skip
        return _Ticket(client, request, answered, failed, quiet)

    def send_parts(
        client: Any, request: PartsRequest[Any, Any], on_part: Callable[[Any], object],
        answered: Callable[[Any], object], failed: Callable[[str], object] = quiet,
    ) -> _Ticket:  # fmt: skip
        return _Ticket(client, request, answered, failed, on_part)

    is_pipe = isinstance(client, PipeClient)
    for name, slow in (("send_request", send), ("request_parts", send_parts)):
        patch.setattr(client, name, MethodType(getattr(PipeClient, name) if is_pipe else slow, client))
