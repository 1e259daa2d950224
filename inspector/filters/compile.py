"""Compiles filter text: parses it, checks it and builds the nodes of `evaluate`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.filters.ast import And, Comparison, Expression, Membership, Not, NumberValue, Or, TextSearch, Value
from inspector.filters.cache import Mask, Rows, TermCache
from inspector.filters.check import LITERAL, Checker, Term
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

# A million messages take some milliseconds, so a chunk takes well below one.
_CHUNK = 1 << 16
"""Messages whose cheap terms are evaluated between two checks of the clock."""


@dataclass(frozen=True, slots=True)
class DisplayFilter:
    """A compiled filter; selects messages and never changes them.

    It caches results for interned strings: keep one per document and use it again as the capture grows.
    """

    text: str
    """As written."""
    expression: Expression | None
    """None for the empty filter."""
    fields: frozenset[str]
    """Names of the fields that the filter reads."""
    depends: frozenset[Depends]
    """Events that can change the result for a message already evaluated."""
    _root: Node | None = field(repr=False, compare=False)
    _matching: tuple[Matching, ...] = field(default=(), repr=False, compare=False)
    is_about_folded: bool = False
    """The filter asks for stream frames by kind, or for repeats, so each of them has its own row."""
    note: FilterNote | None = None
    """Explains the interpretation where it may differ from the user's intention."""
    is_about_messages: bool = False
    """The filter tests more than the place of a message, so bookkeeping rows are shown too."""

    @property
    def root(self) -> Node | None:
        """Root of the compiled nodes, for `explain`; None for the empty filter."""
        return self._root

    @property
    def timeout_count(self) -> int:
        """Number of values that timed out in a regular expression of this filter; each counts as no match."""
        return sum(matching.too_long for matching in self._matching)

    def mask(self, analysis: Analysis, rows: Rows) -> Mask:
        """Returns a mask of the messages to show.

        Args:
            analysis: the capture and its passes.
            rows: (k,) integer, message indices in any order.

        Returns:
            (k,) bool, a new array. The result for a message does not depend on the other rows.
        """
        rows = np.asarray(rows)
        if self._root is None or not len(rows):
            return np.ones(len(rows), np.bool_)
        with analysis.capture.records.unmasked():
            return self._root.evaluate(Evaluation(analysis), Selection.for_rows(rows))

    def cached_mask(self, analysis: Analysis, selection: Selection, answers: TermCache) -> Mask:
        """As `mask`, but takes results of expensive terms from a cache and stores new ones there."""
        if self._root is None or not len(selection):
            return np.ones(len(selection), np.bool_)
        with analysis.capture.records.unmasked():
            return self._root.evaluate(Evaluation(analysis, answers), selection)

    def is_cheap(self, analysis: Analysis) -> bool:
        """Returns True if no record needs to be decoded; then a million messages take a few milliseconds."""
        return self._root is None or self._root.cost(Evaluation(analysis)) == 0

    def evaluate_until(
        self,
        analysis: Analysis,
        start: int,
        stop: int,
        answers: TermCache,
        until: float,
        within: Callable[[Selection], Mask] | None = None,
    ) -> int:
        """Evaluates expensive terms for messages `start` to `stop`, in order, until a deadline.

        If messages have thousands of different strings, such as contexts, the string predicates come first.

        Args:
            analysis: the capture and its passes.
            start: the first message.
            stop: one past the last message.
            answers: cache for the results.
            until: deadline by `time.perf_counter`. At least one slice is done, however late it is.
            within: mask of the relevant messages, if not all.

        Returns:
            One past the last message that is fully evaluated.
        """
        with analysis.capture.records.unmasked():
            return self._settle(analysis, start, stop, answers, until, within)

    def _settle(
        self, analysis: Analysis, start: int, stop: int, answers: TermCache, until: float,
        within: Callable[[Selection], Mask] | None,
    ) -> int:  # fmt: skip
        if self._root is None or start >= stop:
            return stop
        evaluation = Evaluation(analysis, answers)
        # A pattern over thousands of context paths takes longer than one slice, so it has slices of its own.
        if not self._root.prepare_strings(evaluation, Selection.for_range(start, stop), until):
            return start
        if self.is_cheap(analysis):
            return stop
        pace, lengths = answers.pace, analysis.capture.columns["length"]
        while start < stop:
            chunk = Selection.for_range(start, min(stop, start + _CHUNK))
            sure, possible = self._root.bounds(evaluation, chunk)
            # Indexes alone decide most messages; only the rest is decoded.
            open_ = possible > sure
            # Messages outside the scope need no expensive evaluation.
            if within is not None and open_.any():
                open_ &= within(chunk)
            rows = chunk.filtered_by(open_).rows
            ends, at = lengths[rows].cumsum(dtype=np.int64), 0
            while at < len(rows):
                began = time.thread_time()
                # Slices by bytes and time: one record may be a thousand times as long as the one before.
                some = rows[at : pace.slice_end(at, ends)]
                self._root.evaluate(evaluation, Selection(some, len(some)))
                at += len(some)
                # Processor time, since load by other programs must not shrink the slices.
                pace.note_duration(time.thread_time() - began)
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
    """Parses, checks and compiles a filter. Plain words become a search for messages that contain all of them.

    Args:
        text: the filter; empty or blank shows everything.
        selected_context: display path for `$context`; None or empty if no context is selected.
        fields: all fields by name.
        payload_field: returns the field for a path below `payload`.
        takes_words: accept plain words as a search.

    Raises:
        FilterError: the text is not a filter, or its fields, operators and values do not fit.
    """
    try:
        return _compiled(text, selected_context, fields, payload_field)
    except FilterError:
        # Only after the error: a valid filter never becomes a search for words.
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
    root = builder.build_node(expression)
    return DisplayFilter(
        text, expression, frozenset(builder.fields), frozenset(builder.depends), root, tuple(builder.matching),
        is_about_folded=builder.is_about_folded, note=builder.note,
        is_about_messages=builder.searches_text or not builder.fields <= _PLACE_FIELDS,
    )  # fmt: skip


