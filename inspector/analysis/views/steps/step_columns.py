"""Columns of the steps of a document."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS
from inspector.analysis.views.steps.approvals import (
    Approvals,
)
from inspector.protocol.timestamps import NO_TIME

Rows = NDArray[np.int64]
NO_NODE = -1
"""In place of a context node that a step opens."""


class StepKind(enum.IntEnum):
    """Kind of a step."""

    PROMPT = 0
    """Text of a person to a model; begins a turn outside of sub-agents."""
    ANSWER = 1
    """Text of a model or another participant."""
    THOUGHT = 2
    CALL = 3
    """Call or proposal, with its answer."""
    SPAN = 4
    """A span of a trace, or a context without a call that started it; its steps are below it."""
    MODEL = 5
    """One output of a model: from its last input to the end of its texts and calls, which are steps too."""
    COMPACTION = 6
    RECORD = 7
    """A record that a program wrote for itself."""
    OTHER = 8


class StepState(enum.IntEnum):
    """Outcome of a step."""

    NONE = 0
    OK = 1
    FAILED = 2
    REJECTED = 3
    """A person did not allow it."""
    WAITING = 4
    UNANSWERED = 5
    CANCELLED = 6


@dataclass(frozen=True, slots=True)
class StepTable:
    """Steps in reading order.

    Attributes:
        kinds: (n,) uint8, `StepKind`.
        states: (n,) uint8, `StepState`.
        rows: (n,) int64, first message.
        ends: (n,) int64, last message: the answer of a call, the last message of an output; NO_ROW without one.
        turns: (n,) int64, index of the turn; -1 before the first.
        nodes: (n,) int64, node of the context that contains it, MAIN for the main one.
        spaces: (n,) int64, string id of its space.
        opens: (n,) int64, node of the context that it started or stands for; NO_NODE for most.
        starts_ns, stops_ns: (n,) int64, nanoseconds since the epoch; NO_TIME if unknown.
        is_request: (n,) bool, True for a CALL step that calls no tool: `initialize`, `tools/list`.
        of_person: (n,) bool, True if a person decided or answered, and no tool worked.
        approvals: calls that waited for a permission, and when.
        allowed: (n,) bool, True if the time of a tool includes a permission that the log does not separate.
        attempts: (n,) int64, number of requests of a MODEL step that was repeated after failures; else 1.
        tokens: (n, 4) int64, reported input, output, cache reads and cache writes of MODEL steps; -1 if unknown.
        dollars: (n,) float64; NaN if unknown.
        prompts: (t,) int64, step of the prompt that begins each turn.
        step_of: (m,) int64, step of each message; -1 without one. Outputs have steps of their own for each message.
    """

    kinds: NDArray[np.uint8]
    states: NDArray[np.uint8]
    rows: Rows
    ends: Rows
    turns: Rows
    nodes: Rows
    spaces: Rows
    opens: Rows
    starts_ns: Rows
    stops_ns: Rows
    is_request: NDArray[np.bool_]
    of_person: NDArray[np.bool_]
    approvals: Approvals
    allowed: NDArray[np.bool_]
    attempts: Rows
    tokens: Rows
    dollars: NDArray[np.float64]
    prompts: Rows
    step_of: Rows

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def calls_tools(self) -> bool:
        """True if a step calls a tool."""
        return bool(((self.kinds == StepKind.CALL) & ~self.is_request).any())

    @property
    def took_ns(self) -> Rows:
        """(n,) int64, duration in nanoseconds, without waits for a permission; -1 if unknown."""
        known = (self.starts_ns != NO_TIME) & (self.stops_ns != NO_TIME) & (self.stops_ns >= self.starts_ns)
        with np.errstate(over="ignore"):
            took = np.where(known, self.stops_ns - self.starts_ns, -1)
        np.subtract.at(took, self.approvals.steps, self.approvals.stops_ns - self.approvals.starts_ns)
        return took

    def working_times(self, steps: Rows) -> tuple[Rows, Rows, Rows]:
        """Returns indexes into `steps`, starts and stops of the times in which they worked.

        A wait for a permission splits the time of a call in two.
        """
        return self.approvals.without(steps, self.starts_ns[steps], self.stops_ns[steps])


def given_tokens(tokens: Rows) -> Rows:
    """Returns (n,) the tokens that each output was given, cached ones included; -1 if unknown.

    Args:
        tokens: (n, 4) rows of `StepTable.tokens`.
    """
    output = USAGE_KINDS.index("output")
    return np.where(tokens[:, 0] < 0, -1, tokens.sum(axis=1) - tokens[:, output])
