"""A run as the chain of its steps, as plain data that a worker process can send."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

MOST_STEPS = 5_000
"""Limit of steps of a run; `RunChain.cut` counts the rest."""


class Argument(NamedTuple):
    """An argument of a call.

    Attributes:
        name: "" for arguments that are no object.
        value: hash of the normalized value.
        text: the value in short, masked.
    """

    name: str
    value: int
    text: str


class ChainStep(msgspec.Struct, frozen=True, array_like=True):
    """A step of a run.

    Attributes:
        act: hash of kind, tool and normalized arguments.
        group: hash of kind and tool.
        name: the tool, or the kind of the step; masked.
        text: the step in short, masked.
        row: its message.
        state: `StepState`.
        result: hash of the result; 0 without one.
        arguments: in the order of their names.
    """

    act: int
    group: int
    name: str
    text: str
    row: int
    state: int
    result: int
    arguments: list[Argument]


class RunChain(msgspec.Struct, frozen=True):
    """A run of a task.

    Attributes:
        path: its path, masked; that of a run in a file ends with its name.
        task: as the evaluation names it; None without one.
        group: value of the grouping, such as `passed`; None if unknown.
        steps: calls, refusals, spans and compactions; steps of sub-agents follow the call that started them.
        matched: the first message that matches a filter; -1 without one.
        cut: number of steps beyond MOST_STEPS.
    """

    path: str
    task: str | None
    group: str | None
    steps: list[ChainStep]
    matched: int = -1
    cut: int = 0
