"""What an active sub-session sends a model: four layers of its parent's context and its own messages, with reasons.

Source: docs/protocols.md 14, "Merged context". The layers are always four and in this order: the sub-context, the
summary snapshots, the recent messages of the parent (and its older global ones), the sub-session's own messages. Where
the protocol leaves something open `Rules` decides. RULE: a sub-session in a sub-session is sent layers 1 and 2 of the
session at the root, which alone has them, and layer 3 of its direct parent.

Everything is an estimate: the protocol names no tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any

from inspector.msp.inherited import SessionLayers, includes_snapshots
from inspector.msp.merged_layers import Count, Entry, Layer, Remark, SentContext, TokenCache, Withheld
from inspector.msp.message_columns import KnownMessages, Owner, above_of
from inspector.msp.objects import Message, Session, Subsession
from inspector.msp.parent_messages import ParentMessages, Standing
from inspector.msp.recent_layer import OlderEntries, RecentLayer
from inspector.msp.references import reference_remarks, with_references
from inspector.msp.remarks import remarks_on
from inspector.msp.rules import Rules
from inspector.tokens.counter import TOKENIZER


@dataclass(frozen=True)
class MergedContext(SentContext):
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
    def inherited_tokens(self) -> int:
        """Of what comes from the parent."""
        return self.tokens - self.layer("own").tokens

    def as_json(self) -> dict[str, Any]:
        """The form of `merged-context --json` (docs/design.md 5); secrets are not masked."""
        return self._json({"subsession": self.subsession.id or self.subsession.key}, self.withheld)


class MergedContexts:
    """The merged contexts of a document's sub-sessions under some rules.

    What sub-sessions of one parent have in common is worked out once. Messages that came or went are seen; of a
    visibility that is another one now `KnownMessages.follow` or `forget` has to be told.

    Attributes:
        rules: how the protocol is read.
        count: gives the tokens of a text.
        known: the messages, which are the same under other rules.
    """

    def __init__(
        self, rules: Rules | None = None, count: Count | None = None, known: KnownMessages | None = None
    ) -> None:
        """Nothing is worked out yet."""
        self.rules = rules or Rules()
        self.count: Count = count or TokenCache()
        self.known = known if known is not None else KnownMessages()
        self._parents: dict[int, tuple[tuple[object, ...], ParentMessages]] = {}
        self._sessions: dict[int, SessionLayers] = {}
        self._older: OlderEntries = {}

    def forget(self, owner: Session | Subsession | None = None) -> None:
        """Work out anew what was edited; tokens of texts stay known.

        Args:
            owner: whose messages were edited, when nothing else was; None for everything.
        """
        self.known.forget(owner)
        self._parents.clear()
        self._older.clear()
        if owner is None:
            self._sessions.clear()

    def recount(self) -> None:
        """Texts cost something else by now; which of them are sent stays known."""
        self._sessions.clear()
        self._older.clear()

    def ready(self, sub: Subsession, until: float = inf) -> bool:
        """Look at some messages that concern it; whether those are all, so that `of` takes no longer than it must.

        Args:
            sub: the sub-session that will be asked for.
            until: a moment by `time.perf_counter`.
        """
        owner = self._parent_of(sub)
        if owner is None:
            return True
        if len(self.known.parent(owner, until).items) < len(owner.items):
            return False
        return all(self.known.look_at(one, until) for some in self._others_of(owner) for one in some)

    def of(self, sub: Subsession) -> MergedContext:
        """What a sub-session would send with its next message. O(what is sent), once its parent was looked at."""
        session, recent = self._session(sub), self._recent(sub)
        layers = (
            session.sub_context_layer(sub.policy),
            with_references(session.snapshots_layer(sub.policy), sub, recent, self.count),
            recent.layer(self.count, self._older), self._own(sub),
        )  # fmt: skip
        remarks = (*remarks_on(sub, recent, self.known.global_in), *reference_remarks(sub, recent))
        return MergedContext(sub, self.rules, layers, recent, remarks)

    def _session(self, sub: Subsession) -> SessionLayers:
        session = sub.session
        found = self._sessions.get(id(session))
        if found is None:
            found = self._sessions[id(session)] = SessionLayers(session, self.rules, self.count)
        return found

    def _recent(self, sub: Subsession) -> RecentLayer:
        """What the parent gives to a sub-session."""
        session = self._session(sub) if includes_snapshots(sub.policy) else None
        return RecentLayer(self._messages(self._parent_of(sub)), sub, self.rules, session)

    def _parent_of(self, sub: Subsession) -> Session | Subsession | None:
        return sub.session if self.rules.recent_from_root else sub.parent

    def _messages(self, owner: Session | Subsession | None) -> ParentMessages:
        """The messages of a parent as they are now."""
        if owner is None:
            return ParentMessages(None, self.rules)
        own = self.known.parent(owner)
        above, siblings = ([self.known.other(one) for one in some] for some in self._others_of(owner))
        state = (own, own.revision, *((one, one.revision) for one in (*above, *siblings)))
        before = self._parents.get(id(owner))
        if before is not None and before[0] == state:
            return before[1]
        found = ParentMessages(own, self.rules, above, siblings)
        self._parents[id(owner)] = state, found
        return found

    def _others_of(self, owner: Owner) -> tuple[list[Owner], list[Subsession]]:
        """Whose global messages come as well: those above a parent with what lies beside it, and those below it."""
        above: list[Owner] = []
        if self.rules.ancestor_globals:
            for below, one in reversed(list(pairwise([owner, *above_of(owner)]))):
                above += (one, *(self._appearing_in(one, but=below) if self.rules.sibling_globals else ()))
        return above, self._appearing_in(owner) if self.rules.sibling_globals else []

    @staticmethod
    def _appearing_in(owner: Owner, but: Owner | None = None) -> list[Subsession]:
        """Sub-sessions whose global messages appear in a conversation without being written into it."""
        return [one for one in owner.children if one is not but and not one.merged and not one.discarded]

    def _own(self, sub: Subsession) -> Layer:
        entries = tuple(
            Entry(message.id, message.role, message.content, "Said in the sub-session.",
                  self.count(message.content), message)
            for message in sub.messages
        )  # fmt: skip
        what = f"{len(entries):,} message{'' if len(entries) == 1 else 's'}"
        return Layer(
            "own", True, what, "The sub-session's own messages are always sent.",
            sum(entry.tokens for entry in entries), entries,
        )  # fmt: skip


def merged_context(sub: Subsession, rules: Rules | None = None, *, count: Count | None = None) -> MergedContext:
    """What a sub-session would send with its next message. O(messages of its parent and its own).

    For many sub-sessions of one document ask `MergedContexts`, which looks at a parent once for all of them.

    Args:
        sub: the sub-session; a closed one as if it went on.
        rules: how the protocol is read.
        count: gives the tokens of a text.
    """
    return MergedContexts(rules, count).of(sub)
