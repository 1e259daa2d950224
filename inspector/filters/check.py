"""Resolves field names and checks operators and values against field types.

Takes parts of an expression and returns `Term`s, which masks, SQL conditions, outlines and advice read. If a part does
not fit, the error points at it and names the alternatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column
from inspector.analysis.findings import Severity
from inspector.filters.ast import (
    BooleanValue,
    Comparison,
    FieldName,
    Membership,
    NumberValue,
    Presence,
    Span,
    StringValue,
    Value,
    Variable,
)
from inspector.filters.errors import FilterError, nearest_choice, truncate
from inspector.filters.field import Field, FieldType
from inspector.filters.numbers import scale_number, units_of
from inspector.filters.operators import (
    OPERATOR_BY_SYMBOL,
    Operand,
    OperandError,
    Operator,
    Predicate,
    Scalar,
    operators_for,
)
from inspector.filters.strings import quote, unescape
from inspector.protocol import kinds
from inspector.protocol.timestamps import NO_TIME, parse_instant
from inspector.store.messages.payload_values import OPEN_JSON

_TYPE_WORDS = {
    FieldType.STRING: "text",
    FieldType.KIND: "text",
    FieldType.CONTEXT: "a context path",
    FieldType.INTEGER: "a whole number",
    FieldType.NUMBER: "a number",
    FieldType.TIME: "a time",
    FieldType.SEVERITY: "a severity",
    FieldType.BOOLEAN: "true or absent",
    FieldType.ANY: "of any type",
}


LITERAL = ("==", "!=", "in")
"""Operators whose operand is a literal value."""


def canonical_kind(written: str) -> str:
    """Returns the canonical kind (docs/protocols.md 3). A kind with a method or target stays as written."""
    kind = kinds.split_kind(written)
    return written if kind.method is not None or kind.target is not None else kind.name


@dataclass(frozen=True, slots=True)
class Term:
    """One checked comparison, ready to evaluate."""

    written: Presence | Comparison | Membership
    """The comparison as written."""
    field: Field
    operator: Operator | None = None
    """None for a test of presence. Never a negated operator; see `negated`."""
    operand: Operand | None = None
    """In the field's type and unit, and in normal form; times are integer nanoseconds."""
    predicate: Predicate | None = None
    """Takes one value, or one element of a list; None for a test of presence."""
    negated: bool = False
    """The result of the comparison is inverted."""

    @property
    def symbol(self) -> str:
        """The operator's canonical spelling; "" for a test of presence."""
        return "" if self.operator is None else self.operator.symbol

    @property
    def operands(self) -> tuple[Scalar, ...]:
        """The operand, or all of a set."""
        if self.operand is None:
            return ()
        return self.operand if isinstance(self.operand, tuple) else (self.operand,)

    @property
    def column(self) -> Callable[[Analysis], Column]:
        """Returns the column of the compared values."""
        like_column = self.field.like_column
        return like_column if like_column is not None and self.symbol == "like" else self.field.column


