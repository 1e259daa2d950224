"""Facets: the values that a few fields have among the messages shown, each with how many have it.

A facet counts what is shown without the conditions on its own field, so that another of its values can be chosen. It is
chosen and excluded by stacked conditions, as anybody would write them: `kind == "chat"`, `kind in {"chat", "a"}`,
`kind != "chat"`. Nothing is done but in `step`, which is given a time; what comes and changes costs what is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis, Changes
from inspector.analysis.states.state_pass import STATES
from inspector.filters.ast import Comparison, Expression, Membership, StringValue
from inspector.filters.cache import Answers
from inspector.filters.compile import DisplayFilter
from inspector.filters.errors import FilterError
from inspector.filters.field import Depends
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.parse import parse
from inspector.filters.stacked_conditions import Condition, FilterStack
from inspector.filters.strings import quote
from inspector.filters.visible import Scope, VisibleRows
from inspector.store.columns.columns import GrowingColumns

FACETS = ("kind", "from", "tool", "state", "context.type")
"""Fields, in the order they are shown."""
_STEP = 1 << 14
_MANY = 50_000
"""More changed messages than this are all counted again."""
_DENSE = 1 << 16
_CHANGING = ("tool", "state")
"""Those that a later message may change; how a message counted is noted."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet.

    Attributes:
        count: messages that have it.
        chosen: messages with it are shown, those with others are not.
        excluded: messages with it are not shown.
    """

    value: str
    count: int
    chosen: bool = False
    excluded: bool = False


# What is chosen


@dataclass(frozen=True, slots=True)
class Choice:
    """What the conditions in force choose and exclude of one field.

    Attributes:
        places: of these conditions in the stack.
    """

    chosen: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


def choice_of(stack: FilterStack, field: str) -> Choice:
    """What is chosen and excluded of a field by stacked conditions that are on and speak of nothing else."""
    chosen, excluded, places = list[str](), list[str](), list[int]()
    for place, condition in enumerate(stack.conditions):
        found = _values(condition, field) if condition.on else None
        if found is not None:
            values, is_chosen = found
            (chosen if is_chosen else excluded).extend(values)
            places.append(place)
    return Choice(tuple(chosen), tuple(excluded), tuple(places))


def _values(condition: Condition, field: str) -> tuple[list[str], bool] | None:
    """The values a condition on a field names, and whether it chooses them; None for any other condition."""
    try:
        expression: Expression | None = parse(condition.text)
    except FilterError:
        return None
    if not isinstance(expression, Comparison | Membership) or str(expression.field) != field:
        return None
    values = expression.values if isinstance(expression, Membership) else (expression.value,)
    texts = [value.value for value in values if isinstance(value, StringValue)]
    if len(texts) < len(values):
        return None
    if isinstance(expression, Membership) or expression.operator == "==":
        return texts, True
    return (texts, False) if expression.operator == "!=" else None


def chosen_with(stack: FilterStack, field: str, value: str) -> FilterStack:
    """The stack with a value of a field chosen as well, or no longer; one that is excluded is so no longer."""
    choice = choice_of(stack, field)
    if value in choice.excluded:
        return _without(stack, field, value)
    if value in choice.chosen:
        return _with_chosen(stack, field, choice, tuple(one for one in choice.chosen if one != value))
    return _with_chosen(stack, field, choice, (*choice.chosen, value))


def excluded_with(stack: FilterStack, field: str, value: str) -> FilterStack:
    """The stack with a value of a field excluded, or no longer; one that is chosen is no longer chosen."""
    choice = choice_of(stack, field)
    if value in choice.excluded:
        return _without(stack, field, value)
    if value in choice.chosen:
        return _with_chosen(stack, field, choice, tuple(one for one in choice.chosen if one != value))
    return stack.added(f"{field} != {quote(value)}")


def _without(stack: FilterStack, field: str, value: str) -> FilterStack:
    """Without the condition that excludes a value."""
    for place, condition in enumerate(stack.conditions):
        if condition.on and _values(condition, field) == ([value], False):
            return stack.removed(place)
    return stack


def _with_chosen(stack: FilterStack, field: str, choice: Choice, values: tuple[str, ...]) -> FilterStack:
    """With these values chosen, by one condition in the place of those that chose before."""
    choosing = [place for place in choice.places if (_values(stack.conditions[place], field) or ((), False))[1]]
    text = ""
    if values:
        text = (
            f"{field} == {quote(values[0])}" if len(values) == 1 else f"{field} in {{{', '.join(map(quote, values))}}}"
        )
    for place in reversed(choosing[1:] if text else choosing):
        stack = stack.removed(place)
    if not text:
        return stack
    if not choosing:
        return stack.added(text)
    place = choosing[0]
    conditions = (*stack.conditions[:place], Condition(text), *stack.conditions[place + 1 :])
    return replace(stack, conditions=conditions)


# What is counted


class _Base:
    """Messages that some facets are counted among, and the counts."""

    def __init__(self, rows: VisibleRows, facets: tuple[str, ...], filter_: DisplayFilter | None, scope: Scope | None):
        self._rows = rows
        self._analysis: Analysis = rows.analysis
        self.facets = facets
        self.filter = filter_  # None for what is shown
        self.scope = scope
        self.restart()

    def restart(self) -> None:
        self._answers = Answers()
        self._done = 0  # messages looked at; of what is shown, places in it
        self._shown = (self._rows.replaced, self._rows.filter, self._rows.scope)
        self._columns = GrowingColumns({"row": np.uint32, **dict.fromkeys(_CHANGING, np.uint32)})
        self._counts: dict[str, NDArray[np.int64]] = {name: np.zeros(0, np.int64) for name in self.facets}

    @property
    def is_stale(self) -> bool:
        """Whether other messages are shown than those counted, and new ones."""
        return self.filter is None and self._shown != (self._rows.replaced, self._rows.filter, self._rows.scope)

    @property
    def behind(self) -> bool:
        """Whether messages wait to be counted."""
        return self.is_stale or self._done < (len(self._rows.visible) if self.filter is None else len(self._analysis))

    def depends(self, on: Depends) -> bool:
        """Whether something may change which messages these are; of what is shown the rows tell."""
        return self.filter is not None and (
            on in self.filter.depends or (on is Depends.TREE and self.scope is not None)
        )

    def step(self, until: float) -> None:
        """Count some more messages."""
        if self.is_stale:
            self.restart()
        if self.filter is None:
            taken = self._rows.visible[self._done : self._done + _STEP].astype(np.int64)
            self._done += len(taken)
        else:
            start = self._done
            stop = min(len(self._analysis), start + _STEP)
            stop = self._rows.settle(self.filter, self.scope, start, stop, self._answers, until)
            taken = self._rows.run(self.filter, self.scope, start, stop, self._answers).astype(np.int64)
            self._done = stop
        if len(taken):
            found = {name: self._codes(name, taken) for name in self.facets}
            self._columns.append({"row": taken, **{name: found.get(name, 0) for name in _CHANGING}}, len(taken))
            for name, codes in found.items():
                self._add(name, codes, 1)

    def look_again(self, rows: NDArray[np.int64]) -> None:
        """Count messages that changed by what they are now; those that are not among these are left out."""
        known = self._columns["row"]
        places = np.searchsorted(known, rows)
        places = places[places < len(known)]
        places = places[np.isin(known[places], rows)]
        if not len(places):
            return
        counted = known[places].astype(np.int64)
        for name in self.facets:
            if name in _CHANGING:
                now = self._codes(name, counted)
                before = self._columns[name][places].astype(np.int64)
                other = now != before
                if other.any():
                    self._add(name, before[other], -1)
                    self._add(name, now[other], 1)
                    self._columns.put(name, places[other], now[other])

    def _codes(self, name: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for the value of each of some messages; 0 for none. Of the type of a context, one of the context."""
        analysis = self._analysis
        columns = analysis.capture.columns
        if name == "context.type":
            return analysis.contexts.refs_of(rows).astype(np.int64)
        if name == "state":
            return analysis.states.at(rows).astype(np.int64)
        if name == "tool":
            links = analysis.correlation.columns
            call = analysis.capture.strings.find("tools/call") or -1
            return np.where(links["method"][rows] == call, links["target"][rows], 0).astype(np.int64)
        return columns["sender" if name == "from" else "kind"][rows].astype(np.int64)

    def _add(self, name: str, codes: NDArray[np.int64], by: int) -> None:
        counts = self._counts[name]
        most = int(codes.max(initial=0)) + 1
        if most > len(counts):
            counts = self._counts[name] = np.pad(counts, (0, max(most, 3 * len(counts) // 2) - len(counts)))
        if most <= _DENSE:
            counts[:most] += by * np.bincount(codes, minlength=most)
        else:
            np.add.at(counts, codes, by)

    def values(self, name: str) -> dict[str, int]:
        """Values with how many messages have each; the most frequent first."""
        counts = self._counts[name]
        codes = np.flatnonzero(counts)
        strings: Sequence[str] = self._analysis.capture.strings
        if name == "context.type":
            types = self._analysis.contexts.types_of_refs(codes)
            counts = np.bincount(types, weights=counts[codes]).astype(np.int64) if len(codes) else counts
            codes, strings = np.flatnonzero(counts), self._analysis.contexts.type_names
        elif name == "state":
            strings = STATES
        codes = codes[codes != 0]
        order = codes[np.lexsort((codes, -counts[codes]))]
        return {strings[code]: int(counts[code]) for code in order.tolist()}


class FacetTally:
    """Counts the facets of one table, in steps.

    Args:
        rows: the messages the table shows.
    """

    def __init__(self, rows: VisibleRows) -> None:
        self._rows = rows
        self._stack = FilterStack()
        self._bases: dict[str, _Base] = {"": _Base(rows, FACETS, None, None)}
        self._changed: list[NDArray[np.int64]] = []
        self._waiting = 0

    def ask(self, stack: FilterStack, scope: Scope | None, compile_: Callable[[str], DisplayFilter]) -> None:
        """Count for another filter or scope from now on; the rows show what it lets through, or will.

        Args:
            stack: what the filter is made of.
            scope: the part of the tree that matters.
            compile_: compiles a display filter.
        """
        self._stack = stack
        wanted: dict[str, list[str]] = {"": []}
        for name in FACETS:
            choice = choice_of(stack, name)
            text = ""
            if choice.places:
                others = tuple(one for place, one in enumerate(stack.conditions) if place not in choice.places)
                text = f" {replace(stack, conditions=others).combined}"
            wanted.setdefault(text, []).append(name)
        before, self._bases = self._bases, {}
        for text, names in wanted.items():
            known = before.get(text)
            facets = tuple(names)
            if known is not None and known.facets == facets and known.scope == (scope if text else None):
                self._bases[text] = known
            else:
                compiled = compile_(text.strip()) if text else None
                self._bases[text] = _Base(self._rows, facets, compiled, scope if text else None)

    # What happens

    def take_in(self, changes: Changes) -> None:
        """Traffic has come; costs nothing until the next step."""
        if changes.tree_moved:
            self._forget(Depends.TREE)
        if len(changes.changed):
            self._forget(Depends.PASS)
            self._changed.append(changes.changed)
            self._waiting += len(changes.changed)
            if self._waiting > _MANY:
                self._changed, self._waiting = [], 0
                for base in self._bases.values():
                    base.restart()

    def tick(self) -> None:
        """Time has passed while traffic is live."""
        self._forget(Depends.CLOCK)

    def _forget(self, on: Depends) -> None:
        for base in self._bases.values():
            if base.depends(on):
                base.restart()

    @property
    def behind(self) -> bool:
        """Whether something waits to be counted."""
        return bool(self._changed) or any(base.behind for base in self._bases.values())

    def step(self, until: float) -> bool:
        """Go on until a time (`time.perf_counter`); whether all is counted. Something is done however late it is."""
        if self._changed:
            rows = np.unique(np.concatenate(self._changed)).astype(np.int64)
            self._changed, self._waiting = [], 0
            for base in self._bases.values():
                base.look_again(rows)
        for base in self._bases.values():
            while base.behind:
                base.step(until)
                if time.perf_counter() >= until:
                    return not self.behind
        return not self.behind

    def values(self, name: str, most: int) -> tuple[list[FacetValue], int]:
        """The values of a facet, the most frequent first, and how many more there are.

        What is chosen or excluded is always among them.

        Args:
            name: the field.
            most: so many values at most, and those that are chosen or excluded.
        """
        base = next(base for base in self._bases.values() if name in base.facets)
        counts, choice = base.values(name), choice_of(self._stack, name)
        named = (*choice.chosen, *choice.excluded)
        shown = [*list(counts)[:most], *(value for value in dict.fromkeys(named) if value not in list(counts)[:most])]
        found = [
            FacetValue(value, counts.get(value, 0), value in choice.chosen, value in choice.excluded) for value in shown
        ]
        return found, max(0, len(counts.keys() - set(shown)))


def label_of(name: str) -> str:
    """What a facet is called."""
    return FIELD_BY_NAME[name].label
