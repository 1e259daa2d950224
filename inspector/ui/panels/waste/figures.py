"""Searches a document for avoidable tokens in slices of a few milliseconds, for the panel and the figures in the head.

While the panel is hidden, the pauses between two searches are longer.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from inspector.ui import budgets

if TYPE_CHECKING:
    from inspector.analysis.views.waste import WasteFinder, WasteReport

_REST_FACTOR, _UNSEEN_REST_FACTOR = 20, 100
"""Pause after a search, as a multiple of its duration."""


class WasteFigures(QObject):
    """The result of the last search for avoidable tokens.

    Signals:
        renewed(): a search has ended.

    Attributes:
        found: the last result; None before the first.
    """

    renewed = Signal()

    def __init__(self, document: CaptureDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self.found: WasteReport | None = None
        self._finder: WasteFinder | None = None
        self._duration_s = self._searched_at = 0.0
        self._stale, self._seen, self._stopped, self._ongoing = True, False, False, False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._run_slice)
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.timeout.connect(self._search_after_end)
        self._schedule()

    @property
    def ready(self) -> bool:
        """True if all tokens are counted, or if traffic goes on and some are counted."""
        tokens = self._document.analysis.tokens
        if tokens.done:
            return len(self._document.analysis) > 0
        return self._document.is_arriving and tokens.counted > 0

    @property
    def looking(self) -> bool:
        """True during a search."""
        return self._finder is not None

    def set_seen(self, seen: bool) -> None:
        """Notes the visibility of the panel. A visible panel shortens the pause."""
        self._seen = seen
        if seen and self._finder is None:
            self._timer.stop()
            self._schedule()

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(1)."""
        # Only notes the change; `_schedule` decides about the time of the next search.
        self._stale |= changes.stop > changes.start or len(changes.changed) > 0
        self._schedule()

    def stop(self) -> None:
        self._stopped, self._finder = True, None
        self._timer.stop()
        self._settling.stop()

    def _schedule(self) -> None:
        if not self._stale or self._stopped or self._finder is not None or self._timer.isActive() or not self.ready:
            return
        rest = self._duration_s * (_REST_FACTOR if self._seen else _UNSEEN_REST_FACTOR)
        due = self._searched_at + max(budgets.current.waste_rest_s, rest) if self.found is not None else 0.0
        self._timer.start(max(0, round((due - time.perf_counter()) * 1000)))

    def _run_slice(self) -> None:
        began = time.perf_counter()
        if self._finder is None:
            from inspector.analysis.views.waste import WasteFinder  # when it is needed: most windows never get so far

            document = self._document
            self._stale, self._duration_s = False, 0.0
            self._ongoing = document.may_grow
            # Without new messages the traffic gives no present time: use the clock.
            now_ns = time.time_ns() if self._ongoing and not document.is_arriving else None
            self._finder = WasteFinder(document.analysis, ongoing=self._ongoing, now_ns=now_ns)
        done = self._finder.go_on(began + budgets.current.background_slice_s)
        self._duration_s += time.perf_counter() - began
        if not done:
            self._timer.start(budgets.current.more_ms if self._seen else budgets.current.background_ms)
            return
        self.found, self._finder = self._finder.found, None
        self._searched_at = time.perf_counter()
        if self._ongoing:
            self._settling.start(budgets.current.waste_poll_ms)
        self.renewed.emit()
        self._schedule()

    def _search_after_end(self) -> None:
        """Searches again once traffic is over. Until then a result might still be used."""
        if self._document.may_grow:
            self._settling.start(budgets.current.waste_poll_ms)
            return
        self._stale = True
        self._schedule()
