"""Expression to mask: a checked filter evaluated over columns.

Terms over arrays (flags, numbers, interned strings) are evaluated for all rows asked for: that is cheaper than
choosing. Terms that decode records come last and only see the rows that `&&` and `||` have not decided yet. A term
over interned strings evaluates its predicate once per distinct string that occurs, and remembers it as long as the
table lives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.columns import Column, Flags, Interned, InternedSets, Numbers
from inspector.fields import FIELD_BY_NAME, Depends, Field, payload_field
from inspector.filters.ast import And, Expression, Not, Or, TextSearch
from inspector.filters.check import Checker, Term
from inspector.filters.full_text import text_finder
from inspector.filters.parse import parse

Mask = NDArray[np.bool_]
Rows = NDArray[np.integer[Any]]

_CHEAP, _DECODED, _FULL_TEXT = 0, 1, 2
_UNKNOWN = np.int8(-1)


@dataclass(frozen=True, slots=True)
class DisplayFilter:
    """A filter ready to use; chooses messages, never changes them.

    It remembers what it found out about interned strings: keep one per document and use it again as the capture grows.
    """

    text: str
    """As written."""
    expression: Expression | None
    """None for the empty filter."""
    fields: frozenset[str]
    """Names of the fields it reads."""
    depends: frozenset[Depends]
    """What can change the answer for a message that was already evaluated."""
    _root: _Node | None = field(repr=False, compare=False)

    def mask(self, analysis: Analysis, rows: Rows) -> Mask:
        """Which of some messages to show.

        Args:
            analysis: the capture and what the passes know about it.
            rows: (k,) integer, message indices in any order.

        Returns:
            (k,) bool, a new array. The answer for a message does not depend on the other rows asked for.
        """
        rows = np.asarray(rows)
        if self._root is None or not len(rows):
            return np.ones(len(rows), np.bool_)
        return self._root.evaluate(_Scope(analysis, {}), _Selection.of(rows))


def compile_filter(
    text: str,
    *,
    selected_context: str | None = None,
    fields: Mapping[str, Field] = FIELD_BY_NAME,
    payload_field: Callable[[tuple[str, ...]], Field] = payload_field,
) -> DisplayFilter:
    """Read, check and compile a filter.

    Args:
        text: the filter; empty or blank shows everything.
        selected_context: display path that `$context` stands for; None or empty when none is selected.
        fields: the fields there are, by name.
        payload_field: path below `payload` to its field.

    Raises:
        FilterError: the text is not a filter, or names fields, operators or values that do not fit.
    """
    expression = parse(text)
    if expression is None:
        return DisplayFilter(text, None, frozenset(), frozenset(), None)
    builder = _NodeBuilder(Checker(text, fields, payload_field, selected_context))
    root = builder.node(expression)
    return DisplayFilter(text, expression, frozenset(builder.fields), frozenset(builder.depends), root)


@dataclass(frozen=True, slots=True)
class _Scope:
    """One evaluation: the analysis, and the columns made for it."""

    analysis: Analysis
    columns: dict[Callable[[Analysis], Column], Column]

    def column(self, make: Callable[[Analysis], Column]) -> Column:
        found = self.columns.get(make)
        if found is None:
            found = self.columns[make] = make(self.analysis)
        return found


@dataclass(frozen=True, slots=True)
class _Selection:
    """Message indices, and the quickest way to take them from a column."""

    rows: Rows
    take: slice | Rows

    @classmethod
    def of(cls, rows: Rows) -> _Selection:
        first, last = int(rows[0]), int(rows[-1])
        # A run of messages, as on append and when all are asked for, is taken as a view.
        if last - first == len(rows) - 1 and (len(rows) == 1 or bool((rows[1:] > rows[:-1]).all())):
            return cls(rows, slice(first, last + 1))
        return cls(rows, rows)

    def where(self, mask: Mask) -> _Selection:
        rows = self.rows[mask]
        return _Selection(rows, rows)

    def __len__(self) -> int:
        return len(self.rows)


class _Node(Protocol):
    def cost(self, scope: _Scope) -> int: ...

    def evaluate(self, scope: _Scope, selection: _Selection) -> Mask:
        """(len(selection),) bool, owned by the caller."""
        ...


@dataclass(frozen=True, slots=True)
class _NotNode:
    operand: _Node

    def cost(self, scope: _Scope) -> int:
        return self.operand.cost(scope)

    def evaluate(self, scope: _Scope, selection: _Selection) -> Mask:
        mask = self.operand.evaluate(scope, selection)
        return np.logical_not(mask, out=mask)


@dataclass(frozen=True, slots=True)
class _JunctionNode:
    """`&&` (decided by false) and `||` (decided by true)."""

    operands: tuple[_Node, ...]
    decided_by: bool

    def cost(self, scope: _Scope) -> int:
        return max([operand.cost(scope) for operand in self.operands])

    def evaluate(self, scope: _Scope, selection: _Selection) -> Mask:
        first, *rest = sorted(self.operands, key=lambda operand: operand.cost(scope))
        mask = first.evaluate(scope, selection)
        combine = np.logical_or if self.decided_by else np.logical_and
        for operand in rest:
            if operand.cost(scope) == _CHEAP:
                combine(mask, operand.evaluate(scope, selection), out=mask)
                continue
            undecided = mask != self.decided_by
            if undecided.any():
                mask[undecided] = operand.evaluate(scope, selection.where(undecided))
        return mask


@dataclass(slots=True)
class _TableMemory:
    """What a predicate says about the entries of one append-only table."""

    table: object = None
    generation: int = 0
    known: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, np.int8))
    """(capacity,) int8, per entry: 1 holds, 0 does not, -1 not evaluated yet."""

    def holds(self, column: Interned | InternedSets, ids: NDArray[Any], predicate: Callable[[Any], bool]) -> Mask:
        """The predicate's answer per id; entry 0 (absent) never holds."""
        self._fit(column)
        found = self.known[ids]
        if len(found) and found.min() < 0:
            wanted = np.zeros(len(self.known), np.bool_)
            wanted[ids[found < 0]] = True
            entries = np.flatnonzero(wanted)
            table = column.table
            self.known[entries] = [predicate(table[entry]) for entry in entries.tolist()]
            found = self.known[ids]
        return found.view(np.bool_)

    def _fit(self, column: Interned | InternedSets) -> None:
        if self.table is not column.table or self.generation != column.generation:
            self.table, self.generation = column.table, column.generation
            self.known = np.zeros(1, np.int8)
        if len(self.known) < len(column.table):
            grown = np.full(max(len(column.table), 2 * len(self.known)), _UNKNOWN)
            grown[: len(self.known)] = self.known
            self.known = grown


