"""Reports that the memory limit for messages is reached, and continues reading on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.opening import Opening
    from inspector.ui.widgets.notice import NoticeStack

_FULL_NOTICE = "memory-full"


class MemoryLimit(QObject):
    """Watches the memory limit of one window's document."""

    def __init__(self, shown: Shown, notices: NoticeStack, opening: Opening, parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows the report.
            opening: reads the rest of a log.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown, self._notices, self._opening = shown, notices, opening
        self._is_reported = False

    def attach(self, panes: Panes) -> None:
        panes.bridge.settled.connect(self._check_memory)
        self._is_reported = False
        self._check_memory()

    def _check_memory(self, _changes: object = None) -> None:
        full = self._shown.state.memory_full
        if full is not None and not self._is_reported:
            links = [("Continue", self.go_on)]
            self._notices.show_notice(_FULL_NOTICE, "warning", full, links, token="severity.warning", closable=True)
        elif self._is_reported and full is None:
            self._notices.dismiss(_FULL_NOTICE)
        self._is_reported = full is not None

    def go_on(self) -> None:
        """Extends the limit and continues reading."""
        self._is_reported = False
        self._notices.dismiss(_FULL_NOTICE)
        self._opening.go_on_with_more_memory()
