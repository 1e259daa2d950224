"""Lanes of a timeline, kept up to date from one request to the next, and steps between their messages."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.compactions import compaction_rows
from inspector.analysis.views.timeline.lane_geometry import LaneGeometry
from inspector.analysis.views.timeline.lane_keys import LaneBy
from inspector.analysis.views.timeline.lanes import Lane, Lanes
from inspector.analysis.views.timeline.lanes_picture import LanesContent, Picture, picture_of
from inspector.analysis.views.timeline.message_positions import PER_MESSAGE
from inspector.analysis.views.timeline.spans import Spans, spans_of
from inspector.analysis.views.timeline.track_marks import Window
from inspector.base.slices import SlicedWork, run_to_end
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Steps
from inspector.engine.requests.plots import message_places, message_times
from inspector.present.findings import problem_messages

_REST, _LONG_REST = 20, 60
"""Pauses after expensive work, as multiples of its duration."""
_CHEAP_S, _LEAST_REST_S = 0.01, 0.25
_MAX_SKIPPED = 5_000  # bounds one step, since each hidden message costs a search


class LanesLook(msgspec.Struct, frozen=True):
    """Determines the lanes.

    Attributes:
        view: number of the view that shows or hides messages.
        by: subject of a lane.
        only_shown: hidden messages are omitted, not only dimmed.
        by_order: messages are evenly spaced.
    """

    view: int
    by: LaneBy = "participant"
    only_shown: bool = False
    by_order: bool = False


class _Deferred:
    """Work that rests after it was expensive.

    Attributes:
        is_due: True if it must run after its pause.
    """

    def __init__(self, work: Callable[[], Steps[None]], rest: int = _REST) -> None:
        self._work, self._rest, self._next_s = work, rest, 0.0
        self.is_due = True

    def run(self) -> Steps[None]:
        """Runs it if it is due and its pause is over. It stays due if it is cancelled."""
        if not self.is_due or time.perf_counter() < self._next_s:
            return
        # Time of this thread alone: a busy machine does not make the work expensive.
        began_s = time.thread_time()
        self.is_due, completed = False, False
        try:
            yield from self._work()
            completed = True
        finally:
            self.is_due |= not completed
        if (took_s := time.thread_time() - began_s) > _CHEAP_S:
            self._next_s = time.perf_counter() + max(_LEAST_REST_S, self._rest * took_s)


class TimelineLanes:
    """Lanes, spans and problems of a document.

    Attributes:
        look: the lanes asked for last.
        layout: rises with each change of lanes or tracks.
        lanes: the lanes, of an earlier look until the new ones are complete.
    """

    def __init__(self, held: OpenDocument, view: int) -> None:
        self._held, self._analysis, self._rows = held, held.document.analysis, held.view(view).rows
        self.look = LanesLook(view)
        self.layout = 0
        self.lanes = self._new_lanes()
        self._lanes_look: LanesLook | None = None  # that of the complete lanes
        self._coming: Lanes | None = self.lanes  # replaces the lanes once it is complete
        self._feeding: SlicedWork[None] | None = None
        self._fed = self._stop = 0
        self._spans: Spans = run_to_end(spans_of(self._analysis, self.lanes.times.values, 0))
        self._problems: NDArray[np.int64] = np.zeros(0, np.int64)
        self._compactions: NDArray[np.int64] = np.zeros(0, np.int64)
        self._mask: NDArray[np.bool_] | None = None  # visible messages of the view
        self._geometry: tuple[int, float, LaneGeometry] | None = None
        self._revision, self._tree_moves = -1, held.tree_moves
        self._filtered_by: tuple[object, object] | None = None
        self._has_changes = False
        self._tidying, self._masking = _Deferred(self._tidy, _LONG_REST), _Deferred(self._update_mask)
        self._finding_spans, self._finding_problems = _Deferred(self._find_spans), _Deferred(self._find_problems)

    def note_changed(self, changed: Rows) -> None:
        self._has_changes |= bool(len(changed))

    # Updates

    @property
    def _all_deferred(self) -> tuple[_Deferred, ...]:
        return self._tidying, self._masking, self._finding_spans, self._finding_problems

    @property
    def is_behind(self) -> bool:
        """True if work was deferred; a later update does it."""
        return any(one.is_due for one in self._all_deferred)

    @property
    def share(self) -> float:
        """Progress of the lanes, 0 to 1."""
        wanted = len(self._rows.chosen) if self._omits_hidden else self._stop
        return min(1.0, (self._coming or self.lanes).given / max(1, wanted))

    @property
    def _omits_hidden(self) -> bool:
        return self.look.only_shown and self._rows.is_filtered

    @property
    def _dims_hidden(self) -> bool:
        return self._rows.is_filtered and not self.look.only_shown

    def update(self, look: LanesLook) -> Steps[None]:
        """Takes in changes of the document and the view. A cancelled update goes on with the next one."""
        self._note_changes(look)
        yield from self._feed()
        self._tidying.is_due = self.lanes.is_outdated
        for work in self._all_deferred:
            yield from work.run()

    def _tidy(self) -> Steps[None]:
        self._rebuild()
        yield from self._feed()

    def _find_spans(self) -> Steps[None]:
        self._spans = yield from spans_of(self._analysis, self.lanes.times.values, self._stop)

    def _find_problems(self) -> Steps[None]:
        problems = problem_messages(self._analysis.findings.found)
        self._problems = problems[problems < self._stop]
        yield
        self._compactions = compaction_rows(self._analysis.capture, self._stop)

    def _note_changes(self, look: LanesLook) -> None:
        stop, self._stop = self._stop, len(self._analysis)
        view, filtered_by = self._held.view(look.view), (self._rows.filter, self._rows.scope)
        if look != self.look or (look.only_shown and filtered_by != self._filtered_by):
            self.look = look
            self._rebuild()
        (self._coming or self.lanes).times.update(self._stop)
        self.lanes.times.update(self._stop)
        has_changes = self._has_changes or self._tree_moves != self._held.tree_moves
        self._masking.is_due |= has_changes or view.revision != self._revision
        self._finding_spans.is_due |= has_changes
        self._finding_problems.is_due |= has_changes or stop != self._stop
        self._revision, self._tree_moves, self._filtered_by = view.revision, self._held.tree_moves, filtered_by
        self._has_changes = False

    def _new_lanes(self) -> Lanes:
        times = message_places(self._held, by_order=self.look.by_order)
        return Lanes(self._analysis, times, self.look.by)

    def _rebuild(self) -> None:
        """Begins new lanes; the present ones stay until the new ones are complete."""
        self._coming, self._feeding, self._fed = self._new_lanes(), None, 0
        self._coming.mark_shown(self._mask)

    def _feed(self) -> Steps[None]:
        """Feeds the lanes with new messages."""
        lanes = self._coming or self.lanes
        version = lanes.version
        while len(rows := self._unfed_rows()) or self._feeding is not None:
            if self._feeding is None:
                lanes.extend_shown(self._stop)
                self._feeding = lanes.feed_in_steps(rows, settled=self._analysis.now_ns is None)
                self._fed = int(rows[-1]) + 1
            for _ in self._feeding:
                yield
            self._feeding = None
            self._finding_spans.is_due = True
            self._masking.is_due |= self._dims_hidden
        if self._coming is not None:
            self.lanes, self._lanes_look, self._coming = self._coming, self.look, None
            self._finding_spans.is_due = True
            self.layout += 1
        self.layout += self.lanes.version != version

    def _unfed_rows(self) -> NDArray[np.int64]:
        if not self._omits_hidden:
            return np.arange(self._fed, self._stop)
        visible = self._rows.chosen
        # The same dtype as the column: numpy would convert all of it otherwise.
        new = visible[visible.searchsorted(np.uint32(self._fed)) :].astype(np.int64)
        return new[new < self._stop]

    def _update_mask(self) -> Steps[None]:
        fed = int(self._rows.chosen.searchsorted(np.uint32(self._fed)))
        if self._omits_hidden and fed != self.lanes.given:
            # Messages that are already in the lanes were shown or hidden.
            yield from self._tidy()
        self._mask = None
        if self._dims_hidden:
            self._mask = np.zeros(self._stop, np.bool_)
            visible = self._rows.chosen
            self._mask[visible[visible < self._stop]] = True
            self._mask[self._rows.seen_count :] = True  # the filter has not examined them yet
        self.lanes.mark_shown(self._mask)

    # Pictures

    @property
    def content(self) -> LanesContent:
        return LanesContent(self._analysis, self.lanes, self._spans, self._problems, self._compactions)

    def geometry(self, zoom: float) -> LaneGeometry:
        if self._geometry is None or self._geometry[:2] != (self.layout, zoom):
            self._geometry = self.layout, zoom, LaneGeometry(self.lanes.lanes, zoom)
        return self._geometry[2]

    def picture(self, look: LanesLook, window: Window, top: int, height: int, zoom: float) -> Steps[Picture | None]:
        """Returns the visible content; None while the lanes of this look are not complete."""
        if look != self._lanes_look:
            return None
        found = yield from picture_of(self.content, self.geometry(zoom), window, top, height, zoom)
        if found.is_bare:
            found.before_ns, found.after_ns = self._nearest_times(window)
        return found

    def _nearest_times(self, window: Window) -> tuple[int | None, int | None]:
        """Returns the times of the nearest messages before and after a window. O(messages)."""
        times = self.lanes.times.values
        if self._omits_hidden:
            visible = self._rows.chosen
            times = times[visible[visible < len(times)]]
        bounds = np.iinfo(np.int64)
        before = times[times < np.int64(max(window.left_ns, int(bounds.min)))]
        after = times[times > np.int64(min(window.right_ns, int(bounds.max)))]
        return int(before.max()) if len(before) else None, int(after.min()) if len(after) else None

    def since_ns(self, position: int) -> int:
        """Returns the time from the first message to a position in nanoseconds."""
        clock = message_times(self._held)
        if self.look.by_order:
            values = clock.values
            position = int(values[min(max(0, position // PER_MESSAGE), len(values) - 1)]) if len(values) else 0
        return position - clock.first_ns

    # Steps between messages

    def track_of(self, row: int) -> int:
        """Returns the track of a message, or -1."""
        return int(self.lanes.tracks_of(np.array([row]))[0])

    def lane_of(self, row: int) -> Lane | None:
        track = self.track_of(row)
        return next((one for one in self.lanes.lanes if one.track <= track < one.track + one.tracks), None)

    def next_message(self, row: int | None, way: Literal["along", "across", "outermost"], step: int) -> int | None:
        """Returns the shown message that a step leads to; without a message the first of all.

        Args:
            row: the present message.
            way: along its track, across to the track above (-1) or below (1), or to an end of its track.
            step: 1 or -1.
        """
        if row is None:
            return self._first()
        if row >= len(self.lanes.times.values):
            return None
        if way == "along":
            return self._along(row, step)
        return self._across(row, step) if way == "across" else self._outermost(row, step)

    def _is_hidden(self, row: int) -> bool:
        return self._rows.is_filtered and self._rows.position(row) is None

    def _along(self, row: int, step: int) -> int | None:
        if self.track_of(row) < 0:
            return None
        found = self.lanes.neighbour(row, step)
        for _ in range(_MAX_SKIPPED):
            if found is None or not self._is_hidden(found):
                return found
            found = self.lanes.neighbour(found, step)
        return None

    def _across(self, row: int, step: int) -> int | None:
        """Returns the message nearest in time on the next track that has one."""
        ns, track = int(self.lanes.times.values[row]), self.track_of(row) + step
        while 0 <= track < self.lanes.tracks:
            found = self._shown_near(track, ns)
            if found is not None:
                return found
            track += step
        return None

    def _shown_near(self, track: int, ns: int) -> int | None:
        found = self.lanes.nearest(track, ns)
        if found is None or not self._is_hidden(found):
            return found
        near = [one for one in (self._along(found, -1), self._along(found, 1)) if one is not None]
        times = self.lanes.times.values
        return min(near, key=lambda one: abs(int(times[one]) - ns), default=None)

    def _outermost(self, row: int, step: int) -> int | None:
        bounds = np.iinfo(np.int64)
        # Not the ends of the type: differences to them would overflow.
        ns = int(bounds.min) // 4 if step < 0 else int(bounds.max) // 2
        found = self.lanes.nearest(self.track_of(row), ns)
        return self._along(found, -step) if found is not None and self._is_hidden(found) else found

    def _first(self) -> int | None:
        for track in range(min(self.lanes.tracks, 1_000)):
            found = self._shown_near(track, self.lanes.times.first_ns)
            if found is not None:
                return found
        return None
