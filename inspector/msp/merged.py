"""Computes a sub-session's merged context: four layers of parent context and own messages, with reasons.

Source: docs/protocols.md 14, "Merged context". The four layers have a fixed order: sub-context, summary snapshots,
recent messages of the parent (with older global ones), own messages. `Rules` decides open questions of the protocol.
RULE: a nested sub-session gets layers 1 and 2 of the root session, which alone has them, and layer 3 of its direct
parent.

All token counts are estimates: the protocol names no tokenizer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

from inspector.base.slices import SlicedWork
from inspector.msp.merged_layers import Count, Entry, Layer, Remark, SentContext, TokenCache, Withheld
from inspector.msp.message_columns import MessageColumnCache, Owner, ancestors_of
from inspector.msp.objects import Message, Session, Subsession
from inspector.msp.parent_messages import Eligibility, ParentMessages
from inspector.msp.recent_layer import OlderEntries, RecentLayer
from inspector.msp.references import reference_remarks, with_references
from inspector.msp.remarks import remarks_on
from inspector.msp.rules import Rules
from inspector.msp.session_layers import SessionLayers, includes_snapshots
from inspector.tokens.counter import TOKENIZER


@dataclass(frozen=True)
class MergedContext(SentContext):
    """The context that a sub-session would send with its next message; independent of later edits.

    Attributes:
        layers: always four, in sending order.
        recent: selection of the parent's messages.
        remarks: remarks for the user.
        tokenizer: name of the tokenizer; an estimate.
    """

    subsession: Subsession
    rules: Rules
    layers: tuple[Layer, ...]
    recent: RecentLayer = field(repr=False, compare=False)
    remarks: tuple[Remark, ...]
    tokenizer: str = TOKENIZER

    @cached_property
    def withheld(self) -> tuple[Withheld, ...]:
        """Parent messages that are withheld, with reasons; without merely older ones. O(messages of the parent)."""
        return tuple(self.recent.withheld_messages())

    @cached_property
    def older_messages(self) -> tuple[Message, ...]:
        """Parent messages that are left out as older. O(messages of the parent)."""
        return tuple(self.recent.older_messages())

    @property
    def main_only(self) -> int:
        """Number of parent messages withheld as main_only, without listing them."""
        return self.recent.standing_count(Eligibility.MAIN_ONLY)

    def as_json(self) -> dict[str, Any]:
        """Returns the output of `merged-context --json` (docs/design.md 5); secrets are not masked."""
        return self._json({"subsession": self.subsession.id or self.subsession.key}, self.withheld)


class MergedContexts:
    """Merged contexts of a document's sub-sessions under some rules.

    Shared work for sub-sessions of one parent is done once. New and removed messages are noticed; for a changed
    visibility call `MessageColumnCache.on_edit` or `invalidate`.

    Attributes:
        rules: reading of the protocol.
        count: counts the tokens of a text.
        known: message columns, independent of the rules.
    """

    def __init__(
        self, rules: Rules | None = None, count: Count | None = None, known: MessageColumnCache | None = None
    ) -> None:
        self.rules = rules or Rules()
        self.count: Count = count or TokenCache()
        self.known = known if known is not None else MessageColumnCache()
        self._parents: dict[int, tuple[tuple[object, ...], ParentMessages]] = {}
        self._sessions: dict[int, SessionLayers] = {}
        self._older: OlderEntries = {}

    def invalidate(self, owner: Session | Subsession | None = None) -> None:
        """Invalidates edited content; token counts of texts stay.

        Args:
            owner: the owner of edited messages, if no other object changed; None for everything.
        """
        self.known.drop(owner)
        self._parents.clear()
        self._older.clear()
        if owner is None:
            self._sessions.clear()

    def recount(self) -> None:
        """Invalidates token counts; selections stay."""
        self._sessions.clear()
        self._older.clear()

    def prepare(self, sub: Subsession) -> SlicedWork[None]:
        """Prepares the data for a sub-session, so that `compute` is fast."""
        owner = self._parent_of(sub)
        if owner is not None:
            yield from self.known.prepare(owner, (one for some in self._others_of(owner) for one in some))

    def compute(self, sub: Subsession) -> MergedContext:
        """Returns a sub-session's merged context. O(sent messages), once its parent is prepared."""
        session, recent = self._session(sub), self._recent(sub)
        layers = (
            session.sub_context_layer(sub.policy),
            with_references(session.snapshots_layer(sub.policy), sub, recent, self.count),
            recent.layer(self.count, self._older), self._own_layer(sub),
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
        """Returns layer 3 of a sub-session."""
        session = self._session(sub) if includes_snapshots(sub.policy) else None
        return RecentLayer(self._messages(self._parent_of(sub)), sub, self.rules, session)

    def _parent_of(self, sub: Subsession) -> Session | Subsession | None:
        return sub.session if self.rules.recent_from_root else sub.parent

    def _messages(self, owner: Session | Subsession | None) -> ParentMessages:
        """Returns the present messages of a parent."""
        if owner is None:
            return ParentMessages(None, self.rules)
        own = self.known.parent_columns(owner)
        above, siblings = ([self.known.visibility_column(one) for one in some] for some in self._others_of(owner))
        # Revisions instead of contents, so the check costs nothing per message.
        state = (own, own.revision, *((one, one.revision) for one in (*above, *siblings)))
        before = self._parents.get(id(owner))
        if before is not None and before[0] == state:
            return before[1]
        found = ParentMessages(own, self.rules, above, siblings)
        self._parents[id(owner)] = state, found
        return found

    def _others_of(self, owner: Owner) -> tuple[list[Owner], list[Subsession]]:
        """Returns other owners of relevant global messages, above and below the parent."""
        above: list[Owner] = []
        if self.rules.ancestor_globals:
            # From the root down, so that its messages come first at equal times.
            for below, one in reversed(list(pairwise([owner, *ancestors_of(owner)]))):
                above += (one, *(self._appearing_in(one, but=below) if self.rules.sibling_globals else ()))
        return above, self._appearing_in(owner) if self.rules.sibling_globals else []

    @staticmethod
    def _appearing_in(owner: Owner, but: Owner | None = None) -> list[Subsession]:
        """Returns sub-sessions whose global messages appear in the parent without a merge."""
        # Merged ones have copies in the parent already, and discarded ones are never merged.
        return [one for one in owner.children if one is not but and not one.merged and not one.discarded]

    def _own_layer(self, sub: Subsession) -> Layer:
        entries = tuple(
            Entry(message.id, message.role, message.content, "Own message.",
                  self.count(message.content), message)
            for message in sub.messages
        )  # fmt: skip
        what = f"{len(entries):,} message{'' if len(entries) == 1 else 's'}"
        return Layer(
            "own", True, what, "The sub-session's own messages are always sent.",
            sum(entry.tokens for entry in entries), entries,
        )  # fmt: skip


def merged_context(sub: Subsession, rules: Rules | None = None, *, count: Count | None = None) -> MergedContext:
    """Returns a sub-session's merged context. O(messages of its parent and its own).

    For many sub-sessions of one document use `MergedContexts`, which prepares a parent once.

    Args:
        sub: the sub-session; a closed one is treated as open.
        rules: reading of the protocol.
        count: counts the tokens of a text.
    """
    return MergedContexts(rules, count).compute(sub)
