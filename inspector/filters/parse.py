"""Parses filter text into an expression; `check` resolves fields and types.

Every text gives an expression, None, or a `FilterError`. Length and nesting are bounded, so no text can exhaust the
stack of later recursive walks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lark import Token, Transformer
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError

from inspector.filters.ast import (
    And,
    BooleanValue,
    Comparison,
    Expression,
    FieldName,
    Membership,
    Not,
    NumberValue,
    Or,
    Presence,
    StringValue,
    TextSearch,
    Value,
    Variable,
)
from inspector.filters.errors import FilterError, truncate
from inspector.filters.grammar import RESERVED, STRING, parser_of
from inspector.filters.numbers import split_number
from inspector.filters.operators import OPERATOR_BY_SPELLING
from inspector.filters.strings import quote, unescape
from inspector.filters.syntax_errors import explain_syntax
from inspector.store.messages.payload_values import OPEN_JSON

MAX_LENGTH = 10_000
"""Limit of a filter text, in characters."""
MAX_DEPTH = 100
"""Limit of nested parentheses and negations."""
MAX_NAME = 1000
"""Limit of one segment of a field's path, in characters."""

_SEGMENT = re.compile(rf"json\(|\)|[\w$-]+|{STRING}")
_NESTING = re.compile(
    rf"(?P<skip>{STRING}|!=)|(?P<open>\()|(?P<close>\))|(?P<not>!)|(?P<word>[^\s()!\"']+)|.", re.DOTALL
)


def parse(text: str) -> Expression | None:
    """Parses a filter.

    Returns:
        The expression; None for the empty filter, which shows everything.

    Raises:
        FilterError: the text is not a filter.
    """
    if len(text) > MAX_LENGTH:
        raise FilterError(
            f"The filter is {len(text):,} characters long; at most {MAX_LENGTH:,} are read.",
            position=MAX_LENGTH,
            length=len(text) - MAX_LENGTH,
        )
    # Before lark: transformers and later walks recurse once per level.
    _guard_nesting(text)
    try:
        tree: Any = parser_of(_Builder).parse(text)
    except VisitError as error:  # a rule's own FilterError, if lark has wrapped it
        if isinstance(error.orig_exc, FilterError):
            raise error.orig_exc from None
        raise
    except UnexpectedInput as error:
        raise explain_syntax(text, _error_offset(error, text), _expected(error)) from None
    return tree


def parser_at(text: str) -> tuple[list[Token], frozenset[str]]:
    """Returns the tokens of the beginning of a filter, and the terminals that may come next.

    Raises:
        FilterError: a name or a value in it is not valid.
        UnexpectedInput: no filter begins like this.
    """
    parser = parser_of(_Builder).parse_interactive(text)
    return parser.exhaust_lexer(), frozenset(parser.accepts())


def _error_offset(error: UnexpectedInput, text: str) -> int:
    # lark gives the end the place of the last token.
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return len(text)
    return len(text) if error.pos_in_stream is None else error.pos_in_stream


def _expected(error: UnexpectedInput) -> frozenset[str]:
    if isinstance(error, UnexpectedCharacters):
        return frozenset(error.allowed or ())
    return frozenset(error.expected) if isinstance(error, UnexpectedToken) else frozenset()


def _guard_nesting(text: str) -> None:
    """Refuses nesting deeper than MAX_DEPTH before recursive code sees it."""
    negations: list[int] = []  # per open parenthesis, the number of negations directly before it
    pending = depth = 0
    # Negations count as levels too, since each becomes a node.
    for token in _NESTING.finditer(text):
        kind = token.lastgroup
        if kind == "not" or (kind == "word" and token[0] == "not"):
            pending += 1
        elif kind == "open":
            negations.append(pending)
            depth += pending + 1
            pending = 0
        elif kind == "close" and negations:
            depth -= negations.pop() + 1
            pending = 0
        elif kind is not None:
            pending = 0
        if depth + pending > MAX_DEPTH:
            raise FilterError(
                f"The filter is nested deeper than {MAX_DEPTH} levels.", position=token.start(), length=len(token[0])
            )


