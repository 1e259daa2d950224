"""Rows of token usage by tool, context, participant or kind: names, shares, colours and filters."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries.token_shares import DEFINITIONS, NO_TOOL, Grouping, Sums
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.context_labels import leaf_and_parent
from inspector.present.log_topics import spoken_kinds
from inspector.present.token_facts import incomplete_words, reported_words
from inspector.present.wire_text import safe_line
from inspector.tokens.counter import TOKENIZER

COLORS = (
    "highlight.sky", "highlight.teal", "highlight.violet", "highlight.orange", "highlight.lime", "highlight.rose",
)  # fmt: skip
"""Colours of the rows with the most tokens, in order."""
OTHERS = "ink.tertiary"
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
        everything: True for the sum of all other rows.
    """

    key: int
    name: str
    mono: bool
    tokens: int
    messages: int
    share: float
    color: str
    aside: str = ""
    everything: bool = False

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
        made.append(TokenRow(key, name, mono, tokens, messages, share, color, aside, everything))
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
    return safe_line(
        spoken_kinds(document).get(name, name) if way == "kind" else document.capture.shown_name(name), _LONGEST
    ), ""


def filter_of_row(document: CaptureDocument, way: Grouping, key: int, *, below: bool) -> str:
    """Returns the display filter for the messages of a row; "" if it would match all."""
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


def sum_words(document: CaptureDocument, total: int) -> str:
    """Returns the sum of counted tokens, reported usage and stated costs as a sentence."""
    tokens, words = document.analysis.tokens, f"{formats.number(total)}, estimate ({TOKENIZER})"
    if tokens.uncounted and not tokens.done:
        share = tokens.counted * 100 // max(1, tokens.counted + tokens.uncounted)
        words = f"{words}, counting tokens, {share} %" if tokens.counted else "not counted yet"
    analysis = document.analysis
    reported, stated = analysis.usage.total(), analysis.costs.stated_total()
    if reported is not None:
        words = f"{reported_words(reported)}{incomplete_words(analysis.usage.incomplete_count)}. {words}"
    if stated is not None:
        words = f"{words}. Cost: {formats.dollars(stated)}, as the session states"
    return words
