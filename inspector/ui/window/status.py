"""Window title and status bar: counts, problems, waits, waste, selection and state of the document."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.base.targets import SOURCES_SUFFIX
from inspector.present.wire_text import window_title

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from inspector.engine.requests.copies import SelectionTotals
    from inspector.present.findings import Problems
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.capture_saving import CaptureSaving
    from inspector.ui.features.filter_conditions import FilterConditions
    from inspector.ui.features.gateway_window import GatewayWatch
    from inspector.ui.features.presets import Presets
    from inspector.ui.msp import MspEditing
    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.widgets.status_bar import StatusBar

_CLOCK_MS = 1_000
_MIN_WASTE_TOKENS = 100
"""Minimum of avoidable tokens to report. While messages arrive, only certain ones count."""


class DocumentStatus(QObject):
    """Updates the title, the status bar and the counts beside the filter of one window.

    Signals:
        hung(): a participant of live traffic waits for very long; once per document.
    """

    hung = Signal()

    def __init__(
        self, window: QWidget, shown: Shown, status: StatusBar, *, filter_bar: FilterBar, presets: Presets,
        conditions: FilterConditions, gateway: GatewayWatch, saving: CaptureSaving, msp: MspEditing,
    ) -> None:  # fmt: skip
        """Shows no figures until there is a document.

        Args:
            window: has the title.
            shown: the document and its panes.
            status: the status bar.
            filter_bar: shows the number of messages.
            presets: one of them shows the number of problems.
            conditions: counts hidden messages, each second while messages arrive.
            gateway: has its own clock while connected.
            saving: has the name of the capture and its unsaved state.
            msp: has the unsaved state of sessions.
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
        self._has_reported_wait = False
        self._shown_title = ""  # the session title in the window title
        self._shown_mark = ""
        self._clock = QTimer(self)
        self._clock.setInterval(_CLOCK_MS)
        self._clock.timeout.connect(self.refresh_clock)
        self._clock.start()

    def attach(self, panes: Panes) -> None:
        """Subscribes to these panes."""
        panes.counts_changed.connect(self.refresh_counts)
        panes.contexts.model.followed.connect(self._refresh_title)
        panes.messages.selection_changed.connect(self._show_selection)
        panes.chosen_range.described.connect(self._status.set_range)
        panes.messages.copy_reported.connect(self._status.show_message)
        panes.problem_counts.answered.connect(self._show_problems)
        panes.waits.answered.connect(self._show_waiting)
        panes.waste_figures.answered.connect(self._show_waste)
        self._has_reported_wait = False
        self._show_waiting()
        self._show_waste()

    def stop(self) -> None:
        """Stops the clock because the window closes."""
        self._clock.stop()

    def show_title(self) -> None:
        """Shows the session or document in the title, with the platform's mark for unsaved changes."""
        self._shown_title = title = self._session_title()
        self._shown_mark = mark = self._title_mark()
        self._frame.setWindowModified(False)  # Qt wants the placeholder in the title first
        self._frame.setWindowTitle(window_title(title or self._saving.name, mark))
        self._show_modified()

    def _title_mark(self) -> str:
        """Returns Qt's placeholder for the mark of unsaved changes, or "" if this document is never unsaved."""
        return "[*]" if self._shown.state.unsaved is not None or self._shown.state.is_sessions else ""

    def _session_title(self) -> str:
        """Returns the title of the only session shown, or "". A saved list of sources has its own name."""
        panes, path = self._shown.panes, self._shown.state.path
        if panes is None or (path is not None and path.suffix == SOURCES_SUFFIX):
            return ""
        return panes.contexts.model.session_title

    def _show_modified(self) -> None:
        """Sets the mark of unsaved changes in the title."""
        if self._title_mark() != self._shown_mark:  # a recovered capture gets its mark after its title
            self.show_title()
            return
        self._frame.setWindowModified(self._saving.unsaved or self._msp.saving.dirty)

    def refresh_counts(self) -> None:
        """Shows the numbers of all messages and of shown messages."""
        state, panes = self._shown.state, self._shown.panes
        if panes is None:
            return
        self._refresh_title()
        shown, total = panes.counts()
        self._filter_bar.set_counts(shown, total)
        self._filter_bar.set_left_out(panes.rows.state.timeouts)
        self._status.set_counts(total, shown if panes.rows.is_filtered else None, state.unreadable)
        self._status.set_failed(state.failed_calls)
        self._status.set_gaps(panes.rows.state.gaps)
        if panes.problem_counts.answer is not None:
            self._show_problems(panes.problem_counts.answer)
        self._show_modified()

    def _refresh_title(self) -> None:
        """Shows another title of the session, which arrives with its records."""
        if self._session_title() != self._shown_title:
            self.show_title()
        if self._shown_title and not self._shown.state.is_live:
            self._status.name_log(self._shown_title)

    def _show_problems(self, problems: Problems) -> None:
        """Shows the number of problems in the status bar and on their preset."""
        self._status.set_problems(problems.messages, problems.worst_severity, problems.words)
        self._presets.show_problems(problems.messages, problems.words)

    def _show_waiting(self, _waits: object = None) -> None:
        """Shows the longest wait while messages arrive."""
        panes = self._shown.panes
        waits = panes.waits.answer if panes is not None else None
        wait = waits.longest if waits is not None and self._shown.state.is_arriving else None
        if waits is None or wait is None:
            self._status.set_waiting(0)
        else:
            self._status.set_waiting(waits.count, wait.short_sentence, wait.sentence, hangs=wait.is_long)
            if wait.is_long and not self._has_reported_wait:
                self._has_reported_wait = True
                self.hung.emit()

    def _show_waste(self, _figures: object = None) -> None:
        """Shows the avoidable tokens if they reach the threshold."""
        panes = self._shown.panes
        figures = panes.waste_figures.answer if panes is not None else None
        found = figures.totals if figures is not None else None
        certain = panes is not None and self._shown.state.is_arriving
        if found is None or (found.sure_tokens if certain else found.tokens) < _MIN_WASTE_TOKENS:
            self._status.set_spared()
            return
        from inspector.present.waste_words import spared_words  # imported with the first document

        self._status.set_spared(spared_words(found, short=True, certain=certain), spared_words(found, certain=certain))

    def _show_selection(self, selection: SelectionTotals | None) -> None:
        """Shows the size of a selection of several messages."""
        if selection is None:
            self._status.set_selected(0)
        else:
            self._status.set_selected(selection.count, selection.size_bytes, selection.span_ns)

    def pause_or_go_on(self) -> None:
        """Pauses or resumes the view; the capture continues."""
        panes = self._shown.panes
        if panes is not None:
            panes.bridge.set_paused(not panes.bridge.paused)
            self.refresh_clock()

    def refresh_clock(self) -> None:
        """Updates rates, states and waiting times each second. Only a gateway's document uses the wall clock."""
        state, panes = self._shown.state, self._shown.panes
        if panes is None:
            return
        panes.tick(time.time_ns() if state.is_live and self._gateway.connection is not None else None)
        self._status.tick(state.messages, state.is_arriving)
        self._status.set_lag(state.lag_ns)
        self._show_waiting()
        if state.is_live:
            self._conditions.tick()
        self._gateway.tick()
        self._status.set_paused(panes.bridge.waiting if panes.bridge.paused else None)
