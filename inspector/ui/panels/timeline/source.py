"""Timeline data of one document: lanes, spans, problems at a bounded cost; steps between messages."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.account.compactions import compaction_rows
from inspector.analysis.views.timeline.lane_keys import LaneBy
from inspector.analysis.views.timeline.lanes import Lane, Lanes
from inspector.analysis.views.timeline.message_positions import PER_MESSAGE, MessageOrder, MessagePlaces, MessageTimes
from inspector.analysis.views.timeline.spans import Spans, spans_of
from inspector.base.slices import SlicedWork, run_to_end, run_until
from inspector.document.document import CaptureDocument
from inspector.filters.compile import DisplayFilter
from inspector.filters.visible import Scope, VisibleRows
from inspector.present.findings import problem_messages
from inspector.ui import budgets
from inspector.ui.panels.timeline.axis import TimeAxis

_REST = 20
"""Pause after expensive work, as a multiple of its duration."""
_LONG_REST = 60


class _DeferredWork:
    """Work in steps that is deferred while it is too expensive.

    Attributes:
        due: True if it must run after its pause.
        took: duration of the last or present run, seconds.
    """

    def __init__(self, work: Callable[[], SlicedWork[None]], rest: int = _REST) -> None:
        self._work = work
        self._rest = rest
        self._steps: SlicedWork[None] | None = None
        self._next = self.took = 0.0
        self.due = True

    @property
    def working(self) -> bool:
        return self._steps is not None

    @property
    def ready(self) -> bool:
        """True if it may run now."""
        return self.working or (self.due and time.perf_counter() >= self._next)

    def drop(self) -> None:
        """Aborts the present run."""
        self._steps = None

    def run(self, until: float) -> bool:
        """Runs some steps if ready. Returns True if the run has ended."""
        if not self.ready:
            return False
        began = time.perf_counter()
        if self._steps is None:
            self.due, self.took, self._steps = False, 0.0, self._work()
        done = run_until(self._steps, until)
        self.took += time.perf_counter() - began
        if done:
            self._steps = None
            self.rest_after(self.took)
        return done

    def rest_after(self, took: float) -> None:
        """Starts a pause after a run, or after work it caused, of this duration."""
        if self._rest and took > budgets.current.cheap_s:
            self._next = time.perf_counter() + max(budgets.current.lists_ms / 1000, self._rest * took)


class TimelineSource:
    """Lanes, spans and problems of a document.

    Attributes:
        clock: times of messages.
        times: positions of messages on the axis: their times, or evenly spaced.
        lanes: the lanes.
        spans: durations between two messages.
        problems: messages with a finding of severity warning or error, ascending.
        compactions: messages that report a compacted context, ascending.
        only_shown: True if hidden messages are omitted, not only dimmed.
        version: increases with every change of the above.
    """

    def __init__(self, document: CaptureDocument, rows: VisibleRows) -> None:
        self.document = document
        self._rows = rows
        self.clock = MessageTimes(document.capture)
        self.times: MessagePlaces = self.clock
        self.lanes = Lanes(document.analysis, self.times)
        self.only_shown = False
        self.spans: Spans = run_to_end(spans_of(document.analysis, self.times.values, 0))
        self.problems: NDArray[np.int64] = np.zeros(0, np.int64)
        self.compactions: NDArray[np.int64] = np.zeros(0, np.int64)
        self.version = 0
        self._stop = 0
        self._fed = 0
        self._mask: NDArray[np.bool_] | None = None  # visible messages of the table
        self._new_lanes: Lanes | None = None  # replaces the lanes once it is complete
        self._asked_by: _DeferredWork | None = None  # the work that caused a rebuild
        self._view: tuple[DisplayFilter, Scope | None] | None = None
        self._feed = _DeferredWork(self._feed_lanes, 0)
        self._spans = _DeferredWork(self._make_spans)
        self._problems = _DeferredWork(self._make_problems)
        self._shown = _DeferredWork(self._mark_shown)
        self._tidy = _DeferredWork(self._make_tidy, _LONG_REST)

    @property
    def working(self) -> bool:
        """True while some work is under way; `update` continues it."""
        return any(one.working for one in self._all)

    @property
    def is_outdated(self) -> bool:
        """True if work was deferred; `update` does it later."""
        return any(one.due or one.working for one in self._all)

    @property
    def share(self) -> float:
        """Progress of the lanes, 0 to 1."""
        wanted = len(self._rows.chosen) if self.only_shown and self._rows.is_filtered else self._stop
        return min(1.0, (self._new_lanes or self.lanes).given / max(1, wanted))

    @property
    def _all(self) -> tuple[_DeferredWork, ...]:
        return self._feed, self._tidy, self._shown, self._spans, self._problems

    # Choices

    def set_by(self, by: LaneBy) -> None:
        """Sets the meaning of a lane."""
        if by != self.lanes.by:
            self.lanes = Lanes(self.document.analysis, self.times, by)
            self._again()

    def set_counting(self, on: bool) -> None:
        """Spaces messages evenly, or by their times."""
        if on != (self.times is not self.clock):
            self.times = MessageOrder() if on else self.clock
            self.times.update(self._stop)
            self.lanes = Lanes(self.document.analysis, self.times, self.lanes.by)
            self.spans = run_to_end(spans_of(self.document.analysis, self.times.values, 0))
            self._spans.drop()
            self._again()

    def set_only_shown(self, only: bool) -> None:
        """Omits messages hidden by the filter, or dims them."""
        if only != self.only_shown:
            self.only_shown = only
            self._again()

    def _again(self, asked_by: _DeferredWork | None = None) -> None:
        """Rebuilds the lanes; the present ones stay until the new ones are complete."""
        self._asked_by = asked_by
        self._new_lanes = Lanes(self.document.analysis, self.times, self.lanes.by)
        self._new_lanes.mark_shown(self._mask)
        self._fed = 0
        self._feed.drop()
        self._feed.due = self._shown.due = True

    # Updates

    def update(self, *, changed: bool = False) -> None:
        """Takes in changes of the document and the filter, as far as this slice allows.

        Args:
            changed: True if earlier messages changed, so that the filter may select others.
        """
        stop, self._stop = self._stop, len(self.document.analysis)
        self.clock.update(self._stop)
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
        self._problems.due |= changed or self._stop != stop
        self._feed_on()
        # In a large document one expensive part fills the slice; the rest is `behind`.
        until = budgets.turn_ends(self._stop)
        for one in (self._tidy, self._shown, self._spans, self._problems):
            if one.ready and not self._feed.working:
                if one.run(until):
                    self.version += 1
                    self._feed_on()
                if one.working or time.perf_counter() >= until:
                    return

    def _feed_on(self) -> None:
        self._feed.due |= self._fed < self._stop
        self.version += self._feed.run(budgets.turn_ends(self._stop))

    def _feed_lanes(self) -> SlicedWork[None]:
        """Feeds the lanes with new messages."""
        lanes, stop = self._new_lanes or self.lanes, self._stop
        if self.only_shown and self._rows.is_filtered:
            visible = self._rows.chosen
            # The same dtype as the column: numpy would convert all of it otherwise.
            new = visible[visible.searchsorted(np.uint32(self._fed)) :].astype(np.int64)
            new = new[new < stop]
        else:
            new = np.arange(self._fed, stop)
        if len(new):
            lanes.extend_shown(stop)
            yield from lanes.feed_in_steps(new, settled=self.document.analysis.now_ns is None)
            self._fed = int(new[-1]) + 1
            self._spans.due = True
            self._shown.due |= self._dims_hidden
        if lanes is self._new_lanes:
            lanes.version += self.lanes.version + 1
            self.lanes, self._new_lanes = lanes, None
            if self._asked_by is not None:
                self._asked_by.rest_after(self._feed.took)
        self._tidy.due |= self.lanes.is_outdated

    @property
    def _dims_hidden(self) -> bool:
        return self._rows.is_filtered and not self.only_shown

    def _make_tidy(self) -> SlicedWork[None]:
        yield
        if self.lanes.is_outdated:
            self._again(self._tidy)

    def _mark_shown(self) -> SlicedWork[None]:
        given = int(self._rows.chosen.searchsorted(np.uint32(self._fed)))
        if self.only_shown and self._rows.is_filtered and given != self.lanes.given:
            # Messages among those already in the lanes were shown or hidden: rebuild.
            self._again(self._shown)
            self._shown.due = False
        self._mask = None
        if self._dims_hidden:
            shown = np.zeros(self._stop, np.bool_)
            visible = self._rows.chosen
            shown[visible[visible < self._stop]] = True
            shown[self._rows.seen_count :] = True  # the filter has not examined them yet
            yield
            come = self._stop - len(shown)  # messages that came meanwhile and are in the lanes already
            self._mask = np.concatenate((shown, np.ones(come, np.bool_))) if come else shown
        self.lanes.mark_shown(self._mask)

    def _make_spans(self) -> SlicedWork[None]:
        self.spans = yield from spans_of(self.document.analysis, self.times.values, self._stop)

    def _make_problems(self) -> SlicedWork[None]:
        yield
        problems = problem_messages(self.document.analysis.findings.found)
        self.problems = problems[problems < self._stop]
        yield
        self.compactions = compaction_rows(self.document.capture, self._stop)

    def since_ns(self, place: int) -> int:
        """Returns the time from the first message to a position in nanoseconds."""
        if self.times is not self.clock:
            values = self.clock.values
            place = int(values[min(max(0, place // PER_MESSAGE), len(values) - 1)]) if len(values) else 0
        return place - self.clock.first_ns

    def beyond(self, axis: TimeAxis, step: int) -> int | None:
        """Returns the time of the nearest message after (1) or before (-1) the visible range.

        O(messages), by user input only.
        """
        times = self.times.values
        if self.only_shown and self._rows.is_filtered:
            visible = self._rows.chosen
            times = times[visible[visible < len(times)]]
        bounds = np.iinfo(np.int64)
        if step > 0:
            further = times[times > np.int64(min(axis.right_ns, int(bounds.max)))]
            return int(further.min()) if len(further) else None
        further = times[times < np.int64(max(axis.left_ns, int(bounds.min)))]
        return int(further.max()) if len(further) else None

    def is_hidden(self, row: int) -> bool:
        """Returns True if the filter hides a message."""
        return self._rows.is_filtered and self._rows.position(row) is None


_MAX_SKIPPED = 5_000  # bounds one key press, since each hidden message costs a search


class Walk:
    """Navigation between messages; hidden ones are skipped."""

    def __init__(self, source: TimelineSource) -> None:
        self._source = source

    def track_of(self, row: int) -> int:
        """Returns the track of a message, or -1."""
        return int(self._source.lanes.tracks_of(np.array([row]))[0])

    def lane_of(self, row: int) -> Lane | None:
        track = self.track_of(row)
        return next((one for one in self._source.lanes.lanes if one.track <= track < one.track + one.tracks), None)

    def along(self, row: int | None, step: int) -> int | None:
        """Returns the next visible message on the same track; without a message the first of all."""
        if row is None:
            return self._first()
        lanes = self._source.lanes
        if self.track_of(row) < 0:
            return None
        found = lanes.neighbour(row, step)
        for _ in range(_MAX_SKIPPED):
            if found is None or not self._source.is_hidden(found):
                return found
            found = lanes.neighbour(found, step)
        return None

    def across(self, row: int | None, step: int) -> int | None:
        """Returns the visible message nearest in time on the next track above (-1) or below (1) that has one."""
        if row is None:
            return self._first()
        lanes, ns = self._source.lanes, int(self._source.times.values[row])
        track = self.track_of(row) + step
        while 0 <= track < lanes.tracks:
            found = self._shown_near(track, ns)
            if found is not None:
                return found
            track += step
        return None

    def _shown_near(self, track: int, ns: int) -> int | None:
        found = self._source.lanes.nearest(track, ns)
        if found is None or not self._source.is_hidden(found):
            return found
        before, after = self.along(found, -1), self.along(found, 1)
        times = self._source.times.values
        near = [one for one in (before, after) if one is not None]
        return min(near, key=lambda one: abs(int(times[one]) - ns), default=None)

    def outermost(self, row: int | None, step: int) -> int | None:
        """Returns the first (-1) or last (1) visible message of the track."""
        if row is None:
            return self._first()
        bounds = np.iinfo(np.int64)
        track = self.track_of(row)
        # Not the ends of the type: differences to them would overflow.
        found = self._source.lanes.nearest(track, int(bounds.min) // 4 if step < 0 else int(bounds.max) // 2)
        if found is not None and self._source.is_hidden(found):
            return self.along(found, -step)
        return found

    def _first(self) -> int | None:
        for track in range(min(self._source.lanes.tracks, 1_000)):
            found = self._shown_near(track, self._source.times.first_ns)
            if found is not None:
                return found
        return None
