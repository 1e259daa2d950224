"""Layer 3 of a merged context: recent and older global messages of the parent, and withheld ones with reasons."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from inspector.msp.merged_layers import Count, Entry, Layer, Withheld
from inspector.msp.message_columns import GLOBAL, MAIN_ONLY, SUBSESSION_ONLY
from inspector.msp.objects import Message, Subsession
from inspector.msp.parent_messages import Eligibility, ParentMessage, ParentMessages
from inspector.msp.quoting import quote_word
from inspector.msp.rules import Rules
from inspector.msp.session_layers import SessionLayers, Span, covered_words

OlderEntries = dict[tuple[int, int, int, bool], Entry]
"""Entries by parent, message, number of recent messages requested, and use of snapshots."""


class RecentLayer:
    """Layer 3 of one sub-session.

    Attributes:
        parent: the parent's messages.
        wanted: number of recent messages requested.
        choice: selected places, including places covered by snapshots.
    """

    def __init__(self, parent: ParentMessages, sub: Subsession, rules: Rules, session: SessionLayers | None) -> None:
        """Selects the messages. O(selection).

        Args:
            parent: messages of the parent.
            sub: the sub-session.
            rules: reading of the protocol.
            session: owner of the snapshots that are sent too, if any.
        """
        written = sub.policy.recent_parent_messages
        self.parent = parent
        self.wanted = max(0, rules.missing_recent if written is None else written)
        self.choice = parent.select_messages(sub, self.wanted)
        self.sub = sub
        self.rules = rules
        self._session = session
        self._spans = session.spans if session is not None else []

    @cached_property
    def places(self) -> list[int]:
        """Places of sent messages, in chronological order."""
        chosen = sorted([*self.choice.window, *self.choice.globals])
        return chosen if self.rules.covered_again else [place for place in chosen if self.covering_span(place) is None]

    def sent_messages(self) -> Iterator[Message]:
        """Returns the sent messages, in chronological order."""
        return map(self.parent.message, self.places)

    def covering_span(self, place: int) -> Span | None:
        """Returns the first sent snapshot that covers a message; only messages of the root session can be covered."""
        return self._covering(*self.parent.message_at(place)) if self._spans else None

    def _covering(self, message: Message, ordinal: int) -> Span | None:
        if self._session is None or message.owner is not self._session.session:
            return None
        # Snapshots are few, so no index is needed.
        return next((span for span in self._spans if span.start <= ordinal < span.stop), None)

    def newer_than(self, time_ns: int) -> int:
        """Returns the number of sent messages at or after a time."""
        return sum(time >= time_ns for time in self.parent.times_of(self.places))

    def standing_count(self, standing: Eligibility) -> int:
        """Returns the number of messages with a standing."""
        return self.parent.standings[standing]

    def layer(self, count: Count, known: OlderEntries) -> Layer:
        """Returns the layer, with a reason for each message.

        Args:
            count: counts the tokens of a text.
            known: cache of older global entries, shared between sub-sessions and edits.
        """
        entries = tuple(
            self._older_entry(place, count, known) if place in self._global_places else self._entry(place, count)
            for place in self.places
        )
        written = self.sub.policy.recent_parent_messages
        if written is None:
            why = f"The policy has no number; {self.wanted:,} is used."
        elif self.wanted:
            why = f"The policy asks for {self.wanted:,}."
        else:
            why = "The policy asks for none."
        included = bool(self.wanted or entries)
        return Layer("recent", included, self._description(), why, sum(entry.tokens for entry in entries), entries)

    def withheld_messages(self) -> Iterator[Withheld]:
        """Yields withheld messages of the parent, in chronological order. O(messages of the parent)."""
        sent = set(self.places)
        chosen = {*self.choice.window, *self.choice.globals}
        for place, candidate in enumerate(map(self.parent.message_facts, range(len(self.parent)))):
            # Own messages are layer 4.
            if place in sent or candidate.message.owner is self.sub:
                continue
            found = self._why_withheld(place, candidate, covered=place in chosen)
            if found is not None:
                yield Withheld(candidate.message.id, found[0], candidate.message, found[1])

    def older_messages(self) -> Iterator[Message]:
        """Yields eligible messages of the parent that are only too old. O(messages of the parent)."""
        chosen = {*self.choice.window, *self.choice.globals}
        for place, candidate in enumerate(map(self.parent.message_facts, range(len(self.parent)))):
            if place in chosen or candidate.message.owner is self.sub:
                continue
            if self._why_withheld(place, candidate, covered=False) is None:
                yield candidate.message

    def _why_withheld(self, place: int, candidate: ParentMessage, *, covered: bool) -> tuple[str, str | None] | None:
        """Returns a sentence, and the rule that would let it in; None for merely older messages."""
        if covered:
            span = self.covering_span(place)
            words = covered_words(span.snapshot, self.rules) if span is not None else ""
            return f"Covered by the snapshot of {words}, which is sent.", "covered_again"
        if candidate.standing is Eligibility.MAIN_ONLY:
            return f"{MAIN_ONLY}: visible only in the parent.", "include_main_only"
        if candidate.standing is Eligibility.MISPLACED:
            return f"{SUBSESSION_ONLY}, but outside any sub-session: not sent.", "include_misplaced"
        if candidate.standing is Eligibility.UNKNOWN:
            return (
                f"Visibility {quote_word(candidate.message.visibility)} is unknown to the protocol.",
                "include_misplaced",
            )
        if place in self.choice.copies:
            return "Own message of the sub-session: sent in its own layer.", None
        if place >= self.choice.stop:
            return "Written after the sub-session was opened.", "before_opening"
        if place in self.choice.doubled:
            return "Another message with the same id is sent.", None
        return None

    def _older_entry(self, place: int, count: Count, known: OlderEntries) -> Entry:
        key = (id(self.parent.owner), id(self.parent.data(place)), self.wanted, bool(self._spans))
        found = known.get(key)
        if found is None:
            found = known[key] = self._entry(place, count)  # keeps the message alive, so that its id is not reused
        return found

    def _entry(self, place: int, count: Count) -> Entry:
        candidate = self.parent.message_facts(place)
        message, span = candidate.message, self._covering(candidate.message, candidate.ordinal) if self._spans else None
        older = place in self._global_places
        reason = self._why_sent(candidate, older)
        if span is not None:
            reason = f"{reason} Also in the snapshot of {covered_words(span.snapshot, self.rules)}."
        content = message.content
        return Entry(message.id, message.role, content, reason, count(content), message, older)

    @cached_property
    def _global_places(self) -> set[int]:
        return set(self.choice.globals)

    @cached_property
    def _last_words(self) -> str:
        return f"the last {self.wanted:,} parent messages" if self.wanted > 1 else "the last parent message"

    def _why_sent(self, candidate: ParentMessage, older: bool) -> str:
        message = candidate.message
        origin = ""
        if message.owner is not self.parent.owner:
            origin = f", from {quote_word(message.owner.label)}"
        if candidate.standing is Eligibility.ABOVE:
            return f"Global{origin}, above the parent."
        last = self._last_words
        if older:
            return f"Global{origin}: sent though older than {last}." if self.wanted else f"Global{origin}: always sent."
        extra = f", {message.visibility} and included" if _let_in(candidate, message) else ""
        if self.wanted == 1:
            return f"The last parent message{origin}{extra}."
        return f"One of {last}{origin}{extra}."

    def _description(self) -> str:
        """Describes the layer, such as "5 of 5, 2 withheld as main_only"."""
        recent = len([place for place in self.places if place not in self._global_places])
        parts = [f"{recent:,} of {self.wanted:,}" if self.wanted else "none"]
        withheld = self.standing_count(Eligibility.MAIN_ONLY)
        if withheld and self.wanted:
            parts.append(f"{withheld:,} withheld as {MAIN_ONLY}")
        older = len(self.places) - recent
        if older:
            parts.append(f"{older:,} older and global")
        return ", ".join(parts)


def _let_in(candidate: ParentMessage, message: Message) -> bool:
    """Returns True if only a lenient rule lets a message in."""
    if candidate.standing is not Eligibility.ELIGIBLE or message.visibility in (None, "", GLOBAL):
        return False
    return not (message.visibility == SUBSESSION_ONLY and candidate.inside)
