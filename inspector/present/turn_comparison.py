"""Two turns side by side as plain data: their figures with differences, and their aligned steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.tokens.reported_usage import USAGE_KINDS
from inspector.analysis.views.compare.comparison import RunComparison
from inspector.analysis.views.compare.difference_classes import DifferenceClass
from inspector.analysis.views.steps.call_facts import CallFacts, Outcome
from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable, given_tokens
from inspector.analysis.views.steps.time_split import split_times
from inspector.base.slices import SlicedWork
from inspector.document.document import CaptureDocument
from inspector.present import formats
from inspector.present.difference_words import DifferenceWords

_LEAST_FOLD = 2
_CLASS_WORDS = {
    DifferenceClass.ARGUMENTS: "other arguments", DifferenceClass.RESULT: "another result",
    DifferenceClass.FAILED: "failed in one", DifferenceClass.ORDER: "another order",
    DifferenceClass.AGENT: "by another agent", DifferenceClass.MODEL: "another model",
    DifferenceClass.DEFINITION: "another definition", DifferenceClass.PROMPT: "another prompt",
    DifferenceClass.WORDS: "other words",
}  # fmt: skip


class TurnFigure(msgspec.Struct, frozen=True):
    """A figure of both turns as text; "" if unknown.

    Attributes:
        name: of the figure.
        one, other: its values.
        delta: the second less the first, with its sign; "" if equal or unknown.
    """

    name: str
    one: str
    other: str
    delta: str


class TurnStepPair(msgspec.Struct, frozen=True):
    """Two aligned steps, or a stretch of equal ones.

    Attributes:
        one, other: words of each turn's step; "" where it has none.
        difference: "" for equal steps.
        messages: message of each, None where it has none.
        depth: 0 for steps of the conversation, 1 for ones of its sub-agents.
        equal: number of equal steps that it stands for; 0 for a difference.
    """

    one: str
    other: str
    difference: str
    messages: tuple[int | None, int | None]
    depth: int = 0
    equal: int = 0


class TurnComparison(msgspec.Struct, frozen=True):
    """Two turns side by side.

    Attributes:
        titles: name of each: "Turn 2".
        summary: counts of equal and differing steps.
        figures: figures with their differences.
        steps: aligned steps, stretches of equal ones folded.
    """

    titles: tuple[str, str]
    summary: str
    figures: list[TurnFigure]
    steps: list[TurnStepPair]


def turn_figures(table: StepTable, calls: CallFacts, one: int, other: int) -> list[TurnFigure]:
    """Returns the figures of two turns; those that are 0 or unknown in both are left out."""
    figures: list[TurnFigure] = []
    for name, (a, b), unit in _values(table, calls, (one, other)):
        if not a and not b:
            continue
        one_text, other_text = ("" if value is None else unit(value) for value in (a, b))
        delta = ""  # equal as shown
        if unit is _duration:
            a, b = (_rounded(value) for value in (a, b))
        if a is not None and b is not None and one_text != other_text:
            delta = f"{'+' if b > a else chr(0x2212)}{unit(abs(b - a))}"
        figures.append(TurnFigure(name, one_text, other_text, delta))
    return figures


def _values(
    table: StepTable, calls: CallFacts, turns: tuple[int, int]
) -> Iterator[tuple[str, Sequence[Any], Callable[[Any], str]]]:
    """Yields names, the values of both turns, and the format of each figure."""
    steps = [np.flatnonzero(table.turns == turn) for turn in turns]
    splits = [split_times(table, own, np.zeros(len(own), np.int64), 1)[0].tolist() for own in steps]
    for place, name in ((None, "Time at work"), (0, "Model"), (1, "Tools"), (3, "Tools and permission"),
                        (2, "Waiting for a person")):  # fmt: skip
        yield name, [sum(one[:2]) + one[3] if place is None else one[place] for one in splits], _duration
    models = [own[table.kinds[own] == StepKind.MODEL] for own in steps]
    yield "Model calls", [len(own) for own in models], formats.number
    for name in ("input", "cache_read", "cache_write", "output"):
        column = USAGE_KINDS.index(name)
        yield f"Tokens: {name.replace('_', ' ')}", [_sum(table.tokens[own, column]) for own in models], formats.number
    yield "Context at the end", [_last(given_tokens(table.tokens[own[table.nodes[own] == _node(table, turn)]]))
                                 for own, turn in zip(models, turns, strict=True)], formats.number  # fmt: skip
    yield "Cost", [_dollars(table.dollars[own]) for own in steps], formats.dollars
    rows = [call.row for call in calls.calls]
    called = [own[(table.kinds[own] == StepKind.CALL) & np.isin(table.rows[own], rows)] for own in steps]
    yield "Calls", [len(own) for own in called], formats.number
    for name, state in (("Failed", StepState.FAILED), ("Rejected", StepState.REJECTED)):
        yield name, [int(np.count_nonzero(table.states[own] == state)) for own in called], formats.number
    yield "Sub-agents", [int(np.count_nonzero(table.opens[own] != NO_NODE)) for own in called], formats.number
    changed = [_changed_files(table, calls, turn) for turn in turns]
    yield "Files changed", [len(paths) for paths, _, _ in changed], formats.number
    yield "Lines added", [added for _, added, _ in changed], formats.number
    yield "Lines removed", [removed for _, _, removed in changed], formats.number


def _duration(ns: int) -> str:
    return formats.duration(ns) if ns else "0 s"


def _rounded(ns: int) -> int:
    """Rounds a duration as it is shown, so that the difference is that of the shown values."""
    step = 1_000_000 if ns < 10**9 else 10**8 if ns < 59_950_000_000 else 10**9
    return round(ns / step) * step


def _node(table: StepTable, turn: int) -> int:
    return int(table.nodes[table.prompts[turn]])


def _sum(tokens: NDArray[np.int64]) -> int | None:
    known = tokens[tokens >= 0]
    return int(known.sum()) if len(known) else None


def _last(tokens: NDArray[np.int64]) -> int | None:
    known = tokens[tokens >= 0]
    return int(known[-1]) if len(known) else None


def _dollars(dollars: NDArray[np.float64]) -> float | None:
    known = dollars[np.isfinite(dollars)]
    return float(known.sum()) if len(known) else None


def _changed_files(table: StepTable, calls: CallFacts, turn: int) -> tuple[set[str], int, int]:
    """Returns the files that a turn changed, and the numbers of added and removed lines."""
    paths, added, removed = set[str](), 0, 0
    for call in calls.calls:
        step = int(table.step_of[call.row]) if call.row < len(table.step_of) else -1
        if step < 0 or table.turns[step] != turn or call.outcome is not Outcome.OK:
            continue
        changes = [touch for touch in call.touches if touch.path in call.changed_paths]
        paths |= call.changed_paths
        added, removed = added + sum(one.added for one in changes), removed + sum(one.removed for one in changes)
    return paths, added, removed


def aligned_steps(
    document: CaptureDocument, found: RunComparison, titles: tuple[str, str], most: int
) -> SlicedWork[tuple[list[TurnStepPair], str]]:
    """Returns the aligned steps of two turns, and the counts in words.

    Args:
        document: the document of both.
        found: their comparison.
        titles: names of the turns.
        most: limit of pairs.
    """
    words, rows = DifferenceWords(document, document, found), found.rows
    pairs: list[TurnStepPair] = []
    folds = dict(rows.folds(_LEAST_FOLD))
    row = equal = differing = 0
    while row < len(rows):
        stop = folds.get(row, row + 1)
        same = rows.classes[row] == DifferenceClass.SAME
        equal, differing = (equal + stop - row, differing) if same else (equal, differing + 1)
        if len(pairs) < most:
            pairs.append(_pair(words, found, titles, row, stop))
            yield
        row = stop
    summary = f"{formats.count_of(equal, 'equal step')}, {formats.count_of(differing, 'difference')}"
    return pairs, summary + (f", the first {most:,} shown" if len(pairs) == most else "")


def _pair(words: DifferenceWords, found: RunComparison, titles: tuple[str, str], row: int, stop: int) -> TurnStepPair:
    rows = found.rows
    depth, messages = int(rows.depths[row]), words.messages_of(row)
    sort = DifferenceClass(int(rows.classes[row]))
    if sort is DifferenceClass.SAME and stop - row > 1:
        text = formats.count_of(stop - row, "equal step")
        return TurnStepPair(text, text, "", messages, depth, stop - row)
    if rows.notes[row] >= 0:
        return TurnStepPair("", "", words.difference(row), messages, depth)
    one, other = words.step(0, row), words.step(1, row)
    if sort is DifferenceClass.SAME:
        return TurnStepPair(one, other, "", messages, depth, 1)
    alone = f"only in {titles[not one].lower()}"
    difference = _CLASS_WORDS.get(sort, "different") if one and other else alone
    return TurnStepPair(one, other, difference, messages, depth)
