"""Developer > Figures: delay of the event loop, duration of analysis passes, and queue lengths.

It measures only while the window is open: a timer for the loop, and the engine's clock around each pass.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

from inspector.engine.document_state import DocumentState
from inspector.engine.request import RequestError
from inspector.engine.requests.pass_timings import MeasurePasses, PassTime, StopMeasuring
from inspector.present import formats

if TYPE_CHECKING:
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.widgets.latest_answer import Client

_BEAT_MS = 20  # the delay of this beat shows how late the event loop is
_MAX_SAMPLES = 1_500
"""Samples kept: half a minute."""


class LoopDelay(QObject):
    """Delay of a timer in the event loop over the last half minute, in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self._late: deque[float] = deque(maxlen=_MAX_SAMPLES)
        self._timer = QTimer(self)
        # A coarse timer may be 5 % late by itself.
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._last = time.perf_counter()
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self._late.append(max(0.0, (now - self._last) * 1000 - _BEAT_MS))
        self._last = now

    def words(self) -> list[str]:
        late = sorted(self._late)
        if not late:
            return ["not measured yet"]
        middle, most = late[len(late) // 2], late[min(len(late) - 1, len(late) * 99 // 100)]
        return [
            f"{'median':<24}{middle:10.1f} ms",
            f"{'99th percentile':<24}{most:10.1f} ms",
            f"{'longest':<24}{late[-1]:10.1f} ms",
        ]

    def stop(self) -> None:
        self._timer.stop()


def pass_words(times: list[PassTime]) -> list[str]:
    """Returns a table of the durations of passes."""
    head = f"{'pass':<16}{'calls':>8}{'last ms':>10}{'longest':>10}{'all ms':>12}"
    return [
        head,
        *(f"{one.name:<16}{one.calls:>8,}{one.last:>10.1f}{one.longest:>10.1f}{one.total:>12.1f}" for one in times),
    ]


class Figures:
    """All figures of one window as text. Not a child of the window, since it is stopped after the window is gone."""

    def __init__(self, shown: Shown, tasks: Collection[object]) -> None:
        """Starts measuring.

        Args:
            shown: content of the window.
            tasks: background tasks.
        """
        self._shown = shown
        self._tasks = tasks
        self._delay = LoopDelay()
        self._client: Client | None = None
        self._times: list[PassTime] = []

    def words(self) -> str:
        self._ask()
        parts = ["Event loop, delay in the last half minute", *self._delay.words(), ""]
        parts += ["Passes, since this window was opened"]
        parts += pass_words(self._times) if self._client is not None else ["no document"]
        return "\n".join([*parts, "", "Queues", *self._queues(), "", "Memory", *memory_words()])

    def _ask(self) -> None:
        """Asks for the durations of passes of the present document; the last ones stay shown until they arrive."""
        panes = self._shown.panes
        if panes is not None and panes.client is not self._client:
            self._end_measuring()
            self._client = panes.client
        if self._client is not None and panes is not None:
            self._client.send_request(MeasurePasses(), self._take)

    def _take(self, times: list[PassTime]) -> None:
        self._times = times

    def _queues(self) -> list[str]:
        panes = self._shown.panes
        bridge, state = (panes.bridge, panes.client.state) if panes is not None else (None, DocumentState())
        rows = (
            ("messages", f"{state.messages:,}"),
            ("not yet in the views", f"{bridge.waiting if bridge is not None else 0:,}"),
            ("not yet read", formats.size(state.unread_bytes)),
            ("tokens not counted", f"{state.uncounted:,}"),
            ("checks behind", "yes" if state.is_checking else "no"),
            ("tasks", str(len(self._tasks))),
        )
        return [f"{name:<24}{value:>12}" for name, value in rows]

    def _end_measuring(self) -> None:
        if self._client is not None:
            with contextlib.suppress(RequestError):  # the document is closed
                self._client.answer_now(StopMeasuring())
            self._client = None

    def stop(self) -> None:
        self._delay.stop()
        self._end_measuring()


def memory_words() -> list[str]:
    """Returns the memory of this process on Linux; numpy arrays are included."""
    if sys.platform != "linux":
        return ["not available on this system"]
    names = {"VmRSS": "in use", "VmHWM": "peak"}
    found: list[str] = []
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in names:
            found.append(f"{names[name]:<24}{formats.size(int(value.split()[0]) * 1024):>12}")
    return found
