"""How much the present turn of the loop has been used for, so that two slices of work do not come in the same.

Timers that are due at once are all served before the loop hears of keys and the mouse again. What nobody waits for
looks here first, and takes its slice in a turn of its own, which who reads a log then leaves to it.
"""

from __future__ import annotations

import asyncio
import time

from PySide6.QtCore import QAbstractEventDispatcher, QCoreApplication, QObject, Qt

from inspector.ui import budgets

_CLAIM_S = 0.05
"""A turn that was claimed, and is not taken, is lost after so long."""
_MOST_REFUSED = 4
"""Turns in a row that may be refused: while traffic floods in none may be free."""
_MOST_LEFT = 3
"""Turns in a row that who works in every turn leaves out: what has come is painted, and told to all views."""


class LoopTurn(QObject):
    """The turns of the loop of this thread.

    Qt says when it wakes up. Time is that of the thread's processor: what else runs on the machine does not count.
    """

    def __init__(self, parent: QObject) -> None:
        """Begin with a turn of which nothing was used."""
        super().__init__(parent)
        self._began_s = time.thread_time()
        self._claimed_until_s = 0.0
        self._refused = 0  # turns in a row that were refused
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None:
            dispatcher.awake.connect(self._on_awake)

    def _on_awake(self) -> None:
        self._began_s = time.thread_time()
        self._refused = self._refused + 1 if self._is_claimed else 0

    @property
    def _is_claimed(self) -> bool:
        return time.perf_counter() < self._claimed_until_s

    @property
    def used(self) -> bool:
        """Whether something has taken a slice of this turn."""
        return time.thread_time() - self._began_s > budgets.current.background_slice_s / 2

    def may_take(self) -> bool:
        """Whether what nobody waits for may take a slice now; if not, it may in one of the next turns."""
        if self.used and self._refused < _MOST_REFUSED:
            self.claim()
            return False
        self._claimed_until_s, self._refused = 0.0, 0
        return True

    def claim(self) -> None:
        """Let who works in every turn leave the next one out: something is to be painted."""
        self._claimed_until_s = time.perf_counter() + _CLAIM_S

    @property
    def taken(self) -> bool:
        """Whether who works in every turn should leave this one out."""
        return self.used or self._is_claimed


def turn_of_loop() -> LoopTurn:
    """The turns of this program's loop, counted from the first time somebody asks."""
    application = QCoreApplication.instance()
    assert application is not None
    options = Qt.FindChildOption.FindDirectChildrenOnly
    return application.findChild(LoopTurn, options=options) or LoopTurn(application)


async def others_first() -> None:
    """Wait while others need the turn of the loop, for a few turns at most; for who works in every turn."""
    for _ in range(_MOST_LEFT):
        if turn_of_loop().taken:
            await asyncio.sleep(0)
