"""Reports checks that a program error has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.widgets.notice import NoticeStack

_FAILED_NOTICE = "checks-failed"


class DeferredChecks(QObject):
    """Reports failed checks of one window's document."""

    def __init__(self, shown: Shown, notices: NoticeStack, parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows failed checks.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown = shown
        self._notices = notices
        self._reported = 0

    def start(self, panes: Panes) -> None:
        """Reports later failures."""
        panes.client.state_changed.connect(self._report_failures)

    def stop(self) -> None:
        """Stops because the document is about to close."""
        if self._shown.panes is not None:
            self._shown.panes.client.state_changed.disconnect(self._report_failures)

    def _report_failures(self) -> None:
        """Reports each failure once, also if the notice was closed."""
        panes = self._shown.panes
        failed = panes.client.state.unchecked if panes is not None else []
        if len(failed) > self._reported:
            self._reported = len(failed)
            sentence = " ".join(failed)
            self._notices.show_notice(_FAILED_NOTICE, "warning", sentence, token="severity.warning", closable=True)
