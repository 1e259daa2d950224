"""Finds the first divergence of two runs, and the first difference in what the model received before it.

RULES: the first divergence is the first act of an agent that differs: a call with other arguments, an act that one run
has alone, an answer that ends a turn in one run only, or one that denies in one run only, or names other numbers or
names. Of such an answer, more or fewer of them are no difference. A text before a call of the same participant is no
act. Without an act, it is the first answer in other words, else the first difference.

A difference is a cause if the model whose act it is had received it in the traffic before the act. A difference of
nothing but words of its own is no cause. The end of a log that is cut off in a turn causes all that only the other run
has after it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.compare.differences import Rows
from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.model_context.context_owners import find_reader
from inspector.analysis.views.model_context.reconstruction import ModelContext, Moment
from inspector.analysis.views.steps.step_columns import StepKind
from inspector.base.slices import SlicedWork
from inspector.formats.model_vocabulary import CLIENT
from inspector.store.columns.hashes import NO_ROW
from inspector.tokens.counted_text import counted_text

Array = NDArray[np.int64]

NO_PLACE = -1
_FACTS = re.compile(r"\d+(?:[.,]\d+)*|[\w-]*[._/][\w./-]*\w")
"""Numbers, and names with a dot, slash or underscore."""
_DENIALS = re.compile(r"\b(?:no|not|never|cannot|can't|failed)\b", re.IGNORECASE)
_MOST_ANSWERS = 2_000


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first divergence of two runs.

    Attributes:
        row: its row; NO_PLACE if the runs are equal.
        is_act: an agent acted differently; else only inputs or words differ.
        cause: row of the first difference that the model received before; NO_PLACE without one.
        given: kind of that input. NOTHING means the model's own choice, or an unknown cause.
        is_known: the traffic shows what the model received.
        others: further rows that the model received before, at most some.
        membership: messages of both runs that only one model still had, as (first run, second run); (-1, -1) if none.
    """

    row: int
    is_act: bool = False
    cause: int = NO_PLACE
    given: Input = Input.NOTHING
    is_known: bool = False
    others: tuple[int, ...] = ()
    membership: tuple[int, int] = (NO_PLACE, NO_PLACE)


EQUAL = Divergence(NO_PLACE)
_MOST_OTHERS = 20
_ACTS = (DifferenceClass.ARGUMENTS, DifferenceClass.MISSING, DifferenceClass.EXTRA, DifferenceClass.ORDER,
         DifferenceClass.AGENT)  # fmt: skip


def find_divergence(one: RunSteps, other: RunSteps, rows: Rows) -> SlicedWork[Divergence]:
    """Finds the first divergence and its cause. O(messages) in numpy."""
    row, is_act = _first(one, other, rows)
    if row == NO_PLACE:
        return EQUAL
    yield
    if not is_act:
        given = Input(int(rows.inputs[row]))
        return Divergence(row, False, row if given is not Input.NOTHING else NO_PLACE, given, True)
    if _is_after_end(one, other, rows, row):
        ends = np.flatnonzero(rows.inputs == Input.END)
        return Divergence(row, True, int(ends[0]) if len(ends) else NO_PLACE, Input.END, True)
    return (yield from _Causes(one, other, rows, row).found())


