"""Turns of a document: the user's prompts, with the time, calls and failures until the next one."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis import Analysis
from inspector.analysis.passes.changed_rows import Rows
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepTable, given_tokens
from inspector.analysis.views.steps.step_columns import StepState as StepState
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.step_tree import running_times
from inspector.analysis.views.steps.time_split import split_times
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, check_row_count
from inspector.engine.requests.rows import check_messages
from inspector.present.message_row import row_content
from inspector.present.subject import text_of
from inspector.present.wire_text import excerpt
from inspector.protocol.timestamps import NO_TIME

MAX_PROMPT = 400
"""Limit of a turn's prompt, in characters."""


class KeptSteps:
    """The steps of a document, derived anew after each change. O(messages) then."""

    ignores_counts: ClassVar[bool] = True

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._table: StepTable | None = None
        self._stop = 0

    def note_changed(self, changed: Rows) -> None:
        """Notes changed messages."""
        if len(changed):
            self._table = None

    @property
    def table(self) -> StepTable:
        """The steps of all messages read so far."""
        if self._table is None or self._stop != len(self._analysis):
            self._table, self._stop = step_table(self._analysis), len(self._analysis)
        return self._table


def steps_of(held: OpenDocument) -> StepTable:
    """Returns the steps of a document, kept between requests."""
    analysis = held.document.analysis
    return held.kept(KeptSteps, lambda: KeptSteps(analysis)).table


class Turn(NamedTuple):
    """A prompt and the work until the next one.

    Attributes:
        step: index of the prompt's step.
        message: the prompt.
        starts_ns: time of the prompt; NO_TIME if unknown.
        stops_ns: end of its last step; NO_TIME if unknown.
        model_ns, tools_ns, person_ns, allowed_ns: nanoseconds, as in `TimeSplit`.
        calls, failed, rejected: tool calls, those that failed, and those that a person did not allow.
        agents: sub-agents started.
        took_ns: time with a running step, as in *Steps*; -1 if unknown.
        dollars: reported or priced cost; NaN if unknown.
    """

    step: int
    message: int
    starts_ns: int
    stops_ns: int
    model_ns: int
    tools_ns: int
    person_ns: int
    allowed_ns: int
    calls: int
    failed: int
    rejected: int
    agents: int
    took_ns: int
    dollars: float


class Turns(msgspec.Struct, frozen=True):
    """Turns in order, without their prompts.

    Attributes:
        figures: (n, 13) int64, the attributes of `Turn` without the last.
        dollars: (n,) float64.
        contexts: (n, 2) int64, reported context of the first and of the last output in the context of the prompt; -1
            if unknown.
    """

    figures: NDArray[np.int64]
    dollars: NDArray[np.float64]
    contexts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.dollars)

    def __getitem__(self, number: int) -> Turn:
        return Turn._make((*self.figures[number].tolist(), float(self.dollars[number])))

    @property
    def messages(self) -> NDArray[np.int64]:
        """(n,) int64, the prompts."""
        return self.figures[:, 1]

    @property
    def starts_ns(self) -> NDArray[np.int64]:
        """(n,) int64, times of the prompts; NO_TIME if unknown."""
        return self.figures[:, 2]

    @property
    def stops_ns(self) -> NDArray[np.int64]:
        """(n,) int64, ends of their last steps; NO_TIME if unknown."""
        return self.figures[:, 3]


class ListTurns(Request[Turns], frozen=True):
    """All turns of a document; empty without prompts of a person."""


class DescribePrompts(Request[list[str]], frozen=True):
    """First words of prompts, at most 1,000 prompts: MAX_PROMPT characters, masked."""

    is_urgent: ClassVar[bool] = True
    messages: tuple[int, ...]


def _turns(held: OpenDocument, asked: ListTurns) -> Turns:
    del asked
    table = steps_of(held)
    count = len(table.prompts)
    steps = np.flatnonzero(table.turns >= 0)
    turns, kinds, states = table.turns[steps], table.kinds[steps], table.states[steps]
    # Proposals and requests of programs are steps, but no calls.
    calls = (kinds == StepKind.CALL) & np.isin(table.rows[steps], calls_of(held.document.analysis).rows)
    stops = np.full(count, NO_TIME, np.int64)
    np.maximum.at(stops, turns, np.maximum(table.stops_ns[steps], table.starts_ns[steps]))
    dollars, known = np.zeros(count), np.isfinite(table.dollars[steps])
    np.add.at(dollars, turns[known], table.dollars[steps[known]])
    dollars[np.bincount(turns[known], minlength=count) == 0] = np.nan
    figures = np.column_stack((
        table.prompts, table.rows[table.prompts], table.starts_ns[table.prompts], stops,
        split_times(table, steps, turns, count),
        *(
            np.bincount(turns[calls & chosen], minlength=count)
            for chosen in (
                calls, states == StepState.FAILED, states == StepState.REJECTED, table.opens[steps] != NO_NODE,
            )
        ),
        running_times(table, steps, turns, count),
    ))  # fmt: skip
    return Turns(figures, dollars, _contexts(table, steps, turns, count))


def _contexts(table: StepTable, steps: Rows, turns: Rows, count: int) -> NDArray[np.int64]:
    """(t, 2) int64, the reported context of the first and of the last output of each turn; -1 if unknown."""
    prompts, tokens = table.prompts[turns], given_tokens(table.tokens[steps])
    known = (table.nodes[steps] == table.nodes[prompts]) & (table.spaces[steps] == table.spaces[prompts])
    known &= (tokens >= 0) & (table.kinds[steps] == StepKind.MODEL)
    turns, tokens, found = turns[known], tokens[known], np.full((count, 2), -1, np.int64)
    # Of several values for one turn, the last one is kept.
    found[turns[::-1], 0], found[turns, 1] = tokens[::-1], tokens
    return found


def _prompts(held: OpenDocument, asked: DescribePrompts) -> list[str]:
    check_row_count(len(asked.messages))
    check_messages(held, asked.messages)
    return [_prompt_words(held, message) for message in asked.messages]


def _prompt_words(held: OpenDocument, message: int) -> str:
    text = excerpt(text_of(held.document.capture, message), MAX_PROMPT)
    return text or row_content(held.document, message).text[:MAX_PROMPT]


QUERIES = (
    Query(ListTurns, Turns, _turns),
    Query(DescribePrompts, list[str], _prompts),
)
