"""Checked tree of a filter, evaluated over columns; SQL conditions and outlines read the same nodes.

Terms over arrays (flags, numbers, interned strings) are evaluated for all requested messages: that is cheaper than
selecting. Terms that decode records come last and only get messages that `&&` and `||` have not decided yet. A term
over interned strings evaluates its predicate once per distinct string and caches the result as long as the table lives.
A term that decodes caches its results in `TermCache` if given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Decoded, Flags, Interned, InternedSets, Numbers
from inspector.analysis.passes.contexts.node_columns import PathRelation, PathTable
from inspector.base.slices import SlicedWork
from inspector.filters.ast import TextSearch
from inspector.filters.cache import UNKNOWN, Mask, PredicateCache, Rows, TermCache
from inspector.filters.check import Term
from inspector.filters.field import Depends
from inspector.filters.find_query import literal_locator
from inspector.filters.full_text import TextFinder
from inspector.filters.joined_text import Begins, begins_in_frame
from inspector.filters.payloads import TooLargeError, big_text, big_value
from inspector.filters.record_prefilter import TextHint, read_together
from inspector.filters.text_search import found_in
from inspector.store.columns.large_headers import MAX_WHOLE_BYTES
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import OPEN_JSON

CHEAP, DECODED, FULL_TEXT = 0, 1, 2
"""Costs of a term."""
_LISTS = (list, tuple)
# Each text is one more pass over the bytes of all lines.
_MOST_TEXTS = 8
"""Limit of set values that are searched one by one."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """State of one evaluation: the analysis, its columns, and the cache of expensive results."""

    analysis: Analysis
    answers: TermCache | None = None
    _columns: dict[Callable[[Analysis], Column], Column] = field(default_factory=dict)

    def frames_among(self, rows: Rows) -> Rows:
        """Returns the frames among some messages; their text may continue in later frames."""
        return rows[self.analysis.streams.columns["run"][rows] != 0]

    def column(self, make: Callable[[Analysis], Column]) -> Column:
        """Returns the column; builds it once."""
        found = self._columns.get(make)
        if found is None:
            found = self._columns[make] = make(self.analysis)
        return found


class Selection:
    """Requested messages, with the fastest index for numpy columns.

    Attributes:
        take: a slice for consecutive messages, for views without copies; else an index array.
    """

    __slots__ = ("_length", "take")

    def __init__(self, take: slice | Rows, length: int) -> None:
        self.take = take
        self._length = length

    @classmethod
    def for_rows(cls, rows: Rows) -> Selection:
        """Selects any messages, in any order."""
        first, last = int(rows[0]), int(rows[-1])
        # A slice gives views of columns; an index array copies them.
        if last - first == len(rows) - 1 and (len(rows) == 1 or bool((rows[1:] > rows[:-1]).all())):
            return cls.for_range(first, last + 1)
        return cls(rows, len(rows))

    @classmethod
    def for_range(cls, start: int, stop: int) -> Selection:
        return cls(slice(start, stop), stop - start)

    @property
    def rows(self) -> Rows:
        return np.arange(self.take.start, self.take.stop) if isinstance(self.take, slice) else self.take

    def filtered_by(self, mask: Mask) -> Selection:
        """Returns the messages for which the mask is True."""
        places = np.flatnonzero(mask)
        rows = places + self.take.start if isinstance(self.take, slice) else self.take[places]
        return Selection(rows, len(rows))

    def __len__(self) -> int:
        return self._length


class Node(Protocol):
    """A compiled part of an expression."""

    def cost(self, evaluation: Evaluation) -> int:
        """Returns CHEAP, DECODED or FULL_TEXT."""
        ...

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Returns (len(selection),) bool, owned by the caller."""
        ...

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Returns the certain and the possible matches without decoding anything; read-only."""
        ...

    def prepare_strings(self, evaluation: Evaluation, selection: Selection) -> SlicedWork[None]:
        """Evaluates predicates for distinct strings, unless they are few."""
        ...

    def leaves(self) -> Iterator[TermNode | TextNode]:
        """Yields the comparisons and text searches, in order."""
        ...


@dataclass(frozen=True, slots=True)
class NotNode:
    """Negation."""

    operand: Node

    def cost(self, evaluation: Evaluation) -> int:
        return self.operand.cost(evaluation)

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        mask = self.operand.evaluate(evaluation, selection)
        return np.logical_not(mask, out=mask)

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        sure, possible = self.operand.bounds(evaluation, selection)
        # Messages that cannot match the operand match for certain, and the reverse.
        return ~possible, ~sure

    def prepare_strings(self, evaluation: Evaluation, selection: Selection) -> SlicedWork[None]:
        return self.operand.prepare_strings(evaluation, selection)

    def leaves(self) -> Iterator[TermNode | TextNode]:
        return self.operand.leaves()


@dataclass(frozen=True, slots=True)
class JunctionNode:
    """`&&` (decided by false) and `||` (decided by true)."""

    operands: tuple[Node, ...]
    decided_by: bool

    def cost(self, evaluation: Evaluation) -> int:
        """Returns the highest cost of its operands."""
        return max([operand.cost(evaluation) for operand in self.operands])

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Evaluates cheap operands first; expensive ones only get undecided messages."""
        # The order of operands cannot change the result, since terms have no side effects.
        first, *rest = sorted(self.operands, key=lambda operand: operand.cost(evaluation))
        mask = first.evaluate(evaluation, selection)
        combine = np.logical_or if self.decided_by else np.logical_and
        for operand in rest:
            # Array work over all messages is faster than an index array of the undecided ones.
            if operand.cost(evaluation) == CHEAP:
                combine(mask, operand.evaluate(evaluation, selection), out=mask)
                continue
            undecided = mask != self.decided_by
            if undecided.any():
                mask[undecided] = operand.evaluate(evaluation, selection.filtered_by(undecided))
        return mask

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Combines the bounds of all operands."""
        combine = np.logical_or if self.decided_by else np.logical_and
        sure, possible = self.operands[0].bounds(evaluation, selection)
        for operand in self.operands[1:]:
            more_sure, more_possible = operand.bounds(evaluation, selection)
            sure, possible = combine(sure, more_sure), combine(possible, more_possible)
        return sure, possible

    def prepare_strings(self, evaluation: Evaluation, selection: Selection) -> SlicedWork[None]:
        """Runs `prepare_strings` of each operand in order."""
        for operand in self.operands:
            yield from operand.prepare_strings(evaluation, selection)

    def leaves(self) -> Iterator[TermNode | TextNode]:
        for operand in self.operands:
            yield from operand.leaves()


@dataclass(slots=True)
class TermNode:
    """One comparison or test of presence over one column."""

    number: int
    """Number of the term in its filter."""
    term: Term
    memory: PredicateCache = field(default_factory=PredicateCache)
    _hint: TextHint | None = field(init=False)
    _begins: Begins | None = field(init=False, default=None)
    _places: tuple[PathTable, list[PathRelation]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._hint = _hint_of(self.term)
        operator, predicate = self.term.operator, self.term.predicate
        if self.term.field.name == "text" and operator is not None and operator.begins and predicate is not None:
            self._begins = operator.begins(predicate, self.term.operand)

    def leaves(self) -> Iterator[TermNode | TextNode]:
        yield self

    def cost(self, evaluation: Evaluation) -> int:
        """Returns DECODED for columns that decode records, else CHEAP."""
        column = evaluation.column(self.term.column)
        return DECODED if isinstance(column, Decoded) else CHEAP

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Compares the messages' values."""
        column = evaluation.column(self.term.column)
        if isinstance(column, Decoded):
            mask = self._evaluate_decoded(evaluation, column, selection)
        else:
            mask = (
                self._presence_mask(column, selection)
                if self.term.predicate is None
                else self._match_mask(column, selection)
            )
        return np.logical_not(mask, out=mask) if self.term.negated else mask

    def _evaluate_decoded(self, evaluation: Evaluation, column: Decoded, selection: Selection) -> Mask:
        """Decodes records, except where the column already excludes a match."""
        answers, likely = self._answers_of(evaluation, column), self._possible_matches(column, selection)
        analysis = evaluation.analysis

        def ask(rows: Rows) -> Mask:
            mask = self._decoded(analysis.capture, column, rows)
            return mask if self._begins is None else _or_begins(analysis, rows, mask, self._begins)

        if likely is None:
            return _evaluate_unknown(answers, selection, ask)
        if likely.any():
            likely[likely] = _evaluate_unknown(answers, selection.filtered_by(likely), ask)
        return likely

    def _possible_matches(self, column: Decoded, selection: Selection) -> Mask | None:
        """Returns a mask of possible matches from indexes alone, if available. The caller owns it."""
        if column.may_have is None:
            return None
        texts = tuple([text for text in self.term.operands if isinstance(text, str)])
        exact = self.term.symbol == "in" or (self.term.symbol == "==" and texts)
        return column.may_have(selection.take, texts if exact else None)

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Returns exact bounds for array columns; for decoded columns, bounds from cached results."""
        column = evaluation.column(self.term.column)
        if not isinstance(column, Decoded):
            mask = self.evaluate(evaluation, selection)
            return mask, mask
        sure, possible = _bounds_of(self._answers_of(evaluation, column), selection)
        likely = self._possible_matches(column, selection)
        if likely is not None:
            sure, possible = sure & likely, possible & likely
        return (~possible, ~sure) if self.term.negated else (sure, possible)

    def prepare_strings(self, evaluation: Evaluation, selection: Selection) -> SlicedWork[None]:
        """Evaluates the predicate per table entry; other columns need no preparation."""
        column, predicate = evaluation.column(self.term.column), self.term.predicate
        if predicate is not None and isinstance(column, Interned | InternedSets):
            yield from self.memory.evaluate_entries(column, column.ids[selection.take], self._per_entry(column))

    def _per_entry(self, column: Interned | InternedSets) -> Callable[[int], bool]:
        """Returns the predicate by table entry: for a string, a context path, or any element of a list."""
        predicate, table, operator = self.term.predicate, column.table, self.term.operator
        assert predicate is not None
        # Displayed paths are truncated, so paths are compared by their place in the tree.
        if isinstance(table, PathTable) and operator is not None and operator.places is not None:
            places, holds = self._places_in(table), operator.places
            return lambda entry: any(holds(path, entry - 1) for path in places)
        if isinstance(column, Interned):
            return lambda entry: predicate(table[entry])
        return lambda entry: any(map(predicate, table[entry]))

    def _places_in(self, table: PathTable) -> list[PathRelation]:
        """Resolves the operand, a path or a set of paths, to places in the table."""
        # Each capture has a table of its own; one filter may serve several captures.
        if self._places is None or self._places[0] is not table:
            self._places = table, [table.places(path) for path in self.term.operands if isinstance(path, str)]
        return self._places[1]

    def _answers_of(self, evaluation: Evaluation, column: Column) -> NDArray[np.int8] | None:
        answers = evaluation.answers
        among = None if self._begins is None else evaluation.frames_among
        return None if answers is None else answers.for_term(self.number, len(column), self.term.field.depends, among)

    def _presence_mask(self, column: Column, selection: Selection) -> Mask:
        if isinstance(column, Interned | InternedSets):
            return column.ids[selection.take] != 0
        if isinstance(column, Numbers):
            return column.present(selection.take)
        assert isinstance(column, Flags)
        return (column.bits[selection.take] & column.bits.dtype.type(column.mask)) != 0

    def _match_mask(self, column: Column, selection: Selection) -> Mask:
        if isinstance(column, Interned | InternedSets):
            return self.memory.match_entries(column, column.ids[selection.take], self._per_entry(column))
        assert isinstance(column, Numbers)
        assert self.term.operator is not None
        assert self.term.operator.vector is not None
        values = column.values[selection.take]
        compared = self.term.operator.vector(values, self.term.operand)
        return compared if column.absent is None else compared & column.holding(values)

    def _decoded(self, capture: Capture, column: Decoded, rows: Rows) -> Mask:
        if self._hint is None:
            return self._evaluate_each(capture, column, rows)
        mask = self._hint.possible_matches(capture, rows)
        if mask.any():
            mask[mask] = self._evaluate_each(capture, column, rows[mask])
        return mask

    def _evaluate_each(self, capture: Capture, column: Decoded, rows: Rows) -> Mask:
        predicate, many = self.term.predicate, self.term.field.many
        with read_together(capture, rows):
            values = self._decoded_values(capture, column, rows)
            if predicate is None:
                return _mask((bool(value) if many else value is not None for value in values), len(rows))
            return _mask((_matches_any(predicate, value) for value in values), len(rows))

    def _decoded_values(self, capture: Capture, column: Decoded, rows: Rows) -> Iterator[object]:
        """Yields the messages' values. For records decoded only in part, reads the value from the whole record."""
        values = column.values(rows)
        # Of such records only the head stays decoded, so its value may be missing or cut.
        big = capture.columns["length"][rows] > MAX_WHOLE_BYTES
        if not big.any():
            return values
        some = zip(values, rows.tolist(), big.tolist(), strict=True)
        return (self._big_value(capture, row, value) if is_big else value for value, row, is_big in some)

    def _big_value(self, capture: Capture, message: int, in_head: object) -> object:
        field_ = self.term.field
        if field_.path:
            with suppress(TooLargeError):
                return big_value(capture, message, field_.path)
        elif field_.name == "text":
            return big_text(capture, message)
        return in_head