def _first(one: RunSteps, other: RunSteps, rows: Rows) -> tuple[int, bool]:
    """Returns the first divergence, and True if it is an act."""
    steps = rows.notes < 0
    acting = np.zeros(len(rows), np.bool_)
    for run, places in ((one, rows.one), (other, rows.other)):
        known = np.flatnonzero(places >= 0)
        acting[known] |= run.acting[places[known]]
    # A thought is no act by itself: what follows from it is.
    thoughts = _kinds(one, other, rows) == StepKind.THOUGHT
    # A row without a step has the place -1.
    ends = np.append(one.ends_turn, False)[rows.one], np.append(other.ends_turn, False)[rows.other]
    announced = (_kinds(one, other, rows) == StepKind.ANSWER) & ~ends[0] & ~ends[1]
    acts = steps & acting & ~thoughts & ~announced & np.isin(rows.classes, _ACTS) & (rows.inputs == Input.NOTHING)
    answers = steps & acting & (rows.classes == DifferenceClass.WORDS) & ~thoughts
    acts |= answers & (ends[0] != ends[1])
    first = int(np.flatnonzero(acts)[0]) if acts.any() else len(rows)
    for row in np.flatnonzero((answers & ends[0] & ends[1])[:first])[:_MOST_ANSWERS].tolist():
        if _state_other_facts(_answer(one, int(rows.one[row])), _answer(other, int(rows.other[row]))):
            return row, True
    if first < len(rows):
        return first, True
    differs = np.flatnonzero(rows.classes != DifferenceClass.SAME)
    if not len(differs):
        return NO_PLACE, False
    given = np.flatnonzero(rows.inputs != Input.NOTHING)
    if answers.any():
        return int(np.flatnonzero(answers)[0]), True
    return (int(given[0]) if len(given) else int(differs[0])), False


def _is_after_end(one: RunSteps, other: RunSteps, rows: Rows, row: int) -> bool:
    """Returns True if one run alone has this act and all later steps, since the log of the other is cut off."""
    return any(run.is_cut and not (places[row:] >= 0).any() for run, places in ((one, rows.one), (other, rows.other)))


def _kinds(one: RunSteps, other: RunSteps, rows: Rows) -> NDArray[np.uint8]:
    """(n,) kind of the step of each row."""
    if not len(one):
        return other.kinds[rows.other]
    if not len(other):
        return one.kinds[rows.one]
    return np.where(rows.one >= 0, one.kinds[rows.one], other.kinds[rows.other])


def _state_other_facts(one: str, other: str) -> bool:
    """Returns True if one answer alone denies, or if each names a number or name that the other does not."""
    if bool(_DENIALS.search(one)) != bool(_DENIALS.search(other)):
        return True
    left, right = ({fact.casefold() for fact in _FACTS.findall(text)} for text in (one, other))
    return not (left <= right or right <= left)


def _answer(run: RunSteps, place: int) -> str:
    row, capture = int(run.rows[place]), run.analysis.capture
    if capture.records.is_big(row):
        return ""
    return counted_text(capture.string("kind", row) or "", capture.records.payload(row))


def act_of(run: RunSteps, places: Array, row: int) -> int:
    """Returns the message of a row's act; where a run has no such act, its next step in the same conversation.

    Args:
        run: the run.
        places: (n,) int64, index in the run's steps by row.
        row: the row.
    """
    if places[row] >= 0:
        return int(run.rows[places[row]])
    later = places[row:]
    later = later[later >= 0]
    if len(later):
        return int(run.rows[later[0]])
    return len(run.analysis)


def begin_of_act(run: RunSteps, places: Array, row: int, message: int) -> int:
    """Returns the first message of the output that contains an act: the model got nothing new after that."""
    place = int(places[row])
    output = int(run.outputs[place]) if place >= 0 else -1
    return min(message, int(run.table.rows[output])) if output >= 0 else message


def moment_before(run: RunSteps, places: Array, row: int) -> SlicedWork[Moment | None]:
    """Returns the context of the acting model before the act of a row, in steps; None without a known model."""
    message, analysis = act_of(run, places, row), run.analysis
    reader = find_reader(analysis, None, min(message, len(analysis) - 1)) if len(analysis) else None
    if reader is None:
        return None
    context = yield from ModelContext.in_steps(analysis, reader)
    return context.moment_at(begin_of_act(run, places, row, message) - 1)


