"""Translates a display filter to an SQL condition over the table `messages`, with the same meaning.

Absent values are NULL here: a comparison with NULL is false, and before a negation NULL becomes false. Terms without an
SQL form are refused with their position: full-text searches, values inside embedded JSON, patterns with another meaning
in DuckDB. One difference remains: only filters find text that spans two frames of a stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import NoReturn

from inspector.filters.ast import Span
from inspector.filters.check import Term
from inspector.filters.compile import DisplayFilter
from inspector.filters.errors import FilterError
from inspector.filters.evaluate import JunctionNode, Node, NotNode, TermNode, TextNode
from inspector.filters.field import FieldType
from inspector.filters.operators import Scalar
from inspector.filters.strings import quote
from inspector.protocol.timestamps import format_time
from inspector.store.messages.payload_values import OPEN_JSON
from inspector.tables.columns import SqlType
from inspector.tables.messages import column_name
from inspector.tables.re2_patterns import ForeignPatternError, to_re2
from inspector.tables.schema import PAYLOAD

EVERYTHING = "true"
"""The condition of the empty filter."""

_NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
_NO_SEARCH = "SQL has no search through all of a message."
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


def condition_of(display_filter: DisplayFilter, columns: Mapping[str, str] = _NO_COLUMNS) -> str:
    """Returns the condition of a filter, without WHERE.

    Args:
        display_filter: the filter.
        columns: SQL expressions of fields that are not columns of their own name.

    Raises:
        FilterError: if it has no SQL form.
    """
    if display_filter.is_words:
        meant = " && ".join(f"text contains {quote(search.text)}" for search in display_filter.searches)
        raise FilterError(
            _NO_SEARCH, position=0, length=len(display_filter.text),
            suggestion=f"For the text it shows: {meant}", replacement=meant,
        )  # fmt: skip
    return EVERYTHING if display_filter.root is None else _condition(display_filter.root, columns)


def _condition(node: Node, columns: Mapping[str, str]) -> str:
    """Returns a condition that is true if the node holds, else false or NULL."""
    if isinstance(node, JunctionNode):
        parts = [(_condition(operand, columns), isinstance(operand, JunctionNode)) for operand in node.operands]
        word = " OR " if node.decided_by else " AND "
        return word.join([f"({part})" if is_junction else part for part, is_junction in parts])
    if isinstance(node, NotNode):
        inner = node.operand
        if isinstance(inner, TermNode) and inner.term.operator is None:
            return _of_term(replace(inner.term, negated=not inner.term.negated), columns)
        # In SQL, NOT NULL is NULL; in a filter, the negation of an absent value is true.
        return f"NOT {_never_null(_condition(inner, columns))}"
    if isinstance(node, TextNode):
        _refuse(node.written, _NO_SEARCH, "Write text contains, for the text it shows.")
    assert isinstance(node, TermNode)  # there is no other kind
    return _of_term(node.term, columns)


def _of_term(term: Term, columns: Mapping[str, str]) -> str:
    try:
        column = columns.get(term.field.name) or _identifier(column_name(term.field.name))
        return _of_payload(term) if term.field.path else _of_column(term, column)
    except _NoSqlFormError as error:
        _refuse(term.written, *error.args)
    except ForeignPatternError as error:
        _refuse(term.written, str(error))


class _NoSqlFormError(Exception):
    """A term without an SQL form: a sentence, and perhaps a replacement."""


def _refuse(span: Span, message: str, suggestion: str | None = None) -> NoReturn:
    raise FilterError(message, position=span.position, length=span.length, suggestion=suggestion)


def _never_null(condition: str) -> str:
    return f"coalesce({condition}, false)"


def _of_column(term: Term, column: str) -> str:
    if term.operator is None:
        return f"{column} IS {'' if term.negated else 'NOT '}NULL"
    # `IS DISTINCT FROM` treats NULL as a value.
    if term.negated and term.symbol == "==" and not term.field.many:
        return f"{column} IS DISTINCT FROM {_literals(term)}"
    condition = _of_list(term, column) if term.field.many else _comparison(term, column)
    return f"NOT {_never_null(condition)}" if term.negated else condition


def _of_list(term: Term, column: str) -> str:
    """Any element of a list counts."""
    if term.symbol == "==":
        return f"list_contains({column}, {_literals(term)})"
    if term.symbol == "in":
        return f"list_has_any({column}, [{_literals(term)}])"
    return f"len(list_filter({column}, lambda one: {_comparison(term, 'one')})) > 0"


def _comparison(term: Term, column: str) -> str:
    """Returns a comparison of one value; `column` may be an element of a list."""
    if term.symbol == "in":
        return f"{column} IN ({_literals(term)})"
    if term.symbol in _OF_TEXT:
        return _OF_TEXT[term.symbol](term, column)
    return f"{column} {_sign(term)} {_literals(term)}"


def _sign(term: Term) -> str:
    return "=" if term.symbol in ("==", "in") else term.symbol


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


def _under(term: Term, column: str) -> str:
    path = str(term.operand)
    return f"({column} = {_quoted(path)} OR starts_with({column}, {_quoted(path + '/')}))"


def _below(term: Term, column: str) -> str:
    return f"starts_with({column}, {_quoted(f'{term.operand}/')})"


def _above(term: Term, column: str) -> str:
    segments = str(term.operand).split("/")
    above = ["/".join(segments[:count]) for count in range(1, len(segments))]
    return f"{column} IN ({', '.join(map(_quoted, above))})" if above else "false"


def _childof(term: Term, column: str) -> str:
    path = str(term.operand)
    return f"({_below(term, column)} AND instr(substr({column}, {len(path) + 2}), '/') = 0)"


_OF_TEXT: dict[str, Callable[[Term, str], str]] = {
    "contains": _contains, "matches": _matches, "like": _like,
    "under": _under, "below": _below, "above": _above, "childof": _childof,
}  # fmt: skip


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
    if term.symbol in _OF_TEXT:
        # The type is tested first, since DuckDB would convert a number to text.
        return f"json_type(one) = 'VARCHAR' AND {_OF_TEXT[term.symbol](term, _TEXT)}"
    parts = [_json_comparison(_sign(term), one) for one in term.operands]
    return " OR ".join([f"({part})" for part in parts]) if term.symbol == "in" else parts[0]


_TEXT = "(one->>'$')"


def _json_comparison(sign: str, operand: Scalar) -> str:
    if isinstance(operand, bool):
        return f"json_type(one) = 'BOOLEAN' AND {_TEXT} = '{'true' if operand else 'false'}'"
    if isinstance(operand, str):
        return f"json_type(one) = 'VARCHAR' AND {_TEXT} {sign} {_quoted(operand)}"
    # A plain CAST would end the query at the first value that is no number.
    return f"json_type(one) IN {_NUMBERS} AND TRY_CAST({_TEXT} AS DOUBLE) {sign} {_float(operand)}::DOUBLE"


# SQL literals


def _literals(term: Term) -> str:
    return ", ".join([_literal(term.field.type, one) for one in term.operands])


def _literal(type_: FieldType, operand: Scalar) -> str:
    if isinstance(operand, str):
        return f"{_quoted(operand)}::{SqlType.SEVERITY.value}" if type_ is FieldType.SEVERITY else _quoted(operand)
    if type_ is FieldType.TIME:
        return _time(int(operand))
    # Larger integers have no literal.
    return str(operand) if isinstance(operand, int) and abs(operand) < 2**63 else f"{_float(operand)}::DOUBLE"


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
