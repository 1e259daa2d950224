r"""Grammar and parser of the display filter (docs/design.md 6).

A comparison binds closest, then `!`, then `&&`, then `||`, so `!a == b` is `!(a == b)`. `inspector.filters.operators`
declares the operators and their spellings.

FIELD and BARE overlap but never compete: a field begins a term, a bare word is a value. Lark's contextual lexer
separates them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from lark import Lark, Transformer

from inspector.filters.numbers import SPACED_UNIT
from inspector.filters.operators import OPERATORS

GRAMMAR = r"""
start: any_of?

?any_of: all_of (_OR all_of)*
?all_of: negation (_AND negation)*
?negation: _NOT negation -> not_
    | term

?term: "(" any_of ")" -> group
    | STRING -> text_search
    | FIELD -> presence
    | FIELD OPERATOR value -> comparison
    | FIELD IN "{" [element ("," element)*] CLOSE -> membership

// Two rules for the same thing, so that an error knows whether it is in a set.
value: STRING -> quoted
    | BARE -> bare
element: STRING -> quoted
    | BARE -> bare

_NOT: "!" | /not{end}/
_AND: "&&" | /and{end}/
_OR: "||" | /or{end}/
IN: /in{end}/
CLOSE: "}}"
OPERATOR: /{operators}/

FIELD: /{opened}|(?!(?:{reserved}){end}){path}/
STRING: /{string}/
BARE: /[+-]?[0-9.]+[ \t]+{unit}|[^\s"'(){{}},&|!=<>\\]+/

%ignore /\s+/
"""

STRING = r""""(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'"""
"""Regular expression of a quoted string, quotes included."""

PATH = rf"[^\W\d][\w$-]*(?:\.(?:[\w$-]+|{STRING}))*"
"""Regular expression of a field path."""

MOST_OPENED = 3
"""Maximum nesting of `json()`: `json(json(payload.a).b).c` opens two texts."""

_WORD_END = r"(?![\w.$-])"
_WORDS = sorted(
    word for operator in OPERATORS for word in (operator.symbol, *operator.words) if word[0].isalpha() and word != "in"
)
RESERVED = frozenset({*_WORDS, "and", "or", "not", "in"})
"""Reserved words: no field has such a name; as a value they must be quoted."""


def _operator_pattern() -> str:
    symbols = [operator.symbol for operator in OPERATORS if not operator.symbol[0].isalpha()]
    # Longest first: alternatives are tried in order, and `>` would hide `>=`.
    symbols.sort(key=len, reverse=True)
    return f"{'|'.join(map(re.escape, symbols))}|(?:{'|'.join(_WORDS)}){_WORD_END}"


def opened_pattern() -> str:
    """Returns the regular expression of a field that opens a text: `json(payload.a).b`."""
    opening = ""
    inside = PATH
    # A regular expression cannot refer to itself, so each level is written out.
    for _ in range(MOST_OPENED):
        opening = rf"json\(\s*{inside}\s*\)(?:\.(?:[\w$-]+|{STRING}))*"
        inside = f"(?:{opening}|{PATH})"
    return opening


def grammar_text() -> str:
    """Returns the grammar with operators and repeated patterns filled in."""
    text = GRAMMAR.replace("{{", "{").replace("}}", "}")
    filled = {
        "end": _WORD_END,
        "operators": _operator_pattern(),
        "reserved": "|".join(sorted(RESERVED)),
        "path": PATH,
        "opened": opened_pattern(),
        "string": STRING,
        "unit": SPACED_UNIT,
    }
    for name, pattern in filled.items():
        # A slash would end lark's own regular expression.
        text = text.replace("{" + name + "}", pattern.replace("/", r"\/"))
    return text


# The tables of the grammar take 18 ms to make, and a filter is parsed in less than one.
@cache
def parser_of(builder: type[Transformer[Any, Any]]) -> Lark:
    """Returns the parser that calls the methods of `builder` per completed rule, without a tree."""
    return Lark(grammar_text(), parser="lalr", lexer="contextual", transformer=builder(), maybe_placeholders=False)
