"""Text to a filter that is ready to use: read, checked, and built into the nodes of `evaluate`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.filters.ast import And, Comparison, Expression, Membership, Not, NumberValue, Or, TextSearch, Value
from inspector.filters.cache import Answers, Mask, Rows
from inspector.filters.check import Checker, Term
from inspector.filters.errors import FilterError
from inspector.filters.evaluate import Evaluation, JunctionNode, Node, NotNode, Selection, TermNode, TextNode
from inspector.filters.field import Depends, Field
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.find_query import literal_locator
from inspector.filters.full_text import TextFinder
from inspector.filters.numbers import unit_missing
from inspector.filters.operators import Matching
from inspector.filters.parse import parse
from inspector.filters.payloads import payload_field
from inspector.filters.plain_words import FilterNote, plain_words
from inspector.filters.value_notes import value_note
from inspector.protocol import kinds

_CHUNK = 1 << 16
"""Messages whose cheap terms are looked at between two looks at the clock."""


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
    _root: Node | None = field(repr=False, compare=False)
    _matching: tuple[Matching, ...] = field(default=(), repr=False, compare=False)
    is_about_folded: bool = False
    """Whether it asks for frames of streams by their kind, or for what is said again, so that each is shown."""
    note: FilterNote | None = None
    """How the text is understood, where that may not be what was meant."""
    is_about_messages: bool = False
    """Whether it asks for messages by more than their place, so that it shows bookkeeping rows as well."""

    @property
    def root(self) -> Node | None:
        """What it compiled to, for whoever explains it; None for the empty filter."""
        return self._root

    @property
    def too_long(self) -> int:
        """How many values took an expression of this filter too long, so that they count as no match."""
        return sum(matching.too_long for matching in self._matching)

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
        return self._root.evaluate(Evaluation(analysis), Selection.of(rows))

    def mask_of(self, analysis: Analysis, selection: Selection, answers: Answers) -> Mask:
        """As `mask`, asking no dear term for what is among its answers already; what is asked is put there."""
        if self._root is None or not len(selection):
            return np.ones(len(selection), np.bool_)
        return self._root.evaluate(Evaluation(analysis, answers), selection)

    def is_cheap(self, analysis: Analysis) -> bool:
        """Whether no record needs to be decoded: a million messages take some milliseconds then."""
        return self._root is None or self._root.cost(Evaluation(analysis)) == 0

    def settle(
        self,
        analysis: Analysis,
        start: int,
        stop: int,
        answers: Answers,
        until: float,
        within: Callable[[Selection], Mask] | None = None,
    ) -> int:
        """Ask dear terms about messages `start` to `stop`, in this order, as far as time and need go.

        Where messages hold thousands of different strings (contexts, say) those are looked at first.

        Args:
            analysis: the capture and what the passes know about it.
            start: the first message.
            stop: one past the last.
            answers: takes the answers.
            until: when to stop, by `time.perf_counter`; something is done however late it is.
            within: which messages matter, when not all do.

        Returns:
            One past the last message about which nothing remains to be asked.
        """
        if self._root is None or start >= stop:
            return stop
        evaluation = Evaluation(analysis, answers)
        if not self._root.learn(evaluation, Selection.between(start, stop), until):
            return start
        if self.is_cheap(analysis):
            return stop
        pace, lengths = answers.pace, analysis.capture.columns["length"]
        while start < stop:
            chunk = Selection.between(start, min(stop, start + _CHUNK))
            sure, possible = self._root.bounds(evaluation, chunk)
            open_ = possible > sure
            if within is not None and open_.any():
                open_ &= within(chunk)
            rows = chunk.where(open_).rows
            ends, at = lengths[rows].cumsum(dtype=np.int64), 0
            while at < len(rows):
                began = time.thread_time()
                some = rows[at : pace.stop(at, ends)]
                self._root.evaluate(evaluation, Selection(some, len(some)))
                at += len(some)
                pace.took(time.thread_time() - began)
                if time.perf_counter() >= until and at < len(rows):
                    return int(rows[at])
            start = min(stop, start + _CHUNK)
            if time.perf_counter() >= until:
                return start
        return stop


def compile_filter(
    text: str,
    *,
    selected_context: str | None = None,
    fields: Mapping[str, Field] = FIELD_BY_NAME,
    payload_field: Callable[[tuple[str, ...]], Field] = payload_field,
    takes_words: bool = True,
) -> DisplayFilter:
    """Read, check and compile a filter; words that are none are a search for messages that have all of them.

    Args:
        text: the filter; empty or blank shows everything.
        selected_context: display path that `$context` stands for; None or empty when none is selected.
        fields: the fields there are, by name.
        payload_field: path below `payload` to its field.
        takes_words: accept plain words as a search.

    Raises:
        FilterError: the text is not a filter, or names fields, operators or values that do not fit.
    """
    try:
        return _compiled(text, selected_context, fields, payload_field)
    except FilterError:
        words = plain_words(text, fields) if takes_words else None
        if words is None:
            raise
    return replace(_compiled(words.filter, selected_context, fields, payload_field), text=text, note=words.note)


def _compiled(
    text: str,
    selected_context: str | None,
    fields: Mapping[str, Field],
    payload_field: Callable[[tuple[str, ...]], Field],
) -> DisplayFilter:
    expression = parse(text)
    if expression is None:
        return DisplayFilter(text, None, frozenset(), frozenset(), None)
    builder = _NodeBuilder(text, Checker(text, fields, payload_field, selected_context))
    root = builder.node(expression)
    return DisplayFilter(
        text, expression, frozenset(builder.fields), frozenset(builder.depends), root, tuple(builder.matching),
        is_about_folded=builder.is_about_folded, note=builder.note,
        is_about_messages=builder.searches_text or not builder.fields <= _PLACES,
    )  # fmt: skip


_PLACES = frozenset(
    {
        "context", "context.depth", "context.id", "context.leaf", "context.parent", "context.raw", "context.root",
        "context.state", "context.told", "context.type", "labels", "seen_by", "source", "space", "time",
    }
)  # fmt: skip
"""Fields that say where a message is, and nothing about the message."""


class _NodeBuilder:
    """Walks an expression once and collects what the filter reads."""

    def __init__(self, text: str, checker: Checker) -> None:
        self._checker = checker
        self._text = text
        self.note: FilterNote | None = None
        self.fields: set[str] = set()
        self.depends: set[Depends] = set()
        self.matching: list[Matching] = []
        self._terms = 0
        self.is_about_folded = self.searches_text = False

    def node(self, expression: Expression) -> Node:
        if isinstance(expression, Not):
            return NotNode(self.node(expression.operand))
        if isinstance(expression, And | Or):
            operands = tuple([self.node(operand) for operand in expression.operands])
            return JunctionNode(operands, decided_by=isinstance(expression, Or))
        self._terms += 1
        if isinstance(expression, TextSearch):
            self.searches_text = True
            self.depends.add(Depends.PASS)  # what a frame says may go on in a later one
            locate = literal_locator(expression.text, match_case=False)
            return TextNode(self._terms, TextFinder(expression.text), locate)
        term = self._checker.term(expression)
        if isinstance(expression, Comparison) and self.note is None:
            self.note = self._unit_note(term.field.name, expression.value)
        if isinstance(expression, Comparison | Membership) and self.note is None:
            self.note = value_note(self._text, term, expression)
        self.fields.add(term.field.name)
        self.depends.add(term.field.depends)
        if term.field.name == "kind" and not term.negated:
            wanted = term.operand if isinstance(term.operand, tuple) else (term.operand,)
            self.is_about_folded = self.is_about_folded or kinds.FRAME in wanted
        if term.field.name == "repeats":
            self.is_about_folded = True
        if isinstance(term.predicate, Matching):
            self.matching.append(term.predicate)
        return TermNode(self._terms, term, self._column_of(term))

    def _unit_note(self, name: str, value: Value) -> FilterNote | None:
        """Ask for the unit of a number that may have been meant in seconds."""
        if not isinstance(value, NumberValue) or not unit_missing(value.value, value.unit, name):
            return None
        end = value.position + value.length
        seconds = f"{self._text[:end]}s{self._text[end:]}"
        number = self._text[value.position : end]
        return FilterNote(f"{number} without a unit is {number} ms.", "For seconds:", seconds)

    def _column_of(self, term: Term) -> Callable[[Analysis], Column]:
        like_column = term.field.like_column
        if like_column is None or term.operator is None or term.operator.symbol != "like":
            return term.field.column
        # Method and target of a response are those of its request, which may be seen later (docs/protocols.md 3).
        self.depends.add(Depends.PASS)
        return like_column
