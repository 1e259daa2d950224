"""Receives files opened from the desktop: macOS sends an event, not an argument."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from typing_extensions import override


class DesktopFiles(QApplication):
    """QApplication that receives such files; files that come before the first window wait for it."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        self._waiting: list[str] = []
        self._open: Callable[[str], object] | None = None

    def take_files(self, open_: Callable[[str], object]) -> None:
        """Sets the function that opens files; waiting files are opened first."""
        self._open = open_
        while self._waiting:
            open_(self._waiting.pop(0))

    @override
    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent) or not event.file():
            return super().event(event)
        if self._open is None:
            self._waiting.append(event.file())
        else:
            self._open(event.file())
        return True
