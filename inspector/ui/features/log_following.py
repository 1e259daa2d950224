"""Shows in the status bar how a window's log grows: its size, rotations, losses and its end."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from inspector.engine.document_state import FollowedState
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_SIZE_S = 1.0
"""Seconds between two updates of the size."""


class LogFollowing(QObject):
    """Shows the state of a followed log until its window closes."""

    def __init__(self, status: StatusBar, notices: NoticeStack, parent: QObject) -> None:
        super().__init__(parent)
        self._status, self._notices = status, notices
        self._client: DocumentClient | None = None
        self._shown: FollowedState | None = None
        self._size_shown_s = 0.0

    def start(self, client: DocumentClient) -> None:
        """Shows the state of a followed log from now on."""
        self.stop()
        self._client = client
        client.state_changed.connect(self._on_state)
        self._size_shown_s = time.monotonic()
        self._on_state()

    def stop(self) -> None:
        if self._client is not None:
            with contextlib.suppress(RuntimeError):  # it was deleted with its document
                self._client.state_changed.disconnect(self._on_state)
        self._client = self._shown = None

    def _on_state(self) -> None:
        if self._client is None:
            return
        state = self._client.state
        if state.followed is None:
            if self._shown is not None:
                self._shown = None
                self._status.set_watched(None)  # its engine has ended
            return
        if time.monotonic() - self._size_shown_s > _SIZE_S and state.is_arriving:
            self._status.set_log_size(state.size_bytes)
            self._size_shown_s = time.monotonic()
        if state.followed != self._shown:
            self._shown = state.followed
            self._show(state.followed)

    def _show(self, followed: FollowedState) -> None:
        ended, badly = followed.server_end
        watched = followed.rotations if followed.trouble is None else None
        self._status.set_watched(watched, missing=followed.missing, ended=ended, badly=badly)
        if followed.trouble is not None:
            self._notices.show_sentence(followed.trouble, "severity.warning")
