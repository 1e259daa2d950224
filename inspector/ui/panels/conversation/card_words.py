"""Cards in words, for screen readers."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.present.conversation.blocks import (
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Rule,
    Table,
)
from inspector.present.conversation.cards import (
    AgentCard,
    CallCard,
    Card,
    CardKind,
    CompactionCard,
    EndCard,
    FoldCard,
    GroupCard,
    OtherCard,
    Picture,
    TextCard,
    ThoughtCard,
)

MAX_SPOKEN = 4_000
"""Limit of a card's text for screen readers, in characters."""


def card_heading(card: Card) -> str:
    """Returns the heading of a card: its kind, and the outcome of a call."""
    match card:
        case TextCard():
            name = "Prompt" if card.ref.kind == CardKind.PROMPT else "Answer"
            name = f"{name} from {card.sender}" if card.sender else name
            return f"{name}, {card.aside}" if card.aside else name
        case ThoughtCard():
            return "Thought"
        case CallCard():
            outcome = f", {card.pill.word}" if card.pill is not None else ""
            return f"Call {call_line(card)}{outcome}"
        case AgentCard():
            outcome = f", {card.pill.word}" if card.pill is not None else ""
            return f"Sub-agent {card.agent}{outcome}"
        case CompactionCard():
            return "Context compacted"
        case FoldCard() | EndCard():
            return card.words
        case GroupCard() | OtherCard():
            return card.label
    return ""


def call_line(card: CallCard) -> str:
    return f"{card.verb} {card.subject}".strip()


def card_text(card: Card) -> str:
    """Returns a card in words, its heading first."""
    return f"{card_heading(card)}. {_body(card)}".strip()[:MAX_SPOKEN]


def _body(card: Card) -> str:
    match card:
        case EndCard():
            return f"Summary: {plain_text(card.blocks)}" if card.blocks else ""
        case TextCard():
            return "\n".join((plain_text(card.blocks), *_picture_words(card.pictures))).strip()
        case ThoughtCard():
            return card.line
        case CallCard():
            lines = [line.text for line in card.output.lines] if card.output is not None else []
            edits = [f"{one.verb} {one.name}, {one.added} added, {one.removed} removed" for one in card.diffs]
            return "\n".join(
                [*filter(None, (card.said, card.decision)), *edits, *lines, *_picture_words(card.pictures)]
            )
        case AgentCard():
            return card.task
        case CompactionCard() | GroupCard() | OtherCard():
            return card.words
        case _:
            return ""


def _picture_words(pictures: Sequence[Picture]) -> list[str]:
    return [f"Picture: {picture.words}" for picture in pictures]


def plain_text(blocks: Sequence[Block]) -> str:
    """Returns the text of blocks without marks."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case Paragraph() | Heading():
                lines.append("".join(run.text for run in block.runs))
            case CodeBlock():
                lines.append(block.text)
            case ListBlock():
                lines += [plain_text(item.blocks) for item in block.items]
            case Quote():
                lines.append(plain_text(block.blocks))
            case Table():
                lines += [", ".join("".join(run.text for run in cell) for cell in row)
                          for row in (block.head, *block.rows)]  # fmt: skip
            case Rule():
                pass
    return "\n".join(lines)
