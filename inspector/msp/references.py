"""Summaries of the sub-sessions beside one that it refers to: they come along in layer 2, without a merge.

The protocol has no such reference. RULE (docs/protocols.md 14): `include_summaries` of a context policy names
sub-sessions of the same parent; what is sent of each is what a merge would write into the parent, as it is now. It is
sent even where the policy leaves the snapshots out, being named; and not where the parent's messages that are sent have
it already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from inspector.msp.inherited import SYSTEM
from inspector.msp.merged_layers import Count, Entry, Layer, Remark
from inspector.msp.objects import SUMMARIES, SUMMARY_OF, Subsession, content_text, summary_entry
from inspector.msp.recent_layer import RecentLayer

_MOST_REMARKS = 5
"""On one sub-session; a file may name very many."""


class Reference(NamedTuple):
    """A summary a sub-session refers to.

    Attributes:
        name: the id that is written.
        other: the sub-session of that id beside it; None where there is none.
    """

    name: str
    other: Subsession | None

    @property
    def label(self) -> str:
        """What the other is called."""
        return self.name if self.other is None else self.other.label

    @property
    def missing(self) -> str:
        """Why there is nothing to send, in words that go on from its label; "" where there is."""
        if self.other is None:
            return "is not beside it"
        if self.other.discarded:
            return "was discarded"
        return "" if self.other.summary else "has no summary yet"


def references_of(sub: Subsession) -> list[Reference]:
    """What a sub-session refers to, in the order that is written. O(sub-sessions beside it) where it names any."""
    names = sub.policy.include_summaries
    if not names or sub.parent is None:
        return [Reference(name, None) for name in names]
    beside: dict[str, Subsession] = {}
    for other in sub.parent.children:
        if other is not sub and other.id:
            beside.setdefault(other.id, other)
    return [Reference(name, beside.get(name)) for name in names]


def with_references(layer: Layer, sub: Subsession, recent: RecentLayer, count: Count) -> Layer:
    """Layer 2 with the summaries that are referred to, behind the snapshots."""
    references = _sent(sub, recent)
    if not references:
        return layer
    entries = tuple(_entry(other, count) for other in references)
    words = f"{len(entries):,} summar{'y' if len(entries) == 1 else 'ies'} of sub-sessions beside it"
    what = words if layer.what == "none" or not layer.included else f"{layer.what}, {words}"
    why = f"{layer.why} It names {len(entries):,} sub-session{'' if len(entries) == 1 else 's'} beside this one."
    tokens = layer.tokens + sum(entry.tokens for entry in entries)
    return replace(layer, included=True, what=what, why=why, tokens=tokens, entries=(*layer.entries, *entries))


def reference_remarks(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    """What is worth saying of references: those with nothing to send, and those whose summary is sent anyway."""
    written = sub.policy.data.get(SUMMARIES)
    if written is not None and not isinstance(written, list):
        yield Remark(f"{SUMMARIES} is {_short(content_text(written))}, which is no list; it refers to none.")
    in_parent = _in_parent(recent)
    references = [one for one in references_of(sub) if one.missing or one.name in in_parent]
    if len(references) > _MOST_REMARKS:
        yield Remark(f"It refers to {len(references) - _MOST_REMARKS:,} more summaries that are not sent for it.")
    for reference in references[:_MOST_REMARKS]:
        if reference.missing:
            yield Remark(f"It refers to the summary of {_short(reference.label)}, which {reference.missing}.")
        else:
            yield Remark(
                f"The summary of {_short(reference.label)} it refers to is sent once: it is among the parent messages."
            )


def _sent(sub: Subsession, recent: RecentLayer) -> list[Subsession]:
    references = [one for one in references_of(sub) if not one.missing]
    in_parent = _in_parent(recent) if references else set[object]()
    return [one.other for one in references if one.other is not None and one.name not in in_parent]


def _in_parent(recent: RecentLayer) -> set[object]:
    """Ids of the sub-sessions whose summary is among the parent messages that are sent. O(what is sent)."""
    written = (message.data.get(SUMMARY_OF) for message in recent.sent())
    return {name for name in written if isinstance(name, str)}


def _entry(other: Subsession, count: Count) -> Entry:
    content = summary_entry(other, other.summary or "")
    reason = f"The summary of {_short(other.label)}, to which the policy refers; not merged." if not other.merged else (
        f"The summary of {_short(other.label)}, to which the policy refers."
    )  # fmt: skip
    return Entry(other.id, SYSTEM, content, reason, count(content), other)


def _short(text: str) -> str:
    folded = " ".join(text[:200].split())
    return f'"{folded if len(folded) <= 40 else folded[:39] + "…"}"'