@dataclass(slots=True)
class TextNode:
    """Searches the text of the whole message, ignoring case; of a stream, the joined text of its frames."""

    number: int
    written: TextSearch
    _finder: TextFinder = field(init=False)
    _locate: Callable[[str], list[tuple[int, int]]] = field(init=False)

    def __post_init__(self) -> None:
        self._finder = TextFinder(self.written.text)
        self._locate = literal_locator(self.written.text, match_case=False)

    def leaves(self) -> Iterator[TermNode | TextNode]:
        yield self

    def cost(self, evaluation: Evaluation) -> int:
        return FULL_TEXT

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Searches the records; adjacent records in one read."""
        analysis = evaluation.analysis

        def ask(rows: Rows) -> Mask:
            return _or_begins(analysis, rows, found_in(self._finder, analysis.capture, rows), self._begins)

        return _evaluate_unknown(self._answers_of(evaluation), selection, ask)

    def _begins(self, text: str, limit: int) -> bool:
        places = self._locate(text)
        return bool(places) and places[0][0] < limit

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Returns bounds from cached results."""
        return _bounds_of(self._answers_of(evaluation), selection)

    def prepare_strings(self, evaluation: Evaluation, selection: Selection) -> SlicedWork[None]:
        """Does nothing; full text has no string table."""
        yield from ()

    def _answers_of(self, evaluation: Evaluation) -> NDArray[np.int8] | None:
        answers = evaluation.answers
        if answers is None:
            return None
        return answers.for_term(self.number, len(evaluation.analysis), Depends.PASS, evaluation.frames_among)


