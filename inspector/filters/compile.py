"""Compiles filter text: parses it, checks it and builds the nodes of `evaluate`, which all other readers share."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from inspector.analysis import Analysis
from inspector.base.slices import run_until
from inspector.filters.ast import And, Expression, Not, Or, TextSearch
from inspector.filters.cache import Mask, Rows, TermCache
from inspector.filters.check import LITERAL, Checker, Term
from inspector.filters.errors import FilterError
from inspector.filters.evaluate import Evaluation, JunctionNode, Node, NotNode, Selection, TermNode, TextNode
from inspector.filters.field import Depends, Field
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.operators import Matching
from inspector.filters.parse import parse
from inspector.filters.payloads import payload_field
from inspector.filters.plain_words import FilterNote, plain_words
from inspector.filters.value_notes import value_note
from inspector.protocol import kinds

# A million messages take some milliseconds, so a chunk takes well below one.
_CHUNK = 1 << 16
"""Messages whose cheap terms are evaluated between two checks of the clock."""
BLOCK_S = 0.008
"""Work on a filter before another request may be answered; it can end after a decoded record or a few strings."""


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
    root: Node | None = field(repr=False, compare=False)
    """Root of the checked tree; None for the empty filter."""
    terms: tuple[Term, ...] = field(default=(), repr=False, compare=False)
    """Its comparisons and tests of presence, in order."""
    searches: tuple[TextSearch, ...] = ()
    """Its full-text searches, in order."""
    note: FilterNote | None = None
    """Explains the interpretation where it may differ from the user's intention."""
    is_words: bool = False
    """The text is plain words, each of them a search."""
    selected_context: str | None = None
    """The path that `$context` stands for, if the filter has it."""

    @property
    def is_about_folded(self) -> bool:
        """True if the filter asks for stream frames by kind, or for repeats: then each of them has its own row."""
        return any(map(_asks_for_folded, self.terms))

    @property
    def is_about_messages(self) -> bool:
        """True if the filter tests more than the place of a message: then bookkeeping rows are shown too."""
        return bool(self.searches) or not self.fields <= _PLACE_FIELDS

    @property
    def timeout_count(self) -> int:
        """Number of values that timed out in a regular expression of this filter; each counts as no match."""
        return sum(term.predicate.too_long for term in self.terms if isinstance(term.predicate, Matching))

    def mask(self, analysis: Analysis, rows: Rows) -> Mask:
        """Returns a mask of the messages to show.

        Args:
            analysis: the capture and its passes.
            rows: (k,) integer, message indices in any order.

        Returns:
            (k,) bool, a new array. The result for a message does not depend on the other rows.
        """
        rows = np.asarray(rows)
        if self.root is None or not len(rows):
            return np.ones(len(rows), np.bool_)
        with analysis.capture.records.unmasked():
            return self.root.evaluate(Evaluation(analysis), Selection.for_rows(rows))

    def cached_mask(self, analysis: Analysis, selection: Selection, answers: TermCache) -> Mask:
        """As `mask`, but takes results of expensive terms from a cache and stores new ones there."""
        if self.root is None or not len(selection):
            return np.ones(len(selection), np.bool_)
        with analysis.capture.records.unmasked():
            return self.root.evaluate(Evaluation(analysis, answers), selection)

    def is_cheap(self, analysis: Analysis) -> bool:
        """Returns True if no record needs to be decoded; then a million messages take a few milliseconds."""
        return self.root is None or self.root.cost(Evaluation(analysis)) == 0

    def evaluate_block(
        self,
        analysis: Analysis,
        start: int,
        stop: int,
        answers: TermCache,
        within: Callable[[Selection], Mask] | None = None,
    ) -> int:
        """Evaluates expensive terms for messages `start` to `stop`, in order, for a few milliseconds.

        If messages have thousands of different strings, such as contexts, the string predicates come first.

        Args:
            analysis: the capture and its passes.
            start: the first message.
            stop: one past the last message.
            answers: cache for the results.
            within: mask of the relevant messages, if not all.

        Returns:
            One past the last message that is fully evaluated.
        """
        with analysis.capture.records.unmasked():
            return self._settle(analysis, start, stop, answers, within)

    def _settle(
        self, analysis: Analysis, start: int, stop: int, answers: TermCache,
        within: Callable[[Selection], Mask] | None,
    ) -> int:  # fmt: skip
        if self.root is None or start >= stop:
            return stop
        evaluation, until = Evaluation(analysis, answers), time.perf_counter() + BLOCK_S
        # A pattern over thousands of context paths takes longer than one slice, so it has slices of its own.
        if not run_until(self.root.prepare_strings(evaluation, Selection.for_range(start, stop)), until):
            return start
        if self.is_cheap(analysis):
            return stop
        pace, lengths = answers.pace, analysis.capture.columns["length"]
        while start < stop:
            chunk = Selection.for_range(start, min(stop, start + _CHUNK))
            sure, possible = self.root.bounds(evaluation, chunk)
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
                self.root.evaluate(evaluation, Selection(some, len(some)))
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
        found = _compiled(text, selected_context, fields, payload_field)
        return replace(found, selected_context=selected_context) if "$" in text else found
    except FilterError:
        # Only after the error: a valid filter never becomes a search for words.
        words = plain_words(text, fields) if takes_words else None
        if words is None:
            raise
    found = _compiled(words.filter, selected_context, fields, payload_field)
    return replace(found, text=text, note=words.note, is_words=True)