@dataclass(slots=True)
class _TermNode:
    """One comparison or test of presence over one column."""

    term: Term
    make_column: Callable[[Analysis], Column]
    memory: _TableMemory = field(default_factory=_TableMemory)

    def cost(self, scope: _Scope) -> int:
        column = scope.column(self.make_column)
        return _CHEAP if isinstance(column, Interned | InternedSets | Numbers | Flags) else _DECODED

    def evaluate(self, scope: _Scope, selection: _Selection) -> Mask:
        column = scope.column(self.make_column)
        mask = self._present(column, selection) if self.term.predicate is None else self._holds(column, selection)
        return np.logical_not(mask, out=mask) if self.term.negated else mask

    def _present(self, column: Column, selection: _Selection) -> Mask:
        if isinstance(column, Interned | InternedSets):
            return column.ids[selection.take] != 0
        if isinstance(column, Numbers):
            return column.present(selection.take)
        if isinstance(column, Flags):
            return (column.bits[selection.take] & column.bits.dtype.type(column.mask)) != 0
        many = self.term.field.many
        values = map(column.value, selection.rows.tolist())
        return _mask((bool(value) if many else value is not None for value in values), len(selection))

    def _holds(self, column: Column, selection: _Selection) -> Mask:
        predicate = self.term.predicate
        assert predicate is not None
        if isinstance(column, Interned):
            return self.memory.holds(column, column.ids[selection.take], predicate)
        if isinstance(column, InternedSets):
            return self.memory.holds(column, column.ids[selection.take], lambda entry: any(map(predicate, entry)))
        if isinstance(column, Numbers) and self.term.operator is not None and self.term.operator.vector is not None:
            compared = self.term.operator.vector(column.values[selection.take], self.term.operand)
            return compared & column.present(selection.take)
        if isinstance(column, Flags):
            # The only comparison with a truth value that is left is `== true`.
            return self._present(column, selection)
        values = map(column.value, selection.rows.tolist())
        return _mask((_any(predicate, value) for value in values), len(selection))


def _any(predicate: Callable[[object], bool], value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(predicate, value))
    return value is not None and predicate(value)


def _mask(values: Any, length: int) -> Mask:
    return np.fromiter(values, np.bool_, length)


@dataclass(frozen=True, slots=True)
class _TextNode:
    """Text of the whole message contains the needle, letter case aside."""

    needle: str

    def cost(self, scope: _Scope) -> int:
        return _FULL_TEXT

    def evaluate(self, scope: _Scope, selection: _Selection) -> Mask:
        found = text_finder(self.needle)
        record_bytes = scope.analysis.capture.record_bytes
        return _mask((found(record_bytes(message)) for message in selection.rows.tolist()), len(selection))


class _NodeBuilder:
    """Walks an expression once and collects what the filter reads."""

    def __init__(self, checker: Checker) -> None:
        self._checker = checker
        self.fields: set[str] = set()
        self.depends: set[Depends] = set()

    def node(self, expression: Expression) -> _Node:
        if isinstance(expression, Not):
            return _NotNode(self.node(expression.operand))
        if isinstance(expression, And | Or):
            operands = tuple([self.node(operand) for operand in expression.operands])
            return _JunctionNode(operands, decided_by=isinstance(expression, Or))
        if isinstance(expression, TextSearch):
            self.depends.add(Depends.FIXED)
            return _TextNode(expression.text)
        term = self._checker.term(expression)
        self.fields.add(term.field.name)
        self.depends.add(term.field.depends)
        return _TermNode(term, self._column_of(term))

    def _column_of(self, term: Term) -> Callable[[Analysis], Column]:
        like_column = term.field.like_column
        if like_column is None or term.operator is None or term.operator.symbol != "like":
            return term.field.column
        # Method and target of a response are those of its request, which may be seen later (protocols.md 3).
        self.depends.add(Depends.PASS)
        return like_column