def _hint_of(term: Term) -> TextHint | None:
    """Returns the text that each match of a payload term must contain, if any, before negation."""
    if not term.field.path or OPEN_JSON in term.field.path:  # escaping differs in a text inside a text
        return None
    texts = [text for text in term.operands if isinstance(text, str) and text]
    fits = term.symbol in ("==", "contains", "in") and 0 < len(texts) <= _MOST_TEXTS
    return TextHint(texts) if fits and len(texts) == len(term.operands) else None


def _or_begins(analysis: Analysis, rows: Rows, mask: Mask, begins: Begins) -> Mask:
    """Adds frames in which a match begins that continues in the next frames."""
    open_ = np.flatnonzero((analysis.streams.columns["run"][rows] != 0) & ~mask)
    # The frame's own text is not searched again: only matches that cross its end are missing.
    if len(open_):
        mask[open_] = begins_in_frame(analysis, rows[open_], begins)
    return mask


def _evaluate_unknown(answers: NDArray[np.int8] | None, selection: Selection, ask: Callable[[Rows], Mask]) -> Mask:
    """Returns results from the cache and evaluates only the unknown ones."""
    if answers is None:
        return ask(selection.rows)
    found = answers[selection.take]
    unknown = found == UNKNOWN
    if unknown.any():
        rows = selection.filtered_by(unknown).rows
        # Decoded results are kept, since another condition or scope asks for the same ones.
        answers[rows] = ask(rows)
        found = answers[selection.take]
    return found == 1


def _bounds_of(answers: NDArray[np.int8] | None, selection: Selection) -> tuple[Mask, Mask]:
    if answers is None:
        return np.zeros(len(selection), np.bool_), np.ones(len(selection), np.bool_)
    found = answers[selection.take]
    return found == 1, found != 0


def _matches_any(predicate: Callable[[object], bool], value: object) -> bool:
    if isinstance(value, _LISTS):
        return any(map(predicate, value))
    return value is not None and predicate(value)


def _mask(values: Iterable[bool], length: int) -> Mask:
    return np.fromiter(values, np.bool_, length)
