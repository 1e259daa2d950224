"""Runs long work in slices on the event loop, so that the window stays responsive.

Work that reads the document must run on the loop: threads may not read columns or files that the loop changes. Threads
are for immutable bytes, such as a snapshot to write or a file to copy.
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
    """Runs one piece of work at a time."""

    def __init__(self, parent: QObject) -> None:
        """Prepares it without work.

        Args:
            parent: owner; its end cancels the work.
        """
        super().__init__(parent)
        self._steps: Generator[Any] | None = None
        self._result: Any = None
        self._tell_at = 0.0
        self._progressed: Callable[[Any], object] | None = None
        self._finished: Callable[[Any], object] | None = None
        self._failed: Callable[[OSError], object] | None = None
        self._timer = QTimer(self)
        # Not 0: the event loop needs time for input between slices.
        self._timer.setInterval(budgets.current.more_ms)
        self._timer.timeout.connect(self._run_slice)

    @property
    def working(self) -> bool:
        return self._steps is not None

    def start(
        self, steps: Generator[T], *, finished: Callable[[T], object], failed: Callable[[OSError], object],
        progressed: Callable[[T], object] | None = None, at_once: bool = True,
    ) -> None:  # fmt: skip
        """Starts work; running work is cancelled.

        Args:
            steps: does the work and yields its progress, at least once; closing it early must undo it.
            finished: called with the last yielded value.
            failed: called with the error.
            progressed: called with yielded values a few times a second; not for short work.
            at_once: run the first slice now; else in the next loop iteration, after a dialog has closed.
        """
        self.stop()
        self._steps, self._result = steps, None
        self._finished, self._failed, self._progressed = finished, failed, progressed
        self._tell_at = time.perf_counter() + budgets.current.quiet_s
        # The timer first, since a short slice finishes the work and stops it.
        self._timer.start()
        if at_once:
            self._run_slice()

    def stop(self) -> None:
        """Cancels the work without a callback; its generator restores the earlier state."""
        self._timer.stop()
        steps, self._steps = self._steps, None
        if steps is not None:
            # Closing undoes the work, such as a half-written file; that may fail as the work did.
            with contextlib.suppress(OSError):
                steps.close()

    def _run_slice(self) -> None:
        steps, until = self._steps, time.perf_counter() + budgets.current.slice_s
        if steps is None:
            return
        try:
            for self._result in steps:
                if time.perf_counter() >= until:
                    self._report_progress()
                    return
        except OSError as error:
            self.stop()
            if self._failed is not None:
                self._failed(error)
            return
        # Before the callback, which may start the next work here.
        self.stop()
        if self._finished is not None:
            self._finished(self._result)

    def _report_progress(self) -> None:
        if self._progressed is not None and time.perf_counter() >= self._tell_at:
            self._tell_at = time.perf_counter() + budgets.current.progress_s
            self._progressed(self._result)
