"""Names to show for sub-agents in place of those with ids, which filters use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.store.messages.transcripts import SubAgent

_MAX_TYPE, _MAX_LABEL = 60, 80
"""Limits in characters."""


def shown_names(agents: Sequence[SubAgent]) -> dict[str, str]:
    """Returns the shown name of each sub-agent by its name: "Explore: find the config".

    Args:
        agents: in order of start. Equal ones are numbered: "Explore 1" and "Explore 2" without a task; with one, from
            the second on, as their contexts are.
    """
    agents = [agent for agent in agents if agent.is_agent]
    titles = [((agent.type or "")[:_MAX_TYPE], (agent.label or "")[:_MAX_LABEL]) for agent in agents]
    counts, numbers, found = Counter(titles), Counter[tuple[str, str]](), dict[str, str]()
    for agent, (type_, label) in zip(agents, titles, strict=True):
        numbers[type_, label] += 1
        number, several = numbers[type_, label], counts[type_, label] > 1
        words = type_ or "sub-agent"
        if label:
            words += f": {label}" + (f" ({number})" if number > 1 else "")
        elif several:
            words += f" {number}"
        found.setdefault(agent.name, words)
    return found
