"""What the timeline of one document draws, kept up with the document at a bounded cost. No Qt."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.document import CaptureDocument
from inspector.filters.compile import DisplayFilter
from inspector.filters.visible import Scope, VisibleRows
from inspector.timeline.grouping import LaneBy
from inspector.timeline.lanes import Lanes
from inspector.timeline.spans import Spans, spans_of
from inspector.timeline.times import MessageTimes
from inspector.ui.panels.findings.problems import problem_messages
from inspector.ui.panels.timeline.axis import TimeAxis

_REST = 20
"""What takes long is done again only after so many times as long."""
_LONG_REST = 60
_LEAST_S = 0.25
_LARGE = 200_000
"""Messages from which on what takes long is done in turns."""


class _Seldom:
    """Work that is put off while it costs too much a second."""

    def __init__(self, work: Callable[[], None], rest: int = _REST) -> None:
        self._work = work
        self._rest = rest
        self._next = 0.0
        self.due = True

    def run(self) -> bool:
        """Do it, if it is due and has rested; whether it was done."""
        began = time.perf_counter()
        if self.due and began >= self._next:
            self.due = False
            self._work()
            took = time.perf_counter() - began
            self._next = began + took + max(_LEAST_S, self._rest * took) * (took > 0.002)
            return True
        return False


class TimelineSource:
    """Lanes, spans and problems of a document.

    Attributes:
        times: where messages stand.
        lanes: the lanes.
        spans: what takes time between two messages.
        problems: messages with a finding of severity warning or error, ascending.
        only_shown: whether what the table hides is left out, and not only dimmed.
    """

    def __init__(self, document: CaptureDocument, rows: VisibleRows) -> None:
        self.document = document
        self._rows = rows
        self.times = MessageTimes(document.capture)
        self.lanes = Lanes(document.analysis, self.times)
        self.only_shown = False
        self.spans: Spans = spans_of(document.analysis, self.times.values, 0)
        self.problems: NDArray[np.int64] = np.zeros(0, np.int64)
        self._stop = 0
        self._fed = 0
        self._view: tuple[DisplayFilter, Scope | None] | None = None
        self._spans = _Seldom(self._make_spans)
        self._problems = _Seldom(self._make_problems)
        self._shown = _Seldom(self._mark_shown)
        self._tidy = _Seldom(self._make_tidy, _LONG_REST)

    @property
    def behind(self) -> bool:
        """Whether something was put off; `update` does it when there is time."""
        return any(one.due for one in (self._spans, self._problems, self._shown, self._tidy))

    # Choosing

    def set_by(self, by: LaneBy) -> None:
        """Let a lane stand for something else."""
        if by != self.lanes.by:
            self.lanes.by = by
            self._again()

    def set_only_shown(self, only: bool) -> None:
        """Leave out what the table hides, or draw it dimmed."""
        if only != self.only_shown:
            self.only_shown = only
            self._again()

    def _again(self) -> None:
        self.lanes.reset()
        self._fed = 0
        self._shown.due = True

    # Following

    def update(self, *, changed: bool = False) -> None:
        """Take in what the document and the view over it have gained. O(new messages) but for what is put off.

        Args:
            changed: earlier messages changed, so that some may be shown or hidden now.
        """
        self._stop = len(self.document.analysis)
        self.times.update(self._stop)
        view = (self._rows.filter, self._rows.scope)
        if view != self._view:
            self._view = view
            self._shown.due = True
            if self.only_shown:
                self._again()
        if changed:
            self._shown.due = True
            self._spans.due = True
        fed = self._feed()
        if self.lanes.moved or self.lanes.untidy:
            self._tidy.due = True
        if self._stop > len(self.problems) or changed:
            self._problems.due = True
        large = self._stop > _LARGE  # then one of these is enough for a turn; what is left is `behind`
        work = (self._shown,) if fed > _LARGE else (self._tidy, self._shown, self._spans, self._problems)
        for one in work:
            if one.run() and large:
                return

    def _feed(self) -> int:
        """Give the lanes what they do not have yet; how many messages that was."""
        settled = self.document.analysis.now_ns is None
        if self.only_shown and self._rows.chooses:
            visible = self._rows.visible
            fresh = visible[visible.searchsorted(np.uint32(self._fed)) :].astype(np.int64)
            fresh = fresh[fresh < self._stop]
        else:
            fresh = np.arange(self._fed, self._stop)
        if len(fresh):
            self.lanes.extend_shown(self._stop)
            self.lanes.feed(fresh, settled=settled)
            self._fed = int(fresh[-1]) + 1
            self._spans.due = True
            if self._dims:
                self._shown.due = True
        return len(fresh)

    @property
    def _dims(self) -> bool:
        return self._rows.chooses and not self.only_shown

    def _make_tidy(self) -> None:
        if self.lanes.moved:
            self.lanes.reset()
            self._fed = 0
            self._feed()
            self._shown.due = True
        elif self.lanes.untidy:
            self.lanes.tidy()

    def _mark_shown(self) -> None:
        given = int(self._rows.visible.searchsorted(np.uint32(self._fed)))
        if self.only_shown and self._rows.chooses and given != self.lanes.message_count:
            # What changed has come into view, or gone from it, somewhere among what the lanes have.
            self.lanes.reset()
            self._fed = 0
            self._feed()
            self._shown.due = False
        if not self._dims:
            self.lanes.mark_shown(None)
            return
        shown = np.zeros(self._stop, np.bool_)
        visible = self._rows.visible
        shown[visible[visible < self._stop]] = True
        shown[self._rows.seen :] = True  # nobody has looked yet
        self.lanes.mark_shown(shown)

    def _make_spans(self) -> None:
        self.spans = spans_of(self.document.analysis, self.times.values, self._stop)

    def _make_problems(self) -> None:
        self.problems = problem_messages(self.document.analysis.findings.found)
        self.problems = self.problems[self.problems < self._stop]

    def beyond(self, axis: TimeAxis, step: int) -> int | None:
        """The time of the nearest message after (1) or before (-1) what is shown. O(messages), asked for by hand."""
        times = self.times.values
        if self.only_shown and self._rows.chooses:
            visible = self._rows.visible
            times = times[visible[visible < len(times)]]
        bounds = np.iinfo(np.int64)
        if step > 0:
            further = times[times > np.int64(min(axis.right_ns, int(bounds.max)))]
            return int(further.min()) if len(further) else None
        further = times[times < np.int64(max(axis.left_ns, int(bounds.min)))]
        return int(further.max()) if len(further) else None

    def is_hidden(self, row: int) -> bool:
        """Whether the table hides a message."""
        return self._rows.chooses and self._rows.position(row) is None
