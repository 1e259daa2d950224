"""Builds the causal chain of a message: causes, effects, the turn of an agent (docs/design.md 3, Related)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis, AnalysisChanges
from inspector.analysis.passes.calls.correlation_names import NamedThing
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.analysis.views.account.same_calls import certain_matches
from inspector.analysis.views.causes.progress import any_is_progress, is_progress, progress_of, request_of_progress
from inspector.analysis.views.latency.background_agents import answer_latency_ns
from inspector.protocol import kinds
from inspector.protocol.secrets.masking import mask_text
from inspector.protocol.timestamps import NO_TIME
from inspector.store.columns.flags import Flag
from inspector.store.columns.hashes import NO_ROW

MAX_STEPS = 64
"""Messages of a chain at most; nearest first."""

# Bounds the walk in a hostile tree of nested contexts.
_MAX_LEVELS = 64  # ancestor contexts searched


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One message of a chain.

    Attributes:
        message: its index.
        relation: one word for its action: asked, answered, proposed, fulfilled, hinted, consumed...
        delta_ns: time from the chain's own message to this one; None if a time is missing.
        after: the step that caused it, the latest of several; None for the first steps.
        since_ns: time since that step; None without one, or if a time is missing.
        took_ns: duration that this step ended: an answered call, a concluded reasoning; None for other steps, or if a
            time is missing.
    """

    message: int
    relation: str
    delta_ns: int | None
    after: int | None = None
    since_ns: int | None = None
    took_ns: int | None = None


def chain_of(analysis: Analysis, message: int) -> list[ChainStep]:
    """Returns the chain of a message in order of arrival, itself included; at most 64 steps, nearest first.

    Causes are followed to their roots and effects to their ends, but not back down from a cause: siblings of a message
    are no reason for it. Calls include their answers, a consumption includes the consumed result.
    """
    found = {message}
    _follow(analysis, message, found, causes_of)
    _follow(analysis, message, found, effects_of)
    # A consumption has two causing calls: reached by one, it adds the other, so that both show the same chain.
    for step in sorted(found):
        consumed = analysis.transients.consumes(step)
        if consumed is not None:
            found.add(consumed)
            _follow(analysis, step, found, causes_of)
            _follow(analysis, consumed, found, causes_of)
    found = found.union(*(outcomes_of(analysis, step) for step in found))
    ordered = sorted(found)
    if len(ordered) > MAX_STEPS:
        # Keeps the steps nearest to the message.
        near = sorted(ordered, key=lambda m: abs(m - message))[:MAX_STEPS]
        ordered = sorted(near)
    return [step_of(analysis, step, message, ordered) for step in ordered]


_WHOLE_CHAIN_STEPS = 10
"""Steps up to which a transcript's chain is shown whole."""
_NEAR_STEPS = 3
_MAX_LOOKBACK = 50_000
"""Messages searched backwards for the prompt of a turn."""


def steps_of_turn(analysis: Analysis, steps: Sequence[ChainStep], message: int) -> list[ChainStep]:
    """Returns the steps that explain a message of a transcript; all steps of other chains.

    In a transcript, all earlier messages lead to a message. Kept are the prompt of the turn, the call that started the
    agent, and the nearest steps.
    """
    capture, contexts = analysis.capture, analysis.contexts
    if not capture.columns["part"][message]:
        return list(steps)
    own = contexts.node_of(message)
    agent = capture.transcripts.agents.get(capture.string("context", message) or "")
    is_of_agent = agent is not None and agent.call is not None  # spans of a trace are no agents
    nodes = contexts.nodes_of(np.array([step.message for step in steps], np.int64)).tolist()
    before = [(step.message, node) for step, node in zip(steps, nodes, strict=True) if step.message < message]
    earlier = [one for one, node in before if node == own or not is_of_agent]  # without messages before its agent
    if len(steps) <= _WHOLE_CHAIN_STEPS and len(earlier) == len(before):
        return list(steps)
    later = [step.message for step in steps if step.message > message]
    prompt = _prompt_before(analysis, message, own)
    started = int(analysis.correlation.columns["cause"][prompt]) if own != MAIN and prompt != NO_ROW else NO_ROW
    kept = {message, *later[:_NEAR_STEPS], *(m for m in earlier[-_NEAR_STEPS:] if m >= prompt)}
    kept |= {one for one in (prompt, started) if 0 <= one < message}
    answer = int(analysis.correlation.columns["answer"][message])
    kept |= {answer} & set(later)
    known = {step.message: step for step in steps}
    if not is_of_agent and len(known.keys() - kept) < _NEAR_STEPS:
        return list(steps)  # a row "n steps" for so few would say less
    ordered = sorted(kept)
    return [known.get(one) or step_of(analysis, one, message, ordered) for one in ordered]


