"""The latency panel: head, table, and how it keeps up with the traffic: at most once a second and only while seen."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.analysis.latency_tally import LatencyTally
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import Segments
from inspector.ui.panels.latency.model import LatencyModel
from inspector.ui.panels.latency.view import LatencyView
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_BY = {"By tool": "tool", "By participant": "participant"}


class LatencyPanel(QWidget):
    """How long answers take in one document.

    Signals:
        message_requested(int): select this message.
        filter_requested(str, str): a display filter, and how it joins the one in force (filter_menu.FilterMode).
        close_requested(): it is to be hidden.
        left(): the focus is to go back to the messages.

    Attributes:
        head, model, view: what it is made of.
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    close_requested = Signal()
    left = Signal()

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._tally: LatencyTally | None = None
        self.setObjectName("latencyPanel")
        self.setAccessibleName("Latency")
        self.setProperty("variant", "base")
        self.model = LatencyModel(self)
        self.head = PaneHead(theme_controller, "Latency", name="latencyHead", parent=self)
        self.choice = Segments(theme_controller, list(_BY), "latencyBy", "Latency by", self.head)
        self.choice.choose("By tool")
        self.choice.chosen.connect(self._show)
        self.head.add_widget(self.choice)
        self.head.add_button("clear", "Close", name="latencyClose").clicked.connect(self.close_requested)
        self.view = LatencyView(self.model, theme_controller, self)
        self.view.message_requested.connect(self.message_requested)
        self.view.filter_requested.connect(self.filter_requested)
        self.view.left.connect(self.left)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.throttle = RefreshThrottle(self, self._look_on, lambda: budgets.current.figures_ms)

    def apply_changes(self, changes: Changes) -> None:
        """Take in a flush of the document. O(messages that changed); nothing while it is not seen."""
        if self._tally is not None:
            self._tally.note_changed(changes.changed)
            if self._tally.behind:
                self.throttle.request()

    def stop(self) -> None:
        """Read no more of the document."""
        self.throttle.stop()
        self._tally = None

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tally = None  # it would have to be kept in step
        self.throttle.stale = True

    def _look_on(self) -> Iterator[int]:
        """Look at messages for a few milliseconds at a time, and show the figures once all were looked at."""
        tally = self._tally = self._tally or LatencyTally(self._document.analysis)
        until = time.perf_counter() + budgets.current.background_slice_s
        while not tally.step():
            if time.perf_counter() > until:
                yield 0
                until = time.perf_counter() + budgets.current.background_slice_s
        self._show()

    def _show(self, *_chosen: str) -> None:
        tally = self._tally
        if tally is None:
            return
        by = _BY[self.choice.choice]
        rows = tally.by(by)
        self.view.empty = f"No answer with known times in {formats.count_of(len(self._document.analysis), 'message')}."
        self.model.show_rows(rows, by)
        self.view.viewport().update()
        self.head.set_count(formats.count_of(sum(one.latency.count for one in rows), "answer") if rows else "")
