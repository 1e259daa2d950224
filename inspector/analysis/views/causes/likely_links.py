"""Finds likely links between messages without correlation (docs/protocols.md 5, Likely links).

Computed on demand from the neighbours of one message; nothing is stored. Causes and effects agree: a likely effect of a
message has it as its likely cause.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.analysis import Analysis
from inspector.analysis.views.account.same_calls import same_calls
from inspector.analysis.views.causes.chain import (
    MAX_STEPS,
    ChainStep,
    causes_of,
    chain_of,
    effects_of,
    outcomes_of,
    reasoning_starts,
    step_of,
)
from inspector.analysis.views.causes.likely_answers import answer_to, question_of
from inspector.analysis.views.causes.likely_neighbours import (
    gap_ns,
    in_reach,
    is_correlated,
    messages_after,
    messages_before,
    naming_messages,
    same_processes,
)
from inspector.analysis.views.causes.reasoning_before_call import thought_before
from inspector.protocol import kinds
from inspector.protocol.message_text import text_shown
from inspector.protocol.timestamps import duration_in_words


class Relation(enum.StrEnum):
    """Relation of the later message to the earlier one."""

    ANSWERS = "answers"
    STARTS_ON = "starts on"
    CARRIES_OUT = "carries out"
    FOLLOWS = "follows"


@dataclass(frozen=True, slots=True)
class LikelyLink:
    """Two messages that probably belong together.

    Attributes:
        cause, effect: the earlier and the later message.
        relation: relation of the effect to the cause.
        why: evidence, as part of a sentence; contains names from the wire.
    """

    cause: int
    effect: int
    relation: Relation
    why: str


@dataclass(frozen=True, slots=True)
class LikelyChain:
    """A causal chain with likely links.

    Attributes:
        steps: messages in order of arrival, the certain chain included; at most 64.
        links: likely links between them, by effect.
    """

    steps: list[ChainStep]
    links: list[LikelyLink]


_START = "reasoning/start"
_CALLS = (kinds.REQUEST, kinds.PROPOSAL)
_THOUGHTS = (_START, "reasoning/thought")
# For each act its own thought is searched.
_MAX_ACTS = 64


def likely_chain(analysis: Analysis, message: int) -> LikelyChain:
    """Returns the chain of a message with likely links; without any, equal to `chain_of`."""
    certain = {step.message for step in chain_of(analysis, message)}
    links: dict[tuple[int, int], LikelyLink] = {}
    found = set(certain)
    _follow(analysis, message, found, links, likely_causes, causes_of)
    _follow(analysis, message, found, links, likely_effects, effects_of)
    found = found.union(*(outcomes_of(analysis, step) for step in found))
    ordered = sorted(found)
    if len(ordered) > MAX_STEPS:
        # Certain steps are kept before likely ones.
        ordered = sorted(sorted(ordered, key=lambda m: (m not in certain, abs(m - message)))[:MAX_STEPS])
    here = set(ordered)
    kept = [link for link in links.values() if link.cause in here and link.effect in here]
    steps = [step_of(analysis, step, message, ordered, {k.effect: k.cause for k in kept}) for step in ordered]
    return LikelyChain(steps, sorted(kept, key=lambda link: (link.effect, link.cause)))


def _follow(
    analysis: Analysis,
    message: int,
    found: set[int],
    links: dict[tuple[int, int], LikelyLink],
    likely: Callable[[Analysis, int], list[LikelyLink]],
    certain: Callable[[Analysis, int], set[int]],
) -> None:
    """Collects causes or effects of a message by certain and likely links."""
    seen, frontier = {message}, [message]
    while frontier and len(seen) < MAX_STEPS:
        new: set[int] = set()
        for step in frontier:
            new |= certain(analysis, step)
            for link in likely(analysis, step):
                links[link.cause, link.effect] = link
                new |= {link.cause, link.effect}
        frontier = sorted(new - seen)
        seen |= new
    found |= seen


def likely_causes(analysis: Analysis, message: int) -> list[LikelyLink]:
    """Returns the likely links whose effect is a message."""
    kind = analysis.capture.string("kind", message)
    if kind == "chat":
        found = question_of(analysis, message)
        return [] if found is None else [_answer_link(analysis, found[0], message, by_words=found[1])]
    if kind == _START:
        asked = _asking_chat(analysis, message)
        return [] if asked is None else [_start_link(analysis, asked, message)]
    if kind not in _CALLS:
        return []
    thought = _thought_of(analysis, message)
    made = [] if thought is None else [_thought_link(analysis, thought, message)]
    if kind == kinds.REQUEST:
        made += [link for link in _source_links(analysis, message) if link.effect == message]
    proposal = _proposal_of(analysis, message) if kind == kinds.REQUEST else None
    return made if proposal is None else [*made, _proposal_link(analysis, proposal, message)]


def likely_effects(analysis: Analysis, message: int) -> list[LikelyLink]:
    """Returns the likely links whose cause is a message."""
    kind = analysis.capture.string("kind", message)
    if kind == "chat":
        words = _text(analysis, message)
        begun = (row for row in messages_after(analysis, message, (_START,)) if _text(analysis, row) == words)
        made = [_start_link(analysis, message, row) for row in begun if _asking_chat(analysis, row) == message]
        answer = answer_to(analysis, message)
        return made if answer is None else [*made, _answer_link(analysis, message, answer[0], by_words=answer[1])]
    if kind == kinds.PROPOSAL:
        fitting = (row for row in _equal_calls(analysis, message, later=True) if _proposal_of(analysis, row) == message)
        return [_proposal_link(analysis, message, row) for row in fitting]
    if kind == kinds.REQUEST:
        return [link for link in _source_links(analysis, message) if link.cause == message]
    if kind in _THOUGHTS:
        return list(_act_links(analysis, message))
    return []


# A chat and its answer


def _answer_link(analysis: Analysis, cause: int, effect: int, *, by_words: bool) -> LikelyLink:
    sender, other = (analysis.capture.string("sender", message) for message in (effect, cause))
    evidence = "it repeats its words" if by_words else f"the next chat from {sender} to {other}"
    return LikelyLink(cause, effect, Relation.ANSWERS, f"{evidence}, {_gap_words(analysis, cause, effect)}")


def _gap_words(analysis: Analysis, cause: int, effect: int) -> str:
    return f"{duration_in_words(gap_ns(analysis, cause, effect))} later"


# A reasoning and the chat with the same words


def _asking_chat(analysis: Analysis, start: int) -> int | None:
    """Returns the latest chat with the words of a reasoning start, if it is the first start with them."""
    if analysis.capture.string("kind", start) != _START or is_correlated(analysis, start):
        return None
    words, sender = _text(analysis, start), analysis.capture.string("sender", start)
    for chat in messages_before(analysis, start, ("chat",)) if words else ():
        to = analysis.capture.recipients(chat)
        if analysis.capture.string("sender", chat) == sender or (to and sender not in to):
            continue
        if _text(analysis, chat) == words:
            return chat if _is_first_start(analysis, chat, start) else None
    return None


def _is_first_start(analysis: Analysis, chat: int, start: int) -> bool:
    """Returns True if the participant has no earlier reasoning with the chat's words or id."""
    capture, sender = analysis.capture, analysis.capture.string("sender", start)
    named = any(
        capture.string("kind", row) == _START and capture.string("sender", row) == sender
        for row in naming_messages(analysis, chat)
    )
    if named or not same_processes(analysis, chat, start):
        return False
    words = _text(analysis, start)
    starts = (row for row in messages_after(analysis, chat, (_START,)) if row < start)
    return not any(capture.string("sender", row) == sender and _text(analysis, row) == words for row in starts)


