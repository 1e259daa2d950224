"""What a merged context is made of: four layers with their entries and tokens, what is withheld, what is worth saying.

Tokens are counted once for each text: the same messages stand in the contexts of many sub-sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from inspector.msp.objects import Message, Session, Snapshot, Subsession
from inspector.tokens.counter import count

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
        source: what it is made of; the session for its sub-context, a sub-session for the summary of one beside.
        older_global: it is older than the recent ones and sent because it is global.
        let_in: its visibility would have kept it out by the letter.
        covered_by: a snapshot that is sent as well and covers it: it is sent twice.
    """

    id: str | None
    role: str
    content: str
    reason: str
    tokens: int
    source: Message | Snapshot | Session | Subsession
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


class SentContext:
    """What is sent a model: four layers, whoever sends them.

    Attributes:
        layers: always four, in the order they are sent in.
        remarks: what is worth saying about it.
    """

    layers: tuple[Layer, ...]
    remarks: tuple[Remark, ...]

    @property
    def tokens(self) -> int:
        """Of everything that is sent."""
        return sum(layer.tokens for layer in self.layers if layer.included)

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

    def as_messages(self) -> list[dict[str, str]]:
        """What is sent as provider-style messages, in order; secrets are not masked."""
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
    """Something to know about a merged context.

    Attributes:
        text: a sentence.
        rule: the one that changes it, if one does.
        warns: whoever sends the context may miss something.
    """

    text: str
    rule: str | None = None
    warns: bool = False


Count = Callable[[str], int]
"""The tokens of a text."""


class TokenCache:
    """Counts texts and remembers what it found, by the text itself."""

    def __init__(self, count_text: Count = count) -> None:
        """An empty one. The first count loads the tokenizer, unless everything asked for was learnt."""
        self._count = count_text
        self._known: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        """Tokens of a text."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._count(text)
        return found

    def known(self, text: str) -> int | None:
        """Tokens of a text if it was counted; never counts."""
        return self._known.get(text)

    def learn(self, texts: Iterable[str], counts: Iterable[int]) -> None:
        """Take in what was counted elsewhere, as in a process of its own."""
        self._known.update(zip(texts, counts, strict=True))
