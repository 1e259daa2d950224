"""Layers 1 and 2 of a merged context: the root session's sub-context and its summary snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from inspector.msp.merged_layers import Count, Entry, Layer
from inspector.msp.objects import Policy, Session, Snapshot
from inspector.msp.rules import Rules
from inspector.protocol.timestamps import NO_TIME

SYSTEM = "system"
"""Role of entries that are not messages."""
_PART_NOUNS = (("constraint", "constraints"), ("decision", "decisions"), ("fact", "facts"))
# Larger than any time, which has 64 bits with a sign.
_LATEST_TIME = 2**63


class Span(NamedTuple):
    """The main messages that a snapshot covers: indices `start` to `stop`, exclusive."""

    start: int
    stop: int
    snapshot: Snapshot


def includes_sub_context(policy: Policy, rules: Rules) -> bool:
    """Returns True if a policy includes the sub-context; default True. RULE: False wins over "always included"."""
    return policy.include_sub_context is not False or not rules.explicit_false_wins


def includes_snapshots(policy: Policy) -> bool:
    """Returns True if a policy includes the snapshots; default True."""
    return policy.include_snapshots is not False


class SessionLayers:
    """The layers that a session gives to every sub-session below it.

    Attributes:
        session: None if it was not found.
        snapshots: in sending order.
    """

    def __init__(self, session: Session | None, rules: Rules, count: Count) -> None:
        self.session = session
        self.snapshots = _sorted_snapshots(session.snapshots, rules) if session is not None else []
        self._rules = rules
        self._count = count

    @cached_property
    def spans(self) -> list[Span]:
        """Ranges of snapshots that name one."""
        # The protocol does not say if the end is included, so `Rules` decides.
        found = ((snapshot, covered_range(snapshot, self._rules)) for snapshot in self.snapshots)
        return [Span(*ends, snapshot) for snapshot, ends in found if ends is not None]

    def sub_context_layer(self, policy: Policy) -> Layer:
        """Returns layer 1 for a policy."""
        included = includes_sub_context(policy, self._rules)
        what = _sub_context_words(self.session) or "none"
        if policy.include_sub_context is False:
            why = "Excluded by the policy." if not included else (
                'Excluded by the policy, but sent: the protocol calls it "always included".'
            )  # fmt: skip
        else:
            why = (
                "Included by the policy."
                if policy.include_sub_context
                else "Included by default: the policy has no value."
            )
        return _layer("sub_context", included, what, why, self._sub_context)

    def snapshots_layer(self, policy: Policy) -> Layer:
        """Returns layer 2 for a policy."""
        entries = self._snapshot_entries
        included = includes_snapshots(policy)
        if included:
            why = (
                "Included by the policy."
                if policy.include_snapshots
                else "Included by default: the policy has no value."
            )
        else:
            why = "Excluded by the policy."
        if len(entries) == 1 and (words := covered_words(self.snapshots[0], self._rules)):
            what = f"1, covers {words}"
        else:
            what = f"{len(entries):,} snapshot{'' if len(entries) == 1 else 's'}" if entries else "none"
        return _layer("snapshots", included, what, why, entries)

    @cached_property
    def _sub_context(self) -> tuple[Entry, ...]:
        text = sub_context_text(self.session) if self.session is not None else ""
        if self.session is None or not text:
            return ()
        reason = "Intent, constraints, decisions and facts of the session."
        return (Entry(None, SYSTEM, text, reason, self._count(text), self.session),)

    @cached_property
    def _snapshot_entries(self) -> tuple[Entry, ...]:
        return tuple(
            Entry(
                snapshot.id, SYSTEM, snapshot.content,
                f"Summary of {covered_words(snapshot, self._rules) or 'unspecified messages'}.",
                self._count(snapshot.content), snapshot,
            )
            for snapshot in self.snapshots
        )  # fmt: skip


def covered_range(snapshot: Snapshot, rules: Rules) -> tuple[int, int] | None:
    """Returns the range of main messages that a snapshot covers, end exclusive, if it names one."""
    if snapshot.covers is None:
        return None
    start, stop = snapshot.covers
    return start, stop if rules.half_open else stop + 1


def covered_words(snapshot: Snapshot, rules: Rules) -> str:
    """Formats the range with numbers from 1, such as "messages 1 to 20", else ""."""
    ends = covered_range(snapshot, rules)
    if ends is None:
        return ""
    start, stop = ends
    if stop <= start:
        return "no messages"
    return f"message {stop:,}" if stop - start == 1 else f"messages {start + 1:,} to {stop:,}"


def sub_context_text(session: Session) -> str:
    """Formats a session's sub-context as text; "" if it is empty."""
    parts = [f"Intent: {session.intent}"] if session.intent else []
    for title, items in zip(_PART_NOUNS, _agreed(session), strict=True):
        if items:
            parts.append("\n".join([f"{title[1].capitalize()}:", *(f"- {item}" for item in items)]))
    return "\n".join(parts)


def _agreed(session: Session) -> tuple[list[str], list[str], list[str]]:
    return session.constraints, session.decisions, session.facts


def _sub_context_words(session: Session | None) -> str:
    if session is None:
        return ""
    words = ["intent"] if session.intent else []
    for (one, several), items in zip(_PART_NOUNS, _agreed(session), strict=True):
        if items:
            words.append(f"{len(items):,} {one if len(items) == 1 else several}")
    return ", ".join(words)


def _sorted_snapshots(snapshots: Sequence[Snapshot], rules: Rules) -> list[Snapshot]:
    """RULE: sorts by the first covered message, then by time; snapshots without them come last."""
    if not rules.snapshots_in_order:
        return list(snapshots)
    return sorted(snapshots, key=_snapshot_key)


def _snapshot_key(snapshot: Snapshot) -> tuple[bool, int, int]:
    covers, made = snapshot.covers, snapshot.created_ns
    return covers is None, covers[0] if covers else 0, made if made != NO_TIME else _LATEST_TIME


def _layer(
    name: Literal["sub_context", "snapshots"], included: bool, what: str, why: str, entries: tuple[Entry, ...]
) -> Layer:
    tokens = sum(entry.tokens for entry in entries)
    if not included:
        return Layer(name, False, what, why, 0, (), tokens)
    return Layer(name, True, what, why, tokens, entries)
