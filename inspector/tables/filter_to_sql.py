"""Translates a display filter to an SQL condition over the table `messages`, with the same meaning.

Absent values are NULL here: a comparison with NULL is false, and before a negation NULL becomes false. Terms without an
SQL form are refused with their position: full-text searches, values inside embedded JSON, patterns with another meaning
in DuckDB. One difference remains: only filters find text that spans two frames of a stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NoReturn

from inspector.filters.ast import And, Comparison, Expression, Membership, Not, Or, Presence, TextSearch
from inspector.filters.check import Checker, Term
from inspector.filters.errors import FilterError
from inspector.filters.field import Field, FieldType
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.operators import Scalar
from inspector.filters.parse import parse
from inspector.filters.payloads import payload_field
from inspector.filters.plain_words import plain_words
from inspector.filters.strings import quote
from inspector.protocol import context_paths
from inspector.protocol.timestamps import format_time
from inspector.store.messages.payload_values import OPEN_JSON
from inspector.tables.columns import SqlType
from inspector.tables.messages import column_name
from inspector.tables.re2_patterns import ForeignPatternError, to_re2
from inspector.tables.schema import PAYLOAD

EVERYTHING = "true"
"""The condition of the empty filter."""

_FIRST_TIME, _LAST_TIME = -(2**63) + 2, 2**63 - 2
"""Nanoseconds; beyond these are SQL's infinities."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_WORDS_OF_SQL = frozenset(("from", "to", "in", "on", "all", "and", "or", "not", "end", "case", "when", "then", "else"))
# DuckDB's JSON paths cannot escape these.
_UNSUPPORTED_KEY = re.compile(r'["\\*\0]')
# Each one doubles the number of paths: three give eight.
_MAX_NUMERIC_STEPS = 3
"""Limit of numeric steps in a path: each may be an array index or a key."""
_NUMBERS = "('BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE')"
_ORDERS = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class FilteredTable:
    """SQL mapping of a filter's fields.

    Attributes:
        fields: by name.
        payload_field: returns the field of a payload path, or raises FilterError.
        columns: SQL expressions of fields that are not columns of their own name.
    """

    fields: Mapping[str, Field]
    payload_field: Callable[[tuple[str, ...]], Field]
    columns: Mapping[str, str]

    def column(self, field: Field) -> str:
        """Returns the SQL expression of a field."""
        return self.columns.get(field.name) or _identifier(column_name(field.name))


_MESSAGES = FilteredTable(FIELD_BY_NAME, payload_field, {})


def condition_of(text: str, *, selected_context: str | None = None, table: FilteredTable = _MESSAGES) -> str:
    """Returns the condition of a filter, without WHERE.

    Args:
        text: the filter.
        selected_context: display path for `$context`.
        table: the filtered table; messages by default.

    Raises:
        FilterError: if it is no filter, or has no SQL form.
    """
    # Words without an operator are a search, which SQL does not have.
    words = plain_words(text, table.fields)
    if words is not None:
        _refuse_words(text, words.texts)
    expression = parse(text)
    if expression is None:
        return EVERYTHING
    return _Conditions(Checker(text, table.fields, table.payload_field, selected_context), table).translate(expression)


class _Conditions:
    """Translates the parts of one filter."""

    def __init__(self, checker: Checker, table: FilteredTable) -> None:
        self._checker, self._table = checker, table

    def translate(self, expression: Expression) -> str:
        """Returns a condition that is true if the expression holds, else false or NULL."""
        if isinstance(expression, Not) and isinstance(expression.operand, Presence):
            return self._of_term(expression.operand, negated=True)
        if isinstance(expression, Not):
            # In SQL, NOT NULL is NULL; in a filter, the negation of an absent value is true.
            return f"NOT {_never_null(self.translate(expression.operand))}"
        if isinstance(expression, And | Or):
            word = " OR " if isinstance(expression, Or) else " AND "
            return word.join(self._operand(operand) for operand in expression.operands)
        if isinstance(expression, TextSearch):
            _refuse(
                expression, "SQL has no search through all of a message.", "Write text contains, for the text it shows."
            )
        return self._of_term(expression)

    def _of_term(self, expression: Presence | Comparison | Membership, *, negated: bool = False) -> str:
        term = self._checker.term(expression)
        try:
            return _term(replace(term, negated=not term.negated) if negated else term, self._table)
        except _NoSqlFormError as error:
            _refuse(expression, *error.args)
        except ForeignPatternError as error:
            _refuse(expression, str(error))

    def _operand(self, operand: Expression) -> str:
        written = self.translate(operand)
        return f"({written})" if isinstance(operand, And | Or) else written


