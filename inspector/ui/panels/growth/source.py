"""Data of the growth plot: reader, steps and reported tokens of one context. No Qt."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.model_context import ModelContext, Reader, Role, readers
from inspector.analysis.views.model_context.growth import compactions, growing
from inspector.analysis.views.model_context.reported import NO_REPORTS, Reported, reports_of
from inspector.analysis.views.timeline.message_positions import MessageOrder, MessagePlaces, MessageTimes
from inspector.base.slices import SlicedWork, run_until
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.session_titles import ShownTitles
from inspector.present.wire_text import safe_line
from inspector.ui import budgets
from inspector.ui.panels.plot_choices import PlotChoices

Array = NDArray[np.int64]
_NONE: Array = np.zeros(0, np.int64)
_REST_FACTOR = 20
"""Pause after a long update, as a multiple of its duration."""
_NAME = 60


class GrowthSource:
    """Growth of one reader's context.

    Attributes:
        clock: times of messages.
        times: positions of messages on the axis: their times, or evenly spaced.
        readers: the possible readers, the most active first.
        reader: the reader of the context; None without any.
        company: senders of the results in it, the most frequent first.
        messages, steps_ns: (s,) int64, the messages that changed it and their times, ascending.
        lines: (2, s) int64, tokens without collapsing and as the model sees it, after each of them.
        uncounted: number of its messages without a token count.
        reports: tokens the reader reported.
        compactions: (c,) int64, messages that shortened its history.
    """

    def __init__(self, document: CaptureDocument, choices: PlotChoices) -> None:
        self.document = document
        self._titles = ShownTitles(document.capture)
        self._choices = choices
        self.clock = MessageTimes(document.capture)
        self.times: MessagePlaces = self.clock
        self.readers: list[Reader] = []
        self.reader: Reader | None = None
        self.company: list[str] = []
        self._statuses: dict[int, Reported | None] = {}
        self._context: ModelContext | None = None
        self._due = False  # the lines of the present context must be drawn
        self._work: SlicedWork[None] | None = None
        self._duration_s = 0.0
        self._differs = False
        self._made_of: tuple[object, ...] | None = None
        self._next = 0.0
        self._clear()

    def _clear(self) -> None:
        self.messages = self.steps_ns = _NONE
        self.lines: Array = np.zeros((2, 0), np.int64)
        self.uncounted = 0
        self.reports = NO_REPORTS
        self.compactions: Array = _NONE

    @property
    def follows_selection(self) -> bool:
        """True if the reader follows the selected message."""
        return self._choices.chosen is None

    def set_counting(self, on: bool) -> None:
        """Spaces messages evenly, or by their times."""
        if on != (self.times is not self.clock):
            self.times = MessageOrder() if on else self.clock
            self._due = self._due or self._context is not None

    @property
    def is_outdated(self) -> bool:
        """True if the document has changed since the last update."""
        return self._made_of != self._state() or self.unfinished

    @property
    def working(self) -> bool:
        """True while an update is under way; `update` continues it."""
        return self._work is not None

    @property
    def unfinished(self) -> bool:
        """True during an update, or if the lines must be drawn again after all summaries are counted."""
        return self.working or self._due

    def _state(self) -> tuple[object, ...]:
        analysis = self.document.analysis
        aliases = analysis.transients.aliases  # new aliases make other results collapse
        return self.reader, len(analysis), analysis.tokens.counted, analysis.contexts.tree.version, aliases

    @property
    def counting(self) -> bool:
        """True if summaries are left to count."""
        return self._context is not None and self._context.counting

    def count_further(self) -> bool:
        """Counts summaries for one slice if there is no other work. Returns True if it counted and some are left."""
        context = self._context
        if context is None or not context.counting or self.working:
            return False
        if self._made_of != self._state() and time.perf_counter() >= self._next:
            return False
        return not context.count_summaries(time.perf_counter() + budgets.current.summaries_s)

    def update(self, *, now: bool = False) -> bool:
        """Takes in changes, one slice per call. Returns True if anything differs.

        After a long update it pauses, unless `now`.
        """
        began = time.perf_counter()
        if now or self._work is None:
            rested = began >= self._next
            anew = now or (self._made_of != self._state() and rested)
            if not anew and (not self._due or (self.counting and not rested)):
                return False
            self._work, self._duration_s = self._work_out(anew=anew), 0.0
        done = run_until(self._work, budgets.turn_ends(len(self.document.analysis)))
        now_s = time.perf_counter()
        self._duration_s += now_s - began
        if done:
            self._work = None
            # Limits the share of time spent on this plot while traffic goes on.
            self._next = now_s + _REST_FACTOR * self._duration_s
        return done and self._differs

    def _work_out(self, *, anew: bool) -> SlicedWork[None]:
        self._differs = not anew or (yield from self._take_in()) or (self._due and not self.counting)
        if self._differs:
            yield from self._draw_lines()

    def _take_in(self) -> SlicedWork[bool]:
        """Finds the reader and computes its context in steps. Returns True if anything differs."""
        analysis, before = self.document.analysis, self._context
        self.clock.update(len(analysis))
        self.times.update(len(analysis))
        self.readers = readers(analysis)
        reader = self.reader = self._choices.find(analysis, self.readers)
        made_of = self._state()
        if self._made_of == made_of:
            return False
        same = before is not None and before.reader == reader
        if not same:
            self._context = self._made_of = None
            self._clear()
        yield
        if reader is not None:
            self._context = yield from ModelContext.in_steps(analysis, reader, before=before if same else None)
        self._made_of, self._due = made_of, True
        return True

    def _draw_lines(self) -> SlicedWork[None]:
        context = self._context
        if context is None:
            self._due = False
            self._clear()
            return
        analysis, reader = self.document.analysis, context.reader
        left = not context.count_summaries(time.perf_counter() + budgets.current.summaries_s)
        yield
        growth = yield from growing(context)
        self.clock.update(len(analysis))
        self.times.update(len(analysis))  # messages that came meanwhile may be in the context
        steps = self.times.values[growth.messages]
        self.messages = growth.messages
        # Clocks of senders differ; searchsorted needs ascending times.
        self.steps_ns = np.maximum.accumulate(steps) if len(steps) else steps
        self.lines = np.stack((growth.uncollapsed, growth.seen))
        self.uncounted = growth.uncounted
        yield
        sent = np.bincount(analysis.capture.columns["sender"][context.rows[context.roles == Role.TOOL]])
        by = [int(code) for code in np.argsort(-sent, kind="stable")[:3] if sent[code] and code]
        self.company = [analysis.capture.strings[code] for code in by]
        self.reports = reports_of(analysis, reader, self._statuses)
        self.compactions = compactions(context)
        self._due = left  # set last, because the steps may be interrupted

    # Queries

    def step_at(self, ns: int) -> int:
        """Returns the last step at or before a time, or -1."""
        return int(np.searchsorted(self.steps_ns, ns, side="right")) - 1

    def values_at(self, step: int) -> tuple[int, int]:
        """Returns tokens without collapsing and as the model sees it, after a step."""
        return (0, 0) if step < 0 else (int(self.lines[0, step]), int(self.lines[1, step]))

    def report_at(self, ns: int) -> int | None:
        """Returns the last tokens reported at or before a time."""
        times = self.times.values[self.reports.messages]
        before = np.flatnonzero(times <= ns)
        return int(self.reports.tokens[before[-1]]) if len(before) else None

    def name_of(self, reader: Reader) -> str:
        """Returns the name of a reader; with its space if there are several."""
        name = safe_line(reader.title, _NAME)
        several = len({one.space for one in self.readers}) > 1
        if several and reader.space:
            space = self._titles.session_title(reader.space) or safe_line(self.document.capture.strings[reader.space])
            name = f"{name} in {safe_line(space, _NAME)}"
        return name

    def words_of(self, reader: Reader) -> str:
        """Returns the name of a reader; for the displayed one with the senders of its results."""
        name = self.name_of(reader)
        others = [safe_line(one, _NAME) for one in self.company if one != reader.name]
        if reader != self.reader or not others:
            return name
        more = f" and {formats.count_of(len(others) - 1, 'other')}" if len(others) > 1 else ""
        return f"{name} with {others[0]}{more}"
