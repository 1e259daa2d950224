"""The one place where changes of the core become Qt signals, coalesced."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.document import CaptureDocument

FLUSH_MS = 33


class DocumentBridge(QObject):
    """Collects the document's changes and passes them on a few dozen times a second.

    Signals:
        flushed(Changes): everything that changed since the last flush, as one.
    """

    flushed = Signal(object)

    def __init__(self, document: CaptureDocument, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._waiting: list[Changes] = []
        self._paused = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(FLUSH_MS)
        self._timer.timeout.connect(self.flush)
        document.observers.append(self)

    def messages_changed(self, changes: Changes) -> None:
        """Called by the document, on the loop's thread."""
        self._waiting.append(changes)
        if not self._paused and not self._timer.isActive():
            self._timer.start()

    @property
    def waiting(self) -> int:
        """New messages that have not been passed on."""
        return self._waiting[-1].stop - self._waiting[0].start if self._waiting else 0

    @property
    def paused(self) -> bool:
        """Whether changes are held back; the capture goes on."""
        return self._paused

    def set_paused(self, paused: bool) -> None:
        """Hold changes back, or let them through again."""
        self._paused = paused
        if not paused:
            self.flush()

    def flush(self) -> None:
        """Pass on what is waiting, now."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        start = waiting[0].start
        changed = np.unique(np.concatenate([c.changed for c in waiting]))
        self.flushed.emit(
            Changes(start, waiting[-1].stop, changed[changed < start], any(c.tree_moved for c in waiting))
        )

    def detach(self) -> None:
        """Hear no more of the document."""
        if self in self._document.observers:
            self._document.observers.remove(self)
        self._timer.stop()
