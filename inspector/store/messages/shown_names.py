"""Names to show for sub-agents in place of those with ids, which filters use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from inspector.formats import registry
from inspector.protocol.secrets.masking import mask_text

if TYPE_CHECKING:
    from inspector.store.messages.transcripts import SubAgent

_OTHERS = ("user", "human", "tools", "gateway")
_MAX_TYPE, _MAX_LABEL = 60, 200
_READ = 4_000
"""Limits in characters."""


def shown_names(agents: Sequence[SubAgent]) -> dict[str, str]:
    """Returns the shown name of each sub-agent by its name: "Explore: find the config".

    Args:
        agents: in order of start. Equal ones are numbered: "Explore 1" and "Explore 2" without a task; with one, from
            the second on, as their contexts are.
    """
    by_name = {agent.name: agent for agent in reversed(agents) if agent.is_agent}
    titles = {name: _title(by_name[name]) for name in reversed(by_name)}
    counts, numbers = Counter(titles.values()), Counter[tuple[str, str]]()
    found, taken = dict[str, str](), set[str]()
    for name, title in titles.items():
        words = ""
        while not words or words in taken:  # a task may end as a number does
            numbers[title] += 1
            words = _words(*title, numbers[title], several=counts[title] > 1)
        taken.add(words)
        found[name] = words
    return found


def _title(agent: SubAgent) -> tuple[str, str]:
    """Returns type and task; a type alone that is the usual name of another participant is told apart."""
    type_, task = _start(agent.type or "", _MAX_TYPE), _start(agent.label or "", _MAX_LABEL)
    others = (*_OTHERS, *registry.groups().main_agents)
    return (f"{type_} sub-agent" if type_ in others and not task else type_ or "sub-agent"), task


def _words(type_: str, task: str, number: int, *, several: bool) -> str:
    if task:
        return f"{type_}: {task}" + (f" ({number})" if number > 1 else "")
    return f"{type_} {number}" if several or number > 1 else type_


@lru_cache(4_096)  # all names are made anew with each new sub-agent, and masking takes most of the time
def _start(words: str, limit: int) -> str:
    # Masked before the cut: a part of a secret is not recognized.
    words = mask_text(words[:_READ])
    return words if len(words) <= limit else words[: limit - 1] + "…"
