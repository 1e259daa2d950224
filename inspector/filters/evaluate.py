"""A checked filter evaluated over columns: the nodes `compile` builds.

Terms over arrays (flags, numbers, interned strings) are evaluated for all messages asked for: that is cheaper than
choosing. Terms that decode records come last and only see the messages that `&&` and `||` have not decided yet. A term
over interned strings evaluates its predicate once per distinct string that occurs, and remembers it as long as the
table lives; a term that decodes remembers its answers where it is given a place for them (`Answers`).
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
from inspector.analysis.passes.contexts.node_columns import PathPlaces, PathTable
from inspector.filters.cache import UNKNOWN, Answers, Mask, Rows, TableMemory
from inspector.filters.check import Term
from inspector.filters.field import Depends
from inspector.filters.full_text import TextFinder
from inspector.filters.joined_text import Begins, begins_in_frame
from inspector.filters.payloads import TooLargeError, big_text, big_value
from inspector.filters.record_prefilter import TextHint, read_together
from inspector.filters.text_search import found_in
from inspector.store.columns.large_headers import MAX_WHOLE
from inspector.store.messages.capture import Capture
from inspector.store.messages.payload_values import OPEN_JSON

CHEAP, DECODED, FULL_TEXT = 0, 1, 2
"""What a term costs."""
_LISTS = (list, tuple)
_MOST_TEXTS = 8
"""Values of a set that are looked for one by one."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation: the analysis, the columns made for it, and where dear answers are kept."""

    analysis: Analysis
    answers: Answers | None = None
    _columns: dict[Callable[[Analysis], Column], Column] = field(default_factory=dict)

    def frames_among(self, rows: Rows) -> Rows:
        """Those of some messages that are frames: what they say may go on in later ones."""
        return rows[self.analysis.streams.columns["run"][rows] != 0]

    def column(self, make: Callable[[Analysis], Column]) -> Column:
        """The column, made once."""
        found = self._columns.get(make)
        if found is None:
            found = self._columns[make] = make(self.analysis)
        return found


class Selection:
    """Messages asked about, and the quickest way to take them from a column.

    Attributes:
        take: a slice for a run of messages, which gives views; else their indices.
    """

    __slots__ = ("_length", "take")

    def __init__(self, take: slice | Rows, length: int) -> None:
        self.take = take
        self._length = length

    @classmethod
    def of(cls, rows: Rows) -> Selection:
        """Any messages, in any order."""
        first, last = int(rows[0]), int(rows[-1])
        if last - first == len(rows) - 1 and (len(rows) == 1 or bool((rows[1:] > rows[:-1]).all())):
            return cls.between(first, last + 1)
        return cls(rows, len(rows))

    @classmethod
    def between(cls, start: int, stop: int) -> Selection:
        """Messages `start` to `stop`."""
        return cls(slice(start, stop), stop - start)

    @property
    def rows(self) -> Rows:
        """Indices of the messages."""
        return np.arange(self.take.start, self.take.stop) if isinstance(self.take, slice) else self.take

    def where(self, mask: Mask) -> Selection:
        """Those of the messages where a mask holds."""
        places = np.flatnonzero(mask)
        rows = places + self.take.start if isinstance(self.take, slice) else self.take[places]
        return Selection(rows, len(rows))

    def __len__(self) -> int:
        return self._length


class Node(Protocol):
    """A part of an expression."""

    def cost(self, evaluation: Evaluation) -> int:
        """CHEAP, DECODED or FULL_TEXT."""
        ...

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """(len(selection),) bool, owned by the caller."""
        ...

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Where it surely holds and where it possibly does, without decoding anything; only to be read."""
        ...

    def learn(self, evaluation: Evaluation, selection: Selection, until: float) -> bool:
        """Look at the strings that occur, where they are many, until a time; whether few or none are left."""
        ...


@dataclass(frozen=True, slots=True)
class NotNode:
    """The opposite of its operand."""

    operand: Node

    def cost(self, evaluation: Evaluation) -> int:
        """What its operand costs."""
        return self.operand.cost(evaluation)

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Where its operand does not hold."""
        mask = self.operand.evaluate(evaluation, selection)
        return np.logical_not(mask, out=mask)

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """The other way round."""
        sure, possible = self.operand.bounds(evaluation, selection)
        return ~possible, ~sure

    def learn(self, evaluation: Evaluation, selection: Selection, until: float) -> bool:
        """As its operand."""
        return self.operand.learn(evaluation, selection, until)


