"""Facets: counts values of a few fields among shown messages; builds filters from chosen values.

A facet ignores conditions on its own field, so the user can choose another of its values. Choices become stacked
conditions as a user would write them: `kind == "chat"`, `kind in {"chat", "a"}`, `kind != "chat"`. All counting happens
in `step`, a few milliseconds each time; new messages cost only their own count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis, AnalysisChanges
from inspector.analysis.states.state_pass import STATE_NAMES
from inspector.filters.ast import Comparison, Expression, Membership, StringValue
from inspector.filters.batch_size import MAX_CHANGED
from inspector.filters.cache import TermCache
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
"""Fields in display order."""
# Few enough for a filter that decodes; `evaluate_block` divides them further.
_STEP = 1 << 14
_MAX_BINCOUNT = 1 << 16
_CHANGING_FIELDS = ("kind", "tool", "state")
"""Fields that a later message may change; the counted value of each message is stored."""


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of a facet.

    Attributes:
        count: messages with the value.
        chosen: the filter requires it, or another chosen value.
        excluded: the filter excludes it.
    """

    value: str
    count: int
    chosen: bool = False
    excluded: bool = False


# Choices


@dataclass(frozen=True, slots=True)
class Choice:
    """Values of one field that active conditions choose and exclude.

    Attributes:
        places: indices of these conditions in the stack.
    """

    chosen: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    places: tuple[int, ...] = ()


def choice_of(stack: FilterStack, field: str) -> Choice:
    """Returns the chosen and excluded values of a field. Considers active conditions on that field alone."""
    chosen, excluded, places = list[str](), list[str](), list[int]()
    for place, condition in enumerate(stack.conditions):
        found = _condition_values(condition, field) if condition.on else None
        if found is not None:
            values, is_chosen = found
            (chosen if is_chosen else excluded).extend(values)
            places.append(place)
    return Choice(tuple(chosen), tuple(excluded), tuple(places))


def _condition_values(condition: Condition, field: str) -> tuple[list[str], bool] | None:
    """Returns the values in a condition on a field and True if it chooses them; None for any other condition."""
    try:
        expression: Expression | None = parse(condition.text)
    except FilterError:
        return None
    if not isinstance(expression, Comparison | Membership) or str(expression.field) != field:
        return None
    values = expression.values if isinstance(expression, Membership) else (expression.value,)
    texts = [value.value for value in values if isinstance(value, StringValue)]
    # Numbers and variables have no check box, so the condition is no choice.
    if len(texts) < len(values):
        return None
    if isinstance(expression, Membership) or expression.operator == "==":
        return texts, True
    return (texts, False) if expression.operator == "!=" else None


def chosen_with(stack: FilterStack, field: str, value: str) -> FilterStack:
    """Toggles a value as chosen. If it was excluded, only removes the exclusion."""
    choice = choice_of(stack, field)
    if value in choice.excluded:
        return _without_exclusion(stack, field, value)
    if value in choice.chosen:
        return _with_chosen(stack, field, choice, tuple(one for one in choice.chosen if one != value))
    return _with_chosen(stack, field, choice, (*choice.chosen, value))


def excluded_with(stack: FilterStack, field: str, value: str) -> FilterStack:
    """Toggles a value as excluded. If it was chosen, removes the choice."""
    choice = choice_of(stack, field)
    if value in choice.excluded:
        return _without_exclusion(stack, field, value)
    if value in choice.chosen:
        return _with_chosen(stack, field, choice, tuple(one for one in choice.chosen if one != value))
    return stack.with_condition(f"{field} != {quote(value)}")


def _without_exclusion(stack: FilterStack, field: str, value: str) -> FilterStack:
    """Removes the condition that excludes a value."""
    for place, condition in enumerate(stack.conditions):
        if condition.on and _condition_values(condition, field) == ([value], False):
            return stack.without_condition(place)
    return stack


def _with_chosen(stack: FilterStack, field: str, choice: Choice, values: tuple[str, ...]) -> FilterStack:
    """Replaces all choosing conditions of a field by one for these values."""
    choosing = [
        place for place in choice.places if (_condition_values(stack.conditions[place], field) or ((), False))[1]
    ]
    text = ""
    if values:
        text = (
            f"{field} == {quote(values[0])}" if len(values) == 1 else f"{field} in {{{', '.join(map(quote, values))}}}"
        )
    # From the end, so that earlier places stay valid.
    for place in reversed(choosing[1:] if text else choosing):
        stack = stack.without_condition(place)
    if not text:
        return stack
    if not choosing:
        return stack.with_condition(text)
    place = choosing[0]
    conditions = (*stack.conditions[:place], Condition(text), *stack.conditions[place + 1 :])
    return replace(stack, conditions=conditions)


