"""An engine process, with its answers on the window's thread."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

if TYPE_CHECKING:
    from inspector.engine.client import EngineClient

_BATCH_S = 0.004
"""Seconds of answers and events in one iteration of the event loop."""


class EngineProcess(QObject):
    """An engine process that serves the documents of one window. Answers and events arrive on the window's thread.

    Attributes:
        client: sends messages to the engine.
    """

    _arrived = Signal()

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__()
        from inspector.engine.client import EngineClient  # with all requests: not for a start page

        self._calls: deque[Callable[[], object]] = deque()
        self._is_due = False
        self._users = 0
        # Emitted by the thread that reads the pipe, so the slot runs in the window's event loop.
        self._arrived.connect(self._run_batch)
        self.client: EngineClient = EngineClient(process, post=self._post)

    def _post(self, call: Callable[[], object]) -> None:
        self._calls.append(call)
        if not self._is_due:
            self._is_due = True
            self._arrived.emit()

    def _run_batch(self) -> None:
        """Runs calls in the order of their arrival until the time of a batch is used up."""
        self._is_due = False
        until = time.perf_counter() + _BATCH_S
        while self._calls:
            if time.perf_counter() >= until:
                self._is_due = True
                QTimer.singleShot(0, self, self._run_batch)
                return
            try:
                self._calls.popleft()()
            except Exception as error:  # noqa: BLE001 - one failed callback must not hold up the others
                # Logged and shown as an error of a slot.
                sys.excepthook(type(error), error, error.__traceback__)

    def add_user(self) -> None:
        """Counts one more document."""
        self._users += 1

    def remove_user(self) -> None:
        """Counts one document less; the last one ends the process."""
        self._users -= 1
        if not self._users:
            self.client.begin_close()