def _prompt_before(analysis: Analysis, message: int, node: int) -> int:
    """Returns the prompt before a message of a transcript in its context; NO_ROW if none is near."""
    capture = analysis.capture
    low = max(0, message - _MAX_LOOKBACK)
    said = capture.columns["kind"][low:message] == (capture.strings.find("chat") or -1)
    said &= capture.columns["space"][low:message] == capture.columns["space"][message]
    rows = np.flatnonzero(said) + low
    rows = rows[analysis.contexts.nodes_of(rows) == node]
    return next((row for row in rows[::-1].tolist() if kind_word(capture, row) == "prompt"), NO_ROW)


def may_change_chain(analysis: Analysis, message: int, chain: set[int], changes: AnalysisChanges) -> bool:
    """Returns False only if a feed cannot have changed the chain of a message. O(messages fed and changed).

    Args:
        analysis: the passes.
        message: the message of the chain.
        chain: messages of the chain before the feed.
        changes: changes by the feed. Messages named by new ones are among the changed ones.
    """
    if len(changes.changed) and not chain.isdisjoint(changes.changed.tolist()):
        return True
    if changes.stop <= changes.start:
        return False
    new = slice(changes.start, changes.stop)
    members = np.fromiter(chain, np.int64, len(chain))
    if np.isin(analysis.correlation.columns["cause"][new], members).any():
        return True
    names = analysis.named.named(new)
    if np.isin(names, (NamedThing.CONTEXT.value, NamedThing.STREAM.value)).any():
        return True
    causes = analysis.correlation.columns["cause"]
    loose = (member for member in chain if causes[member] == NO_ROW)
    if any(not chain.issuperset(reasoning_starts(analysis, member)) for member in loose):  # a start that arrived late
        return True
    capture = analysis.capture
    if any_is_progress(analysis, new) or (len(capture.sources) > 1 and _may_be_same_calls(analysis, chain, new)):
        return True
    if all(analysis.named.started_by(member) == MAIN for member in chain):
        return False
    codes = [code for code in map(capture.strings.find, (kinds.REQUEST, kinds.PROPOSAL)) if code]
    return bool((np.isin(capture.columns["kind"][new], codes) & (capture.columns["context"][new] != 0)).any())


def _may_be_same_calls(analysis: Analysis, chain: set[int], new: slice) -> bool:
    """Returns True if new messages may match calls of the chain in another source."""
    capture = analysis.capture
    request = capture.strings.find(kinds.REQUEST) or -1
    asked = capture.columns["kind"] == request
    return bool(asked[new].any()) and any(asked[member] for member in chain)


def step_of(
    analysis: Analysis, step: int, message: int, chain: list[int], likely: Mapping[int, int] | None = None
) -> ChainStep:
    """Returns a message as a step of another message's chain.

    Args:
        likely: likely causes, for messages without certain ones.
    """
    after = max(causes_of(analysis, step).intersection(chain) - {step}, default=(likely or {}).get(step))
    since = None if after is None else _gap_ns(analysis, after, step)
    apart = _gap_ns(analysis, message, step)
    return ChainStep(step, relation_word(analysis, step), apart, after, since, _duration_ns(analysis, step))


def _duration_ns(analysis: Analysis, step: int) -> int | None:
    """Returns the duration that a message ended: that of a call by its answer, of reasoning by conclusion or cancel."""
    kind = analysis.capture.string("kind", step)
    if kind == kinds.RESPONSE:
        return answer_latency_ns(analysis, step)
    if kind not in ("reasoning/conclusion", "reasoning/cancel"):
        return None
    contexts = analysis.contexts
    node = contexts.tree.resolve(contexts.ending.get(step, contexts.node_of(step)))
    started = -1 if node == MAIN else contexts.start_before(node, step)
    return _gap_ns(analysis, started, step) if 0 <= started < step else None


def _gap_ns(analysis: Analysis, start: int, stop: int) -> int | None:
    """Nanoseconds from one message to another; None if a time is missing."""
    times = analysis.capture.columns["time_ns"]
    begun, ended = int(times[start]), int(times[stop])
    return None if NO_TIME in (begun, ended) else ended - begun


def _follow(analysis: Analysis, message: int, found: set[int], links: Callable[[Analysis, int], set[int]]) -> None:
    frontier = [message]
    # More than is shown, so that the nearest steps can be selected at the end.
    while frontier and len(found) < 4 * MAX_STEPS:
        new = {m for step in frontier for m in links(analysis, step)} - found
        found |= new
        frontier = sorted(new)


def causes_of(analysis: Analysis, message: int) -> set[int]:
    """Returns the causes of a message: named messages, its reasoning, the hint that made it transient."""
    causes = {*analysis.correlation.causes(message), *analysis.named.origins(message)}
    begun = analysis.correlation.rounds.first.get(message)
    if begun is not None:
        causes.add(begun)
    life = analysis.transients
    causes.update(m for m in (life.hinted_by(message), life.consumes(message)) if m is not None)
    causes.update(certain_matches(analysis, message, outward=True))
    told = request_of_progress(analysis, message)
    if told is not None:
        causes.add(told)
    if not causes:
        causes.update(reasoning_starts(analysis, message))
    return causes


