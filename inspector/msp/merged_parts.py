"""What a merged context is made of: four layers with their entries, what is withheld, and what is worth saying."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from inspector.msp.objects import Message, Session, Snapshot, Subsession
from inspector.msp.parent_messages import Standing
from inspector.msp.rules import Rules
from inspector.tokens.counter import TOKENIZER

if TYPE_CHECKING:
    from inspector.msp.recent_layer import RecentLayer

LayerName: TypeAlias = Literal["sub_context", "snapshots", "recent", "own"]

LAYER_TITLES: dict[LayerName, str] = {
    "sub_context": "Sub-context",
    "snapshots": "Summary snapshots",
    "recent": "Recent parent messages",
    "own": "Own messages",
}
"""In the order they are sent in."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is sent.

    Attributes:
        id: as its message or snapshot has it.
        role: of the message; what the session says of itself is said by the system.
        reason: why it is sent, a sentence.
        source: what it is made of; the session for its sub-context.
        older_global: it is older than the recent ones and sent because it is global.
        let_in: its visibility would have kept it out by the letter.
        covered_by: a snapshot that is sent as well and covers it: it is sent twice.
    """

    id: str | None
    role: str
    content: str
    reason: str
    tokens: int
    source: Message | Snapshot | Session
    older_global: bool = False
    let_in: bool = False
    covered_by: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the four layers.

    Attributes:
        included: whether the policy lets it in; it may be empty all the same.
        what: what there is in a few words, as "5 of 5, 2 withheld as main_only".
        why: what decided whether it is included; a sentence.
        tokens: of what is sent.
        left_out: tokens it would have, had the policy let it in.
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
        """What it is called on screen."""
        return LAYER_TITLES[self.name]


class Withheld(NamedTuple):
    """A message of the parent that is kept out.

    Attributes:
        reason: a sentence.
        rule: name of the rule that would let it in; None when there is none.
    """

    id: str | None
    reason: str
    source: Message
    rule: str | None = None


class Remark(NamedTuple):
    """Something to know about a merged context: a sentence, and the rule that changes it, if one does."""

    text: str
    rule: str | None = None


@dataclass(frozen=True)
class MergedContext:
    """What a sub-session would send with its next message; it stays as it is, whatever is edited.

    Attributes:
        layers: always four, in the order they are sent in.
        recent: what was chosen of the parent's messages.
        remarks: what is worth saying about it.
        tokenizer: what counts tokens; an estimate.
    """

    subsession: Subsession
    rules: Rules
    layers: tuple[Layer, ...]
    recent: RecentLayer = field(repr=False, compare=False)
    remarks: tuple[Remark, ...]
    tokenizer: str = TOKENIZER

    @cached_property
    def withheld(self) -> tuple[Withheld, ...]:
        """Parent messages that are kept out, and why; not those that are merely older. O(messages of the parent)."""
        return tuple(self.recent.withheld())

    @cached_property
    def older(self) -> tuple[Message, ...]:
        """Parent messages that are not sent because they are older. O(messages of the parent)."""
        return tuple(self.recent.older())

    @property
    def main_only(self) -> int:
        """How many parent messages are withheld as main_only; they are not listed for it."""
        return self.recent.standing(Standing.MAIN_ONLY)

    @property
    def wanted(self) -> int:
        """How many recent parent messages are asked for."""
        return self.recent.wanted

    @property
    def tokens(self) -> int:
        """Of everything that is sent."""
        return sum(layer.tokens for layer in self.layers if layer.included)

    @property
    def inherited_tokens(self) -> int:
        """Of what comes from the parent."""
        return self.tokens - self.layer("own").tokens

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks as sentences."""
        return tuple(remark.text for remark in self.remarks)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that is sent, in order."""
        return tuple(entry for layer in self.layers for entry in layer.entries)

    def layer(self, name: LayerName) -> Layer:
        """One of the layers."""
        return next(layer for layer in self.layers if layer.name == name)

    def as_json(self) -> dict[str, Any]:
        """The form of `merged-context --json` (docs/design.md 5); secrets are not masked."""
        return {
            "subsession": self.subsession.id or self.subsession.key,
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
            "withheld": [{"id": kept.id, "reason": kept.reason} for kept in self.withheld],
            "tokens": self.tokens,
        }  # fmt: skip

    def as_messages(self) -> list[dict[str, str]]:
        """What is sent as provider-style messages, in order; secrets are not masked."""
        return [{"role": entry.role or "user", "content": entry.content} for entry in self.entries]
