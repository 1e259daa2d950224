"""Computes the context that a session's main chat sends: the same four layers, without a parent.

Source: docs/protocols.md 14, which covers sub-sessions alone. RULE: a chat sends its sub-context and snapshots,
whatever a policy says, no parent messages, and all its own messages. The `global` ones of its sub-sessions are inserted
by time, as they appear in the parent; merged ones are there already.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from inspector.msp.merged_layers import Count, Entry, Layer, Remark, SentContext, TokenCache, Withheld
from inspector.msp.message_columns import MessageColumnCache
from inspector.msp.objects import Message, Policy, Session, Snapshot
from inspector.msp.quoting import quote_word
from inspector.msp.rules import Rules
from inspector.msp.session_layers import SessionLayers, covered_words
from inspector.tokens.counter import TOKENIZER

_WITHOUT_POLICY = Policy({})
_PlacedMessage = tuple[Message, Snapshot | None]
"""A message of the chat, and the snapshot that covers it."""


@dataclass(frozen=True)
class ChatContext(SentContext):
    """The context that a session's chat would send with its next message.

    Attributes:
        session: the session.
        layers: always four; layer 3 is empty.
        remarks: remarks for the user.
        withheld: messages covered by a snapshot, if the rules leave them out.
        older_messages: always empty, since all messages are sent.
        tokenizer: name of the tokenizer; an estimate.
    """

    session: Session
    layers: tuple[Layer, ...]
    remarks: tuple[Remark, ...]
    withheld: tuple[Withheld, ...]
    older_messages: tuple[Message, ...] = ()
    tokenizer: str = TOKENIZER

    def as_json(self) -> dict[str, Any]:
        """Returns the output of `merged-context --json` for a session; secrets are not masked."""
        return self._json({"session": self.session.id or self.session.key}, self.withheld)


def chat_context(session: Session, rules: Rules | None = None, *, count: Count | None = None) -> ChatContext:
    """Returns the context of a session's chat. O(its messages).

    Args:
        session: the session.
        rules: reading of the protocol.
        count: counts the tokens of a text.
    """
    rules, counted = rules or Rules(), count or TokenCache()
    about = SessionLayers(session, rules, counted)
    placed = list(_placed_messages(session, about, rules, MessageColumnCache()))
    left_out = [one for one in placed if one[1] is not None and not rules.covered_again]
    sent = [one for one in placed if one[1] is None or rules.covered_again]
    entries = tuple(_entry(message, span, session, rules, counted) for message, span in sent)
    layers = (
        _always_layer(about.sub_context_layer(_WITHOUT_POLICY)), _always_layer(about.snapshots_layer(_WITHOUT_POLICY)),
        Layer("recent", False, "none", "The chat has no parent.", 0, ()), _own_layer(entries),
    )  # fmt: skip
    withheld = tuple(
        Withheld(message.id, f"Covered by the snapshot of {covered_words(span, rules)}, which is sent.", message,
                 "covered_again")
        for message, span in left_out if span is not None
    )  # fmt: skip
    return ChatContext(session, layers, tuple(_remarks(session, sent, withheld)), withheld)


def _always_layer(layer: Layer) -> Layer:
    return Layer(layer.name, True, layer.what, "Always sent: it is the session's own.", layer.tokens, layer.entries)


def _own_layer(entries: tuple[Entry, ...]) -> Layer:
    what = f"{len(entries):,} message{'' if len(entries) == 1 else 's'}"
    why = "The chat's own messages are always sent, with the global ones of its sub-sessions."
    return Layer("own", True, what, why, sum(entry.tokens for entry in entries), entries)


def _placed_messages(
    session: Session, about: SessionLayers, rules: Rules, known: MessageColumnCache
) -> Iterator[_PlacedMessage]:
    """Yields the chat's messages in file order, with global ones of sub-sessions inserted by time."""
    others = list(_other_globals(session, known)) if rules.sibling_globals else []
    # A message never moves: one after a later one takes that one's time.
    times: list[int] = np.maximum.accumulate(known.parent_columns(session).times).tolist() if others else []
    before: dict[int, list[Message]] = {}
    for time_ns, message in sorted(others, key=lambda one: one[0]):
        before.setdefault(bisect_right(times, time_ns), []).append(message)
    for number, message in enumerate(session.messages):
        yield from ((other, None) for other in before.get(number, ()))
        yield message, next((span.snapshot for span in about.spans if span.start <= number < span.stop), None)
    yield from ((other, None) for other in before.get(len(session.items), ()))


def _other_globals(session: Session, known: MessageColumnCache) -> Iterator[tuple[int, Message]]:
    # Id and content together: an id belongs to one conversation only.
    own = {(message.id, message.content) for message in session.messages if message.visibility == "global"}
    for sub in session.children:
        if sub.merged or sub.discarded:
            continue
        column = known.visibility_column(sub)
        for number, time_ns in column.global_ones():
            message = Message(column.items[number], sub)
            if (message.id, message.content) not in own:
                yield time_ns, message


def _entry(message: Message, span: Snapshot | None, session: Session, rules: Rules, count: Count) -> Entry:
    reason = "Message of the chat." if message.owner is session else f"Global, from {quote_word(message.owner.label)}."
    if span is not None:
        reason = f"{reason} Also in the snapshot of {covered_words(span, rules)}."
    content = message.content
    return Entry(message.id, message.role, content, reason, count(content), message)


def _remarks(session: Session, sent: list[_PlacedMessage], withheld: tuple[Withheld, ...]) -> Iterator[Remark]:
    if session.implied:
        yield Remark("Only the id of the session is known: its chat is not in the document.")
    twice = sum(span is not None for _, span in sent)
    if twice:
        are = "message is" if twice == 1 else "messages are"
        yield Remark(f"{twice:,} {are} sent twice: in a snapshot and as messages.", "covered_again")
    if withheld:
        are = "message is" if len(withheld) == 1 else "messages are"
        yield Remark(f"{len(withheld):,} {are} not sent, because a snapshot covers them.", "covered_again")