def _text(analysis: Analysis, message: int) -> str:
    capture = analysis.capture
    if capture.records.is_big(message):
        return ""
    return (text_shown(capture.string("kind", message) or "", capture.records.payload(message)) or "").strip()


def _start_link(analysis: Analysis, cause: int, effect: int) -> LikelyLink:
    why = f"it begins with the same words, {_gap_words(analysis, cause, effect)}"
    return LikelyLink(cause, effect, Relation.STARTS_ON, why)


# A proposal and the same request


def _proposal_of(analysis: Analysis, request: int) -> int | None:
    """Returns the only open proposal of another sender that a request is the first to carry out."""
    if is_correlated(analysis, request):
        return None
    fitting = [row for row in _equal_calls(analysis, request, later=False) if _is_open_proposal(analysis, row, request)]
    # With several equal proposals any link would be a guess.
    if len(fitting) != 1:
        return None
    sooner = (row for row in _equal_calls(analysis, fitting[0], later=True) if row < request)
    return None if any(not is_correlated(analysis, row) for row in sooner) else fitting[0]


def _equal_calls(analysis: Analysis, message: int, *, later: bool) -> Iterator[int]:
    """Yields proposals of other senders with the call of a request, or requests with that of a proposal."""
    capture, wanted = analysis.capture, _call_arguments(analysis, message)
    if wanted is None:
        return
    columns = capture.columns
    rows = (
        messages_after(analysis, message, (kinds.REQUEST,))
        if later
        else messages_before(analysis, message, (kinds.PROPOSAL,))
    )
    same = [row for row in rows if all(columns[name][row] == columns[name][message] for name in ("method", "target"))]
    for row in same:
        proposal, request = (message, row) if later else (row, message)
        to = set(capture.recipients(proposal))
        meant = columns["sender"][row] != columns["sender"][message] and (
            not to or to == set(capture.recipients(request))
        )
        if meant and _call_arguments(analysis, row) == wanted:
            yield row


