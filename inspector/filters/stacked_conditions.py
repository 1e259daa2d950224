"""Combines stacked conditions and the filter bar's text into one display filter.

Counts, presets, exports and `list -Y` only see the combined filter: `FilterStack.combined`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inspector.filters.ast import Comparison, Expression, Membership, Not, Or, Variable, leaves_of
from inspector.filters.errors import FilterError
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.parse import parse
from inspector.filters.plain_words import as_filter
from inspector.filters.strings import quote

MOST_CONDITIONS = 12
"""Limit of stacked conditions: more are hard to survey, and the tally has one bit per condition."""

_OPPOSITE = {"==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Condition:
    """One stacked condition."""

    text: str
    """A valid display filter."""
    on: bool = True
    """The condition is in force."""
    later: bool = False
    """Added after `besides`, so `besides` is no exception to it."""


@dataclass(frozen=True, slots=True)
class FilterStack:
    """The stacked conditions and the filter bar's text; immutable."""

    conditions: tuple[Condition, ...] = ()
    """In order of addition, without duplicates; at most `MOST_CONDITIONS`."""
    text: str = ""
    """Text of the filter bar; always in force."""
    besides: str = ""
    """Filter for messages shown despite the other conditions; "" for no messages."""

    @property
    def combined(self) -> str:
        """All conditions in force as one display filter; a single one as written, else joined by `&&`."""
        return self.with_exception(self.active_filter)

    @property
    def active_filter(self) -> str:
        """The conditions in force without `besides`."""
        return join_filters([*(condition.text for condition in self.conditions if condition.on), self.text])

    def with_exception(self, text: str) -> str:
        """Adds `besides` to a filter; an empty filter hides no messages."""
        if not self.besides or not text.strip():
            return text
        # The exception must not bypass conditions that the user added afterwards.
        later = [condition.text for condition in self.conditions if condition.on and condition.later]
        return f"({_as_filter(text)}) || {join_filters([self.besides, *later])}"

    @property
    def is_full(self) -> bool:
        """Returns True if no condition can be added."""
        return len(self.conditions) >= MOST_CONDITIONS

    def with_text(self, text: str) -> FilterStack:
        """Returns the stack with another text in the bar; a different text ends the exception `besides`."""
        # A new search starts from its own results; a cleared bar keeps the exception.
        ends = bool(text.strip()) and text.strip() != self.text.strip()
        return replace(self, text=text, besides="" if ends else self.besides)

    def with_besides(self, besides: str) -> FilterStack:
        """Returns the stack with an exception to the conditions in force; "" for no exception."""
        conditions = tuple([replace(condition, later=not condition.on) for condition in self.conditions])
        return replace(self, conditions=conditions, besides=besides)

    def without_stale_exception(self) -> FilterStack:
        """Drops `besides` if no condition hides messages any more."""
        return replace(self, besides="") if self.besides and not self.active_filter else self

    def with_only(self, text: str) -> FilterStack:
        """Returns a stack with only this text in force; the conditions stay, switched off."""
        return FilterStack(tuple([replace(condition, on=False) for condition in self.conditions]), text)

    def with_condition(self, text: str) -> FilterStack:
        """Returns the stack with one more condition; a known one is switched on.

        A copy of the bar's text is not added. If the stack is full, the condition joins the bar's text.
        """
        text = text.strip()
        known = [condition.text for condition in self.conditions]
        if text in known:
            place = known.index(text)
            condition = self.conditions[place]
            return (
                self
                if condition.on
                else self._with_replaced(place, replace(condition, on=True, later=bool(self.besides)))
            )
        if not text or text == self.text.strip():
            return self
        # The condition must not be lost, so it joins the text of the bar.
        if self.is_full:
            return self.with_text(join_filters([self.text, text]))
        return replace(self, conditions=(*self.conditions, Condition(text, later=bool(self.besides))))

    def with_text_stacked(self, text: str) -> FilterStack:
        """Returns the stack with the bar's text moved to a condition."""
        moved = replace(self, text="").with_condition(text)
        if text.strip() != self.text.strip():
            return moved
        # It was in force before, so `besides` is an exception to it too.
        conditions = [replace(one, later=False) if one.text == text.strip() else one for one in moved.conditions]
        return replace(moved, conditions=tuple(conditions))

    def with_alternative(self, text: str) -> FilterStack:
        """Returns the stack with `text` joined by `||` to the conditions in force, all in the bar."""
        now = replace(self, besides="").combined
        suspended = tuple([condition for condition in self.conditions if not condition.on])
        return replace(self, conditions=suspended, text=f"({_as_filter(now)}) || {text}" if now else text)

    def with_switched(self, place: int, *, on: bool) -> FilterStack:
        """Returns the stack with one condition switched on or off."""
        return self._with_replaced(place, replace(self.conditions[place], on=on))

    def with_negated(self, place: int) -> FilterStack:
        """Returns the stack with one condition negated."""
        condition = self.conditions[place]
        return self._with_replaced(place, replace(condition, text=negate_filter(condition.text)))

    def without_condition(self, place: int) -> FilterStack:
        return replace(self, conditions=self.conditions[:place] + self.conditions[place + 1 :])

    def _with_replaced(self, place: int, condition: Condition) -> FilterStack:
        others = self.without_condition(place)
        # Two equal conditions would be one line twice, and the second could not be removed alone.
        if condition.text in [other.text for other in others.conditions]:
            return others
        return replace(self, conditions=(*self.conditions[:place], condition, *self.conditions[place + 1 :]))


def join_filters(texts: list[str]) -> str:
    """Joins filters by `&&`; drops empty ones, and keeps a single one as written."""
    texts = [text.strip() for text in texts if text.strip()]
    if len(texts) < 2:
        return "".join(texts)
    return " && ".join([f"({text})" if _binds_looser(text) else text for text in map(_as_filter, texts)])


def _as_filter(text: str) -> str:
    return as_filter(text, FIELD_BY_NAME)


def negate_filter(text: str) -> str:
    """Returns the negated filter in the form a user would write.

    Raises:
        FilterError: the text is not a filter, or is empty.
    """
    expression = parse(_as_filter(text))
    if expression is None:
        raise FilterError("Everything has no opposite.", position=0, length=0)
    if isinstance(expression, Not):
        return str(expression.operand)
    if isinstance(expression, Comparison) and expression.operator in _OPPOSITE:
        return str(replace(expression, operator=_OPPOSITE[expression.operator]))
    return str(Not(expression))


def resolve_variables(text: str, selected_context: str | None) -> str:
    """Replaces `$context` by the selected context's path, so the meaning no longer depends on the selection.

    Raises:
        FilterError: the text is not a filter.
    """
    text = _as_filter(text)
    expression = parse(text)
    # From the end, so that earlier offsets stay valid.
    for value in [] if expression is None or not selected_context else reversed(list(_variables(expression))):
        text = text[: value.position] + quote(selected_context or "") + text[value.position + value.length :]
    return text


def _variables(expression: Expression) -> Iterator[Variable]:
    """Yields the variables in order of the text."""
    for leaf in leaves_of(expression):
        values = (leaf.value,) if isinstance(leaf, Comparison) else leaf.values if isinstance(leaf, Membership) else ()
        yield from (value for value in values if isinstance(value, Variable))


def _binds_looser(text: str) -> bool:
    """Returns True if a filter needs parentheses between `&&`."""
    try:
        return isinstance(parse(text), Or)
    except FilterError:
        # In parentheses an invalid text cannot join the condition beside it.
        return True
