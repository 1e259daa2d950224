"""Extracts plans: to-do lists that an agent writes by calling a tool.

They are detected by the shape of the arguments: a list named `todos` or `plan` whose entries have a status. Shapes:
docs/transcripts.md, "Edits and plans".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["done", "now", "later", "dropped"]

_LISTS = ("todos", "plan", "tasks", "items")
_TEXTS = ("content", "step", "description", "title", "text", "subject")
_STATES: dict[str, State] = {
    "completed": "done", "done": "done", "complete": "done", "in_progress": "now", "in-progress": "now",
    "inprogress": "now", "active": "now", "pending": "later", "todo": "later", "not_started": "later",
    "not-started": "later", "open": "later", "cancelled": "dropped", "canceled": "dropped", "deleted": "dropped",
}  # fmt: skip
MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Step:
    """One entry."""

    text: str
    state: State


@dataclass(frozen=True, slots=True)
class Plan:
    """A to-do list.

    Attributes:
        steps: in the order written, at most `MAX_STEPS`.
        explanation: accompanying explanation; "".
        key: name of its argument.
        left_out: entries beyond `MAX_STEPS`.
    """

    steps: tuple[Step, ...]
    explanation: str
    key: str
    left_out: int = 0

    @property
    def done_count(self) -> int:
        """Number of completed entries."""
        return sum(step.state == "done" for step in self.steps)

    @property
    def summary(self) -> str:
        """Short summary: progress and present step."""
        now = next((step.text for step in self.steps if step.state == "now"), None)
        head = f"{self.done_count} of {len(self.steps) + self.left_out} done"
        return f"{head}, now: {now}" if now else head


def plan_of(arguments: object) -> Plan | None:
    """Returns the list that a call writes. Never raises."""
    if not isinstance(arguments, dict):
        return None
    for key in _LISTS:
        listed = arguments.get(key)
        if not isinstance(listed, list) or not listed:
            continue
        steps = [step for one in listed[:MAX_STEPS] if (step := _step(one)) is not None]
        # A list with other items is no plan.
        if len(steps) == min(len(listed), MAX_STEPS):
            why = arguments.get("explanation")
            left_out = len(listed) - len(steps)
            return Plan(tuple(steps), why if isinstance(why, str) else "", key, left_out)
    return None


def _step(one: object) -> Step | None:
    if not isinstance(one, dict):
        return None
    state, text = one.get("status"), next((t for key in _TEXTS if isinstance(t := one.get(key), str)), None)
    known = _STATES.get(state) if isinstance(state, str) else None
    return Step(text, known) if known is not None and text is not None else None
