"""Inspects parsed regular expressions without running them.

An expression is a list of (operation, value); the type of the value depends on the operation.
"""

from __future__ import annotations

import re
from re import _compiler as compiler  # pyright: ignore[reportAttributeAccessIssue] - no public function compiles a parsed expression
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue] - no public function parses expressions
from typing import Any


def read_expression(text: str, flags: int = 0) -> Any:
    """Parses an expression. Raises re.error if it is malformed."""
    return parser.parse(text, flags)


def compiled(tree: Any, operation: Any, value: Any) -> re.Pattern[str]:
    """Compiles one operation of an expression on its own."""
    return compiler.compile(parser.SubPattern(tree.state, [(operation, value)]))


def repeats_repetition(tree: Any, *, inside: bool = False) -> bool:
    """Returns True if an unbounded repetition contains another one."""
    for operation, value in tree:
        endless = str(operation) in ("MAX_REPEAT", "MIN_REPEAT") and value[1] is parser.MAXREPEAT
        if endless and inside:
            return True
        if any(repeats_repetition(part, inside=inside or endless) for part in _subexpressions(value)):
            return True
    return False


def has_look_behind(tree: Any) -> bool:
    """Returns True if the expression has a look-behind or an anchor at the start of the text."""
    for operation, value in tree:
        name = str(operation)
        if name == "AT" and str(value) == "AT_BEGINNING_STRING":
            return True
        if name in ("ASSERT", "ASSERT_NOT") and value[0] < 0:
            return True
        if name == "SUBPATTERN" and value[2]:  # flags may change the meaning of ^ in the group
            return True
        if any(has_look_behind(part) for part in _subexpressions(value)):
            return True
    return False


def is_ascii_only(tree: Any) -> bool:
    """Returns True if the expression names only ASCII characters."""
    return all(_values_of_ascii((operation, value)) for operation, value in tree)


def _values_of_ascii(value: Any) -> bool:
    if isinstance(value, parser.SubPattern):
        return is_ascii_only(value)
    if isinstance(value, list | tuple):
        if len(value) == 2 and str(value[0]) in ("LITERAL", "NOT_LITERAL"):
            return value[1] < 0x80
        if len(value) == 2 and str(value[0]) == "RANGE":
            return value[1][1] < 0x80
        return all(map(_values_of_ascii, value))
    return True


def _subexpressions(value: Any) -> list[Any]:
    """Returns the subexpressions of an operation."""
    if isinstance(value, parser.SubPattern):
        return [value]
    return [part for one in value for part in _subexpressions(one)] if isinstance(value, list | tuple) else []
