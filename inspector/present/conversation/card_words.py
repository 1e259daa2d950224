"""Facts of cards in words, in the order shown: outcome, duration, counts."""

from __future__ import annotations

import re

from inspector.present import formats
from inspector.present.badges import BADGE_BY_ID
from inspector.present.conversation.cards import (
    AgentCard,
    CallCard,
    CompactionCard,
    GroupCard,
    TextCard,
    ThoughtCard,
)

_WEB_LINK = re.compile(r"(?i)(?:https?://|mailto:)[^\s<>\"]{1,2000}")


def is_web_link(target: str) -> bool:
    """Returns True for a link that may leave the document: an address of the web or of mail."""
    return _WEB_LINK.fullmatch(target) is not None


def call_facts(card: CallCard | AgentCard | GroupCard) -> list[str]:
    """Returns facts of a call, a sub-agent or a span: "exit 1", "4.2 s", "11 tool calls"."""
    facts = [card.pill.word] if card.pill is not None else []
    if isinstance(card, CallCard):
        facts += [diff_counts(card)] if card.diffs else []
        facts += [card.said, card.decision]
    elif isinstance(card, AgentCard):
        facts += [card.agent, card.model, formats.count_of(card.calls, "tool call") if card.calls >= 0 else ""]
        facts += [f"{card.failed:,} failed"] if card.failed else []
        facts += [f"{formats.short_count(card.tokens)} tokens"] if card.tokens >= 0 else []
        facts += [formats.dollars(card.dollars)] if card.dollars is not None else []
    else:
        facts += [formats.count_of(card.steps, "step")] if card.steps else []
    facts += [formats.duration(card.took_ns)] if card.took_ns >= 0 else []
    return [*filter(None, facts), *badge_texts(card.badges)]


def diff_counts(card: CallCard) -> str:
    """Returns the counts of added and removed lines of a call, signed."""
    added, removed = (sum(getattr(diff, name) for diff in card.diffs) for name in ("added", "removed"))
    return " ".join([f"+{added:,}"] * bool(added or not removed) + [f"\N{MINUS SIGN}{removed:,}"] * bool(removed))


def text_facts(card: ThoughtCard | CompactionCard | TextCard) -> list[str]:
    """Returns facts of a thought or a compaction."""
    if isinstance(card, CompactionCard):
        sizes = [f"{value:,}" for value in (card.before, card.after) if value >= 0]
        told = f": {' to '.join(sizes)} tokens" if sizes else ""
        return [f"Context compacted{told}", "" if card.blocks else card.words]
    if isinstance(card, ThoughtCard):
        return ["Thought", formats.duration(card.took_ns) if card.took_ns >= 0 else ""]
    return []


def badge_texts(badges: tuple[str, ...]) -> list[str]:
    """Returns the words of badges."""
    return [BADGE_BY_ID[badge].text if badge in BADGE_BY_ID else badge for badge in badges]
