"""Data classes of a merged context: layers, entries, withheld messages and remarks.

Tokens are counted once per text, since many sub-sessions share messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from inspector.msp.objects import Message, Session, Snapshot, Subsession
from inspector.tokens.counter import count_tokens

LayerName: TypeAlias = Literal["sub_context", "snapshots", "recent", "own"]

LAYER_TITLES: dict[LayerName, str] = {
    "sub_context": "Sub-context",
    "snapshots": "Summary snapshots",
    "recent": "Recent parent messages",
    "own": "Own messages",
}
"""In sending order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry that is sent.

    Attributes:
        id: id of its message or snapshot.
        role: role of the message; "system" for parts of the session.
        content: its text.
        reason: reason for sending it, a sentence.
        tokens: tokens of the content.
        source: its origin; the session for the sub-context, a sub-session for a referenced summary.
        older_global: older than the recent messages, sent as global.
    """

    id: str | None
    role: str
    content: str
    reason: str
    tokens: int
    source: Message | Snapshot | Session | Subsession
    older_global: bool = False


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the four layers.

    Attributes:
        included: the policy includes it; it may still be empty.
        what: short description, such as "5 of 5, 2 withheld as main_only".
        why: reason for its inclusion or exclusion, a sentence.
        tokens: tokens of its entries.
        left_out: tokens it would have if included.
    """

    name: LayerName
    included: bool
    what: str
    why: str
    tokens: int
    entries: tuple[Entry, ...]
    left_out: int = 0

    @property
    def title(self) -> str:
        """Title on screen."""
        return LAYER_TITLES[self.name]


class SentContext:
    """A context sent to a model: four layers.

    Attributes:
        layers: always four, in sending order.
        remarks: remarks for the user.
    """

    layers: tuple[Layer, ...]
    remarks: tuple[Remark, ...]

    @property
    def tokens(self) -> int:
        """Tokens of all included layers."""
        return sum(layer.tokens for layer in self.layers if layer.included)

    @property
    def notes(self) -> tuple[str, ...]:
        """Texts of the remarks."""
        return tuple(remark.text for remark in self.remarks)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries in sending order."""
        return tuple(entry for layer in self.layers for entry in layer.entries)

    def layer(self, name: LayerName) -> Layer:
        return next(layer for layer in self.layers if layer.name == name)

    def as_messages(self) -> list[dict[str, str]]:
        """Returns the entries as provider-style messages; secrets are not masked."""
        return [{"role": entry.role or "user", "content": entry.content} for entry in self.entries]

    def _json(self, whose: dict[str, str], withheld: Iterable[Withheld]) -> dict[str, Any]:
        return {
            **whose,
            "layers": [
                {
                    "name": layer.name, "included": layer.included, "tokens": layer.tokens,
                    "entries": [
                        {"id": entry.id, "role": entry.role, "content": entry.content, "reason": entry.reason}
                        for entry in layer.entries
                    ],
                }
                for layer in self.layers
            ],
            "withheld": [{"id": one.id, "reason": one.reason} for one in withheld],
            "tokens": self.tokens,
        }  # fmt: skip


class Withheld(NamedTuple):
    """A parent message that is withheld.

    Attributes:
        reason: a sentence.
        rule: name of the rule that would let it in, if any.
    """

    id: str | None
    reason: str
    source: Message
    rule: str | None = None


class Remark(NamedTuple):
    """A remark on a merged context.

    Attributes:
        text: a sentence.
        rule: name of the rule that changes it, if any.
        warns: the sender may miss something.
    """

    text: str
    rule: str | None = None
    warns: bool = False


Count = Callable[[str], int]
"""Counts the tokens of a text."""


class TokenCache:
    """Caches token counts by text."""

    def __init__(self, count_text: Count = count_tokens) -> None:
        """Creates an empty cache. The first count loads the tokenizer."""
        self._count = count_text
        self._known: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        found = self._known.get(text)
        if found is None:
            # Sub-sessions share most of their messages, so most texts are counted once.
            found = self._known[text] = self._count(text)
        return found