@dataclass(frozen=True, slots=True)
class JunctionNode:
    """`&&` (decided by false) and `||` (decided by true)."""

    operands: tuple[Node, ...]
    decided_by: bool

    def cost(self, evaluation: Evaluation) -> int:
        """What its dearest operand costs."""
        return max([operand.cost(evaluation) for operand in self.operands])

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Cheap operands first; dear ones only see what is not decided."""
        first, *rest = sorted(self.operands, key=lambda operand: operand.cost(evaluation))
        mask = first.evaluate(evaluation, selection)
        combine = np.logical_or if self.decided_by else np.logical_and
        for operand in rest:
            if operand.cost(evaluation) == CHEAP:
                combine(mask, operand.evaluate(evaluation, selection), out=mask)
                continue
            undecided = mask != self.decided_by
            if undecided.any():
                mask[undecided] = operand.evaluate(evaluation, selection.where(undecided))
        return mask

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Both bounds of all operands, combined."""
        combine = np.logical_or if self.decided_by else np.logical_and
        sure, possible = self.operands[0].bounds(evaluation, selection)
        for operand in self.operands[1:]:
            more_sure, more_possible = operand.bounds(evaluation, selection)
            sure, possible = combine(sure, more_sure), combine(possible, more_possible)
        return sure, possible

    def learn(self, evaluation: Evaluation, selection: Selection, until: float) -> bool:
        """All operands, one after the other."""
        return all(operand.learn(evaluation, selection, until) for operand in self.operands)


