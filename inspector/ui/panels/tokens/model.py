"""Item model of the tokens table by tool, context, participant or kind. No widgets."""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.engine.requests.tokens import NO_TOOL, Grouping, TokenRow
from inspector.present import formats
from inspector.present.rows import PRIMARY, SECONDARY, TERTIARY, Cell, Text, Track
from inspector.present.wire_text import tool_tip
from inspector.ui.widgets.rows.table_model import TableModel

FILL_ALPHA = 0.75
"""Opacity of bars and areas."""
_HUNDREDTH, _TENTH = 0.01, 0.1


class Column(enum.IntEnum):
    """Columns, left to right."""

    NAME = 0
    BAR = 1
    TOKENS = 2
    SHARE = 3
    MESSAGES = 4


TITLES = ("Tool", "", "Tokens", "Share", "Messages")
_NAMES: dict[Grouping, str] = {"tool": "Tool", "context": "Context", "participant": "Sent by", "kind": "Kind"}
_TIPS = ("", "", "Estimate", "Of all counted tokens", "Including messages without a token count")
_NAME_TIPS: dict[Grouping, str] = {
    "tool": "Calls of each tool and their results; definitions of tools are the answers to tools/list",
    "context": "Messages in each context",
    "participant": "Tokens written by each; Model sees shows the tokens read by its model",
    "kind": "Messages of each kind",
}
_NO_CALL = "\nEverything except tool calls, results and definitions: prompts, chats, thoughts, answers."
_SENT = "\nTokens it wrote. For the tokens its model read: context menu, Show in Model sees."
_VALUES: dict[Column, Callable[[TokenRow], float | str]] = {
    Column.NAME: lambda one: one.whole_name.casefold(),
    Column.BAR: lambda one: one.tokens,
    Column.TOKENS: lambda one: one.tokens,
    Column.SHARE: lambda one: one.share,
    Column.MESSAGES: lambda one: one.messages,
}


def percent(share: float) -> str:
    """Formats a share: "41 %", "2.4 %", "<1 %", "0 %"."""
    if 0 < share < _HUNDREDTH:
        return "<1 %"
    return f"{share * 100:.1f} %" if 0 < share < _TENTH else f"{share * 100:.0f} %"


class TokensModel(TableModel[TokenRow]):
    """Rows of the tokens table.

    Attributes:
        way, below: the meaning of a row; contexts include their descendants.
        uncounted: True before the first token count; figures are then shown as "…" instead of 0.
    """

    columns = Column
    titles = TITLES
    first_figure = Column.TOKENS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.TOKENS, parent)
        self.way: Grouping = "tool"
        self.below = False
        self.uncounted = False

    def show_rows(self, rows: list[TokenRow], way: Grouping, *, below: bool = False, uncounted: bool = False) -> None:
        another, self.way, self.below, self.uncounted = way != self.way, way, below, uncounted
        self.take_rows(rows, anew=another)

    @override
    def key_of(self, one: TokenRow) -> int:
        return one.key

    @override
    def in_order(self, rows: list[TokenRow], column: Column, *, descending: bool) -> list[TokenRow]:
        named = sorted(rows, key=lambda one: one.name)
        ordered = sorted(named, key=_VALUES[column], reverse=descending)  # pyright: ignore[reportArgumentType] - one type
        return sorted(ordered, key=lambda one: not one.everything)  # the row of the sum comes first

    @override
    def tip(self, one: TokenRow) -> str:
        more = _SENT if self.way == "participant" else _NO_CALL if self.way == "tool" and one.key == NO_TOOL else ""
        return tool_tip(f"{one.whole_name}{more}")

    @override
    def text(self, one: TokenRow, column: Column) -> str:
        if self.uncounted and column in (Column.TOKENS, Column.SHARE):
            return "…"
        texts = (
            one.whole_name, "", formats.number(one.tokens), percent(one.share), formats.number(one.messages),
        )  # fmt: skip
        return texts[column]

    @override
    def cell(self, one: TokenRow, column: Column) -> Cell:
        if column is Column.BAR:
            return (Track(one.share, one.color, FILL_ALPHA),)
        if column is Column.NAME:
            name = Text(one.name, "mono-row" if one.mono else "body", space=8)
            aside = Text(f"in {one.aside}" if one.aside else "", "mono-row" if one.mono else "body", TERTIARY, least=48)
            return name, aside
        return (Text(self.text(one, column), "figure", PRIMARY if column is Column.TOKENS else SECONDARY),)

    @override
    def heading(self, column: int) -> str:
        return _NAMES[self.way] if column == Column.NAME else TITLES[column]

    @override
    def heading_tip(self, column: int) -> str:
        return _NAME_TIPS[self.way] if column == Column.NAME else _TIPS[column]