_PLACE_FIELDS = frozenset(
    {
        "context", "context.depth", "context.id", "context.leaf", "context.parent", "context.raw", "context.root",
        "context.state", "context.told", "context.type", "labels", "seen_by", "source", "space", "time",
    }
)  # fmt: skip
"""Fields about the place of a message, not its content."""


def _event_changing(term: Term) -> Depends:
    """Returns the event that can change the result of a term for a message already evaluated."""
    if term.field.name == "kind":
        wanted = term.operand if isinstance(term.operand, tuple) else (term.operand,)
        # Only JSON-RPC changes its kind later, so other literal kinds need no second evaluation.
        if term.operator is None or (term.operator.symbol in LITERAL and _CHANGING_KINDS.isdisjoint(wanted)):
            return Depends.FIXED
    return term.field.depends


_CHANGING_KINDS = frozenset({kinds.REQUEST, kinds.RESPONSE, *kinds.OF_JSON_RPC})


class _NodeBuilder:
    """Builds nodes from an expression in one walk and collects the fields that the filter reads."""

    def __init__(self, text: str, checker: Checker) -> None:
        self._checker = checker
        self._text = text
        self.note: FilterNote | None = None
        self.fields: set[str] = set()
        self.depends: set[Depends] = set()
        self.matching: list[Matching] = []
        self._terms = 0
        self.is_about_folded = self.searches_text = False

    def build_node(self, expression: Expression) -> Node:
        if isinstance(expression, Not):
            return NotNode(self.build_node(expression.operand))
        if isinstance(expression, And | Or):
            operands = tuple([self.build_node(operand) for operand in expression.operands])
            return JunctionNode(operands, decided_by=isinstance(expression, Or))
        self._terms += 1
        if isinstance(expression, TextSearch):
            self.searches_text = True
            self.depends.add(Depends.PASS)  # text of a frame may continue in a later one
            locate = literal_locator(expression.text, match_case=False)
            return TextNode(self._terms, TextFinder(expression.text), locate)
        term = self._checker.term(expression)
        if isinstance(expression, Comparison) and self.note is None:
            self.note = self._unit_note(term.field.name, expression.value)
        if isinstance(expression, Comparison | Membership) and self.note is None:
            self.note = value_note(self._text, term, expression)
        self.fields.add(term.field.name)
        self.depends.add(_event_changing(term))
        # A negated one, as in `kind != "stream/frame"`, asks for other messages.
        if term.field.name == "kind" and not term.negated:
            wanted = term.operand if isinstance(term.operand, tuple) else (term.operand,)
            self.is_about_folded = self.is_about_folded or kinds.FRAME in wanted
        if term.field.name == "repeats":
            self.is_about_folded = True
        if isinstance(term.predicate, Matching):
            self.matching.append(term.predicate)
        return TermNode(self._terms, term, self._column_of(term))

    def _unit_note(self, name: str, value: Value) -> FilterNote | None:
        """Suggests a unit for a number that was perhaps meant in seconds."""
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
        # A response takes method and target from its request, which may arrive later (docs/protocols.md 3).
        self.depends.add(Depends.PASS)
        return like_column