def _refuse_words(text: str, words: Sequence[str]) -> NoReturn:
    meant = " && ".join(f"text contains {quote(word)}" for word in words)
    raise FilterError(
        "SQL has no search through all of a message.", position=0, length=len(text),
        suggestion=f"For the text it shows: {meant}", replacement=meant,
    )  # fmt: skip


class _NoSqlFormError(Exception):
    """A term without an SQL form: a sentence, and perhaps a replacement."""


def _refuse(expression: Expression, message: str, suggestion: str | None = None) -> NoReturn:
    raise FilterError(message, position=expression.position, length=expression.length, suggestion=suggestion)


def _never_null(condition: str) -> str:
    return f"coalesce({condition}, false)"


def _term(term: Term, table: FilteredTable) -> str:
    if term.field.path:
        return _of_payload(term)
    column = table.column(term.field)
    if term.operator is None:
        return f"{column} IS {'' if term.negated else 'NOT '}NULL"
    if term.field.type is FieldType.BOOLEAN:
        return f"NOT {_never_null(column)}" if term.negated else column
    # `IS DISTINCT FROM` treats NULL as a value.
    if term.negated and term.operator.symbol == "==" and not term.field.many:
        return f"{column} IS DISTINCT FROM {_literal(term, term.operand)}"
    condition = _of_list(term, column) if term.field.many else _comparison(term, column)
    return f"NOT {_never_null(condition)}" if term.negated else condition


def _of_list(term: Term, column: str) -> str:
    """Any element of a list counts."""
    assert term.operator is not None
    if term.operator.symbol == "==":
        return f"list_contains({column}, {_literal(term, term.operand)})"
    if term.operator.symbol == "in":
        return f"list_has_any({column}, [{_literals(term)}])"
    return f"len(list_filter({column}, lambda one: {_comparison(term, 'one')})) > 0"


def _comparison(term: Term, column: str) -> str:
    """Returns a comparison of one value; `column` may be an element of a list."""
    assert term.operator is not None
    symbol = term.operator.symbol
    if symbol == "in":
        return f"{column} IN ({_literals(term)})"
    if symbol in _ORDERS or symbol == "==":
        return f"{column} {'=' if symbol == '==' else symbol} {_literal(term, term.operand)}"
    return _OF_TEXT[symbol](term, column)


def _contains(term: Term, column: str) -> str:
    return f"contains({column}, {_quoted(str(term.operand))})"


def _matches(term: Term, column: str) -> str:
    return f"regexp_matches({column}, {_quoted(to_re2(str(term.operand)))})"


def _like(term: Term, column: str) -> str:
    pattern = _quoted(_glob(str(term.operand)))
    if term.field.type is not FieldType.KIND:
        return f"{column} LIKE {pattern} ESCAPE '\\'"
    # docs/protocols.md 12: the short form covers the long one, cut at its structural colons
    forms = ("kind", "concat_ws(':', kind, method)", "concat_ws(':', kind, method, target)")
    like = " OR ".join([f"{form} LIKE {pattern} ESCAPE '\\'" for form in forms])
    return f"(kind IS NOT NULL AND ({like}))"


def _glob(pattern: str) -> str:
    plain = re.sub(r"([\\%_])", r"\\\1", pattern)
    return plain.replace("*", "%").replace("?", "_")


def _under_condition(term: Term, column: str) -> str:
    path = _path(term)
    return f"({column} = {_quoted(path)} OR starts_with({column}, {_quoted(path + '/')}))"


def _below_condition(term: Term, column: str) -> str:
    return f"starts_with({column}, {_quoted(_path(term) + '/')})"


def _above_condition(term: Term, column: str) -> str:
    segments = _path(term).split("/")
    above = ["/".join(segments[:count]) for count in range(1, len(segments))]
    return f"{column} IN ({', '.join(map(_quoted, above))})" if above else "false"


def _childof(term: Term, column: str) -> str:
    path = _path(term)
    return f"(starts_with({column}, {_quoted(path + '/')}) AND instr(substr({column}, {len(path) + 2}), '/') = 0)"


_OF_TEXT: dict[str, Callable[[Term, str], str]] = {
    "contains": _contains, "matches": _matches, "like": _like,
    "under": _under_condition, "below": _below_condition, "above": _above_condition, "childof": _childof,
}  # fmt: skip


def _path(term: Term) -> str:
    return context_paths.normalise(str(term.operand))


# Values in payloads carry their own type, and any element of a list counts.