def _compiled(
    text: str,
    selected_context: str | None,
    fields: Mapping[str, Field],
    payload_field: Callable[[tuple[str, ...]], Field],
) -> DisplayFilter:
    expression = parse(text)
    if expression is None:
        return DisplayFilter(text, None, frozenset(), frozenset(), None)
    root = _build_node(expression, Checker(text, fields, payload_field, selected_context), itertools.count(1))
    leaves = list(root.leaves())
    terms = tuple([leaf.term for leaf in leaves if isinstance(leaf, TermNode)])
    return DisplayFilter(
        text, expression, frozenset(term.field.name for term in terms), frozenset(map(_event_changing, leaves)), root,
        terms, tuple([leaf.written for leaf in leaves if isinstance(leaf, TextNode)]),
        next(filter(None, (value_note(text, term) for term in terms)), None),
    )  # fmt: skip


def _build_node(expression: Expression, checker: Checker, numbers: Iterator[int]) -> Node:
    if isinstance(expression, Not):
        return NotNode(_build_node(expression.operand, checker, numbers))
    if isinstance(expression, And | Or):
        operands = tuple([_build_node(operand, checker, numbers) for operand in expression.operands])
        return JunctionNode(operands, decided_by=isinstance(expression, Or))
    if isinstance(expression, TextSearch):
        return TextNode(next(numbers), expression)
    return TermNode(next(numbers), checker.term(expression))


_PLACE_FIELDS = frozenset(
    {
        "context", "context.depth", "context.id", "context.leaf", "context.parent", "context.raw", "context.root",
        "context.state", "context.told", "context.type", "labels", "seen_by", "source", "space", "time",
    }
)  # fmt: skip
"""Fields about the place of a message, not its content."""
_CHANGING_KINDS = frozenset({kinds.REQUEST, kinds.RESPONSE, *kinds.OF_JSON_RPC})


def _event_changing(leaf: TermNode | TextNode) -> Depends:
    """Returns the event that can change the result for a message already evaluated."""
    if isinstance(leaf, TextNode):
        return Depends.PASS  # text of a frame may continue in a later one
    term = leaf.term
    if term.field.name == "kind" and (not term.symbol or term.symbol in LITERAL):
        # Only JSON-RPC changes its kind later, so other literal kinds need no second evaluation.
        return Depends.FIXED if _CHANGING_KINDS.isdisjoint(term.operands) else term.field.depends
    # A response takes method and target from its request, which may arrive later (docs/protocols.md 3).
    return term.field.depends if term.column is term.field.column else Depends.PASS


def _asks_for_folded(term: Term) -> bool:
    # A negated one, as in `kind != "stream/frame"`, asks for other messages.
    is_frame = term.field.name == "kind" and not term.negated and kinds.FRAME in term.operands
    return is_frame or term.field.name == "repeats"
