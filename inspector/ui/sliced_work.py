"""Long work for a file, or on one, done in slices while the window stays responsive.

What reads the document is done here, on the loop: a thread may look neither at columns nor at files the loop changes.
Threads are for bytes nobody changes any more: a snapshot that is written, a file that is copied.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer

from inspector.ui import budgets

T = TypeVar("T")


class SlicedWork(QObject):
    """Does one thing at a time."""

    def __init__(self, parent: QObject) -> None:
        """Nothing is at work.

        Args:
            parent: owner; where it goes, the work is given up.
        """
        super().__init__(parent)
        self._steps: Generator[Any] | None = None
        self._result: Any = None
        self._tell_at = 0.0
        self._progressed: Callable[[Any], object] | None = None
        self._finished: Callable[[Any], object] | None = None
        self._failed: Callable[[OSError], object] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(budgets.current.more_ms)
        self._timer.timeout.connect(self._go_on)

    @property
    def working(self) -> bool:
        """Whether something is at work."""
        return self._steps is not None

    def start(
        self, steps: Generator[T], *, finished: Callable[[T], object], failed: Callable[[OSError], object],
        progressed: Callable[[T], object] | None = None, at_once: bool = True,
    ) -> None:  # fmt: skip
        """Begin; what is at work is given up for it.

        Args:
            steps: do the work, at least one, and say each time how far it is; closed before their end they leave
                what was there before.
            finished: is given what the last step said.
            failed: is given why the work could not be done.
            progressed: is given what a step said, a few times a second; not where the work is short.
            at_once: with a first slice; else with the next turn of the loop, when the dialog that asked is closed.
        """
        self.stop()
        self._steps, self._result = steps, None
        self._finished, self._failed, self._progressed = finished, failed, progressed
        self._tell_at = time.perf_counter() + budgets.current.quiet_s
        self._timer.start()
        if at_once:
            self._go_on()

    def stop(self) -> None:
        """Give up what is at work; what was there before is still there, and nothing more is said."""
        self._timer.stop()
        steps, self._steps = self._steps, None
        if steps is not None:
            with contextlib.suppress(OSError):
                steps.close()

    def _go_on(self) -> None:
        steps, until = self._steps, time.perf_counter() + budgets.current.slice_s
        if steps is None:
            return
        try:
            for self._result in steps:
                if time.perf_counter() >= until:
                    self._tell()
                    return
        except OSError as error:
            self.stop()
            if self._failed is not None:
                self._failed(error)
            return
        self.stop()
        if self._finished is not None:
            self._finished(self._result)

    def _tell(self) -> None:
        if self._progressed is not None and time.perf_counter() >= self._tell_at:
            self._tell_at = time.perf_counter() + budgets.current.progress_s
            self._progressed(self._result)