def reasoning_starts(analysis: Analysis, message: int) -> Iterator[int]:
    """Yields the start of a message's reasoning: of its context, else of the nearest ancestor with one."""
    contexts = analysis.contexts
    node = contexts.tree.resolve(contexts.node_of(message))
    for _ in range(_MAX_LEVELS):
        if node == MAIN:
            return
        started = contexts.start_before(node, message)
        if started >= 0 and contexts.begun_by(message) != node:
            yield started
            return
        node = contexts.tree.parent[node]


def effects_of(analysis: Analysis, message: int) -> set[int]:
    """Returns the effects of a message: messages that name it, its collapse, actions in the reasoning it started."""
    effects = {*_named_as_cause(analysis, message), *analysis.named.named_by(message)}
    effects.update(analysis.correlation.rounds.follow(message))
    collapsed_by = analysis.transients.collapsed_by(message)
    if collapsed_by is not None:
        effects.add(collapsed_by)
    effects.update(certain_matches(analysis, message, outward=False))
    if analysis.capture.string("kind", message) == kinds.REQUEST:
        effects.update(progress_of(analysis, message))
    effects.update(_acts_in_reasoning(analysis, message))
    return effects


def _acts_in_reasoning(analysis: Analysis, message: int) -> Iterator[int]:
    """Yields requests and proposals caused only by the context of a reasoning start."""
    node = analysis.named.started_by(message)
    if node == MAIN:
        return
    capture, links = analysis.capture, analysis.correlation.columns
    all_kinds, acts = capture.columns["kind"][: len(analysis)], np.zeros(len(analysis), np.bool_)
    for kind in (kinds.REQUEST, kinds.PROPOSAL):
        acts |= all_kinds == (capture.strings.find(kind) or -1)
    rows = np.flatnonzero(acts & (links["cause"] == NO_ROW))
    inside = _nodes_below(analysis, node)[analysis.contexts.nodes_of(rows)]
    for row in rows[inside][:MAX_STEPS].tolist():
        if message in causes_of(analysis, row):
            yield row


def _nodes_below(analysis: Analysis, node: int) -> NDArray[np.bool_]:
    """Returns (nodes + 1,) True for a context and its descendants; the last entry is MAIN."""
    tree = analysis.contexts.tree
    below, level = np.zeros(len(tree) + 1, np.bool_), [node]
    for _ in range(_MAX_LEVELS):
        if not level:
            break
        below[level] = True
        level = [child for above in level for child in tree.children.each(above)]
    return below


def outcomes_of(analysis: Analysis, message: int) -> set[int]:
    """Returns the answer to a request, or the decision on a proposal."""
    if analysis.capture.string("kind", message) in (kinds.REQUEST, kinds.PROPOSAL):
        return set(_named_as_cause(analysis, message))
    return set()


def _named_as_cause(analysis: Analysis, message: int) -> list[int]:
    """Returns messages that name a message, without repeats in a client's next model call."""
    effects = list(analysis.correlation.effects(message))
    again = analysis.capture.are_resent(np.array(effects, np.int64))
    return [effect for effect, repeated in zip(effects, again.tolist(), strict=True) if not repeated]


_RELATION_WORDS = {
    kinds.REQUEST: "asked",
    kinds.RESPONSE: "answered",
    kinds.PROPOSAL: "proposed",
    kinds.REJECT: "rejected",
    kinds.WITHDRAW: "withdrawn",
    "chat": "said",
    "chat/acknowledge": "acknowledged",
    "reasoning/start": "started",
    "reasoning/thought": "thought",
    "reasoning/conclusion": "concluded",
    "reasoning/cancel": "cancelled",
    "stream/request": "asked",
    "stream/open": "opened",
    "stream/close": "closed",
    "participant/status": "reported",
    "system/error": "refused",
}


def relation_word(analysis: Analysis, message: int) -> str:
    """Returns one word for the action of a message."""
    kind = analysis.capture.string("kind", message) or ""
    if "collapsed" in analysis.transients.badges(message):
        return "collapsed"
    if analysis.transients.consumes(message) is not None:
        return "consumed"
    if analysis.transients.hints(message):
        return "hinted"
    if is_progress(analysis, message):
        return "reported"
    if kind == kinds.REQUEST:
        cause = analysis.correlation.causes(message)
        if any(analysis.capture.string("kind", c) == kinds.PROPOSAL for c in cause):
            return f"fulfilled by {mask_text(analysis.capture.string('sender', message) or 'somebody')}"
    if kind == kinds.RESPONSE and analysis.capture.flags_of(message) & Flag.ERROR:
        return "failed"
    return _RELATION_WORDS.get(kind) or mask_text(kinds.short_kind(kind)) or "unreadable"
