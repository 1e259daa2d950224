"""OPERATORS: the table of all comparisons of the filter language.

Grammar, type check, completion and help read it. To add an operator, add an entry here and its slow reference to
`tests/unit/filters/reference.py`. All operators treat lists (any element) and absent values (no match) alike, in
`inspector.filters.evaluate`.
"""

from __future__ import annotations

import fnmatch
import math
import operator as python
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.findings import Severity
from inspector.analysis.passes.contexts.node_columns import PathRelation
from inspector.filters.field import FieldType
from inspector.filters.pattern_words import pattern_trouble
from inspector.filters.time_limit import TookTooLongError, limited_time
from inspector.protocol import context_paths

Scalar: TypeAlias = str | int | float | bool
Operand: TypeAlias = Scalar | tuple[Scalar, ...]
Predicate: TypeAlias = Callable[[object], bool]
Vector: TypeAlias = Callable[[NDArray[Any], Any], NDArray[np.bool_]]

MAX_PATTERN = 1000
"""Limit of a regular expression or glob, in characters."""

# An ordinary expression takes a tenth of it for 64 KB; catastrophic ones may take years.
_MATCH_S, _MATCH_LEAST_S = 0.03, 0.002
"""Limits of processor time in seconds for a regular expression in one value: normal, and after timeouts."""

_ALL_TYPES = frozenset(FieldType)
_ORDERED_TYPES = frozenset((FieldType.INTEGER, FieldType.NUMBER, FieldType.TIME, FieldType.SEVERITY, FieldType.ANY))
_TEXT = frozenset((FieldType.STRING, FieldType.KIND, FieldType.CONTEXT, FieldType.ANY))
_PATHS = frozenset((FieldType.CONTEXT,))


class OperandError(ValueError):
    """A value that the operator cannot use.

    Attributes:
        message: one sentence.
        offset: place of the error in the value, in characters, if not the whole value.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Operator:
    """One comparison of the filter language."""

    symbol: str
    """Canonical spelling."""
    words: tuple[str, ...]
    """Other spellings."""
    types: frozenset[FieldType]
    """Field types that the operator fits."""
    help: str
    """One sentence for completion and help."""
    build: Callable[[Any, FieldType], Predicate]
    """Returns a predicate over one value from operand and field type; may raise `OperandError`."""
    vector: Vector | None = None
    """The same over an array of numbers; None if it does not fit numbers."""
    negates: str | None = None
    """The operator that this one negates, absent values included."""
    wants_text: bool = False
    """The operand must be text, whatever the field's type."""
    places: Callable[[PathRelation, int], bool] | None = None
    """For paths: the test by context node, since displayed paths are truncated; None to test the text."""
    literal: bool = True
    """The operand is a literal value. False for patterns, which cannot contain variables."""
    normalize: Callable[[str], str] = str
    """Returns a text operand in its normal form; may raise `OperandError`."""
    begins: Callable[[Predicate, Any], Callable[[str, int], bool]] | None = None
    """Returns a test for matches that begin before an offset; None if a match always covers the whole text.

    Such a match cannot continue in the next frame of a stream.
    """


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(operand: Scalar, _type: FieldType) -> Predicate:
    """Compares within a type: text never equals a number, `true` never equals 1 (JSON, not Python)."""
    # In Python `True == 1`, but JSON's true is no number.
    if isinstance(operand, bool):
        return lambda value: value is operand
    if isinstance(operand, str):
        return lambda value: value == operand
    return lambda value: _is_number(value) and value == operand


def _member(operands: tuple[Scalar, ...], type_: FieldType) -> Predicate:
    # A set, since filters with hundreds of ids are common in scripts.
    texts = frozenset(operand for operand in operands if isinstance(operand, str))
    others = [_equal(operand, type_) for operand in operands if not isinstance(operand, str)]
    return lambda value: value in texts if isinstance(value, str) else any(same(value) for same in others)


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, FieldType], Predicate]:
    """Orders within a type: numbers by size, severities by rank, texts (only in payloads) by code point."""

    def build(operand: Scalar, field_type: FieldType) -> Predicate:
        if field_type is FieldType.SEVERITY:
            return lambda value: compare(_RANK[str(value)], _RANK[str(operand)])
        if isinstance(operand, bool):
            raise OperandError("true and false have no order.")
        if isinstance(operand, str):
            return lambda value: isinstance(value, str) and compare(value, operand)
        return lambda value: _is_number(value) and compare(value, operand)

    return build


