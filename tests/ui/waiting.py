"""Waiting for what windows do by themselves, on machines that are busy with other things.

A process that others keep from running comes back to timers that have all run out, and then has one turn of the loop
where it had a dozen elsewhere: what is laid out in one turn and put right in the next would be seen in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from pytestqt.wait_signal import SignalBlocker

from tests.conftest import MS

PATIENCE_MS = round(30_000_000 * MS)
"""So long is waited for what is to come: only a fault takes as long."""
_LEAST_TURNS, _TURN_MS = 6, 5


def _turns(ms: int) -> tuple[int, int]:
    """How often to wait, and for how many milliseconds each time."""
    turns = max(_LEAST_TURNS, ms // _TURN_MS)
    return turns, -(-ms // turns)


def pass_time(ms: int) -> None:
    """Let the loop turn for so long at least, and several times."""
    turns, each = _turns(ms)
    for _ in range(turns):
        QTest.qWait(each)


async def time_passes(ms: int) -> None:
    """The same in a coroutine."""
    turns, each = _turns(ms)
    for _ in range(turns):
        await asyncio.sleep(each / 1000)


class PatientBot(QtBot):
    """Waits until something is so for as long as a busy machine needs, and lets time pass in many turns.

    It holds its widgets until they are deleted, as the program does its windows. Without that a test's last widget is a
    circle that nobody holds: Python deletes it whenever it looks for garbage, also while Qt paints it.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        super().__init__(request)
        self.held: list[QWidget] = []

    def addWidget(self, widget: QWidget, **more: Any) -> None:
        """Close a widget at the end of the test, and hold it until then."""
        self.held.append(widget)
        super().addWidget(widget, **more)

    def wait(self, ms: int) -> None:
        """Let the loop turn for so long at least, and several times."""
        turns, each = _turns(ms)
        for _ in range(turns):
            super().wait(each)

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        """Wait until something is so; fails the test when it does not come."""
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **more: Any) -> SignalBlocker:
        """Wait for a signal; fails the test when it does not come."""
        return super().waitSignal(signal, timeout=timeout, **more)
