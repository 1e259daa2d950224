"""Conditions that are stacked under the filter bar, and the one display filter they make together with its own text.

Counts, presets, exports and `list -Y` only ever see that one filter: `FilterStack.combined`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inspector.filters.ast import And, Comparison, Expression, Membership, Not, Or, Variable
from inspector.filters.errors import FilterError
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.parse import parse
from inspector.filters.plain_words import as_filter
from inspector.filters.strings import quote

MOST_CONDITIONS = 12
"""So many conditions can be stacked: more nobody can oversee, and what counts them has a bit for each."""

_OPPOSITE = {"==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Condition:
    """One stacked condition."""

    text: str
    """A display filter that compiles."""
    on: bool = True
    """Whether it counts."""
    later: bool = False
    """It came after what is shown as well, which therefore is no exception to it."""


@dataclass(frozen=True, slots=True)
class FilterStack:
    """Conditions and the filter bar's own text, which is one more that always counts; never changes."""

    conditions: tuple[Condition, ...] = ()
    """In the order they were added, each text once; at most `MOST_CONDITIONS`."""
    text: str = ""
    """The filter bar's own."""
    besides: str = ""
    """What is shown as well, whatever the others hide; "" for nothing."""

    @property
    def combined(self) -> str:
        """All that counts as one display filter: as written where it is one alone, else joined by `&&`."""
        return self.eased(self.chosen)

    @property
    def chosen(self) -> str:
        """What was chosen: all that counts, without what is shown as well."""
        return joined([*(condition.text for condition in self.conditions if condition.on), self.text])

    def eased(self, text: str) -> str:
        """A filter with what is shown as well; an empty one hides nothing."""
        if not self.besides or not text.strip():
            return text
        later = [condition.text for condition in self.conditions if condition.on and condition.later]
        return f"({_as_filter(text)}) || {joined([self.besides, *later])}"

    @property
    def is_full(self) -> bool:
        """Whether no condition can be added."""
        return len(self.conditions) >= MOST_CONDITIONS

    def with_text(self, text: str) -> FilterStack:
        """With another text in the bar; to one that says something else nobody has made an exception."""
        ends = bool(text.strip()) and text.strip() != self.text.strip()
        return replace(self, text=text, besides="" if ends else self.besides)

    def showing(self, besides: str) -> FilterStack:
        """With this shown as well, whatever is hidden by what counts now; "" for nothing."""
        conditions = tuple([replace(condition, later=not condition.on) for condition in self.conditions])
        return replace(self, conditions=conditions, besides=besides)

    def settled(self) -> FilterStack:
        """Without what is shown as well where nothing is hidden any more: it was an exception to that."""
        return replace(self, besides="") if self.besides and not self.chosen else self

    def alone(self, text: str) -> FilterStack:
        """With this text alone in force: the conditions stay, switched off."""
        return FilterStack(tuple([replace(condition, on=False) for condition in self.conditions]), text)

    def added(self, text: str) -> FilterStack:
        """With one more condition; one that is there already is switched on, and what is in the bar is not doubled.

        Where no more can be stacked, it joins the bar's text.
        """
        text = text.strip()
        known = [condition.text for condition in self.conditions]
        if text in known:
            place = known.index(text)
            condition = self.conditions[place]
            return self if condition.on else self._with(place, replace(condition, on=True, later=bool(self.besides)))
        if not text or text == self.text.strip():
            return self
        if self.is_full:
            return self.with_text(joined([self.text, text]))
        return replace(self, conditions=(*self.conditions, Condition(text, later=bool(self.besides))))

    def stacked(self, text: str) -> FilterStack:
        """With what is written in the bar as one more condition, and the bar empty."""
        moved = replace(self, text="").added(text)
        if text.strip() != self.text.strip():
            return moved
        # It counted before, so that what is shown as well is an exception to it, too.
        conditions = [replace(one, later=False) if one.text == text.strip() else one for one in moved.conditions]
        return replace(moved, conditions=tuple(conditions))

    def widened(self, text: str) -> FilterStack:
        """With what a filter lets through shown as well: what counts now becomes the bar's text, `||` the filter."""
        now = replace(self, besides="").combined
        suspended = tuple([condition for condition in self.conditions if not condition.on])
        return replace(self, conditions=suspended, text=f"({_as_filter(now)}) || {text}" if now else text)

    def switched(self, place: int, *, on: bool) -> FilterStack:
        """With one condition switched on or off."""
        return self._with(place, replace(self.conditions[place], on=on))

    def negated(self, place: int) -> FilterStack:
        """With the opposite of one condition in its place."""
        condition = self.conditions[place]
        return self._with(place, replace(condition, text=opposite(condition.text)))

    def removed(self, place: int) -> FilterStack:
        """Without one condition."""
        return replace(self, conditions=self.conditions[:place] + self.conditions[place + 1 :])

    def _with(self, place: int, condition: Condition) -> FilterStack:
        others = self.removed(place)
        if condition.text in [other.text for other in others.conditions]:
            return others
        return replace(self, conditions=(*self.conditions[:place], condition, *self.conditions[place + 1 :]))


def joined(texts: list[str]) -> str:
    """Filters that must all hold, as one; empty ones say nothing, and one alone stays as it is written."""
    texts = [text.strip() for text in texts if text.strip()]
    if len(texts) < 2:
        return "".join(texts)
    return " && ".join([f"({text})" if _binds_looser(text) else text for text in map(_as_filter, texts)])


def _as_filter(text: str) -> str:
    return as_filter(text, FIELD_BY_NAME)


def opposite(text: str) -> str:
    """The filter that shows what another hides, as somebody would write it.

    Raises:
        FilterError: the text is no filter, or is empty.
    """
    expression = parse(_as_filter(text))
    if expression is None:
        raise FilterError("Everything has no opposite.", position=0, length=0)
    if isinstance(expression, Not):
        return str(expression.operand)
    if isinstance(expression, Comparison) and expression.operator in _OPPOSITE:
        return str(replace(expression, operator=_OPPOSITE[expression.operator]))
    return str(Not(expression))


def resolved(text: str, selected_context: str | None) -> str:
    """The filter with the selected context's path written out for `$context`, so that it means the same for ever.

    Raises:
        FilterError: the text is no filter.
    """
    text = _as_filter(text)
    expression = parse(text)
    found = [] if expression is None or not selected_context else sorted(_variables(expression), reverse=True)
    for start, stop in found:
        text = text[:start] + quote(selected_context or "") + text[stop:]
    return text


def _variables(expression: Expression) -> Iterator[tuple[int, int]]:
    """Where variables stand."""
    if isinstance(expression, And | Or):
        for operand in expression.operands:
            yield from _variables(operand)
    elif isinstance(expression, Not):
        yield from _variables(expression.operand)
    elif isinstance(expression, Comparison | Membership):
        values = (expression.value,) if isinstance(expression, Comparison) else expression.values
        for value in values:
            if isinstance(value, Variable):
                yield value.position, value.position + value.length


def _binds_looser(text: str) -> bool:
    """Whether a filter must be put in parentheses between `&&`."""
    try:
        return isinstance(parse(text), Or)
    except FilterError:
        return True
