"""Texts on their way to the clipboard: put together a bit at a time, so that many of them hold nothing up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication

from inspector.ui import budgets


@dataclass(frozen=True, slots=True)
class Texts:
    """What is to be copied.

    Attributes:
        words: what that is: "3 rows".
        texts: one below the other; they can be gone through once.
        ending: behind the last one.
    """

    words: str
    texts: Iterator[str]
    ending: str = ""

    def whole(self) -> str:
        """All of it as one text."""
        return _joined(self, list(self.texts))


def one_text(words: str, text: str | None) -> Texts | None:
    """A single text; None where it is none."""
    return Texts(words, iter((text,))) if text else None


class Clipboard(QObject):
    """Puts texts on the clipboard; those that are still being put together are given up for the next ones.

    Signals:
        copied(str): they are there; what they are.
        working(str): they take a while; what they are.
        failed(str): they could not be read; a sentence.
    """

    copied = Signal(str)
    working = Signal(str)
    failed = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._texts: Texts | None = None
        self._parts: list[str] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(lambda: self._go_on(budgets.current.slice_s))

    @property
    def at_work(self) -> bool:
        """Whether something is on its way."""
        return self._texts is not None

    def put(self, texts: Texts | None) -> None:
        """Put texts on the clipboard, few of them at once; None leaves what is there."""
        if texts is None:
            return
        self._timer.stop()
        self._texts, self._parts = texts, []
        self._go_on(budgets.current.copied_s)
        if self.at_work:
            self.working.emit(texts.words)

    def _go_on(self, for_s: float) -> None:
        texts = self._texts
        if texts is None:
            return
        until = time.perf_counter() + for_s
        try:
            for text in texts.texts:
                self._parts.append(text)
                if time.perf_counter() > until:
                    self._timer.start()
                    return
        except OSError as error:  # of the log
            self._texts, self._parts = None, []
            self.failed.emit(f"The log cannot be read: {(error.strerror or str(error)).rstrip('.')}.")
            return
        whole = _joined(texts, self._parts)
        self._texts, self._parts = None, []
        if whole:
            QGuiApplication.clipboard().setText(whole)
            self.copied.emit(texts.words)


def _joined(texts: Texts, parts: list[str]) -> str:
    whole = "\n".join(parts)
    return whole.strip("\n") + texts.ending if whole and texts.ending else whole
