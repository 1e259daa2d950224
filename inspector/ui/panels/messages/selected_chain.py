"""The causal chain of the selected message, found a little after it was selected, and again when it may have grown."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import Changes
from inspector.analysis.chain import may_grow
from inspector.document import CaptureDocument

_AFTER_MS = 30
"""A chain costs a look through all links, so that it waits for keys that repeat."""


class SelectedChain(QObject):
    """Which messages belong to the chain of the selected one.

    Signals:
        known(int): the chain of this message, the selected one, is found, or is still what it was.

    Attributes:
        members: the messages of the chain found last.
    """

    known = Signal(int)

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._selected: int | None = None
        self._of: int | None = None
        self.members: set[int] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AFTER_MS)
        self._timer.timeout.connect(self._find)

    def look_for(self, selected: int | None) -> None:
        """Find the chain of a message, soon; None: nothing is selected."""
        self._selected = selected
        if selected is not None and not self._timer.isActive():
            self._timer.start()

    def take_in(self, changes: Changes) -> None:
        """Find the chain again where a flush may have changed it. O(messages that came or changed)."""
        selected = self._selected
        if selected is None or self._timer.isActive():
            return
        if selected != self._of or may_grow(self._document.analysis, selected, self.members, changes):
            self._timer.start()
        else:
            self.known.emit(selected)

    def _find(self) -> None:
        selected = self._selected
        if selected is not None:
            self._of, self.members = selected, {step.message for step in self._document.chain(selected)}
            self.known.emit(selected)
