"""A real application offscreen, for measurements in an interpreter of their own, and a heartbeat on its loop.

Lateness is how much later than due a 10 ms heartbeat came.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application, make_qt, run_loop
from inspector.ui.window.main_window import MainWindow
from tests.bench import machine

BEAT_S = 0.010
Found = dict[str, Any]


def run(steps: Callable[[Application], Awaitable[Found]]) -> Found:
    """Run a measurement with an application that stores nothing; its windows are closed at the end."""
    machine.start_workers_as_the_program()
    qt = make_qt()
    found: Found = {}

    async def main() -> int:
        application = Application(qt, theme="light", bundled_fonts=True, remembers=False)

        async def start() -> None:
            try:
                found.update(await steps(application))
            finally:
                await application.close_all()

        await application.run(start())
        return 0

    run_loop(main(), qt)
    return found


class Heartbeat:
    """Beats every 10 ms from entering to leaving it, and notes how late each beat came."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self.late_s: list[float] = []

    async def _beat(self) -> None:
        while True:
            due = time.perf_counter() + BEAT_S
            await asyncio.sleep(BEAT_S)
            self.late_s.append(max(0.0, time.perf_counter() - due))

    def __enter__(self) -> Heartbeat:
        self._task = self._application.spawn(self._beat(), "heartbeat")
        return self

    def __exit__(self, *_error: object) -> None:
        self._task.cancel()

    def found(self, since: int = 0) -> Found:
        """Longest lateness and percentiles in seconds, of the beats from number `since` on."""
        late = np.array(self.late_s[since:] or [0.0])
        return {
            "late_max_s": float(late.max()),
            "late_p99_s": float(np.percentile(late, 99)),
            "late_p50_s": float(np.percentile(late, 50)),
            "beats": len(late),
        }


async def until(condition: Callable[[], object], what: str, seconds: float) -> None:
    """Wait for a condition.

    Raises:
        TimeoutError: it did not come in time; says what was waited for.
    """
    give_up = time.perf_counter() + seconds
    while not condition():
        if time.perf_counter() > give_up:
            raise TimeoutError(f"waited {seconds:g} s for {what}")
        await asyncio.sleep(0.01)


def take_in(document: CaptureDocument) -> None:
    """Have a live document take in all that its file holds by now; much of it another process reads meanwhile."""
    while document.poll() or document.sources.is_waiting or document.sources.unread_bytes:
        time.sleep(0 if document.analysis.is_checking else 0.0005)


def repaint(window: MainWindow) -> None:
    """Paint the table's rows now."""
    if window.panes is not None:
        window.panes.messages.view.viewport().repaint()