def _of_payload(term: Term) -> str:
    value = _payload_value(term.field.path)
    if term.operator is None:
        # A JSON null counts as absent.
        condition = f"json_type({value}) <> 'NULL'"
    else:
        # A single value counts as a list of one, as in filters.
        elements = f"CASE json_type({value}) WHEN 'ARRAY' THEN {value}->'$[*]' ELSE [{value}] END"
        condition = f"len(list_filter({elements}, lambda one: {_of_json(term)})) > 0"
    return f"NOT {_never_null(condition)}" if term.negated else condition


def _payload_value(path: tuple[str, ...]) -> str:
    if OPEN_JSON in path:
        raise _NoSqlFormError("SQL cannot look into a text that is JSON.")
    if any(_UNSUPPORTED_KEY.search(step) for step in path):
        raise _NoSqlFormError("SQL has no path with such a key.")
    # A key of digits may be an index as well, so both paths are tried.
    digits = [step.isdecimal() and len(step) < 10 for step in path]
    # Each such step doubles the number of paths.
    if sum(digits) > _MAX_NUMERIC_STEPS:
        raise _NoSqlFormError("SQL has no path with so many digits: each may be a place or a key.")
    keys = [f'."{step}"' for step in path]
    steps = [(f"[{int(step)}]", key) if digit else (key,) for step, key, digit in zip(path, keys, digits, strict=True)]
    found = [f"{PAYLOAD}(no)->{_quoted('$' + ''.join(one))}" for one in product(*steps)]
    return f"coalesce({', '.join(found)})" if len(found) > 1 else f"({found[0]})"


def _of_json(term: Term) -> str:
    """Returns a comparison of `one`, a JSON value, with an operand of its type."""
    assert term.operator is not None
    symbol, operand = term.operator.symbol, term.operand
    if isinstance(operand, tuple):
        return " OR ".join(f"({_json_comparison('==', one)})" for one in operand) or "false"
    if symbol in _OF_TEXT:
        # The type is tested first, since DuckDB would convert a number to text.
        return f"json_type(one) = 'VARCHAR' AND {_OF_TEXT[symbol](term, _TEXT)}"
    assert operand is not None
    return _json_comparison(symbol, operand)


_TEXT = "(one->>'$')"


def _json_comparison(symbol: str, operand: Scalar) -> str:
    sign = "=" if symbol == "==" else symbol
    if isinstance(operand, bool):
        return f"json_type(one) = 'BOOLEAN' AND {_TEXT} = '{'true' if operand else 'false'}'"
    if isinstance(operand, str):
        return f"json_type(one) = 'VARCHAR' AND {_TEXT} {sign} {_quoted(operand)}"
    # A plain CAST would end the query at the first value that is no number.
    return f"json_type(one) IN {_NUMBERS} AND TRY_CAST({_TEXT} AS DOUBLE) {sign} {_float(operand)}::DOUBLE"


# SQL literals


def _literals(term: Term) -> str:
    assert isinstance(term.operand, tuple)
    return ", ".join(_literal(term, one) for one in term.operand)


def _literal(term: Term, operand: object) -> str:
    if term.field.type is FieldType.TIME:
        assert isinstance(operand, int)
        return _time(operand)
    if isinstance(operand, str):
        return f"{_quoted(operand)}::{SqlType.SEVERITY.value}" if _is_severity(term) else _quoted(operand)
    if isinstance(operand, float):
        return f"{_float(operand)}::DOUBLE"
    assert isinstance(operand, int)
    # Larger integers have no literal.
    return str(operand) if abs(operand) < 2**63 else f"{_float(operand)}::DOUBLE"


def _is_severity(term: Term) -> bool:
    return term.field.type is FieldType.SEVERITY


def _float(number: float) -> str:
    try:
        written = repr(float(number))
    except OverflowError:
        written = "inf" if number > 0 else "-inf"
    # Infinity and NaN are texts in SQL.
    return f"'{written}'" if "n" in written else written


def _time(time_ns: int) -> str:
    """Returns a time literal, clamped to SQL's range."""
    # A text literal is possible within this range only.
    if not _FIRST_TIME < time_ns < _LAST_TIME:
        return f"make_timestamp_ns({min(max(time_ns, _FIRST_TIME), _LAST_TIME)})"
    written = (format_time(time_ns // 1_000_000_000 * 1_000_000_000) or "")[:19].replace("T", " ")
    fraction = time_ns % 1_000_000_000
    return f"TIMESTAMP_NS '{written}{f'.{fraction:09}' if fraction else ''}'"


def _quoted(text: str) -> str:
    if "\0" in text:
        raise _NoSqlFormError("SQL has no text that holds a NUL.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _NoSqlFormError("SQL has no text that is no Unicode.") from None
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return name if _PLAIN.fullmatch(name) and name not in _WORDS_OF_SQL else f'"{name}"'
