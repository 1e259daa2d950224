"""References to summaries of sibling sub-sessions: sent in layer 2, without a merge.

An extension of the protocol. RULE (docs/protocols.md 14): `include_summaries` of a context policy names siblings. The
text sent for each is the one that a merge would write now. It is sent even if the policy excludes snapshots, since it
is named, unless a sent parent message already has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from inspector.msp.merged_layers import Count, Entry, Layer, Remark
from inspector.msp.objects import SUMMARIES, SUMMARY_OF, Subsession, content_text, summary_entry
from inspector.msp.quoting import quote_word
from inspector.msp.recent_layer import RecentLayer
from inspector.msp.session_layers import SYSTEM

_MOST_REMARKS = 5
"""Limit of remarks per sub-session; a file may name very many."""


class Reference(NamedTuple):
    """A reference to a summary.

    Attributes:
        name: id as written.
        other: the sibling with that id, if any.
    """

    name: str
    other: Subsession | None

    @property
    def label(self) -> str:
        """Label of the sibling."""
        return self.name if self.other is None else self.other.label

    @property
    def missing_reason(self) -> str:
        """Reason for an empty reference, as a continuation of its label; "" if it has a summary."""
        if self.other is None:
            return "is not a sibling"
        if self.other.discarded:
            return "was discarded"
        return "" if self.other.summary else "has no summary yet"


def references_of(sub: Subsession) -> list[Reference]:
    """Returns a sub-session's references in file order. O(siblings) if there are any."""
    names = sub.policy.include_summaries
    if not names or sub.parent is None:
        return [Reference(name, None) for name in names]
    beside: dict[str, Subsession] = {}
    for other in sub.parent.children:
        if other is not sub and other.id:
            # Of several with one id the first counts, as when the file is read.
            beside.setdefault(other.id, other)
    return [Reference(name, beside.get(name)) for name in names]


def with_references(layer: Layer, sub: Subsession, recent: RecentLayer, count: Count) -> Layer:
    """Adds the referenced summaries to layer 2, after the snapshots."""
    references = _sent_summaries(sub, recent)
    if not references:
        return layer
    entries = tuple(_entry(other, count) for other in references)
    words = f"{len(entries):,} summar{'y' if len(entries) == 1 else 'ies'} of siblings"
    what = words if layer.what == "none" or not layer.included else f"{layer.what}, {words}"
    why = f"{layer.why} It names {len(entries):,} sibling sub-session{'' if len(entries) == 1 else 's'}."
    tokens = layer.tokens + sum(entry.tokens for entry in entries)
    return replace(layer, included=True, what=what, why=why, tokens=tokens, entries=(*layer.entries, *entries))


def reference_remarks(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    """Yields remarks on references without a summary, and on summaries that are sent anyway."""
    written = sub.policy.data.get(SUMMARIES)
    if written is not None and not isinstance(written, list):
        yield Remark(
            f"{SUMMARIES} is {quote_word(content_text(written))}, which is not a list; no summary is included."
        )
    in_parent = _in_parent(recent)
    references = [one for one in references_of(sub) if one.missing_reason or one.name in in_parent]
    if len(references) > _MOST_REMARKS:
        yield Remark(f"It refers to {len(references) - _MOST_REMARKS:,} more summaries that are not sent.")
    for reference in references[:_MOST_REMARKS]:
        if reference.missing_reason:
            yield Remark(
                f"It refers to the summary of {quote_word(reference.label)}, which {reference.missing_reason}."
            )
        else:
            yield Remark(f"The referenced summary of {quote_word(reference.label)} is sent once, as a parent message.")


def _sent_summaries(sub: Subsession, recent: RecentLayer) -> list[Subsession]:
    references = [one for one in references_of(sub) if not one.missing_reason]
    in_parent = _in_parent(recent) if references else set[object]()
    return [one.other for one in references if one.other is not None and one.name not in in_parent]


def _in_parent(recent: RecentLayer) -> set[object]:
    """Returns ids of sub-sessions whose summary is in a sent parent message. O(sent messages)."""
    # Only sent ones count: a withheld message would leave the summary out.
    written = (message.data.get(SUMMARY_OF) for message in recent.sent_messages())
    return {name for name in written if isinstance(name, str)}


def _entry(other: Subsession, count: Count) -> Entry:
    content = summary_entry(other, other.summary or "")
    unmerged = "" if other.merged else "; not merged"
    reason = f"Summary of {quote_word(other.label)}, referenced by the policy{unmerged}."
    return Entry(other.id, SYSTEM, content, reason, count(content), other)