@dataclass(slots=True)
class TermNode:
    """One comparison or test of presence over one column."""

    number: int
    """Among the terms of its filter."""
    term: Term
    make_column: Callable[[Analysis], Column]
    memory: TableMemory = field(default_factory=TableMemory)
    _hint: TextHint | None = field(init=False)
    _begins: Begins | None = field(init=False, default=None)
    _places: tuple[PathTable, list[PathPlaces]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._hint = _hint_of(self.term)
        operator, predicate = self.term.operator, self.term.predicate
        if self.term.field.name == "text" and operator is not None and operator.begins and predicate is not None:
            self._begins = operator.begins(predicate, self.term.operand)

    def cost(self, evaluation: Evaluation) -> int:
        """Only columns that are no arrays have to decode."""
        column = evaluation.column(self.make_column)
        return DECODED if isinstance(column, Decoded) else CHEAP

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Compare the messages' values."""
        column = evaluation.column(self.make_column)
        if isinstance(column, Decoded):
            mask = self._asked(evaluation, column, selection)
        else:
            mask = self._present(column, selection) if self.term.predicate is None else self._holds(column, selection)
        return np.logical_not(mask, out=mask) if self.term.negated else mask

    def _asked(self, evaluation: Evaluation, column: Decoded, selection: Selection) -> Mask:
        """Decode, but not where it is known beforehand that the term does not hold."""
        answers, likely = self._answers_of(evaluation, column), self._likely(column, selection)
        analysis = evaluation.analysis

        def ask(rows: Rows) -> Mask:
            mask = self._decoded(analysis.capture, column, rows)
            return mask if self._begins is None else _or_begins(analysis, rows, mask, self._begins)

        if likely is None:
            return _asked_once(answers, selection, ask)
        if likely.any():
            likely[likely] = _asked_once(answers, selection.where(likely), ask)
        return likely

    def _likely(self, column: Decoded, selection: Selection) -> Mask | None:
        """Where the term may hold, as far as that is known without decoding; owned by the caller."""
        if column.may_hold is None:
            return None
        symbol, operand = (None, None) if self.term.operator is None else (self.term.operator.symbol, self.term.operand)
        texts: tuple[str, ...] | None = None
        if symbol == "==" and isinstance(operand, str):
            texts = (operand,)
        elif symbol == "in" and isinstance(operand, tuple):
            texts = tuple([text for text in operand if isinstance(text, str)])
        return column.may_hold(selection.take, texts)

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """Arrays leave nothing open; of what must be decoded only answers given before are known."""
        column = evaluation.column(self.make_column)
        if not isinstance(column, Decoded):
            mask = self.evaluate(evaluation, selection)
            return mask, mask
        sure, possible = _bounds_of(self._answers_of(evaluation, column), selection)
        likely = self._likely(column, selection)
        if likely is not None:
            sure, possible = sure & likely, possible & likely
        return (~possible, ~sure) if self.term.negated else (sure, possible)

    def learn(self, evaluation: Evaluation, selection: Selection, until: float) -> bool:
        """Only tables can hold many strings."""
        column, predicate = evaluation.column(self.make_column), self.term.predicate
        if predicate is None or not isinstance(column, Interned | InternedSets):
            return True
        return self.memory.learn(column, column.ids[selection.take], self._per_entry(column), until)

    def _per_entry(self, column: Interned | InternedSets) -> Callable[[int], bool]:
        """The predicate over a table's entry: a string, a context's path, or a list of which any element will do."""
        predicate, table, operator = self.term.predicate, column.table, self.term.operator
        assert predicate is not None
        if isinstance(table, PathTable) and operator is not None and operator.places is not None:
            places, holds = self._places_in(table), operator.places
            return lambda entry: any(holds(path, entry - 1) for path in places)
        if isinstance(column, Interned):
            return lambda entry: predicate(table[entry])
        return lambda entry: any(map(predicate, table[entry]))

    def _places_in(self, table: PathTable) -> list[PathPlaces]:
        """What the operand is about, a path or a set of them."""
        if self._places is None or self._places[0] is not table:
            operand = self.term.operand
            wanted = operand if isinstance(operand, tuple) else (operand,)
            self._places = table, [table.places(path) for path in wanted if isinstance(path, str)]
        return self._places[1]

    def _answers_of(self, evaluation: Evaluation, column: Column) -> NDArray[np.int8] | None:
        answers = evaluation.answers
        among = None if self._begins is None else evaluation.frames_among
        return None if answers is None else answers.of(self.number, len(column), self.term.field.depends, among)

    def _present(self, column: Column, selection: Selection) -> Mask:
        if isinstance(column, Interned | InternedSets):
            return column.ids[selection.take] != 0
        if isinstance(column, Numbers):
            return column.present(selection.take)
        assert isinstance(column, Flags)
        return (column.bits[selection.take] & column.bits.dtype.type(column.mask)) != 0

    def _holds(self, column: Column, selection: Selection) -> Mask:
        if isinstance(column, Interned | InternedSets):
            return self.memory.holds(column, column.ids[selection.take], self._per_entry(column))
        if isinstance(column, Numbers) and self.term.operator is not None and self.term.operator.vector is not None:
            values = column.values[selection.take]
            compared = self.term.operator.vector(values, self.term.operand)
            return compared if column.absent is None else compared & column.holding(values)
        # The only comparison with a truth value that is left is `== true`.
        return self._present(column, selection)

    def _decoded(self, capture: Capture, column: Decoded, rows: Rows) -> Mask:
        if self._hint is None:
            return self._each(capture, column, rows)
        mask = self._hint.likely(capture, rows)
        if mask.any():
            mask[mask] = self._each(capture, column, rows[mask])
        return mask

    def _each(self, capture: Capture, column: Decoded, rows: Rows) -> Mask:
        predicate, many = self.term.predicate, self.term.field.many
        with read_together(capture, rows):
            values = self._values(capture, column, rows)
            if predicate is None:
                return _mask((bool(value) if many else value is not None for value in values), len(rows))
            return _mask((_any(predicate, value) for value in values), len(rows))

    def _values(self, capture: Capture, column: Decoded, rows: Rows) -> Iterator[object]:
        """The messages' values; of a big one, whose column knows its head, what really stands in it."""
        values = column.values(rows)
        big = capture.columns["length"][rows] > MAX_WHOLE
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


@dataclass(frozen=True, slots=True)
class TextNode:
    """Text of the whole message contains the needle, letter case aside; of a stream, what its frames say together."""

    number: int
    finder: TextFinder
    locate: Callable[[str], list[tuple[int, int]]]
    """Where it stands in a text."""

    def cost(self, evaluation: Evaluation) -> int:
        """Dearest of all."""
        return FULL_TEXT

    def evaluate(self, evaluation: Evaluation, selection: Selection) -> Mask:
        """Search the records, those that lie together at once."""
        analysis = evaluation.analysis

        def ask(rows: Rows) -> Mask:
            return _or_begins(analysis, rows, found_in(self.finder, analysis.capture, rows), self._begins)

        return _asked_once(self._answers_of(evaluation), selection, ask)

    def _begins(self, text: str, limit: int) -> bool:
        places = self.locate(text)
        return bool(places) and places[0][0] < limit

    def bounds(self, evaluation: Evaluation, selection: Selection) -> tuple[Mask, Mask]:
        """What was searched before is known."""
        return _bounds_of(self._answers_of(evaluation), selection)

    def learn(self, evaluation: Evaluation, selection: Selection, until: float) -> bool:
        """Nothing beforehand."""
        return True

    def _answers_of(self, evaluation: Evaluation) -> NDArray[np.int8] | None:
        answers = evaluation.answers
        if answers is None:
            return None
        return answers.of(self.number, len(evaluation.analysis), Depends.PASS, evaluation.frames_among)


def _hint_of(term: Term) -> TextHint | None:
    """What a message holds where a term about a value in its payload does, before it is negated; None for anything."""
    operand: object = term.operand
    symbol = None if term.operator is None else term.operator.symbol
    if not term.field.path or OPEN_JSON in term.field.path:  # what is in a text is written in other ways
        return None
    if symbol in ("==", "contains") and isinstance(operand, str) and operand:
        return TextHint((operand,))
    if symbol == "in" and isinstance(operand, tuple) and len(operand) <= _MOST_TEXTS:
        texts = [text for text in operand if isinstance(text, str) and text]
        return TextHint(texts) if texts and len(texts) == len(operand) else None
    return None


def _or_begins(analysis: Analysis, rows: Rows, mask: Mask, begins: Begins) -> Mask:
    """Add the frames in which what is looked for begins, to go on in the next ones."""
    open_ = np.flatnonzero((analysis.streams.columns["run"][rows] != 0) & ~mask)
    if len(open_):
        mask[open_] = begins_in_frame(analysis, rows[open_], begins)
    return mask


def _asked_once(answers: NDArray[np.int8] | None, selection: Selection, ask: Callable[[Rows], Mask]) -> Mask:
    """Answers for the messages, asking only for what is not known."""
    if answers is None:
        return ask(selection.rows)
    found = answers[selection.take]
    unknown = found == UNKNOWN
    if unknown.any():
        rows = selection.where(unknown).rows
        answers[rows] = ask(rows)
        found = answers[selection.take]
    return found == 1


def _bounds_of(answers: NDArray[np.int8] | None, selection: Selection) -> tuple[Mask, Mask]:
    if answers is None:
        return np.zeros(len(selection), np.bool_), np.ones(len(selection), np.bool_)
    found = answers[selection.take]
    return found == 1, found != 0


def _any(predicate: Callable[[object], bool], value: object) -> bool:
    if isinstance(value, _LISTS):
        return any(map(predicate, value))
    return value is not None and predicate(value)


def _mask(values: Iterable[bool], length: int) -> Mask:
    return np.fromiter(values, np.bool_, length)
