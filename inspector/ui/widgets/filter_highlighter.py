"""Syntax colours for display filters: fields ink, operators tertiary, values accent (docs/design.md 14).

It splits the text into tokens without parsing it, so that any text gets colours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument
from typing_extensions import override

from inspector.base.utf16 import Utf16Offsets
from inspector.engine.requests.filters import RESERVED, STRING
from inspector.ui.look.theme import ThemeController

Role = Literal["field", "operator", "value"]

TOKENS: dict[Role, str] = {"field": "ink.primary", "operator": "ink.tertiary", "value": "accent.text"}
"""Colour of each role."""

_PIECE = re.compile(
    rf"""(?P<string>{STRING}|["'].*)|(?P<field>[^\W\d][\w$-]*(?:\.(?:[\w$-]+|{STRING}))*)"""
    r"|(?P<symbol>&&|\|\||[=!<>]=?|[(){},~&|])|(?P<other>[^\s\"'(){},&|!=<>]+)",
    re.DOTALL,
)
_BARE = re.compile(r"[^\s\"'(){},&|!=<>\\]+")
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", *(RESERVED - {"and", "or", "not", "in"})})


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a filter."""

    start: int
    """Offset in characters."""
    length: int
    """Length in characters."""
    role: Role


def tokens(text: str) -> list[Token]:
    """Splits any text into filter tokens, without spaces."""
    found: list[Token] = []
    value_next = in_set = False
    place = 0
    while place < len(text):
        # A bare value may have characters that end a field: `mcp/*`.
        bare = _BARE.match(text, place) if value_next or in_set else None
        piece = bare or _PIECE.match(text, place)
        if piece is None:
            place += 1
            continue
        word = piece[0]
        role: Role
        if bare is not None:
            role, value_next = "value", False
        elif piece["symbol"] or word in RESERVED:
            role = "operator"
            in_set = word == "{" or (in_set and word != "}")
            value_next = word in _COMPARISONS
        else:
            role = "field" if piece["field"] else "value"
            value_next = False
        found.append(Token(place, len(word), role))
        place = piece.end()
    return found


class FilterHighlighter(QSyntaxHighlighter):
    """Applies the colours to the filter bar's document."""

    def __init__(self, document: QTextDocument, theme_controller: ThemeController) -> None:
        """Makes the highlighter; the document becomes its owner."""
        super().__init__(document)
        self._themes = theme_controller
        theme_controller.changed.connect(self.rehighlight)

    @override
    def highlightBlock(self, text: str) -> None:
        theme = self._themes.theme
        units = Utf16Offsets(text).units
        for token in tokens(text):
            look = QTextCharFormat()
            look.setForeground(theme.color(TOKENS[token.role]))
            start = units(token.start)
            self.setFormat(start, units(token.start + token.length) - start, look)