def _call_arguments(analysis: Analysis, message: int) -> str | None:
    """Returns the arguments of a tool call in canonical form; None without arguments that distinguish it."""
    capture = analysis.capture
    method = capture.string("method", message)
    params: Any = None if capture.records.is_big(message) else capture.records.payload(message).get("params")
    arguments = params.get("arguments") if isinstance(params, Mapping) else None
    # Calls without arguments are all alike, so equality proves too little.
    if method != "tools/call" or not isinstance(arguments, Mapping) or not arguments:
        return None
    return json.dumps(arguments, sort_keys=True, default=str)


def _is_open_proposal(analysis: Analysis, proposal: int, request: int) -> bool:
    capture = analysis.capture
    for row in naming_messages(analysis, proposal):
        kind = capture.string("kind", row)
        if kind == kinds.REQUEST or (kind in (kinds.REJECT, kinds.WITHDRAW) and row < request):
            return False
    return same_processes(analysis, proposal, request)


def _proposal_link(analysis: Analysis, cause: int, effect: int) -> LikelyLink:
    why = f"the same call with the same arguments, {_gap_words(analysis, cause, effect)}"
    return LikelyLink(cause, effect, Relation.CARRIES_OUT, why)


# A call and its match in another source


def _source_links(analysis: Analysis, request: int) -> list[LikelyLink]:
    """Returns likely matches of a request in other sources, without certain ones."""
    return [
        LikelyLink(one.outer, one.inner, Relation.CARRIES_OUT, one.why)
        for one in same_calls(analysis, request)
        if not one.is_certain
    ]


# A call and the thought before it


def _thought_of(analysis: Analysis, act: int) -> int | None:
    thought = thought_before(analysis, act)
    if thought is None or not in_reach(analysis, thought, act):
        return None
    return thought if same_processes(analysis, thought, act) else None


def _act_links(analysis: Analysis, thought: int) -> Iterator[LikelyLink]:
    """Yields the effects of a thought; for a reasoning start also those of its thoughts."""
    columns, starts = analysis.capture.columns, analysis.capture.string("kind", thought) == _START
    own = columns["sender"][thought]
    acts = [row for row in messages_after(analysis, thought, _CALLS) if columns["sender"][row] == own][:_MAX_ACTS]
    for row in acts:
        behind = _thought_of(analysis, row)
        if behind is not None and (behind == thought or (starts and thought in reasoning_starts(analysis, behind))):
            yield _thought_link(analysis, behind, row)


def _thought_link(analysis: Analysis, cause: int, effect: int) -> LikelyLink:
    sender = analysis.capture.string("sender", effect)
    gap = duration_in_words(max(0, gap_ns(analysis, cause, effect)))
    what = "start" if analysis.capture.string("kind", cause) == _START else "last thought"
    why = f"the {what} of {sender} before it, {gap} earlier, in a reasoning that was open"
    return LikelyLink(cause, effect, Relation.FOLLOWS, why)
