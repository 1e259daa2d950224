"""Which sub-sessions are listed, in which order, and how deep each is nested. No Qt."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.protocol.times import NO_TIME
from inspector.ui.panels.list_view import Key

if TYPE_CHECKING:
    from inspector.msp.objects import Subsession

DEEPEST = 12
"""Levels that are indented; deeper ones would have no room left for their label."""


class Order(enum.StrEnum):
    """What the list is ordered by; nested ones stay below what they are nested in."""

    CHAT = "chat"
    LATEST = "latest"
    MESSAGES = "messages"
    TOKENS = "tokens"

    @property
    def words(self) -> str:
        """What a menu calls it."""
        return _WORDS[self]


_WORDS = {
    Order.CHAT: "As in the chat",
    Order.LATEST: "Latest first",
    Order.MESSAGES: "Most messages first",
    Order.TOKENS: "Most tokens first",
}


class SubsessionRows:
    """What stands in which row.

    Attributes:
        subs, depths: by row.
        open, all: how many sub-sessions are open, and how many there are.
    """

    def __init__(self) -> None:
        self.subs: list[Subsession] = []
        self.depths: list[int] = []
        self.open = self.all = 0
        self._row_of: dict[Key, int] = {}

    def take(
        self, subs: Sequence[Subsession], order: Order, *, open_only: bool, tokens: Callable[[Subsession], int]
    ) -> None:
        """List the sub-sessions of a document.

        Args:
            subs: all of them, as they stand in it.
            order: what they are ordered by, among those nested in the same.
            open_only: leave out what is not open and holds nothing that is.
            tokens: of a sub-session's own messages, as far as they are known.
        """
        self.all, self.open = len(subs), sum(sub.is_open for sub in subs)
        below: dict[str | None, list[Subsession]] = {}
        known = {sub.key for sub in subs}
        wanted = _open_ones(subs, known) if open_only else known
        for sub in subs:
            if sub.key in wanted:
                below.setdefault(_key_above(sub, known), []).append(sub)
        if order is not Order.CHAT:
            rank = _rank(order, tokens)
            for siblings in below.values():
                siblings.sort(key=rank, reverse=True)
        self.subs, self.depths = [], []
        for sub, depth in _walk(below):
            self.subs.append(sub)
            self.depths.append(min(depth, DEEPEST))
        self._row_of = {(sub.key, 0): row for row, sub in enumerate(self.subs)}

    def __len__(self) -> int:
        return len(self.subs)

    def key_at(self, row: int) -> Key:
        """What names a row."""
        return self.subs[row].key, 0

    def row_of(self, key: Key) -> int:
        """The row of a key; -1 when it is not listed."""
        return self._row_of.get(key, -1)


def _key_above(sub: Subsession, known: set[str]) -> str | None:
    """The key of the sub-session another is nested in; None where it is the chat itself."""
    above = sub.parent
    key = getattr(above, "key", None) if above is not None else None
    return key if key in known and above is not sub.session else None


def _open_ones(subs: Iterable[Subsession], known: set[str]) -> set[str]:
    """The open ones, and those they are nested in."""
    wanted: set[str] = set()
    by_key = {sub.key: sub for sub in subs}
    for sub in by_key.values():
        key = sub.key if sub.is_open else None
        while key is not None and key not in wanted:
            wanted.add(key)
            key = _key_above(by_key[key], known)
    return wanted


def _rank(order: Order, tokens: Callable[[Subsession], int]) -> Callable[[Subsession], int]:
    if order is Order.LATEST:
        return _latest
    return tokens if order is Order.TOKENS else _messages


def _messages(sub: Subsession) -> int:
    return len(sub.messages)


def _latest(sub: Subsession) -> int:
    """When something was last said or done in it."""
    said = sub.messages[-1].time_ns if len(sub.messages) else NO_TIME
    return max(said, sub.created_ns, sub.closed_ns)


def _walk(below: dict[str | None, list[Subsession]]) -> Iterator[tuple[Subsession, int]]:
    """Sub-sessions with their depths, each before those nested in it; without recursion, as files may nest deep."""
    waiting = [(sub, 0) for sub in reversed(below.get(None, ()))]
    while waiting:
        sub, depth = waiting.pop()
        yield sub, depth
        waiting += [(inner, depth + 1) for inner in reversed(below.get(sub.key, ()))]
