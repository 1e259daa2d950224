"""A file that is written in slices while the window stays responsive."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.export.files import trouble_of
from inspector.present.wire_text import plain
from inspector.ui import budgets


class SteppedWrite(QObject):
    """Writes one file at a time.

    Signals:
        progressed(object): so many bytes are written.
        written(object): the file stands; its size in bytes.
        failed(str): it could not be written; a sentence.

    Attributes:
        target: the file.
    """

    progressed = Signal(object)
    written = Signal(object)
    failed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.target = Path()
        self._steps: Generator[int] | None = None
        self._size = 0
        self._tell_at = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(budgets.current.more_ms)
        self._timer.timeout.connect(self._go_on)

    @property
    def working(self) -> bool:
        """Whether a file is being written."""
        return self._steps is not None

    def start(self, target: Path, steps: Generator[int]) -> None:
        """Write a file; one at work is given up for it.

        Args:
            target: the file.
            steps: write it, and give the bytes written so far; closed before their end they leave what was there.
        """
        self.stop()
        self.target, self._steps, self._size = target, steps, 0
        self._tell_at = time.perf_counter() + budgets.current.quiet_s
        self._timer.start()
        self._go_on()

    def stop(self) -> None:
        """Give up what is at work; what was at the target before is still there."""
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
            for self._size in steps:
                if time.perf_counter() >= until:
                    self._tell()
                    return
        except OSError as error:
            self.stop()
            self.failed.emit(f"{plain(self.target.name)} could not be written: {trouble_of(error)}")
            return
        self.stop()
        self.written.emit(self._size)

    def _tell(self) -> None:
        if time.perf_counter() >= self._tell_at:
            self._tell_at = time.perf_counter() + budgets.current.quiet_s
            self.progressed.emit(self._size)
