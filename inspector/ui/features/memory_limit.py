"""Says that the memory set for messages is used up, and lets reading go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.shown import Shown
    from inspector.ui.features.opening import Opening
    from inspector.ui.widgets.notice import NoticeStack

_FULL = "memory-full"


class MemoryLimit(QObject):
    """Watches how much memory the document of one window may still take."""

    def __init__(self, shown: Shown, notices: NoticeStack, opening: Opening, parent: QObject) -> None:
        """Watch nothing yet.

        Args:
            shown: whose document is watched.
            notices: where it is said.
            opening: reads the rest of a log.
            parent: owner.
        """
        super().__init__(parent)
        self._shown, self._notices, self._opening = shown, notices, opening
        self._said = False

    def attach(self, panes: Panes) -> None:
        """Watch what these panes show."""
        panes.bridge.settled.connect(self._look)
        self._said = False
        self._look()

    def _look(self, _changes: object = None) -> None:
        memory = self._shown.document.memory
        if memory.full and not self._said:
            links = [("Go on", self.go_on)]
            self._notices.show_notice(_FULL, "warning", memory.sentence, links, token="severity.warning", closable=True)
        elif self._said and not memory.full:
            self._notices.dismiss(_FULL)
        self._said = memory.full

    def go_on(self) -> None:
        """Take as much again, and read on."""
        self._said = False
        self._notices.dismiss(_FULL)
        self._opening.go_on_with_more_memory()
