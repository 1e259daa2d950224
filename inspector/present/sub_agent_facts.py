"""Describes a call that started a sub-agent: identity, prompt, usage and result."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.analysis import Analysis
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.views.summaries.context_usage import ContextUsage, context_usage
from inspector.document.conclusions import conclusion_row
from inspector.present import formats
from inspector.present.facts import Fact, FactPart, fact
from inspector.present.places import ContextPlace
from inspector.present.subject import Subject
from inspector.present.token_facts import usage_sum_words
from inspector.present.wire_text import safe_line
from inspector.protocol.payloads.outline import nested_value
from inspector.store.messages.transcripts import SubAgent

_PROMPTS = ("prompt", "message", "task", "input")
SHOWN_ARGUMENTS = frozenset((*_PROMPTS, "description", "subagent_type", "agent_type", "agent_role"))
"""Arguments of such a call that have rows of their own."""


def sub_agent_of(subject: Subject) -> SubAgent | None:
    """Returns the sub-agent that a call started, if known."""
    if not subject.is_derived:
        return None
    call = subject.capture.records.envelope_id(subject.message)
    return None if call is None else subject.capture.transcripts.started_by(call)


def prompt_of(payload: Mapping[str, object]) -> str | None:
    """Returns the prompt for a sub-agent in a call, if any."""
    params = payload.get("params")
    arguments = nested_value(params.get("arguments")) if isinstance(params, Mapping) else None
    if not isinstance(arguments, Mapping):
        return None
    return next((text for key in _PROMPTS if isinstance(text := arguments.get(key), str) and text), None)


def result_message(subject: Subject, agent: SubAgent) -> int | None:
    """Returns the message with a sub-agent's result for its caller, if any.

    For a background agent this is not the answer to the call, which only confirms the start.
    """
    space = int(subject.capture.columns["space"][subject.message])
    contexts = subject.analysis.contexts
    node = contexts.tree.find(space, agent.context)
    # The answer to the call may only confirm the start; the end has the result.
    concluded = conclusion_row(subject.analysis, node)
    return concluded if concluded >= 0 else subject.answer


def sub_agent_facts(subject: Subject, agent: SubAgent) -> list[Fact]:
    """Shows identity, place, end and usage of a sub-agent."""
    analysis, space = subject.analysis, int(subject.capture.columns["space"][subject.message])
    contexts = analysis.contexts
    node = contexts.tree.find(space, agent.context)
    rows = [fact("Task", safe_line(agent.label, 300), lines=3)] if agent.label else []
    name = subject.capture.shown_name(agent.name) or agent.type or agent.context
    if node == MAIN:
        return [
            *rows,
            fact("Agent", safe_line(name, 120)),
            fact("", "Its messages are in a file that is not open.", "dim", lines=2),
        ]
    place = ContextPlace(space, node)
    rows.append(Fact("Agent", (FactPart(safe_line(name, 120), "link", place=place),)))
    count = contexts.tree.own[node]
    state = contexts.state(node, analysis.now_ns)
    said = formats.count_of(count, "message") if count else "no messages in this file"
    rows.append(fact("State", f"{state}, {said}", lines=2))
    return rows + usage_facts(analysis, space, node)


def usage_facts(analysis: Analysis, space: int, node: int) -> list[Fact]:
    """Shows the reported usage of model calls in a context; empty without reports."""
    found = context_usage(analysis, space, node)
    if found is None:
        return []
    rows = [fact("Reported", usage_words(found), lines=4)]
    full = f"{found.window:,} tokens at the end"
    if found.peak > found.window:
        full += f", {found.peak:,} at most"
    return [*rows, fact("Context", full, lines=2), *cost_facts(found)]


def cost_facts(found: ContextUsage) -> list[Fact]:
    """Shows the cost of calls in a context; empty without prices."""
    if found.cost is None or not found.cost.calls:
        return []
    words = formats.dollars(found.cost.total)
    if found.cost_with_below is not None:
        words += f", {formats.dollars(found.cost_with_below.total)} including nested agents"
    if found.cost.unpriced:
        words += f"; {formats.count_of(found.cost.unpriced, 'call')} without a price"
    return [fact("Cost", words, lines=3)]


def usage_words(found: ContextUsage) -> str:
    """Describes the reported usage."""
    words = [f"{formats.count_of(found.calls, 'call')}: {usage_sum_words(found.usage)}"]
    if found.with_below is not None:
        words.append(f"{found.with_below:,} calls including nested agents")
    return "; ".join(words)
