"""What a window says of its document outside the panes: the title, and the figures and states in its status bar."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.document.source_list import SUFFIX
from inspector.present.wire_text import window_title

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.present.findings import Problems
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.shown import Shown
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.filter_conditions import FilterConditions
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.features.presets import Presets
    from inspector.ui.msp import MspEditing
    from inspector.ui.panels.messages.panel import SelectionTotals
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.status_bar import StatusBar

_CLOCK_MS = 1_000
_SPARED_FROM = 100
"""Avoidable tokens from which on they are counted; while messages come only those that stay so."""


class DocumentStatus(QObject):
    """Keeps the title, the status bar and the counts beside the filter true for the document of one window.

    Signals:
        hung(): traffic is live, and somebody has waited so long that it is worth a list; once a document.
    """

    hung = Signal()

    def __init__(
        self, window: QWidget, shown: Shown, status: StatusBar, *, filter_bar: FilterBar, presets: Presets,
        conditions: FilterConditions, gateway: GatewayWatch, saving: CaptureSaving, msp: MspEditing,
    ) -> None:  # fmt: skip
        """Say nothing until there is a document.

        Args:
            window: has the title.
            shown: its document.
            status: the bar where figures and states are said.
            filter_bar: says how many messages are shown.
            presets: one of them says how many problems there are.
            conditions: count what they hide, each second while messages come.
            gateway: has a clock of its own while one is joined.
            saving: knows the name of the capture, and whether it is saved.
            msp: knows whether sessions are saved.
        """
        super().__init__(window)
        self._frame = window
        self._shown = shown
        self._status = status
        self._filter_bar = filter_bar
        self._presets = presets
        self._conditions = conditions
        self._gateway = gateway
        self._saving = saving
        self._msp = msp
        self._has_hung = False
        self._titled = ""  # by which title of a session the window is called
        self._mark = ""
        self._clock = QTimer(self)
        self._clock.setInterval(_CLOCK_MS)
        self._clock.timeout.connect(self.refresh_clock)
        self._clock.start()

    def attach(self, panes: Panes) -> None:
        """Say what these panes report."""
        panes.counts_changed.connect(self.refresh_counts)
        panes.messages.selection_changed.connect(self._show_selection)
        panes.messages.copy_reported.connect(self._status.tell)
        panes.problem_counts.changed.connect(self._show_problems)
        panes.account.renewed.connect(self._show_waiting)
        panes.waste_figures.renewed.connect(self._show_spared)
        self._has_hung = False
        self._show_waiting()
        self._show_spared()

    def stop(self) -> None:
        """The window closes: no second counts any more."""
        self._clock.stop()

    def show_title(self) -> None:
        """The title names the session or the document, with the platform's mark while it is not saved."""
        self._titled = title = self._session_title()
        self._mark = mark = self._title_mark()
        self._frame.setWindowModified(False)  # Qt wants its place in the title first
        self._frame.setWindowTitle(window_title(title or self._saving.name, mark))
        self._show_modified()

    def _title_mark(self) -> str:
        """Returns Qt's place for the mark of unsaved changes, or nothing if this document is never unsaved."""
        return "[*]" if self._shown.location.unsaved is not None or self._shown.document.msp is not None else ""

    def _session_title(self) -> str:
        """The title of the one session that is shown; "" for a saved list of sources, which has its own name."""
        panes, path = self._shown.panes, self._shown.document.path
        if panes is None or (path is not None and path.suffix == SUFFIX):
            return ""
        return panes.contexts.model.session_title

    def _show_modified(self) -> None:
        """The title's mark says whether something is not saved."""
        if self._title_mark() != self._mark:  # a capture taken over after its title was shown
            self.show_title()
            return
        self._frame.setWindowModified(self._saving.unsaved or self._msp.saving.dirty)

    def refresh_counts(self) -> None:
        """Show how many messages there are and how many are shown."""
        document, panes = self._shown.document, self._shown.panes
        if panes is None:
            return
        if self._session_title() != self._titled:  # a session's title comes with its records
            self.show_title()
        if self._titled and not document.live:
            self._status.name_log(self._titled)
        shown, total = panes.counts()
        self._filter_bar.set_counts(shown, total)
        self._filter_bar.set_left_out(panes.rows.filter.too_long)
        self._status.set_counts(total, shown if panes.rows.chooses else None, document.unreadable)
        self._status.set_failed(document.capture.failed_count)
        self._status.set_gaps(len(panes.gaps.rows))
        self._show_problems(panes.problem_counts.problems)
        self._show_modified()

    def _show_problems(self, problems: Problems) -> None:
        """Count problems in the status bar and on their preset."""
        self._status.set_problems(problems.messages, problems.worst, problems.words)
        self._presets.show_problems(problems.messages, problems.words)

    def _show_waiting(self) -> None:
        """Say who waits for whom while messages come, as far as all of them were looked at."""
        panes = self._shown.panes
        if panes is None or panes.account.tally.behind:
            return
        from inspector.present.account import waiting_now  # with the first document

        found = waiting_now(self._shown.document, panes.account.tally)
        if found is None:
            self._status.set_waiting(0)
        else:
            count, wait = found
            self._status.set_waiting(count, wait.short, wait.sentence, hangs=wait.hangs)
            if wait.hangs and not self._has_hung:
                self._has_hung = True
                self.hung.emit()

    def _show_spared(self) -> None:
        """Say what could be spared, where that is worth a word."""
        panes = self._shown.panes
        found = panes.waste_figures.found if panes is not None else None
        certain = panes is not None and panes.document.arriving
        if found is None or (found.sure_tokens if certain else found.tokens) < _SPARED_FROM:
            self._status.set_spared()
            return
        from inspector.present.account_sentences import spared_words

        self._status.set_spared(spared_words(found, short=True, certain=certain), spared_words(found, certain=certain))

    def _show_selection(self, selection: SelectionTotals | None) -> None:
        """Say how much is selected, where it is more than the current message."""
        if selection is None:
            self._status.set_selected(0)
        else:
            self._status.set_selected(selection.count, selection.size_bytes, selection.span_ns)

    def pause_or_go_on(self) -> None:
        """Hold the view still while the capture goes on, or no longer."""
        panes = self._shown.panes
        if panes is not None:
            panes.bridge.set_paused(not panes.bridge.paused)
            self.refresh_clock()

    def refresh_clock(self) -> None:
        """A second has passed: rates, states and waiting times; those of a gateway alone go by the wall clock."""
        document, panes = self._shown.document, self._shown.panes
        if panes is None:
            return
        panes.tick(time.time_ns() if document.live and self._gateway.session is not None else None)
        self._status.tick(len(document.capture), document.arriving)
        self._status.set_lag(document.lag_ns())
        self._show_waiting()
        if document.live:
            self._conditions.tick()
        self._gateway.tick()
        self._msp.view.tick()
        self._status.set_paused(panes.bridge.waiting if panes.bridge.paused else None)
