"""Tests of `inspector.msp.parent_messages`: sums agree, nothing is lost, and a slow reading of the rules agrees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.msp.merged import Rules, merged_context
from inspector.msp.objects import Message, Session, Subsession
from inspector.protocol.timestamps import NO_TIME
from tests.merged import at, opened, said, session, snapshot, words

VISIBILITIES = st.sampled_from([None, None, "global", "main_only", "subsession_only", "secret"])
SECONDS = st.none() | st.integers(0, 30)
RULES = st.builds(
    Rules, st.booleans(), st.booleans(), st.integers(0, 6), st.booleans(), st.booleans(), st.booleans(),
    st.just(False), st.just(False), st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip


@st.composite
def messages(draw: st.DrawFn, most: int = 12) -> list[dict[str, Any]]:
    """Messages of few ids, so that some are there twice; texts tell them apart but for some."""
    return [
        said(draw(st.sampled_from("abcdefgh")), draw(VISIBILITIES), draw(SECONDS), content=draw(st.sampled_from("xy ")))
        for _ in range(draw(st.integers(0, most)))
    ]


@st.composite
def subsessions(draw: st.DrawFn) -> Subsession:
    """A sub-session in a session, or in another sub-session."""
    ends = st.integers(-1, 14)
    snapshots = [snapshot(f"s{n}", [draw(ends), draw(ends)], draw(SECONDS)) for n in range(draw(st.integers(0, 2)))]
    parent: Session | Subsession = session(*draw(messages()), snapshots=snapshots, sub_context={"intent": "a b"})
    if draw(st.booleans()):
        parent = opened(parent, *draw(messages()), name="between")
    policy = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "include_sub_context": st.booleans(),
                "include_snapshots": st.booleans(),
                "recent_parent_messages": st.integers(-1, 7) | st.just("7"),
            },
        )
    )
    created = draw(SECONDS)
    more = {} if created is None else {"created_at": at(created)}
    return opened(parent, *draw(messages(4)), policy=policy, **more)


def in_time(all_of_them: list[Message]) -> list[tuple[int, int, Message]]:
    """Messages with their times and places, in chronological order."""
    timed: list[tuple[int, int, Message]] = []
    for place, message in enumerate(all_of_them):
        known = [one.time_ns for one in all_of_them[: place + 1] if one.time_ns != NO_TIME]
        timed.append((known[-1] if known else NO_TIME, place, message))
    return sorted(timed, key=lambda one: one[:2])


def may_be_sent(message: Message, rules: Rules) -> bool:
    if message.visibility == "main_only":
        return rules.include_main_only
    if message.visibility == "subsession_only":
        return rules.include_misplaced or isinstance(message.owner, Subsession)
    return message.visibility in (None, "global") or rules.include_misplaced


def slowly(sub: Subsession, rules: Rules) -> tuple[list[Message], list[Message], list[Message]]:
    """What is sent of a parent, what is withheld and what is older, as the text says it and no faster."""
    root = sub.session
    parent = root if rules.recent_from_root else sub.parent
    assert parent is not None
    assert root is not None
    ordered = in_time(list(parent.messages))
    own = {(message.id, message.content) for message in sub.messages}
    in_question, withheld = [], []
    for time_ns, place, message in ordered:
        too_new = rules.before_opening and sub.created_ns != NO_TIME and time_ns >= sub.created_ns
        is_copy = (message.id, message.content) in own
        if not may_be_sent(message, rules) or is_copy or too_new:
            withheld.append(message)
        else:
            in_question.append((place, message))
    asked = sub.policy.recent_parent_messages
    wanted = max(0, rules.missing_recent if asked is None else asked)
    if rules.count_withheld:
        until = [
            message for time_ns, _, message in ordered
            if not (rules.before_opening and sub.created_ns != NO_TIME and time_ns >= sub.created_ns)
        ]  # fmt: skip
        last = until[-wanted:] if wanted else []
        window = [one for one in in_question if one[1] in last]
        before = until[: len(until) - len(last)]
        earlier = [one for one in in_question if one[1] in before]
    else:
        window = in_question[-wanted:] if wanted else []
        earlier = in_question[: len(in_question) - len(window)]
    sent, older, ids = list(window), [], {message.id for _, message in window}
    for one in reversed(earlier):
        if one[1].visibility != "global" or not rules.older_globals:
            older.append(one[1])
        elif one[1].id in ids:
            withheld.append(one[1])
        else:
            ids.add(one[1].id)
            sent.append(one)
    if not rules.covered_again and parent is root and sub.policy.include_snapshots is not False:
        covers = [one.covers for one in root.snapshots if one.covers is not None]
        covered = {n for first, last in covers for n in range(first, last + (not rules.half_open))}
        withheld += [message for place, message in sent if place in covered]
        sent = [one for one in sent if one[0] not in covered]
    places = {message: number for number, (_, _, message) in enumerate(ordered)}
    made = ([message for _, message in sent], withheld, older)
    return tuple(sorted(part, key=places.__getitem__) for part in made)  # type: ignore[return-value]


@given(subsessions(), RULES)
def test_a_slow_reading_of_the_rules_agrees(sub: Subsession, rules: Rules) -> None:
    context = merged_context(sub, rules, count=words)
    sent, withheld, older = slowly(sub, rules)
    assert [entry.source for entry in context.layer("recent").entries] == sent
    assert [kept.source for kept in context.withheld] == withheld
    assert list(context.older_messages) == older


@given(subsessions(), RULES, st.booleans(), st.booleans())
def test_each_message_of_the_parent_is_accounted_for_once_and_sums_agree(
    sub: Subsession, rules: Rules, siblings: bool, ancestors: bool
) -> None:
    rules = replace(rules, sibling_globals=siblings, ancestor_globals=ancestors)
    context = merged_context(sub, rules, count=words)
    layer = context.layer("recent")
    parent = sub.session if rules.recent_from_root else sub.parent
    assert parent is not None
    accounted = [entry.source for entry in layer.entries] + [kept.source for kept in context.withheld]
    accounted = [
        one for one in (*accounted, *context.older_messages) if isinstance(one, Message) and one.owner is parent
    ]
    assert len(accounted) == len(parent.messages)
    assert set(accounted) == set(parent.messages)
    for one in context.layers:
        assert one.tokens == sum(words(entry.content) for entry in one.entries)
        assert one.included or not one.entries
    assert context.tokens == sum(words(message["content"]) for message in context.as_messages())
    assert context.tokens == context.as_json()["tokens"]
