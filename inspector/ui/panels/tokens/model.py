"""The item model of the tokens table: a row per tool, context, participant or kind, sorted as the user chose."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.token_shares import Way
from inspector.present import formats
from inspector.present.wire_text import tool_tip
from inspector.ui.panels.figures_model import FiguresModel
from inspector.ui.panels.tokens.rows import TokenRow

_HUNDREDTH, _TENTH = 0.01, 0.1


class Column(enum.IntEnum):
    """The columns, left to right."""

    NAME = 0
    BAR = 1
    TOKENS = 2
    SHARE = 3
    MESSAGES = 4


TITLES = ("Tool", "", "Tokens", "Share", "Messages")
_NAMES: dict[Way, str] = {"tool": "Tool", "context": "Context", "participant": "Sent by", "kind": "Kind"}
_TIPS = ("", "", "Estimate", "Of all tokens looked at", "Whether or not their tokens are counted yet")
_NAME_TIPS: dict[Way, str] = {
    "tool": "Calls of each tool and their results; definitions of tools are the answers to tools/list",
    "context": "Messages in each context",
    "participant": "What each has written; what its model has read is told by Model sees",
    "kind": "Messages of each kind",
}
_SENT = "\nWhat it has written. What its model has read: context menu, Show what its model sees."
_VALUES: dict[Column, Callable[[TokenRow], float | str]] = {
    Column.NAME: lambda one: one.whole_name.casefold(),
    Column.BAR: lambda one: one.tokens,
    Column.TOKENS: lambda one: one.tokens,
    Column.SHARE: lambda one: one.share,
    Column.MESSAGES: lambda one: one.messages,
}


def percent(share: float) -> str:
    """A share: "41 %", "2.4 %", "<1 %", "0 %"."""
    if 0 < share < _HUNDREDTH:
        return "<1 %"
    return f"{share * 100:.1f} %" if 0 < share < _TENTH else f"{share * 100:.0f} %"


class TokensModel(FiguresModel[TokenRow]):
    """Rows of the tokens table.

    Attributes:
        way: what a row stands for.
    """

    columns = Column
    titles = TITLES
    first_figure = Column.TOKENS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.TOKENS, parent)
        self.way: Way = "tool"

    def show_rows(self, rows: list[TokenRow], way: Way) -> None:
        """Show other figures, sorted as before."""
        another, self.way = way != self.way, way
        self.take_rows(rows, anew=another)

    @override
    def key_of(self, one: TokenRow) -> int:
        return one.key

    @override
    def in_order(self, rows: list[TokenRow], column: Column, *, descending: bool) -> list[TokenRow]:
        named = sorted(rows, key=lambda one: one.name)
        ordered = sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType]  one type
        return sorted(ordered, key=lambda one: not one.everything)  # the sum stands above what it is the sum of

    @override
    def tip(self, one: TokenRow) -> str:
        return tool_tip(f"{one.whole_name}{_SENT}" if self.way == "participant" else one.whole_name)

    @override
    def text(self, one: TokenRow, column: Column) -> str:
        texts = (
            one.whole_name, "", formats.number(one.tokens), percent(one.share), formats.number(one.messages),
        )  # fmt: skip
        return texts[column]

    @override
    def heading(self, column: int) -> str:
        return _NAMES[self.way] if column == Column.NAME else TITLES[column]

    @override
    def heading_tip(self, column: int) -> str:
        return _NAME_TIPS[self.way] if column == Column.NAME else _TIPS[column]
