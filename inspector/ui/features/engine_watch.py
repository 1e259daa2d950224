"""Reports that the engine of a window has ended, and offers to open its document again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.engine.client import EngineDiedError
from inspector.ui.features.opening import READ_ONCE

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.features.opening import Opening
    from inspector.ui.features.window_restoring import Restoring
    from inspector.ui.widgets.notice import NoticeStack

ENGINE_NOTICE = "engine-ended"


class EngineWatch(QObject):
    """Watches the engine of one window's document. The window keeps what it shows."""

    def __init__(
        self, shown: Shown, notices: NoticeStack, opening: Opening, gateway: GatewayWatch,
        restoring: Restoring, lose_edits: Callable[[], bool],
        free: Callable[[], tuple[Opening, GatewayWatch, Restoring]], parent: QObject,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows the report.
            opening: opens the document again.
            gateway: has the connection of a live capture, which goes on.
            restoring: has the view.
            lose_edits: forgets unsaved edits of sub-sessions; returns True if there were any.
            free: returns these features of a window without a document.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown, self._notices, self._opening = shown, notices, opening
        self._gateway, self._restoring, self._lose_edits, self._free = gateway, restoring, lose_edits, free

    def attach(self, panes: Panes) -> None:
        panes.client.failed.connect(self._on_failed)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, EngineDiedError):
            return
        # The state that follows this signal has no unsaved capture.
        state = self._shown.state
        is_streamed = self._shown.location.is_streamed
        is_kept = is_streamed and self._opening.keep_stream(state)
        links = [("Reopen", lambda: self._reopen(state))] if self._opening.can_reopen(state.unsaved) else []
        sentence = f"{error} The window keeps what it shows"
        if state.is_live and state.connection is not None:
            if self._gateway.is_joining:
                sentence, links = f"{error} It was joining the gateway.", [("Reconnect", self._gateway.reconnect)]
            else:
                sentence += ", and the capture goes on."
        elif is_kept:
            sentence += f". Reopen shows all that was read from {state.name} until then."
        else:
            sentence += f". {READ_ONCE}" if is_streamed else "."
        if self._lose_edits():
            sentence += " Unsaved edits of sub-sessions are lost."
        self._notices.show_notice(ENGINE_NOTICE, "error", sentence, links, token="severity.error")

    def reopen(self) -> bool:
        """Opens the document again while its engine runs. Returns False for live captures, and what is read once."""
        state = self._shown.state
        if state.is_live or state.unsaved is not None or not self._opening.can_reopen(None):
            return False
        self._reopen(state)
        return True

    def _reopen(self, state: DocumentState) -> None:
        opening, gateway, restoring = self._free()
        self._gateway.continue_in(gateway)
        restoring.continue_from(self._restoring)
        self._opening.reopen(state.unsaved, opening)
