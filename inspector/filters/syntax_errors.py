"""Explains syntax errors of filters in sentences, with suggestions.

Inputs are the parser's position, its possible terminals, and the surrounding text.
"""

from __future__ import annotations

import re

from inspector.filters.errors import FilterError, nearest_choice, truncate
from inspector.filters.grammar import STRING
from inspector.filters.operators import OPERATOR_BY_SPELLING
from inspector.filters.strings import quote

_TOKEN_PIECE = re.compile(rf"{STRING}|[\w.$/:*@-]+|[=!<>&|~]+|[\s\S]")
_PARENTHESES = re.compile(rf"{STRING}|[()]")
_FOREIGN_OPERATORS = {
    "=": "==", "===": "==", "!==": "!=", "<>": "!=", "~=": "!=", "=>": ">=", "=<": "<=", "~": "matches",
    "=~": "matches", "&": "&&", "|": "||", "is": "==", "equals": "==", "glob": "like", "has": "contains",
    "regex": "matches", "AND": "&&", "OR": "||", "NOT": "!", "IN": "in", "xor": "!=",
}  # fmt: skip
"""Operators of other languages, and their spelling here."""

OTHER_SPELLINGS = frozenset(_FOREIGN_OPERATORS)
"""Operators of other languages."""


def explain_syntax(text: str, position: int, expected: frozenset[str]) -> FilterError:
    """Returns the error for a parser that stopped at `position` and expected one of the terminals."""
    rest = text[position:]
    found = _TOKEN_PIECE.match(rest)
    piece = found[0] if found else ""
    if _opens_quote(rest, piece):
        start = position + (0 if piece in "\"'" else 1)
        return FilterError("This quote is never closed.", position=start, length=len(text) - start)
    if piece == ")" and not _open_parentheses(text[:position]):
        return FilterError("This parenthesis has no opening one.", position=position, length=1)
    # From the most specific to the most general expectation.
    if "BARE" in expected:
        return _value_expected(text, position, piece, expected)
    if "FIELD" in expected:
        return _term_expected(text, position, piece)
    return _term_complete(text, position, piece, expected)


def _opens_quote(rest: str, piece: str) -> bool:
    """Returns True at an unclosed quote, or at the dot before one in a field's path."""
    at = rest[1:] if piece == "." else rest
    return at[:1] in ('"', "'") and at[:1] != "" and not re.match(STRING, at)


def _open_parentheses(text: str) -> list[int]:
    """Returns the offsets of parentheses that are open at the end of the text."""
    open_: list[int] = []
    for token in _PARENTHESES.finditer(text):
        if token[0] == "(":
            open_.append(token.start())
        elif token[0] == ")" and open_:
            open_.pop()
    return open_


def _error(message: str, position: int, piece: str, suggestion: str | None, replacement: str | None) -> FilterError:
    return FilterError(message, position=position, length=len(piece), suggestion=suggestion, replacement=replacement)


def _quote_piece(piece: str) -> str:
    return truncate(piece) if piece[:1] in "\"'" else f'"{truncate(piece)}"'


def _value_expected(text: str, position: int, piece: str, expected: frozenset[str]) -> FilterError:
    before = text[:position].rstrip()
    last = before.split()[-1] if before else ""
    if not piece:
        what = "The set is never closed; a value or } is missing." if "{" in last else "A value is missing at the end."
        return FilterError(what, position=len(text), length=0)
    if piece == "{":
        return _error("A set of values goes only with in.", position, piece, "Write field in {a, b}.", None)
    if before.endswith(",") or ("CLOSE" in expected):
        return _error(f"A value is expected in the set, not {_quote_piece(piece)}.", position, piece, None, None)
    if piece == "\\":
        return _error("A backslash needs quotes around the value.", position, piece, None, None)
    return _error(f"A value is expected here, not {_quote_piece(piece)}.", position, piece, None, None)


def _term_expected(text: str, position: int, piece: str) -> FilterError:
    before = text[:position].rstrip()
    if not piece:
        opened = _open_parentheses(text)
        if opened and before.endswith("("):
            return FilterError("This parenthesis is never closed.", position=opened[-1], length=1)
        return FilterError("The filter ends where a field is missing.", position=len(text), length=0)
    if piece == ")" and before.endswith("("):
        return FilterError("The parentheses are empty.", position=len(before) - 1, length=position + 2 - len(before))
    if piece in OPERATOR_BY_SPELLING:
        return _error(f"The operator {_quote_piece(piece)} needs a field before it.", position, piece, None, None)
    if re.match(r"[\w/*.-]", piece) and not piece.startswith(("and", "or")):
        return _error(
            f"A field is expected here, not {_quote_piece(piece)}.",
            position,
            piece,
            f"Write {quote(truncate(piece))} to search the text of messages.",
            quote(piece),
        )
    return _error(f"A field is expected here, not {_quote_piece(piece)}.", position, piece, None, None)


def _term_complete(text: str, position: int, piece: str, expected: frozenset[str]) -> FilterError:
    after_field = "OPERATOR" in expected
    # Upper case is read as a field name, so the parser only stops after it.
    before = re.search(r"\b(AND|OR|NOT)\s*$", text[:position])
    if before is not None:
        meant = before[1].lower()
        return _error(f'"{before[1]}" is not an operator.', before.start(), before[1], f"Did you mean {meant}?", meant)
    if not piece:
        return _end_error(text, expected)
    if piece.startswith("."):
        return _error("A dot in a field needs names on both sides.", position, piece, None, None)
    if piece in _FOREIGN_OPERATORS:
        meant = _FOREIGN_OPERATORS[piece]
        return _error(f"{_quote_piece(piece)} is not an operator.", position, piece, f"Did you mean {meant}?", meant)
    if after_field and re.fullmatch(r"[A-Za-z_]+", piece):
        meant = nearest_choice(piece, OPERATOR_BY_SPELLING)
        suggestion = f"Did you mean {meant}?" if meant else f"Operators are {', '.join(_symbols())}."
        return _error(f"{_quote_piece(piece)} is not an operator.", position, piece, suggestion, meant)
    if after_field:
        return _error(
            f"An operator is expected before {_quote_piece(piece)}.", position, piece, "Did you mean ==?", None
        )
    if "COMMA" in expected:
        return _error(
            f"A comma or }} is expected before {_quote_piece(piece)}.",
            position,
            piece,
            "Put text with spaces in quotes.",
            None,
        )
    if piece in ("==", "!=", "<", "<=", ">", ">="):
        return _error(f"A comparison cannot be compared again with {_quote_piece(piece)}.", position, piece, None, None)
    if "LBRACE" in expected:
        return _error(
            f"A set in braces is expected after in, not {_quote_piece(piece)}.",
            position,
            piece,
            _braces_hint(piece),
            None,
        )
    return _error(
        f"&& or || is expected before {_quote_piece(piece)}.", position, piece, "Put text with spaces in quotes.", None
    )


def _braces_hint(piece: str) -> str:
    return f"Did you mean {{{truncate(piece)}}}?"


def _end_error(text: str, expected: frozenset[str]) -> FilterError:
    if "COMMA" in expected:
        return FilterError("The set is never closed; } is missing.", position=len(text), length=0)
    if "LBRACE" in expected:
        return FilterError("A set of values is missing at the end, as in {a, b}.", position=len(text), length=0)
    opened = _open_parentheses(text)
    if opened:
        return FilterError("This parenthesis is never closed.", position=opened[-1], length=1)
    return FilterError("The filter ends too early.", position=len(text), length=0)


def _symbols() -> list[str]:
    return sorted({operator.symbol for operator in OPERATOR_BY_SPELLING.values()})
