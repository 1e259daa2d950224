"""Order of the sub-sessions of a document in a list: nested ones below their parent."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence

from inspector.msp.objects import Subsession
from inspector.protocol.timestamps import NO_TIME

_DEEPEST = 12
"""Maximum indent level; deeper rows would have no width left for their label."""


class Order(enum.StrEnum):
    """Sort order among siblings."""

    CHAT = "chat"
    LATEST = "latest"
    MESSAGES = "messages"
    TOKENS = "tokens"

    @property
    def words(self) -> str:
        """Label in the menu."""
        return _WORDS[self]


_WORDS = {
    Order.CHAT: "Chat order",
    Order.LATEST: "Latest first",
    Order.MESSAGES: "Most messages first",
    Order.TOKENS: "Most tokens first",
}


def listed_subsessions(
    subs: Sequence[Subsession], order: Order, *, open_only: bool, tokens: Callable[[Subsession], int]
) -> list[tuple[Subsession, int]]:
    """Returns sub-sessions and indent levels in preorder.

    Args:
        subs: all of them, in document order.
        order: sort order among siblings.
        open_only: True to omit closed ones without an open descendant.
        tokens: returns the known tokens of a sub-session's own messages.
    """
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
    return [(sub, min(depth, _DEEPEST)) for sub, depth in _walk(below)]


def _key_above(sub: Subsession, known: set[str]) -> str | None:
    """Returns the key of the parent sub-session, or None below the chat itself."""
    above = sub.parent
    key = above.key if above is not None else None
    return key if key in known and above is not sub.session else None


def _open_ones(subs: Iterable[Subsession], known: set[str]) -> set[str]:
    """Returns keys of open sub-sessions and their ancestors."""
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
    """Returns the time of its last message or change."""
    latest = sub.messages[-1].time_ns if len(sub.messages) else NO_TIME
    return max(latest, sub.created_ns, sub.closed_ns)


def _walk(below: dict[str | None, list[Subsession]]) -> Iterator[tuple[Subsession, int]]:
    """Yields sub-sessions and depths in preorder. Iterative, because files may nest deeply."""
    waiting = [(sub, 0) for sub in reversed(below.get(None, ()))]
    while waiting:
        sub, depth = waiting.pop()
        yield sub, depth
        waiting += [(inner, depth + 1) for inner in reversed(below.get(sub.key, ()))]
