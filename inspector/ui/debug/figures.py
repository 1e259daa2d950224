"""Developer > Figures: delay of the event loop, duration of analysis passes, and queue lengths.

It measures only while the window is open: a timer for the loop, and a clock around each pass of the document.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer

from inspector.present import formats

if TYPE_CHECKING:
    from inspector.analysis import Analysis
    from inspector.ui.docview.window_content import Shown

_BEAT_MS = 20  # the delay of this beat shows how late the event loop is
_MAX_SAMPLES = 1_500
"""Samples kept: half a minute."""
_PASSES = (
    "contexts", "correlation", "named", "transients", "participants", "capabilities", "tokens", "findings",
)  # fmt: skip


class LoopDelay(QObject):
    """Delay of a timer in the event loop over the last half minute, in milliseconds."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
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


@dataclass
class Taken:
    """Durations of one pass since the window was opened, in milliseconds."""

    calls: int = 0
    last: float = 0.0
    longest: float = 0.0
    total: float = 0.0


class PassTimings:
    """Times `feed` of each pass of a document."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.taken = {name: Taken() for name in _PASSES}
        for name in _PASSES:
            fed = getattr(analysis, name)
            fed.feed = self._timed(fed.feed, self.taken[name])

    @staticmethod
    def _timed(feed: Callable[..., Any], taken: Taken) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return feed(*arguments, **named)
            finally:
                taken.last = (time.perf_counter() - began) * 1000
                taken.longest = max(taken.longest, taken.last)
                taken.total += taken.last
                taken.calls += 1

        return timed

    def words(self) -> list[str]:
        head = f"{'pass':<16}{'calls':>8}{'last ms':>10}{'longest':>10}{'all ms':>12}"
        rows = [
            f"{name:<16}{one.calls:>8,}{one.last:>10.1f}{one.longest:>10.1f}{one.total:>12.1f}"
            for name, one in self.taken.items()
        ]
        return [head, *rows]

    def stop(self) -> None:
        """Restores the original methods."""
        for name in _PASSES:
            vars(getattr(self._analysis, name)).pop("feed", None)


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
        self._timings: PassTimings | None = None
        self._timed_document: object = None

    def words(self) -> str:
        self._follow_document()
        parts = ["Event loop, delay in the last half minute", *self._delay.words(), ""]
        parts += ["Passes, since this window was opened"]
        parts += self._timings.words() if self._timings is not None else ["no document"]
        return "\n".join([*parts, "", "Queues", *self._queues(), "", "Memory", *memory_words()])

    def _follow_document(self) -> None:
        document = self._shown.document
        if self._shown.panes is None or self._timed_document is document:
            return
        if self._timings is not None:
            self._timings.stop()
        self._timed_document = document
        self._timings = PassTimings(document.analysis)

    def _queues(self) -> list[str]:
        panes, document = self._shown.panes, self._shown.document
        bridge = panes.bridge if panes is not None else None
        rows = (
            ("messages", f"{len(document.capture):,}"),
            ("not yet in the views", f"{bridge.waiting if bridge is not None else 0:,}"),
            ("not yet read", formats.size(document.sources.unread_bytes)),
            ("tokens not counted", f"{document.analysis.tokens.uncounted:,}"),
            ("checks behind", "yes" if document.analysis.findings.unchecked_count else "no"),
            ("tasks", str(len(self._tasks))),
        )
        return [f"{name:<24}{value:>12}" for name, value in rows]

    def stop(self) -> None:
        self._delay.stop()
        if self._timings is not None:
            self._timings.stop()


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
