"""Collects problems, marks, gaps and find hits for the minimap, with a delay after changes."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QTimer

from inspector.analysis.findings import Severity
from inspector.document.document import CaptureDocument
from inspector.present.findings import problem_messages
from inspector.ui import budgets
from inspector.ui.docview.find_in_view import FindInView
from inspector.ui.docview.gaps import GapRows
from inspector.ui.panels.messages.minimap import MinimapMarks, ordered
from inspector.ui.panels.messages.panel import MessagesPanel


class MinimapMarkGatherer(QObject):
    """Updates the minimap of one document."""

    def __init__(
        self,
        document: CaptureDocument,
        messages: MessagesPanel,
        gaps: GapRows,
        find_in_view: FindInView,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._messages = messages
        self._gaps = gaps
        self._find_in_view = find_in_view
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(budgets.current.minimap_ms)
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
        """Shows the current marks. O(problems), and a small cost per message."""
        self._gaps.update()
        found: MinimapMarks = {"gap": ordered(self._gaps.rows), "mark": ordered(self._document.analysis.marks.rows)}
        store = self._document.analysis.findings.found
        problems = problem_messages(store)
        worst = store.severities[store.columns["set"][problems]] >= Severity.ERROR
        found["error"], found["warning"] = problems[worst], problems[~worst]
        search = self._find_in_view.search
        found["hit"] = search.hits if search is not None else np.zeros(0, np.uint32)
        self._messages.show_marks(found)
