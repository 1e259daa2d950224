"""Shows the counting of tokens, which the engine does while nothing is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.engine.requests.document_settings import CountFirst

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.ui.docview.panes import Panes
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_PROGRESS_FROM = 20_000
"""Uncounted messages from which progress is shown; fewer take about a second."""
_FAILED_NOTICE = "tokens-given-up"


class TokenCounting(QObject):
    """Shows progress and failures, and has the selected message counted first."""

    def __init__(self, owner: SettingsOwner, notices: NoticeStack, status: StatusBar, parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            owner: has the setting that enables counting.
            notices: reports that counting has failed.
            status: shows progress.
            parent: the owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._notices = notices
        self._status = status
        self._panes: Panes | None = None
        self._shows_progress = self._failure_reported = False

    @property
    def wanted(self) -> bool:
        """True if the settings enable counting."""
        return self._owner.settings.display.count_tokens

    def start(self, panes: Panes) -> None:
        """Shows the counts of present and future messages."""
        self._panes = panes
        panes.client.state_changed.connect(self._show_state)
        panes.selection_rested.connect(self._on_selected)
        self.apply_settings()

    def stop(self) -> None:
        """Stops because the document is about to close."""
        if self._panes is not None:
            self._panes.client.state_changed.disconnect(self._show_state)
            self._panes.selection_rested.disconnect(self._on_selected)
            self._panes = None

    def apply_settings(self) -> None:
        """Shows a change of settings. Existing counts stay."""
        if self._panes is not None:
            counted = self._panes.client.state.counted > 0
            self._panes.contexts.tokens_action.setEnabled(self.wanted or counted)
            self._show_state()

    def _on_selected(self, message: int | None) -> None:
        """Has the selected message counted before all others."""
        if message is not None and self.wanted and self._panes is not None:
            self._panes.client.send_request(CountFirst(message), lambda _none: None)

    def _show_state(self) -> None:
        if self._panes is None:
            return
        state = self._panes.client.state
        self._show_progress(state)
        if state.counting_trouble is not None and not self._failure_reported:
            self._failure_reported = True
            self._notices.show_notice(
                _FAILED_NOTICE, "warning", state.counting_trouble, token="severity.warning", closable=True
            )

    def _show_progress(self, state: DocumentState) -> None:
        """Shows the progress of long counts. The few messages of live traffic are not reported."""
        total = state.counted + state.uncounted
        # Some messages cannot be counted.
        counting = self.wanted and state.uncounted_bytes > 0 and state.counting_trouble is None
        self._shows_progress = counting and (self._shows_progress or state.uncounted >= _PROGRESS_FROM)
        self._status.set_counting(state.counted / total if self._shows_progress and total else None)
