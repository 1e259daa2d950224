"""State of the panel Model sees: reader, message, comparison, and the resulting rows. No Qt.

The context is computed for the whole capture (`model_context`), so that moving between messages costs almost no time. A
change of the capture computes it again.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.model_context import ModelContext, Moment, Options, Reader, reader_of, readers
from inspector.analysis.views.model_context.difference import Difference, difference
from inspector.analysis.views.model_context.growth import changing
from inspector.analysis.views.model_context.request_change import request_at
from inspector.base.slices import SlicedWork, run_to_end, run_until
from inspector.document.document import CaptureDocument
from inspector.ui import budgets
from inspector.ui.panels.list_view import Key
from inspector.ui.panels.plot_choices import PlotChoices

Places = NDArray[np.int64]

_NONE: Places = np.empty(0, np.int64)
_MESSAGE = ""


class ContextState:
    """State of the panel.

    Attributes:
        readers: participants that may have a model, at the last `update`.
        reader: the participant shown, at the last `update`.
        options: assumptions about its client.
        moment_message: message of the moment; None for the end of the capture.
        compared: message of the compared moment; None without a comparison.
        with_out: also list entries outside of the context.
        changes_only: list only changes during a comparison.
        by_size: list the largest entries first, else the oldest.
        moment: the context at `moment_message`; None without a reader.
        change: difference of the two moments, from the earlier one; None without a comparison.
        cost_s: duration of the last computation, seconds.
    """

    def __init__(self, document: CaptureDocument, choices: PlotChoices) -> None:
        self._document = document
        self._choices = choices
        self.readers: list[Reader] = []
        self.reader: Reader | None = None
        self.options = Options()
        self.moment_message: int | None = None
        self.compared: int | None = None
        self.with_out = False
        self.changes_only = True
        self.by_size = False
        self.moment: Moment | None = None
        self.change: Difference | None = None
        self.rows = EntryRows()
        self.cost_s = 0.0
        self._context: ModelContext | None = None
        self._steps: tuple[ModelContext, Places] | None = None
        self._made_of: object = None
        self._end = 0
        self._is_outdated = True
        self._work: SlicedWork[None] | None = None
        self._wanted: object = None

    def spoil(self) -> None:
        """Marks the result as outdated after a change of the capture, such as new token counts."""
        self._is_outdated = True

    @property
    def spoilt(self) -> bool:
        """True if the capture changed after the last computation began."""
        return self._is_outdated

    @property
    def last(self) -> int:
        """Last message of the capture at the last `update`; -1 for an empty one."""
        return self._end - 1

    @property
    def message(self) -> int:
        """Message of the moment."""
        return self.last if self.moment_message is None else min(self.moment_message, self.last)

    def choose_for(self, message: int) -> None:
        """Selects a message and its most likely reader."""
        self.moment_message = message
        found = reader_of(self._document.analysis, message)
        if found is not None:
            self._choices.choose(found)

    def assume(self, **options: bool) -> None:
        """Changes assumptions about the client."""
        self.options = replace(self.options, **options)

    # Computation

    def update(self) -> bool:
        """Computes the rows. O(messages) in numpy after a change of capture or reader.

        Returns:
            True if complete; a large capture continues at the next call.
        """
        choices = self._choices
        wanted = choices.chosen, choices.followed, choices.is_held, self.options
        # Other choices make the work in progress useless.
        if self._work is None or self._wanted != wanted:
            self._work, self._wanted, self.cost_s = self._work_out(), wanted, 0.0
        began = time.perf_counter()
        done = run_until(self._work, budgets.turn_ends(len(self._document.analysis)))
        self.cost_s += time.perf_counter() - began
        if done:
            self._work = None
        return done

    def _work_out(self) -> SlicedWork[None]:
        analysis = self._document.analysis
        if self._is_outdated or self._end != len(analysis):
            self._end, self._made_of, self._is_outdated = len(analysis), None, False
            self.readers = readers(analysis)
            yield
        reader = self.reader = self._choices.find(analysis, self.readers)
        if self._made_of != (reader, self.options):
            before, made_of = self._context, (reader, self.options)
            same = before is not None and before.reader == reader
            context = None
            if reader is not None:
                context = yield from ModelContext.in_steps(analysis, reader, self.options, before if same else None)
            self._context, self._made_of = context, made_of
        if self._context is not None:
            self._context.count_summaries(time.perf_counter() + budgets.current.summaries_s)
        yield
        yield from self._compute_moment()

    def count_further(self) -> bool:
        """Counts summaries for a while; returns True if the figures changed."""
        if self._context is None or not self._context.counting:
            return False
        if self._context.count_summaries(time.perf_counter() + budgets.current.summaries_s):
            run_to_end(self._compute_moment())
        return True

    def _compute_moment(self) -> SlicedWork[None]:
        context = self._context
        if context is None:
            self.moment = self.change = None
            self.rows = EntryRows()
            return
        message, other = asked = self.message, self.compared
        moment = self.moment = context.moment_at(message)
        self.change = None
        if other is not None and other != message:
            compared = context.moment_at(min(other, self.last))
            self.change = difference(*sorted((moment, compared), key=lambda one: one.message))
            moment = self.change.later
        yield
        # The choice changed meanwhile.
        if asked != (self.message, self.compared):
            yield from self._compute_moment()
            return
        self.rows = EntryRows(moment, self._listed_places(moment), self.change, by_size=self.by_size)

    def _listed_places(self, moment: Moment) -> Places:
        if self.change is None:
            return np.arange(len(moment.included)) if self.with_out else np.flatnonzero(moment.included)
        listed = np.zeros(len(moment.included), np.bool_) if self.changes_only else moment.included.copy()
        for places in (self.change.came, self.change.went, self.change.collapsed):
            listed[places] = True
        return np.flatnonzero(listed)

    # Queries

    def request_before(self) -> int | None:
        """Returns the last message of the previous model request; None without one."""
        request = request_at(self.moment) if self.moment is not None else None
        return None if request is None or request.before is None else request.before.last

    @property
    def counting(self) -> bool:
        """True while token counts are incomplete."""
        moment = self.moment
        if moment is None:
            return False
        return moment.context.counting or (not self._document.analysis.tokens.done and moment.uncounted > 0)

    def step(self, direction: int) -> int | None:
        """Returns the next (1) or previous (-1) message that changes the context; None without one."""
        context = self._context
        if context is None:
            return None
        # Computed once per context; a step is a binary search then.
        if self._steps is None or self._steps[0] is not context:
            self._steps = context, changing(context)
        messages, here = self._steps[1], self.message
        place = int(np.searchsorted(messages, here, side="right" if direction > 0 else "left"))
        # Left of the insertion point is the previous message.
        place -= direction < 0
        return int(messages[place]) if 0 <= place < len(messages) else None


class EntryRows:
    """Listed entries as arrays, without an object for each.

    Attributes:
        moment: the context of the entries.
        change: difference from an earlier moment, during a comparison.
        by_size: largest first; else in the order of context or time.
        places: (n,) int64, into the context's arrays.
        messages: (n,) int64, message indices.
        last: greatest message index; -1 for no entry.
        most: tokens of the largest entry; during a comparison, of the largest change.
        not_cached_from: place of the first entry of the last request outside of the prompt cache; None.
    """

    def __init__(
        self, moment: Moment | None = None, places: Places = _NONE, change: Difference | None = None, *,
        by_size: bool = False,
    ) -> None:  # fmt: skip
        self.moment, self.change, self.by_size = moment, change, by_size
        self.places, self.messages = places, _NONE
        self.most, self.last = 0, -1
        self.not_cached_from: int | None = None
        self._ascending, self._order = _NONE, _NONE
        if moment is None or not len(places):
            return
        sizes = np.abs(change.by_entry if change is not None else moment.tokens)[places]
        self.most = int(sizes.max())
        self._ascending = moment.context.rows[places]
        self.last = int(self._ascending[-1])
        if by_size:
            # Stable, so that entries of equal size stay in the order of messages.
            self._order = np.argsort(-sizes, kind="stable")
        elif change is None and moment.request is not None:
            self._order = np.searchsorted(places, moment.in_order(places))
        if len(self._order):
            self.places = places[self._order]
        self.messages = moment.context.rows[self.places]
        request = request_at(moment)
        self.not_cached_from = None if request is None else request.not_cached_from

    def __len__(self) -> int:
        return len(self.places)

    def key_at(self, row: int) -> Key:
        return key_of(int(self.messages[row]))

    def row_of(self, key: Key) -> int:
        """Returns the row of a key; -1 if it is not listed."""
        row = int(np.searchsorted(self._ascending, key[1]))
        if row >= len(self._ascending) or self._ascending[row] != key[1]:
            return -1
        return int(np.flatnonzero(self._order == row)[0]) if len(self._order) else row

    def mark(self, row: int) -> str:
        """Returns an entry's change in a comparison: came, went, collapsed; "" for unchanged."""
        change, place = self.change, self.places[row]
        if change is None:
            return ""
        for name, places in (("came", change.came), ("went", change.went), ("collapsed", change.collapsed)):
            found = int(np.searchsorted(places, place))
            if found < len(places) and places[found] == place:
                return name
        return ""


def key_of(message: int) -> Key:
    """Returns the key of a message's row."""
    return _MESSAGE, message