_RANK = {severity.word: severity.value for severity in Severity}

_ARRAY_COMPARE: dict[str, Vector] = {
    "==": np.equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        # JSON has integers of any length, and floats end at about 1e308.
        return math.inf if number > 0 else -math.inf


def _vector(symbol: str) -> Vector:
    """Returns a comparison over arrays that agrees with Python's, also for fractions against integers."""

    def compare(values: NDArray[Any], operand: float) -> NDArray[np.bool_]:
        effective = symbol
        # NumPy would convert the integers to floats, which cannot represent nanoseconds exactly.
        if isinstance(operand, float) and np.issubdtype(values.dtype, np.integer):
            if not operand.is_integer():
                if symbol == "==":
                    return np.zeros(len(values), np.bool_)
                effective = "<=" if symbol in ("<", "<=") else ">="
            operand = math.floor(operand) if effective in ("<", "<=", "==") else math.ceil(operand)
        elif np.issubdtype(values.dtype, np.floating):
            # An integer operand may be too large for the array's type.
            values, operand = values.astype(np.float64, copy=False), _as_float(operand)
        return _ARRAY_COMPARE[effective](values, operand)

    return compare


def _vector_member(values: NDArray[Any], operands: tuple[float, ...]) -> NDArray[np.bool_]:
    equal = _vector("==")
    mask = np.zeros(len(values), np.bool_)
    for operand in operands:
        mask |= equal(values, operand)
    return mask


def _contains(operand: str, _type: FieldType) -> Predicate:
    return lambda value: isinstance(value, str) and operand in value


def _contains_early(_predicate: Predicate, operand: str) -> Callable[[str, int], bool]:
    return lambda text, limit: 0 <= text.find(operand) < limit


def _matches_early(predicate: Predicate, _operand: str) -> Callable[[str, int], bool]:
    assert isinstance(predicate, Matching)
    return predicate.begins


def _guard_pattern(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise OperandError(f"The pattern is longer than {MAX_PATTERN:,} characters.")


def _matches(operand: str, _type: FieldType) -> Predicate:
    _guard_pattern(operand)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "possible nested set" and similar warnings are for programmers
            search = re.compile(operand).search
    except re.error as error:
        raise OperandError(f"The regular expression is not valid: {pattern_trouble(error)}.", error.pos) from None
    except (RecursionError, OverflowError, MemoryError):
        # The compiler recurses once per group and counts repetitions in C integers.
        raise OperandError("The regular expression is too complex.") from None
    return Matching(search)


class Matching:
    """Searches a regular expression in values, with a time limit.

    A value that times out does not match and is counted. Each consecutive timeout halves the limit of the next value.

    Attributes:
        too_long: number of timeouts.
    """

    def __init__(self, search: Callable[[str], re.Match[str] | None]) -> None:
        self._search = search
        self._limit = _MATCH_S
        self.too_long = 0

    def __call__(self, value: object) -> bool:
        """Returns True if the value is text with a match."""
        return isinstance(value, str) and self._first(value) is not None

    def begins(self, text: str, limit: int) -> bool:
        """Returns True if the text has a match that begins before `limit`."""
        found = self._first(text)
        return found is not None and found.start() < limit

    def _first(self, text: str) -> re.Match[str] | None:
        try:
            with limited_time(self._limit):
                found = self._search(text)
        except TookTooLongError:
            self.too_long += 1
            # A slow expression is likely slow in the next value too.
            self._limit = max(_MATCH_LEAST_S, self._limit / 2)
            return None
        # Recovers, since a single long value may be an exception.
        self._limit = min(_MATCH_S, self._limit * 2)
        return found


def _glob(pattern: str) -> Callable[[str], bool]:
    """Returns a whole-string matcher: `*` is any text, `?` any character; brackets are literal."""
    _guard_pattern(pattern)
    # fnmatch makes an expression without backtracking, so no pattern takes forever.
    matched = re.compile(fnmatch.translate(pattern.replace("[", "[[]"))).match
    return lambda text: matched(text) is not None


def _like_glob(operand: str, field_type: FieldType) -> Predicate:
    matched = _glob(operand)
    if field_type is not FieldType.KIND:
        return lambda value: isinstance(value, str) and matched(value)

    def covers_kind(value: object) -> bool:
        """Capability rules, docs/protocols.md 12: the short form covers the long one, up to a structural colon."""
        if not isinstance(value, str):
            return False
        kind, _, rest = value.partition(":")
        return matched(value) or matched(kind) or (bool(rest) and matched(f"{kind}:{rest.partition(':')[0]}"))

    return covers_kind


def _normalize_path(operand: str) -> str:
    path = context_paths.normalise(operand)
    if not path:
        raise OperandError("The path is empty; the main context has none and is written !context.")
    return path


def _path_relation(
    symbol: str, help_: str, test: Callable[[str, str], bool], places: Callable[[PathRelation, int], bool]
) -> Operator:
    """Returns an operator over paths; `test` takes the operand and a value that is not empty."""

    def build(path: str, _type: FieldType) -> Predicate:
        return lambda value: isinstance(value, str) and bool(value) and test(path, value)

    return Operator(symbol, (), _PATHS, help_, build, wants_text=True, places=places, normalize=_normalize_path)


OPERATORS: tuple[Operator, ...] = (
    Operator("==", ("eq",), _ALL_TYPES, "Equal to the value; on a list, any element is.", _equal, _vector("=="),
             places=PathRelation.is_equal),
    Operator(
        "!=", ("ne",), _ALL_TYPES, "Not equal: the opposite of ==, so it also holds where there is no value.", _equal,
        negates="==",
    ),
    Operator("<=", ("le",), _ORDERED_TYPES, "At most; for times, not after.", _ordering(python.le), _vector("<=")),
    Operator("<", ("lt",), _ORDERED_TYPES, "Less than; for times, before.", _ordering(python.lt), _vector("<")),
    Operator(">=", ("ge",), _ORDERED_TYPES, "At least; for times, not before.", _ordering(python.ge), _vector(">=")),
    Operator(">", ("gt",), _ORDERED_TYPES, "Greater than; for times, after.", _ordering(python.gt), _vector(">")),
    Operator(
        "in", (), _ALL_TYPES - {FieldType.BOOLEAN}, "Equal to one of a set, as in {a, b}.", _member, _vector_member,
        places=PathRelation.is_equal,
    ),
    Operator("contains", (), _TEXT, "Has the text in it; upper and lower case differ.", _contains, wants_text=True,
             begins=_contains_early),
    Operator(
        "matches", (), _TEXT, "Has a match of the regular expression in it; (?i) ignores case.", _matches,
        wants_text=True, literal=False, begins=_matches_early,
    ),
    Operator(
        "like", (), _TEXT, "Matches the glob as a whole, * any characters and ? any one; on kind, method and target"
        " count and a short form covers the long.", _like_glob, wants_text=True, literal=False,
    ),
    _path_relation("under", "Is this context or any below it.", context_paths.is_under,
                   lambda path, node: path.is_equal(node) or path.is_descendant(node)),
    _path_relation("below", "Is below this context at any depth; the context itself is not.",
                   context_paths.is_ancestor, PathRelation.is_descendant),
    _path_relation("above", "Holds this context, however deep; the context itself does not.",
                   lambda path, value: context_paths.is_ancestor(value, path), PathRelation.above),
    _path_relation("childof", "Is a direct child of this context.", context_paths.is_child, PathRelation.child),
)  # fmt: skip

OPERATOR_BY_SYMBOL: dict[str, Operator] = {operator.symbol: operator for operator in OPERATORS}
OPERATOR_BY_SPELLING: dict[str, Operator] = {
    spelling: operator for operator in OPERATORS for spelling in (operator.symbol, *operator.words)
}


def operators_for(field_type: FieldType) -> tuple[Operator, ...]:
    """Returns the operators for a type of field, in table order."""
    return tuple(operator for operator in OPERATORS if field_type in operator.types)
