"""Rows and item model of the tokens table by tool, context, participant or kind. No widgets."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject
from typing_extensions import override

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries.token_shares import DEFINITIONS, NO_TOOL, Grouping, Sums
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.context_labels import leaf_and_parent
from inspector.present.log_topics import spoken_kinds
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.panels.figures_model import FiguresModel

COLORS = (
    "highlight.sky", "highlight.teal", "highlight.violet", "highlight.orange", "highlight.lime", "highlight.rose",
)  # fmt: skip
"""Colours of the rows with the most tokens, in order."""
OTHERS = "ink.tertiary"
FILL_ALPHA = 0.75
"""Opacity of bars and areas."""
_FIELDS: dict[Grouping, str] = {"tool": "tool", "participant": "from", "kind": "kind"}
_NO_NAMES: dict[Grouping, str] = {"tool": "everything else", "participant": "nobody", "kind": "no kind"}
_LISTS = 'method == "tools/list"'
_LONGEST = 200
_STEP_ROWS = 256
"""Rows built in one step."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One row.

    Attributes:
        key: string id, or node.
        name: display name.
        aside: label of the parent context, or "".
        mono: True for a name from the protocol, not of a person.
        tokens, messages: counts.
        share: of all counted tokens, 0 to 1.
        color: colour token of its bar.
        filter_of: returns its `filter`.
    """

    key: int
    name: str
    mono: bool
    tokens: int
    messages: int
    share: float
    color: str
    filter_of: Callable[[], str]
    aside: str = ""
    everything: bool = False
    """True for the sum of all other rows."""

    @property
    def filter(self) -> str:
        """The display filter for its messages; "" if it would match all."""
        return self.filter_of()

    @property
    def whole_name(self) -> str:
        """Parent and name: "review-6 / store"."""
        return f"{self.aside} / {self.name}" if self.aside else self.name


def colors_of(sums: Sums) -> dict[int, str]:
    return {sums.key(place): color for place, color in zip(sums.order.tolist(), COLORS, strict=False)}


def rows_of(
    document: CaptureDocument, way: Grouping, sums: Sums, total: int, colors: dict[int, str], *, below: bool
) -> SlicedWork[list[TokenRow]]:  # fmt: skip
    """Builds rows in the order of their tokens.

    Args:
        document: the document.
        way: the meaning of a row.
        sums: the figures.
        total: sum of all counted tokens.
        colors: colour tokens by key from `colors_of`.
        below: True if contexts include their descendants.
    """
    made: list[TokenRow] = []
    order = sums.order
    figures = zip(order.tolist(), sums.tokens[order].tolist(), sums.messages[order].tolist(), strict=True)
    for place, tokens, messages in figures:
        key = sums.key(place)
        name, aside = _name(document, way, key, below=below)
        share = tokens / total if total else 0.0
        everything = way == "context" and below and key == MAIN
        color = OTHERS if everything else colors.get(key, OTHERS)
        mono = way in ("tool", "kind") and key > 0
        filter_of = partial(_filter, document, way, key, below=below)
        made.append(TokenRow(key, name, mono, tokens, messages, share, color, filter_of, aside, everything))
        if len(made) % _STEP_ROWS == 0:
            yield
    return made


def _name(document: CaptureDocument, way: Grouping, key: int, *, below: bool) -> tuple[str, str]:
    """Returns the name of a row and of its parent."""
    if way == "context":
        return ("all contexts", "") if key == MAIN and below else leaf_and_parent(document, key)
    if way == "tool" and key == DEFINITIONS:
        return "tool definitions", ""
    if not key:
        return _NO_NAMES[way], ""
    name = document.capture.strings[key] or ""
    return safe_line(spoken_kinds(document).get(name, name) if way == "kind" else name, _LONGEST), ""


def _filter(document: CaptureDocument, way: Grouping, key: int, *, below: bool) -> str:
    if way == "tool" and key in (NO_TOOL, DEFINITIONS):
        listed = document.capture.strings.find("tools/list") is not None
        return _LISTS if key == DEFINITIONS else f"!tool && !({_LISTS})" if listed else "!tool"
    if way != "context":
        return f"{_FIELDS[way]} == {quote(document.capture.strings[key])}" if key else f"!{_FIELDS[way]}"
    if key == MAIN:
        return "" if below else "!context"
    tree = document.analysis.contexts.tree
    text = f"context {'under' if below else '=='} {quote(tree.path(key))}"
    if len(document.analysis.contexts.spaces) == 1:
        return text
    space = tree.space[key]
    return f"{f'space == {quote(document.capture.strings[space])}' if space else '!space'} && {text}"


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


class TokensModel(FiguresModel[TokenRow]):
    """Rows of the tokens table.

    Attributes:
        way: the meaning of a row.
        uncounted: True before the first token count; figures are then shown as "…" instead of 0.
    """

    columns = Column
    titles = TITLES
    first_figure = Column.TOKENS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.TOKENS, parent)
        self.way: Grouping = "tool"
        self.uncounted = False

    def show_rows(self, rows: list[TokenRow], way: Grouping, *, uncounted: bool = False) -> None:
        another, self.way, self.uncounted = way != self.way, way, uncounted
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
    def heading(self, column: int) -> str:
        return _NAMES[self.way] if column == Column.NAME else TITLES[column]

    @override
    def heading_tip(self, column: int) -> str:
        return _NAME_TIPS[self.way] if column == Column.NAME else _TIPS[column]
