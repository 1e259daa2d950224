"""Has the engine count the tokens of sub-sessions: starts after a pause, and asks until all are counted."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.engine.requests.msp_sessions import CountSessions, SessionCounts
from inspector.ui.msp.panel.sessions_client import SessionsClient

_START_MS, _POLL_MS = 700, 25
"""Delay of counting after new texts, and the interval of looks at it."""

NOT_COUNTED = "Token counting is off. Turn it on in Settings > Display."


class TokenCounts(QObject):
    """State of the counting.

    Signals:
        came(): counts arrived, or counting ended.
    """

    came = Signal()

    def __init__(self, client: SessionsClient, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._state = SessionCounts(0, is_counting=False, is_idle=True, trouble="")
        self._wanted = True
        self._asking = self._stopped = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._poll)
        client.replaced.connect(self._on_replaced)

    @property
    def is_wanted(self) -> bool:
        """False if the settings disable counting."""
        return self._wanted

    @property
    def counting(self) -> bool:
        """True while counts are missing."""
        return self._state.is_counting and not self.reason

    @property
    def reason(self) -> str:
        """The reason for missing counts as a sentence, or ""."""
        return self._state.trouble or ("" if self._wanted else NOT_COUNTED)

    def set_wanted(self, wanted: bool) -> None:
        """Enables or disables counting. Known counts stay."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._timer.stop()
            self.request()
            self.came.emit()

    def request(self) -> None:
        """Has messages without counts queued, and polls from now on."""
        if not self._stopped:
            self._client.send_request(CountSessions(counted=self._wanted), self._take)

    def note_pending(self) -> None:
        """Polls from now on, since another request has queued texts."""
        if self._wanted and not self._stopped and not self._timer.isActive():
            self._timer.start(_START_MS)

    def count_here(self) -> None:
        """Counts the queue at once, for screenshots and tests."""
        self._take(self._client.answer_now(CountSessions(counted=self._wanted, at_once=True)))

    def stop(self) -> None:
        """Stops asking, before the document is closed."""
        self._stopped = True
        self._timer.stop()

    def _poll(self) -> None:
        self._timer.setInterval(_POLL_MS)
        if not self._asking:
            self._asking = True
            self._client.send_request(CountSessions(counted=self._wanted, polled=True), self._on_polled)

    def _on_polled(self, state: SessionCounts) -> None:
        self._asking = False
        self._take(state)
        if state.is_idle:
            self._timer.stop()

    def _take(self, state: SessionCounts) -> None:
        before, self._state = self._state, state
        if state.is_counting:
            self.note_pending()
        if state.version != before.version or state.trouble != before.trouble:
            self.came.emit()

    def _on_replaced(self) -> None:
        self._asking = False
        self.request()
