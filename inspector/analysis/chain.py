"""The causal chain of a message: what it came from and what came of it (design.md 3, Related)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inspector.analysis import Analysis
from inspector.analysis.context_tree import MAIN
from inspector.protocol import kinds
from inspector.protocol.times import NO_TIME

_LIMIT = 64


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One message of a chain.

    Attributes:
        message: its index.
        relation: one word for what it did: asked, answered, proposed, fulfilled, hinted, consumed...
        delta_ns: time from the chain's own message to this one; None where a time is missing.
    """

    message: int
    relation: str
    delta_ns: int | None


def chain_of(analysis: Analysis, message: int) -> list[ChainStep]:
    """The chain of a message in order of arrival, itself included; at most 64 steps, nearest links first.

    Causes are followed to their roots and effects to their ends, but not back down from a cause: the siblings
    of a message are not part of why it happened. Calls bring their answers with them.
    """
    found = {message}
    _follow(analysis, message, found, _causes)
    _follow(analysis, message, found, _effects)
    found = found.union(*(_outcome(analysis, step) for step in found))
    ordered = sorted(found)
    if len(ordered) > _LIMIT:
        near = sorted(ordered, key=lambda m: abs(m - message))[:_LIMIT]
        ordered = sorted(near)
    times = analysis.capture.columns["time_ns"]
    own = int(times[message])
    return [
        ChainStep(m, relation_word(analysis, m), None if NO_TIME in (own, int(times[m])) else int(times[m]) - own)
        for m in ordered
    ]


def _follow(analysis: Analysis, message: int, found: set[int], links: Callable[[Analysis, int], set[int]]) -> None:
    frontier = [message]
    while frontier and len(found) < 4 * _LIMIT:
        new = {m for step in frontier for m in links(analysis, step)} - found
        found |= new
        frontier = sorted(new)


def _causes(analysis: Analysis, message: int) -> set[int]:
    """What led to a message: what it names, the reasoning it was part of, the hint that made it transient."""
    causes = set(analysis.correlation.causes(message))
    story = analysis.transients.lifecycle(message)
    causes.update(m for m in (story.hinted_by, story.consumes) if m is not None)
    node = analysis.contexts.node_of(message)
    if node != MAIN and not causes:
        started = analysis.contexts.started_by[analysis.contexts.tree.resolve(node)]
        if 0 <= started != message:
            causes.add(started)
    return causes


def _effects(analysis: Analysis, message: int) -> set[int]:
    effects = set(analysis.correlation.effects(message))
    story = analysis.transients.lifecycle(message)
    if story.collapsed_by is not None:
        effects.add(story.collapsed_by)
    return effects


def _outcome(analysis: Analysis, message: int) -> set[int]:
    """The answer to a request, what became of a proposal, and the request behind a consumption."""
    if analysis.capture.string("kind", message) in (kinds.REQUEST, kinds.PROPOSAL):
        return set(analysis.correlation.effects(message))
    if analysis.transients.lifecycle(message).consumes is not None:
        return set(analysis.correlation.causes(message))
    return set()


_WORDS = {
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
    """One word for what a message did."""
    kind = analysis.capture.string("kind", message) or ""
    story = analysis.transients.lifecycle(message)
    if "collapsed" in story.badges:
        return "collapsed"
    if story.consumes is not None:
        return "consumed"
    if analysis.transients.hints(message):
        return "hinted"
    if kind == kinds.REQUEST:
        cause = analysis.correlation.causes(message)
        if any(analysis.capture.string("kind", c) == kinds.PROPOSAL for c in cause):
            return f"fulfilled by {analysis.capture.string('sender', message) or 'somebody'}"
    return _WORDS.get(kind, kind.rpartition("/")[2] or "unreadable")