# Counting


class _FacetCounts:
    """Counts some facets over one set of messages."""

    def __init__(self, rows: VisibleRows, facets: tuple[str, ...], filter_: DisplayFilter | None, scope: Scope | None):
        self._rows = rows
        self._analysis: Analysis = rows.analysis
        self.facets = facets
        self.filter = filter_  # None for the shown messages
        self.scope = scope
        self.restart()

    def restart(self) -> None:
        self._answers = TermCache()
        self._done = 0  # number of messages counted; for shown messages, an index into them
        self._shown = (self._rows.replaced, self._rows.filter, self._rows.scope)
        self._columns = GrowingColumns({"row": np.uint32, **dict.fromkeys(_CHANGING_FIELDS, np.uint32)})
        self._counts: dict[str, NDArray[np.int64]] = {name: np.zeros(0, np.int64) for name in self.facets}

    @property
    def is_stale(self) -> bool:
        """Returns True if the shown messages were replaced since they were counted."""
        return self.filter is None and self._shown != (self._rows.replaced, self._rows.filter, self._rows.scope)

    @property
    def is_behind(self) -> bool:
        """Returns True if messages wait to be counted."""
        return self.is_stale or self._done < (len(self._rows.visible) if self.filter is None else len(self._analysis))

    def depends_on(self, on: Depends) -> bool:
        """Returns True if an event may change the set of messages; `VisibleRows` handles the shown ones itself."""
        return self.filter is not None and (
            on in self.filter.depends or (on is Depends.TREE and self.scope is not None)
        )

    def step(self) -> None:
        """Counts the next messages."""
        if self.is_stale:
            self.restart()
        if self.filter is None:
            taken = self._rows.visible[self._done : self._done + _STEP].astype(np.int64)
            self._done += len(taken)
        else:
            start = self._done
            stop = min(len(self._analysis), start + _STEP)
            stop = self._rows.evaluate_block(self.filter, self.scope, start, stop, self._answers)
            taken = self._rows.matches_in(self.filter, self.scope, start, stop, self._answers).astype(np.int64)
            self._done = stop
        if len(taken):
            found = {name: self._codes(name, taken) for name in self.facets}
            self._columns.append({"row": taken, **{name: found.get(name, 0) for name in _CHANGING_FIELDS}}, len(taken))
            for name, codes in found.items():
                self._add(name, codes, 1)

    def recount_changed(self, rows: NDArray[np.int64]) -> None:
        """Updates the counts of changed messages; ignores messages that are not counted here."""
        known = self._columns["row"]
        places = np.searchsorted(known, rows)
        places = places[places < len(known)]
        # Not every changed message is counted here.
        places = places[np.isin(known[places], rows)]
        if not len(places):
            return
        counted = known[places].astype(np.int64)
        for name in self.facets:
            # Other facets are fixed once a message is read.
            if name in _CHANGING_FIELDS:
                now = self._codes(name, counted)
                before = self._columns[name][places].astype(np.int64)
                other = now != before
                if other.any():
                    self._add(name, before[other], -1)
                    self._add(name, now[other], 1)
                    # The new code is stored, so that the next change subtracts the right value.
                    self._columns.replace(name, places[other], now[other])

    def _codes(self, name: str, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns a value code per message, 0 if absent. For `context.type` the code is that of the context."""
        analysis = self._analysis
        columns = analysis.capture.columns
        if name == "context.type":
            return analysis.contexts.refs_of(rows).astype(np.int64)
        if name == "state":
            return analysis.states.states_at(rows).astype(np.int64)
        if name == "tool":
            links = analysis.correlation.columns
            call = analysis.capture.strings.find("tools/call") or -1
            return np.where(links["method"][rows] == call, links["target"][rows], 0).astype(np.int64)
        if name == "kind":
            return analysis.capture.foreign_rpc.kind_codes(rows).astype(np.int64)
        return columns["sender"][rows].astype(np.int64)

    def _add(self, name: str, codes: NDArray[np.int64], by: int) -> None:
        counts = self._counts[name]
        most = int(codes.max(initial=0)) + 1
        if most > len(counts):
            counts = self._counts[name] = np.pad(counts, (0, max(most, 3 * len(counts) // 2) - len(counts)))
        if most <= _MAX_BINCOUNT:
            counts[:most] += by * np.bincount(codes, minlength=most)
        else:
            # For a huge code, `bincount` would allocate an array of that length.
            np.add.at(counts, codes, by)

    def value_counts(self, name: str) -> dict[str, int]:
        """Returns values with message counts, by descending count."""
        counts = self._counts[name]
        codes = np.flatnonzero(counts)
        strings: Sequence[str] = self._analysis.capture.strings
        if name == "context.type":
            # The type of a context may become known later, so it is resolved on display.
            types = self._analysis.contexts.types_of_refs(codes)
            counts = np.bincount(types, weights=counts[codes]).astype(np.int64) if len(codes) else counts
            codes, strings = np.flatnonzero(counts), self._analysis.contexts.type_names
        elif name == "state":
            strings = STATE_NAMES
        codes = codes[codes != 0]
        order = codes[np.lexsort((codes, -counts[codes]))]
        return {strings[code]: int(counts[code]) for code in order.tolist()}


class FacetTally:
    """Counts the facets of one table in steps.

    Args:
        rows: the messages that the table shows.
    """

    def __init__(self, rows: VisibleRows) -> None:
        self._rows = rows
        self._stack = FilterStack()
        self._bases: dict[str, _FacetCounts] = {"": _FacetCounts(rows, FACETS, None, None)}
        self._changed: list[NDArray[np.int64]] = []
        self._waiting = 0

    def set_filter(self, stack: FilterStack, scope: Scope | None, compile_: Callable[[str], DisplayFilter]) -> None:
        """Sets the filter and scope to count for; `rows` shows or will show the matching messages.

        Args:
            stack: the conditions of the filter.
            scope: subtree of contexts to count.
            compile_: compiles a display filter.
        """
        self._stack = stack
        wanted: dict[str, list[str]] = {"": []}
        for name in FACETS:
            choice = choice_of(stack, name)
            text = ""
            if choice.places:
                # A facet ignores its own choice: other values must show the count they would add.
                others = tuple(one for place, one in enumerate(stack.conditions) if place not in choice.places)
                text = f" {replace(stack, conditions=others).combined}"
            wanted.setdefault(text, []).append(name)
        before, self._bases = self._bases, {}
        for text, names in wanted.items():
            # Counts of an unchanged base are kept: toggling one facet recounts only the others.
            known = before.get(text)
            facets = tuple(names)
            if known is not None and known.facets == facets and known.scope == (scope if text else None):
                self._bases[text] = known
            else:
                compiled = compile_(text.strip()) if text else None
                self._bases[text] = _FacetCounts(self._rows, facets, compiled, scope if text else None)

    # Events

    def on_changes(self, changes: AnalysisChanges) -> None:
        """Queues changes at no cost until the next step."""
        if changes.tree_moved:
            self._restart_dependent(Depends.TREE)
        if len(changes.changed):
            self._restart_dependent(Depends.PASS)
            self._changed.append(changes.changed)
            self._waiting += len(changes.changed)
            if self._waiting > MAX_CHANGED:
                self._changed, self._waiting = [], 0
                for base in self._bases.values():
                    base.restart()

    def on_clock(self) -> None:
        """Invalidates results that depend on the clock."""
        self._restart_dependent(Depends.CLOCK)

    def _restart_dependent(self, on: Depends) -> None:
        for base in self._bases.values():
            if base.depends_on(on):
                base.restart()

    @property
    def follows_clock(self) -> bool:
        """Returns True if counts change without traffic."""
        return any(base.depends_on(Depends.CLOCK) for base in self._bases.values())

    @property
    def is_behind(self) -> bool:
        """Returns True if messages wait to be counted."""
        return bool(self._changed) or any(base.is_behind for base in self._bases.values())

    def step(self) -> bool:
        """Counts some messages. Returns True if all are counted."""
        if self._changed:
            rows = np.unique(np.concatenate(self._changed)).astype(np.int64)
            self._changed, self._waiting = [], 0
            for base in self._bases.values():
                base.recount_changed(rows)
        base = next((base for base in self._bases.values() if base.is_behind), None)
        if base is not None:
            base.step()
        return not self.is_behind

    def facet_values(self, name: str, most: int) -> tuple[list[FacetValue], int]:
        """Returns the values of a facet by descending count, and the number of values left out.

        Chosen and excluded values are always included.

        Args:
            name: the field.
            most: limit of values besides chosen and excluded ones.
        """
        base = next(base for base in self._bases.values() if name in base.facets)
        counts, choice = base.value_counts(name), choice_of(self._stack, name)
        named = (*choice.chosen, *choice.excluded)
        shown = [*list(counts)[:most], *(value for value in dict.fromkeys(named) if value not in list(counts)[:most])]
        found = [
            FacetValue(value, counts.get(value, 0), value in choice.chosen, value in choice.excluded) for value in shown
        ]
        return found, max(0, len(counts.keys() - set(shown)))


def label_of(name: str) -> str:
    return FIELD_BY_NAME[name].label
