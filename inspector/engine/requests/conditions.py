"""Messages that each stacked condition of a table hides."""

from __future__ import annotations

import msgspec

from inspector.engine.kept_tally import KeptTally
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, Steps
from inspector.filters import DisplayFilter
from inspector.filters.field import Depends
from inspector.filters.scope import Scope
from inspector.filters.stacked_conditions import FilterStack
from inspector.filters.tally import ConditionTally


class HiddenCounts(msgspec.Struct, frozen=True):
    """Messages that only one condition hides, or would hide if it were on.

    Attributes:
        counts: their number, per condition.
        follows_clock: counts change without traffic.
    """

    counts: tuple[int, ...]
    follows_clock: bool


class CountHidden(Request[HiddenCounts], frozen=True):
    """Counts the messages that each condition hides.

    Attributes:
        view: number of the view.
        stack, scope: the filter and the scope of the table.
        selected_context: the path of `$context`.
    """

    view: int
    stack: FilterStack
    scope: Scope | None
    selected_context: str | None


class _Counting(KeptTally[ConditionTally]):
    """Counts kept between requests."""

    def __init__(self, held: OpenDocument, view: int) -> None:
        super().__init__(held, ConditionTally(held.view(view).rows))
        self._compiled: dict[tuple[str, str | None], DisplayFilter] = {}

    def set_conditions(self, asked: CountHidden) -> None:
        """Counts these conditions from now on; known filters are not evaluated again."""
        self.follow_document()
        # Each condition is combined with the exception, so that together they match like one filter.
        stack, before = asked.stack, self._compiled
        keys = [
            (stack.with_exception(text), asked.selected_context if "$" in text else None)
            for text in (stack.text, *(condition.text for condition in stack.conditions))
        ]
        self._compiled = {key: before.get(key) or self.compiled(*key) for key in keys}
        own, *filters = (self._compiled[key] for key in keys)
        conditions = [(one, condition.on) for one, condition in zip(filters, stack.conditions, strict=True)]
        self.tally.set_conditions(conditions, own, asked.scope)

    @property
    def follows_clock(self) -> bool:
        """True if counts change without traffic."""
        return any(Depends.CLOCK in one.depends for one in self._compiled.values())


def _count(held: OpenDocument, asked: CountHidden) -> Steps[HiddenCounts]:
    counting = held.kept((_Counting, asked.view), lambda: _Counting(held, asked.view))
    counting.set_conditions(asked)
    tally = counting.tally
    while not tally.step():
        yield
    return HiddenCounts(tuple(count or 0 for count in tally.hidden), counting.follows_clock)


QUERIES = (Query(CountHidden, HiddenCounts, _count),)
