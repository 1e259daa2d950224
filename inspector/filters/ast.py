"""Abstract syntax tree of a display filter, before fields and types are resolved.

`str()` of an expression is its canonical text; parsing that gives an equal expression. Nodes carry their place in the
text for error messages. Places do not count in comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from inspector.filters.strings import quote
from inspector.store.messages.payload_values import OPEN_JSON

_PLAIN_SEGMENT = re.compile(r"[\w$-]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the filter text."""

    position: int = field(default=0, compare=False, repr=False, kw_only=True)
    """Offset from the start of the text, in characters."""
    length: int = field(default=0, compare=False, repr=False, kw_only=True)
    """Length in characters."""


@dataclass(frozen=True, slots=True)
class StringValue(Span):
    """Text, quoted or a bare word."""

    value: str

    def __str__(self) -> str:
        return quote(self.value)


@dataclass(frozen=True, slots=True)
class NumberValue(Span):
    """A number with an optional unit, such as `10kB` or `1.5s`."""

    value: int | float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value!r}{self.unit}"


@dataclass(frozen=True, slots=True)
class BooleanValue(Span):
    """`true` or `false`, not quoted."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True, slots=True)
class Variable(Span):
    """A value that the window supplies; only `$context` exists."""

    name: str

    def __str__(self) -> str:
        return f"${self.name}"


Value: TypeAlias = StringValue | NumberValue | BooleanValue | Variable


@dataclass(frozen=True, slots=True)
class FieldName(Span):
    """A field as written, by its segments: `payload.a."odd key"` is `("payload", "a", "odd key")`.

    `json(payload.a).b` is `("payload", "a", OPEN_JSON, "b")`.
    """

    path: tuple[str, ...]

    def __str__(self) -> str:
        text = ""
        for part in self.path:
            plain = part if _PLAIN_SEGMENT.fullmatch(part) else quote(part)
            text = f"json({text})" if part == OPEN_JSON else f"{text}.{plain}" if text else plain
        return text


@dataclass(frozen=True, slots=True)
class Presence(Span):
    """A field alone: true for messages that have a value for it."""

    field: FieldName

    def __str__(self) -> str:
        return str(self.field)


@dataclass(frozen=True, slots=True)
class Comparison(Span):
    """A field, an operator by its canonical symbol, and a value."""

    field: FieldName
    operator: str
    value: Value

    def __str__(self) -> str:
        return f"{self.field} {self.operator} {self.value}"


@dataclass(frozen=True, slots=True)
class Membership(Span):
    """A field and the set of values it may have."""

    field: FieldName
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{self.field} in {{{', '.join(map(str, self.values))}}}"


@dataclass(frozen=True, slots=True)
class TextSearch(Span):
    """A quoted string alone: true if the text of the whole message contains it, ignoring case."""

    text: str

    def __str__(self) -> str:
        return quote(self.text)


@dataclass(frozen=True, slots=True)
class Not(Span):
    """Negates its operand."""

    operand: Expression

    def __str__(self) -> str:
        inner = str(self.operand)
        return f"!{inner}" if isinstance(self.operand, Presence | TextSearch | Not) else f"!({inner})"


@dataclass(frozen=True, slots=True)
class And(Span):
    """Conjunction of at least two operands; no operand is an `And`."""

    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        return " && ".join([f"({part})" if isinstance(part, Or) else str(part) for part in self.operands])


@dataclass(frozen=True, slots=True)
class Or(Span):
    """Disjunction of at least two operands; no operand is an `Or`."""

    operands: tuple[Expression, ...]

    def __str__(self) -> str:
        return " || ".join([str(part) for part in self.operands])


Leaf: TypeAlias = Presence | Comparison | Membership | TextSearch
Expression: TypeAlias = Leaf | Not | And | Or


def leaves_of(expression: Expression) -> Iterator[Leaf]:
    """Yields the comparisons and text searches of an expression, in order."""
    if isinstance(expression, And | Or):
        for operand in expression.operands:
            yield from leaves_of(operand)
    elif isinstance(expression, Not):
        yield from leaves_of(expression.operand)
    else:
        yield expression
