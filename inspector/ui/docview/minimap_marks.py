"""Collects problems, marks, gaps and find hits for the minimap, with a delay after changes."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QTimer

from inspector.engine.requests.minimap import MarkedMessages, MessagesToMark
from inspector.ui.docview.find_in_view import FindInView
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.latest_answer import Client

_UPDATE_MS = 120


class MinimapMarkGatherer(QObject):
    """Updates the minimap of one document."""

    def __init__(
        self,
        client: Client,
        messages: MessagesPanel,
        find_in_view: FindInView,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._messages = messages
        self._find_in_view = find_in_view
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_UPDATE_MS)
        self._soon.timeout.connect(self.gather)
        find_in_view.changed.connect(self.renew)
        messages.model.modelReset.connect(self.renew)
        messages.model.rowsInserted.connect(self.renew)
        messages.model.rowsRemoved.connect(self.renew)

    def renew(self, *_: object) -> None:
        """Schedules an update."""
        if not self._soon.isActive():
            self._soon.start()

    def stop(self) -> None:
        self._soon.stop()

    def gather(self) -> None:
        """Asks for the current marks and shows them."""
        self._client.send_request(MessagesToMark(VIEW), self._show)

    def _show(self, found: MarkedMessages) -> None:
        rows = self._find_in_view.found
        hits = rows.messages if rows is not None else np.zeros(0, np.uint32)
        self._messages.show_marks(
            {"gap": found.gaps, "mark": found.marks, "error": found.errors, "warning": found.warnings, "hit": hits}
        )