class _Builder(Transformer[Any, Any]):
    """Builds nodes from grammar rules, bottom-up while parsing."""

    def start(self, children: list[Expression]) -> Expression | None:
        return children[0] if children else None

    def any_of(self, children: list[Expression]) -> Expression:
        return Or(_flatten(children, Or), **_joint_span(children))

    def all_of(self, children: list[Expression]) -> Expression:
        return And(_flatten(children, And), **_joint_span(children))

    def not_(self, children: list[Expression]) -> Expression:
        return Not(children[0], **_joint_span(children))

    def group(self, children: list[Expression]) -> Expression:
        return children[0]

    def text_search(self, children: list[Token]) -> Expression:
        return TextSearch(unescape(children[0][1:-1])[0], **_token_span(children[0]))

    def presence(self, children: list[Token]) -> Expression:
        return Presence(_field(children[0]), **_token_span(children[0]))

    def comparison(self, children: list[Any]) -> Expression:
        field, operator, value = children
        symbol = OPERATOR_BY_SPELLING[str(operator)].symbol
        name = _field(field)
        return Comparison(name, symbol, value, **_joint_span((name, value)))

    def membership(self, children: list[Any]) -> Expression:
        field, word, *values, close = children
        if not values:
            raise FilterError(
                "The set is empty, so it matches no message.",
                position=word.start_pos,
                length=close.end_pos - word.start_pos,
                suggestion=f"Write the values between the braces, as in {field} in {{a, b}}.",
            )
        name = _field(field)
        return Membership(name, tuple(values), position=name.position, length=close.end_pos - name.position)

    def quoted(self, children: list[Token]) -> Value:
        return StringValue(unescape(children[0][1:-1])[0], **_token_span(children[0]))

    def bare(self, children: list[Token]) -> Value:
        return _bare_value(children[0])


def _token_span(token: Token) -> dict[str, int]:
    position = token.start_pos or 0
    return {"position": position, "length": len(token)}


def _joint_span(parts: Iterable[Any]) -> dict[str, int]:
    *_, last = all_parts = list(parts)
    start = all_parts[0].position
    return {"position": start, "length": last.position + last.length - start}


def _flatten(children: list[Expression], kind: type[And | Or]) -> tuple[Expression, ...]:
    """Flattens nested nodes of one kind: `a && (b && c)` becomes `a && b && c`."""
    flat: list[Expression] = []
    for child in children:
        if isinstance(child, kind):
            flat.extend(child.operands)
        else:
            flat.append(child)
    return tuple(flat)


def _field(token: Token) -> FieldName:
    segments = [
        OPEN_JSON if part == ")" else unescape(part[1:-1])[0] if part[0] in "\"'" else part
        for part in (m[0] for m in _SEGMENT.finditer(token))
        if part != "json("
    ]
    if max(map(len, segments)) > MAX_NAME:
        raise FilterError(
            f"A name in the field is longer than {MAX_NAME:,} characters.",
            position=token.start_pos or 0,
            length=len(token),
        )
    return FieldName(tuple(segments), **_token_span(token))


def _bare_value(token: Token) -> Value:
    """Converts an unquoted value to a variable, truth value, number or text."""
    text, place = str(token), _token_span(token)
    if text.startswith("$"):
        return _variable(text, place)
    if text in ("true", "false"):
        return BooleanValue(text == "true", **place)
    if text in RESERVED:
        raise FilterError(
            f'"{text}" is a word of the filter language.',
            **place,
            suggestion="Put it in quotes to mean the text.",
            replacement=quote(text),
        )
    try:
        # Bare values such as 5s or 2MB are numbers; other bare values are texts.
        number = split_number(text)
    except ValueError as error:
        raise FilterError(
            str(error), **place, suggestion="Put it in quotes if it is text.", replacement=quote(text)
        ) from None
    return StringValue(text, **place) if number is None else NumberValue(*number, **place)


def _variable(text: str, place: dict[str, int]) -> Variable:
    if text != "$context":
        raise FilterError(
            f"There is no variable {truncate(text)}.",
            **place,
            suggestion="Did you mean $context?",
            replacement="$context",
        )
    return Variable("context", **place)