class Checker:
    """Resolves names and values for one filter text.

    Args:
        text: the filter text, for exact places in error messages.
        fields: all fields by name.
        payload_field: returns the field for a path below `payload`.
        selected_context: display path for `$context`, if any.
    """

    def __init__(
        self,
        text: str,
        fields: Mapping[str, Field],
        payload_field: Callable[[tuple[str, ...]], Field],
        selected_context: str | None,
    ) -> None:
        self._text = text
        self._fields = fields
        self._payload_field = payload_field
        self._selected_context = selected_context

    def term(self, node: Presence | Comparison | Membership) -> Term:
        """Checks one term.

        Raises:
            FilterError: the field is unknown, or the operator or the value does not fit it.
        """
        field = self._field(node.field)
        if isinstance(node, Presence):
            return Term(node, field)
        symbol, values = ("in", node.values) if isinstance(node, Membership) else (node.operator, (node.value,))
        operator = self._fitting_operator(symbol, field, node)
        operands = tuple([self._operand(field, operator, value) for value in values])
        negated = operator.negates is not None
        if operator.negates is not None:
            # `a != b` is evaluated as `!(a == b)`, so it also matches absent values.
            operator = OPERATOR_BY_SYMBOL[operator.negates]
        if field.type is FieldType.BOOLEAN:
            # Fields have no stored false, so a comparison is a test of presence.
            return Term(node, field, negated=negated == operands[0])
        operand: Operand = operands if isinstance(node, Membership) else operands[0]
        try:
            predicate = operator.build(operand, field.type)
        except OperandError as error:
            raise self._operand_error(error, values[0]) from None
        return Term(node, field, operator, operand, predicate, negated)

    def _field(self, name: FieldName) -> Field:
        if name.path[0] == "payload" and len(name.path) > 1:
            return self._payload_field(name.path[1:])
        if OPEN_JSON in name.path:
            raise _error(name, "json(...) opens a text inside a payload.", "Name one, as in json(payload.text).status.")
        written = ".".join(name.path)
        found = self._fields.get(written)
        if found is not None:
            return found
        shown = truncate(str(name))
        if written == "payload":
            raise _error(name, "payload is not one field.", "Name a part of it, as in payload.text.")
        near = nearest_choice(written, [*self._fields, "payload.text"])
        if near is None:
            replacement = quote(written)
            raise _error(
                name,
                f"There is no field {shown}.",
                f"Write {quote(shown)} to search the text of messages.",
                replacement,
            )
        raise _error(name, f"There is no field {shown}.", f"Did you mean {near}?", near)

    def _fitting_operator(self, symbol: str, field: Field, node: Comparison | Membership) -> Operator:
        operator = OPERATOR_BY_SYMBOL[symbol]
        if field.type not in operator.types:
            fitting = [other.symbol for other in operators_for(field.type)]
            raise _error(
                node,
                f"{field.name} is {_TYPE_WORDS[field.type]}, which {symbol} does not compare.",
                f"It takes {', '.join(fitting[:-1])} and {fitting[-1]}.",
            )
        return operator

    def _operand(self, field: Field, operator: Operator, value: Value) -> Scalar:
        """Converts the value to the type of the field."""
        if isinstance(value, Variable):
            value = self._resolve_variable(field, operator, value)
        if field.type is FieldType.SEVERITY:
            return self._severity(field, value)
        if operator.wants_text or field.type in (FieldType.STRING, FieldType.KIND, FieldType.CONTEXT):
            return self._text_operand(field, operator, value)
        if field.type is FieldType.ANY:
            if isinstance(value, NumberValue):
                return self._scale_number(field, value)
            return value.value
        if field.type is FieldType.BOOLEAN:
            if not isinstance(value, BooleanValue):
                raise _error(
                    value,
                    f"{field.name} is true or absent, it cannot be {truncate(str(value))}.",
                    f"Write {field.name} or !{field.name}.",
                )
            return value.value
        if field.type is FieldType.TIME:
            return self._time(field, value)
        if not isinstance(value, NumberValue):
            raise self._not_a_number(field, value)
        return self._scale_number(field, value)

    def _resolve_variable(self, field: Field, operator: Operator, variable: Variable) -> StringValue:
        if not operator.literal:
            raise _error(
                variable,
                f"$context stands for one path and cannot be a pattern for {operator.symbol}.",
                "Use under.",
                None,
            )
        if field.type not in (FieldType.CONTEXT, FieldType.STRING, FieldType.ANY):
            raise _error(variable, f"$context is a context path, which {field.name} is not.")
        if not self._selected_context:
            raise _error(variable, "No context is selected, so $context has no value.", "Select one in the tree.")
        return StringValue(self._selected_context, position=variable.position, length=variable.length)

    def _text_operand(self, field: Field, operator: Operator, value: Value) -> str:
        if not isinstance(value, StringValue):
            written = self._source_text(value)
            what = f"{operator.symbol} compares text" if field.type is FieldType.ANY else f"{field.name} is text"
            kind = "a number" if isinstance(value, NumberValue) else "a truth value"
            raise _error(
                value,
                f"{what}, and {truncate(written)} is {kind}.",
                f"Did you mean {truncate(quote(written))}?",
                quote(written),
            )
        if field.name == "kind" and operator.symbol in LITERAL:
            # Dialects spell one kind differently; rows show the canonical name.
            return canonical_kind(value.value)
        try:
            return operator.normalize(value.value)
        except OperandError as error:
            raise self._operand_error(error, value) from None

    def _severity(self, field: Field, value: Value) -> str:
        words = [severity.word for severity in Severity]
        if isinstance(value, StringValue) and value.value in words:
            return value.value
        written = value.value if isinstance(value, StringValue) else self._source_text(value)
        near = nearest_choice(written.lower(), words)
        raise _error(
            value,
            f"{field.name} is {', '.join(words[:-1])} or {words[-1]}, not {truncate(written)}.",
            f"Did you mean {near}?" if near else None,
            near,
        )

    def _time(self, field: Field, value: Value) -> int:
        time_ns = parse_instant(value.value) if isinstance(value, StringValue) else NO_TIME
        if time_ns == NO_TIME:
            raise _error(
                value,
                f"{field.name} is a time, and {truncate(self._source_text(value))} is not.",
                'Write it as in "2026-01-05" or "2026-01-05T09:30:00.250Z".',
            )
        return time_ns

    def _not_a_number(self, field: Field, value: Value) -> FilterError:
        text = str(value.value) if isinstance(value, StringValue) else ""
        # `isdecimal` is true for digits of other scripts, too.
        number = text.strip() if text.strip().lstrip("+-").isdecimal() and text.isascii() else None
        units = ", ".join(filter(None, units_of(field.name)))
        if number is not None:
            return _error(
                value,
                f"{field.name} is a number, and {quote(truncate(text))} is text.",
                f"Did you mean {truncate(number)}?",
                number,
            )
        suggestion = f"Numbers may end in {units}." if text[:1].isdecimal() else None
        return _error(value, f"{field.name} is a number, and {truncate(self._source_text(value))} is not.", suggestion)

    def _scale_number(self, field: Field, value: NumberValue) -> int | float:
        number = scale_number(value.value, value.unit, field.name)
        if number is None:
            units = ", ".join(filter(None, units_of(field.name)))
            raise _error(value, f"The unit {value.unit} does not fit {field.name}.", f"It takes {units}.")
        return number

    def _operand_error(self, error: OperandError, value: Value) -> FilterError:
        if error.offset is None:
            return FilterError(error.message, position=value.position, length=value.length)
        written = self._source_text(value)
        start = value.position
        if written[:1] in ('"', "'"):
            # The error's offset counts resolved characters; escapes in the text are longer.
            offsets = unescape(written[1:-1])[1]
            start += 1 + offsets[min(error.offset, len(offsets) - 1)]
        else:
            start += min(error.offset, value.length)
        end = value.position + value.length
        return FilterError(error.message, position=start, length=min(1, end - start))

    def _source_text(self, span: Span) -> str:
        return self._text[span.position : span.position + span.length]


def _error(span: Span, message: str, suggestion: str | None = None, replacement: str | None = None) -> FilterError:
    return FilterError(
        message, position=span.position, length=span.length, suggestion=suggestion, replacement=replacement
    )
