"""Remarks on a merged context: missing, doubled or misplaced content, each as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from inspector.msp.merged_layers import Remark
from inspector.msp.message_columns import MAIN_ONLY, SUBSESSION_ONLY, ancestors_of
from inspector.msp.objects import Session, Subsession, content_text
from inspector.msp.parent_messages import Eligibility
from inspector.msp.quoting import quote_word
from inspector.msp.recent_layer import RecentLayer
from inspector.protocol.timestamps import NO_TIME

_MOST_RANGES = 6
_MOST_LOOKED_AT, _MOST_NAMED = 1_000, 20  # parent messages searched for system messages
CountGlobals = Callable[[Iterable[Session | Subsession]], int]
"""Counts the global messages of some sessions and sub-sessions."""


def remarks_on(sub: Subsession, recent: RecentLayer, global_in: CountGlobals) -> Iterator[Remark]:
    """Yields the remarks on a merged context, the most general first."""
    yield from _on_the_subsession(sub, recent)
    yield from _on_the_policy(sub, recent)
    yield from _on_system_messages(recent)
    yield from _on_visibility(sub, recent)
    yield from _on_snapshots(recent)
    yield from _on_age(sub, recent)
    yield from _on_others(sub, recent, global_in)


def _on_the_subsession(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    if sub.discarded:
        yield Remark("The sub-session was discarded. It would send this if it continued.")
    elif not sub.is_open:
        yield Remark("The sub-session is closed. It would send this if it continued.")
    if sub.parent is None:
        yield Remark("Its parent is not in the document: only its own messages are sent.")
    elif isinstance(recent.parent.owner, Session) and recent.parent.owner.implied:
        yield Remark("Only the id of its parent is known: only its own messages are sent.")


def _on_the_policy(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    policy = sub.policy
    read = (
        ("include_sub_context", policy.include_sub_context, "not true or false; it is included"),
        ("include_snapshots", policy.include_snapshots, "not true or false; they are included"),
        (
            "recent_parent_messages", policy.recent_parent_messages,
            f"not a whole number; {recent.wanted:,} is used",
        ),
    )  # fmt: skip
    for name, value, words in read:
        written = policy.data.get(name)
        if value is None and written is not None:
            yield Remark(f"{name} is {quote_word(content_text(written))}, which is {words}.")


def _on_system_messages(recent: RecentLayer) -> Iterator[Remark]:
    """Warns of early system messages of the parent that are not sent: the model would lack its instructions."""
    sent = set(recent.places)
    # Instructions stand at the beginning; a search of all would slow each edit down.
    first = range(min(len(recent.parent), _MOST_LOOKED_AT))
    left = [place for place in first if recent.parent.data(place).get("role") == "system" and place not in sent]
    if left:
        which = _numbers([recent.parent.message_facts(place).ordinal for place in left[:_MOST_NAMED]])
        count = "A system message" if len(left) == 1 else f"{len(left):,} system messages"
        it, is_ = ("it", "is") if len(left) == 1 else ("them", "are")
        yield Remark(
            f"{count} of the parent {is_} not sent: {which}. Make {it} global to send {it} always.", warns=True
        )


def _on_visibility(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    withheld = recent.standing_count(Eligibility.MAIN_ONLY)
    if withheld and recent.wanted:
        taken = len(set(recent.places) - set(recent.choice.globals))
        yield Remark(f"{taken:,} of {recent.wanted:,} ({withheld:,} withheld as {MAIN_ONLY}).", "include_main_only")
    if recent.rules.include_main_only:
        let_in = sum(message.visibility == MAIN_ONLY for message in recent.sent_messages())
        if let_in:
            yield Remark(f"{_messages(let_in, 'parent')} {MAIN_ONLY} and included.", "include_main_only")
    misplaced = recent.standing_count(Eligibility.MISPLACED)
    if misplaced:
        yield Remark(f"{_messages(misplaced, 'parent')} {SUBSESSION_ONLY} and not sent.", "include_misplaced")
    unknown = recent.standing_count(Eligibility.UNKNOWN)
    if unknown:
        yield Remark(f"{_messages(unknown, 'parent')} of a visibility unknown to the protocol.", "include_misplaced")
    own = sum(item.get("visibility") == MAIN_ONLY for item in sub.items)
    if own:
        yield Remark(f"{_messages(own, 'own')} {MAIN_ONLY}, which has no effect in a sub-session.")


def _on_snapshots(recent: RecentLayer) -> Iterator[Remark]:
    chosen = sorted([*recent.choice.window, *recent.choice.globals])
    covered = [
        recent.parent.message_facts(place).ordinal for place in chosen if recent.covering_span(place) is not None
    ]
    if not covered:
        return
    what, are = _numbers(covered), "is" if len(covered) == 1 else "are"
    if recent.rules.covered_again:
        yield Remark(f"{what} {are} sent twice: in a snapshot and as parent message{'' if len(covered) == 1 else 's'}.",
                     "covered_again")  # fmt: skip
    else:
        yield Remark(f"{what} {are} not sent, because a snapshot covers them.", "covered_again")


def _on_age(sub: Subsession, recent: RecentLayer) -> Iterator[Remark]:
    opened = sub.created_ns
    if opened == NO_TIME:
        if recent.rules.before_opening:
            yield Remark("Its opening time is unknown, so newer parent messages are not excluded.")
        return
    newer = recent.newer_than(opened)
    if newer:
        sent = "message sent is" if newer == 1 else "messages sent are"
        yield Remark(f"{newer:,} parent {sent} newer than the sub-session.", "before_opening")


def _on_others(sub: Subsession, recent: RecentLayer, global_in: CountGlobals) -> Iterator[Remark]:
    """Reports global messages elsewhere that are not included."""
    parent, rules = recent.parent.owner, recent.rules
    if parent is None:
        return
    if not rules.sibling_globals:
        siblings = (child for child in parent.children if child is not sub and not child.merged and not child.discarded)
        found = global_in(siblings)
        if found:
            is_ = "is" if found == 1 else "are"
            yield Remark(f"{_global(found)} of other sub-sessions {is_} not sent before a merge.",
                         "sibling_globals")  # fmt: skip
    if not rules.ancestor_globals and isinstance(parent, Subsession):
        found = global_in(ancestors_of(parent))
        if found:
            yield Remark(f"{_global(found)} above the parent {'is' if found == 1 else 'are'} not sent.",
                         "ancestor_globals")  # fmt: skip


def _global(count: int) -> str:
    return f"{count:,} global message{'' if count == 1 else 's'}"


def _messages(count: int, whose: str) -> str:
    return f"{count:,} {whose} message{' is' if count == 1 else 's are'}"


def _numbers(indices: Iterable[int]) -> str:
    """Formats message numbers from 1: "Messages 16 to 20 and 25"."""
    ranges: list[list[int]] = []
    for index in indices:
        if ranges and ranges[-1][1] + 1 == index:
            # Indices ascend, so only the last range can grow.
            ranges[-1][1] = index
        else:
            ranges.append([index, index])
    words = [f"{first + 1:,} to {last + 1:,}" if last > first else f"{first + 1:,}" for first, last in ranges]
    if len(words) > _MOST_RANGES:
        words = [*words[:_MOST_RANGES], "others"]
    listed = " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
    return f"Message {listed}" if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else f"Messages {listed}"
