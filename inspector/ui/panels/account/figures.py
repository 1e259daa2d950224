"""Keeps the account's figures up to date for all views, only while one of them is visible."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.account.account import AccountTally
from inspector.analysis.views.summaries.token_shares import Sums, sum_in_steps
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.ui import budgets
from inspector.ui.loop_budget import turn_of_loop


class AccountFigures(QObject):
    """Updates the figures in slices, and notifies at most once a second while messages arrive.

    Signals:
        renewed(): the figures cover all messages, or token sums are complete. While messages arrive also once a
            second, because waiting times grow.

    Attributes:
        tally: the figures.
    """

    renewed = Signal()

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self.tally = AccountTally(document.analysis)
        self._sums: Sums | None = None
        self._adding: SlicedWork[Sums] | None = None
        self._viewers: set[str] = set()
        self._rest_until = 0.0
        self._is_complete = False  # the figures cover all messages of some time, and have not been fed since
        self._is_renewal_due = False  # `renewed` is due, in a turn of its own
        self._stopped = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run_slice)

    def set_viewed(self, viewer: str, viewed: bool) -> None:
        """Notes that a view is visible or hidden."""
        (self._viewers.add if viewed else self._viewers.discard)(viewer)
        self._schedule()

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(1)."""
        self.tally.note_changed(changes.changed)
        # Sums of an earlier state are invalid.
        self._sums = self._adding = None
        self._schedule()

    def tick(self) -> None:
        """Emits `renewed` once a second while messages may arrive: waiting times grow."""
        if self._document.is_arriving and not self._stopped and not self._timer.isActive():
            self._is_renewal_due = True
            self._timer.start(0)

    def tool_tokens(self) -> Sums | None:
        """Returns token sums by tool once all are counted; None while summing, or while messages may arrive."""
        if self._sums is None and self._adding is None and self._document.analysis.tokens.done:
            if self._document.is_arriving:
                return None
            self._adding = sum_in_steps(self._document.analysis, "tool")
            self._add_up(time.perf_counter() + budgets.current.background_slice_s)
        return self._sums

    def stop(self) -> None:
        """Stops reading the document."""
        self._stopped = True
        self._timer.stop()

    @property
    def ready(self) -> bool:
        """True if the figures cover all messages of some recent time, and the document may be read."""
        return not self._stopped and (self._is_complete or not self.tally.is_behind)

    @property
    def _wanted(self) -> bool:
        return not self._stopped and (bool(self._viewers) or self._document.is_arriving)

    def _schedule(self) -> None:
        if (self.tally.is_behind or self._adding) and self._wanted and not self._timer.isActive():
            self._timer.start(max(0, round((self._rest_until - time.perf_counter()) * 1000)))

    def _run_slice(self) -> None:
        if not self._wanted:
            return
        # Another background slice has used this iteration of the event loop.
        if not turn_of_loop().may_take():
            self._timer.start(budgets.current.awaited_ms)
            return
        if self._is_renewal_due:
            self._is_renewal_due = False
            self.renewed.emit()
            self._schedule()
            return
        until = time.perf_counter() + budgets.current.background_slice_s
        self._is_complete = False
        while not self.tally.step():
            if time.perf_counter() >= until:
                self._timer.start(budgets.current.more_ms)
                return
        self._is_complete = True
        if self._adding is not None and not self._add_up(until):
            return
        more = self._document.is_arriving or self._document.has_backlog
        rest_ms = budgets.current.figures_ms if more else budgets.current.lists_ms
        self._rest_until = time.perf_counter() + rest_ms / 1000
        self._is_renewal_due = True
        self._timer.start(budgets.current.awaited_ms)

    def _add_up(self, until: float) -> bool:
        """Continues summing tokens for a slice. Returns True if done."""
        assert self._adding is not None
        while self._sums is None:
            try:
                next(self._adding)
            except StopIteration as end:
                self._sums, self._adding = end.value, None
                break
            if time.perf_counter() >= until:
                self._timer.start(budgets.current.more_ms)
                break
        return self._sums is not None