class _Causes:
    """Finds the cause of one divergence."""

    def __init__(self, one: RunSteps, other: RunSteps, rows: Rows, row: int) -> None:
        self._runs, self._rows, self._row = (one, other), rows, row

    def found(self) -> SlicedWork[Divergence]:
        """Returns the divergence with its cause."""
        moments: list[Moment | None] = []
        for side in (0, 1):
            moments.append((yield from moment_before(self._runs[side], self._places(side), self._row)))
            yield
        if all(moment is None for moment in moments):
            return Divergence(self._row, True, is_known=False)
        seen = [self._seen(side, moment) for side, moment in enumerate(moments)]
        given = np.flatnonzero((self._rows.inputs != Input.NOTHING) & (seen[0] | seen[1]))
        # Traffic of a server alone does not show what its client's model received.
        known = all(moment is None or moment.context.reader.name not in (None, CLIENT) for moment in moments)
        gone = self._membership(moments) if known else None
        cause = int(given[0]) if len(given) else NO_PLACE
        if gone is not None and (cause == NO_PLACE or gone[0] < cause):
            row, messages = gone
            return Divergence(
                self._row, True, row, Input.COMPACTION, True, tuple(given[:_MOST_OTHERS].tolist()), messages
            )
        if cause == NO_PLACE:
            return Divergence(self._row, True, is_known=known)
        return Divergence(
            self._row, True, cause, Input(int(self._rows.inputs[cause])), True,
            tuple(given[1 : _MOST_OTHERS + 1].tolist()),
        )  # fmt: skip

    def _places(self, side: int) -> Array:
        return self._rows.other if side else self._rows.one

    def _seen(self, side: int, moment: Moment | None) -> NDArray[np.bool_]:
        """(n,) bool, rows whose differing message was in the model's context before the act."""
        rows, places, run = self._rows, self._places(side), self._runs[side]
        found = np.zeros(len(rows), np.bool_)
        if moment is None:
            return found
        known = np.flatnonzero(places >= 0)
        steps = places[known]
        ends = run.ends[steps]
        message = np.where(ends != NO_ROW, ends, run.rows[steps])
        # Settings and definitions concern the act of their row too.
        noted = rows.notes[known] >= 0
        limit = act_of(run, places, self._row)
        found[known] = np.where(noted, run.rows[steps] <= limit, self._included(moment, message))
        # What only the other run has, or what never arrived, stands before the next step.
        lost = (rows.inputs == Input.DELIVERY) | (rows.inputs == Input.COMPACTION)
        found[known] |= lost[known] & (run.rows[steps] < limit)
        found[self._row + 1 :] &= rows.inputs[self._row + 1 :] != Input.NOTHING
        return found

    @staticmethod
    def _included(moment: Moment, messages: Array) -> NDArray[np.bool_]:
        context = moment.context
        rows = context.rows[moment.places]
        if not len(rows):
            return np.zeros(len(messages), np.bool_)
        near = np.minimum(np.searchsorted(rows, messages), len(rows) - 1)
        return (rows[near] == messages) & (moment.included | moment.gone)[near]

    def _membership(self, moments: list[Moment | None]) -> tuple[int, tuple[int, int]] | None:
        """Returns the first row before the act that one model alone still had in full, with its messages."""
        if any(moment is None for moment in moments):
            return None
        rows = self._rows
        both = np.flatnonzero((rows.one >= 0) & (rows.other >= 0) & (rows.notes < 0))
        both = both[both < self._row]
        states: list[Array] = []
        messages: list[Array] = []
        for side, moment in enumerate(moments):
            assert moment is not None
            run, steps = self._runs[side], self._places(side)[both]
            ends = run.ends[steps]
            message = np.where(ends != NO_ROW, ends, run.rows[steps])
            context = moment.context.rows[moment.places]
            if not len(context):
                return None
            near = np.minimum(np.searchsorted(context, message), len(context) - 1)
            known = context[near] == message
            included = np.where(known, np.where(moment.collapsed[near], 2, np.where(moment.included[near], 1, 0)), -1)
            gone = known & moment.gone[near]
            states.append(np.where(gone, 0, np.where(included == 0, -1, included)))
            messages.append(message)
        differs = np.flatnonzero((states[0] != states[1]) & (states[0] >= 0) & (states[1] >= 0))
        if not len(differs):
            return None
        place = int(differs[0])
        return int(both[place]), (int(messages[0][place]), int(messages[1][place]))
