"""What is looked at: whose context, at which message, compared with which; and the rows that follow from it. No Qt.

A context is worked out for the whole capture (`model_context`), so that moving from message to message costs next to
nothing; it is worked out anew when something has changed.
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
from inspector.base.slices import Steps, finished, go_on
from inspector.document.document import CaptureDocument
from inspector.ui import budgets
from inspector.ui.panels.list_view import Key
from inspector.ui.panels.plot_choices import PlotChoices

Places = NDArray[np.int64]

_NONE: Places = np.empty(0, np.int64)
_MESSAGE = ""


class ContextState:
    """The state of the view.

    Attributes:
        readers: who may have a model; as of the last `update`.
        reader: whose context is shown; as of the last `update`.
        options: what is assumed of its client.
        at: the message the context is looked at; None for the end of the capture.
        compared: the message it is compared with; None when it is not.
        with_out: list what is not in the context, too.
        changes_only: while comparing, list only what changed.
        by_size: list the largest entries first, else the oldest.
        moment: what stands in the context at the message looked at; None where there is no reader.
        change: what changed between that moment and the one compared with, the earlier of the two first; None where
            nothing is compared.
        cost_s: how long the last working out took.
    """

    def __init__(self, document: CaptureDocument, choices: PlotChoices) -> None:
        self._document = document
        self._choices = choices
        self.readers: list[Reader] = []
        self.reader: Reader | None = None
        self.options = Options()
        self.at: int | None = None
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
        self._spoilt = True
        self._work: Steps[None] | None = None
        self._wanted: object = None

    def spoil(self) -> None:
        """Something of the capture has changed, say tokens were counted: work it out anew next time."""
        self._spoilt = True

    @property
    def spoilt(self) -> bool:
        """Whether something has changed since the last working out began."""
        return self._spoilt

    @property
    def last(self) -> int:
        """The message at the end of the capture, as of the last `update`; -1 when there is none."""
        return self._end - 1

    @property
    def message(self) -> int:
        """The message the context is looked at."""
        return self.last if self.at is None else min(self.at, self.last)

    def choose_for(self, message: int) -> None:
        """Look at a message in the context it fits best."""
        self.at = message
        found = reader_of(self._document.analysis, message)
        if found is not None:
            self._choices.choose(found)

    def assume(self, **options: bool) -> None:
        """Assume something else of the client."""
        self.options = replace(self.options, **options)

    # Working out

    def update(self) -> bool:
        """Work out what is to be shown. O(messages) in numpy where the capture or whose context has changed.

        Returns:
            Whether it is done; of a large capture it goes on with the next call.
        """
        choices = self._choices
        wanted = choices.chosen, choices.followed, choices.held, self.options
        if self._work is None or self._wanted != wanted:
            self._work, self._wanted, self.cost_s = self._work_out(), wanted, 0.0
        began = time.perf_counter()
        done = go_on(self._work, budgets.turn_ends(len(self._document.analysis)))
        self.cost_s += time.perf_counter() - began
        if done:
            self._work = None
        return done

    def _work_out(self) -> Steps[None]:
        analysis = self._document.analysis
        if self._spoilt or self._end != len(analysis):
            self._end, self._made_of, self._spoilt = len(analysis), None, False
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
        yield from self._looking()

    def count_further(self) -> bool:
        """Count summaries for a while; whether something came of it. Figures are to be made anew then."""
        if self._context is None or not self._context.counting:
            return False
        if self._context.count_summaries(time.perf_counter() + budgets.current.summaries_s):
            finished(self._looking())
        return True

    def _looking(self) -> Steps[None]:
        context = self._context
        if context is None:
            self.moment = self.change = None
            self.rows = EntryRows()
            return
        message, other = asked = self.message, self.compared
        moment = self.moment = context.at(message)
        self.change = None
        if other is not None and other != message:
            compared = context.at(min(other, self.last))
            self.change = difference(*sorted((moment, compared), key=lambda one: one.message))
            moment = self.change.later
        yield
        if asked != (self.message, self.compared):  # meanwhile
            yield from self._looking()
            return
        self.rows = EntryRows(moment, self._listed(moment), self.change, by_size=self.by_size)

    def _listed(self, moment: Moment) -> Places:
        if self.change is None:
            return np.arange(len(moment.included)) if self.with_out else np.flatnonzero(moment.included)
        listed = np.zeros(len(moment.included), np.bool_) if self.changes_only else moment.included.copy()
        for places in (self.change.came, self.change.went, self.change.collapsed):
            listed[places] = True
        return np.flatnonzero(listed)

    # Asking

    def request_before(self) -> int | None:
        """The last message of what was sent to the model before the moment's request; None where nothing was."""
        request = request_at(self.moment) if self.moment is not None else None
        return None if request is None or request.before is None else request.before.last

    @property
    def counting(self) -> bool:
        """Whether figures are not all there yet."""
        moment = self.moment
        if moment is None:
            return False
        return moment.context.counting or (not self._document.analysis.tokens.done and moment.uncounted > 0)

    def step(self, direction: int) -> int | None:
        """The next (1) or previous (-1) message that changes the context; None where there is none."""
        context = self._context
        if context is None:
            return None
        if self._steps is None or self._steps[0] is not context:
            self._steps = context, changing(context)
        messages, here = self._steps[1], self.message
        place = int(np.searchsorted(messages, here, side="right" if direction > 0 else "left"))
        place -= direction < 0
        return int(messages[place]) if 0 <= place < len(messages) else None


class EntryRows:
    """Which entries are listed: arrays, no object for each.

    Attributes:
        moment: whose entries.
        change: what changed since an earlier moment, while two are compared.
        by_size: the largest come first; else they stand in the order of the context, or of time.
        places: (n,) int64, into the context's arrays.
        messages: (n,) int64, message indices.
        last: the greatest of them; -1 when there is none.
        most: tokens of the largest entry listed; while two moments are compared, of what changed most.
        not_cached_from: the place from which on what was sent last could not be read from a prompt cache; None.
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
        """What names a row."""
        return key_of(int(self.messages[row]))

    def row_of(self, key: Key) -> int:
        """The row of a key; -1 when it is not listed."""
        row = int(np.searchsorted(self._ascending, key[1]))
        if row >= len(self._ascending) or self._ascending[row] != key[1]:
            return -1
        return int(np.flatnonzero(self._order == row)[0]) if len(self._order) else row

    def mark(self, row: int) -> str:
        """What became of an entry since the moment compared with: came, went, collapsed; "" for nothing."""
        change, place = self.change, self.places[row]
        if change is None:
            return ""
        for name, places in (("came", change.came), ("went", change.went), ("collapsed", change.collapsed)):
            found = int(np.searchsorted(places, place))
            if found < len(places) and places[found] == place:
                return name
        return ""


def key_of(message: int) -> Key:
    """What names the row of a message."""
    return _MESSAGE, message
