"""Classifies the rows of two aligned runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.views.compare.alignment import ABSENT, Aligned
from inspector.analysis.views.compare.difference_classes import DifferenceClass, Input
from inspector.analysis.views.compare.run_steps import RunSteps
from inspector.analysis.views.compare.surroundings import Change, Surroundings
from inspector.analysis.views.steps.step_columns import StepKind, StepState
from inspector.store.columns.hashes import NO_ROW

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of two runs in display order.

    Attributes:
        one, other: (n,) int64, index in each run's steps; ABSENT.
        depths: (n,) int64.
        classes: (n,) uint8, `DifferenceClass`.
        inputs: (n,) uint8, `Input`.
        notes: (n,) int64, number of the change of model, settings or definitions; -1 for a step.
    """

    one: Array
    other: Array
    depths: Array
    classes: NDArray[np.uint8]
    inputs: NDArray[np.uint8]
    notes: Array

    def __len__(self) -> int:
        return len(self.one)

    def folds(self, least: int) -> list[tuple[int, int]]:
        """Returns the first row and the row after the last of each stretch of at least some equal rows."""
        same = np.concatenate(([False], self.classes == DifferenceClass.SAME, [False]))
        edges = np.flatnonzero(np.diff(same.astype(np.int8)))
        return [(a, b) for a, b in edges.reshape(-1, 2).tolist() if b - a >= least]


def classify(one: RunSteps, other: RunSteps, aligned: Aligned, around: Surroundings) -> tuple[Rows, list[Change]]:
    """Classifies the rows, and inserts changes of models, settings and definitions before the steps they concern."""
    classes, inputs = _Classes(one, other, aligned).found()
    delivered = around.other_deliveries(aligned.one, aligned.other) & (classes == DifferenceClass.SAME)
    classes[delivered], inputs[delivered] = DifferenceClass.MISSING, Input.DELIVERY
    collapsed = around.other_collapses(aligned.one, aligned.other) & (classes == DifferenceClass.SAME)
    classes[collapsed], inputs[collapsed] = DifferenceClass.RESULT, Input.COMPACTION
    rows = Rows(aligned.one, aligned.other, aligned.depths, classes, inputs, np.full(len(classes), -1, np.int64))
    return _with_notes(rows, around)


class _Classes:
    def __init__(self, one: RunSteps, other: RunSteps, aligned: Aligned) -> None:
        self._one, self._other, self._aligned = one, other, aligned
        self._pair = (aligned.one != ABSENT) & (aligned.other != ABSENT)
        count = len(aligned.one)
        self.classes = np.zeros(count, np.uint8)
        self.inputs = np.zeros(count, np.uint8)

    def found(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Returns classes and inputs of the rows."""
        self._alone()
        pairs = np.flatnonzero(self._pair)
        if not len(pairs):
            return self.classes, self.inputs
        a, b = self._aligned.one[pairs], self._aligned.other[pairs]
        one, other = self._one, self._other
        kinds = one.kinds[a]
        acts = one.acts[a] != other.acts[b]
        prompts = (kinds == StepKind.PROMPT) | one.is_system[a]
        states = one.states[a], other.states[b]
        broken = [np.isin(some, (StepState.FAILED, StepState.REJECTED)) for some in states]
        answered = one.ends[a] != NO_ROW, other.ends[b] != NO_ROW
        results = (one.results[a] != other.results[b]) & answered[0] & answered[1]
        lost = (kinds == StepKind.CALL) & (answered[0] != answered[1]) & ~broken[0] & ~broken[1]
        # From the weakest to the strongest: a later one overrides.
        self._set(pairs[self._aligned.moved[pairs]], DifferenceClass.ORDER)
        self._set(pairs[results], DifferenceClass.RESULT, Input.RESULT)
        self._set(pairs[lost], DifferenceClass.MISSING, Input.DELIVERY)
        self.inputs[pairs[lost & (one.open_at_end[a] | other.open_at_end[b])]] = Input.END
        self._set(pairs[broken[0] != broken[1]], DifferenceClass.FAILED, Input.RESULT)
        self._set(pairs[results & one.lists[a]], DifferenceClass.DEFINITION, Input.DEFINITION)
        self._set(pairs[self._other_agents(a, b)], DifferenceClass.AGENT)
        self._set(pairs[acts & (kinds == StepKind.CALL)], DifferenceClass.ARGUMENTS)
        self._set(pairs[acts & (kinds != StepKind.CALL)], DifferenceClass.WORDS)
        self.inputs[pairs[acts]] = Input.NOTHING  # another call has another result
        self._set(pairs[acts & prompts], DifferenceClass.PROMPT, Input.PROMPT)
        self._set(pairs[acts & (kinds == StepKind.COMPACTION)], DifferenceClass.WORDS, Input.COMPACTION)
        return self.classes, self.inputs

    def _set(self, rows: Array, found: DifferenceClass, given: Input = Input.NOTHING) -> None:
        self.classes[rows] = found
        if given is not Input.NOTHING:
            self.inputs[rows] = given

    def _alone(self) -> None:
        """Classifies the steps that one run has alone."""
        for run, other, places, found in (
            (self._one, self._other, self._aligned.one, DifferenceClass.MISSING),
            (self._other, self._one, self._aligned.other, DifferenceClass.EXTRA),
        ):
            rows = np.flatnonzero(~self._pair & (places != ABSENT))
            steps = places[rows]
            self.classes[rows] = found
            # Tools that are listed again are no other definitions.
            defined = run.lists[steps] & ~np.isin(run.results[steps], other.results[other.lists])
            self.inputs[rows] = np.select(
                [run.kinds[steps] == StepKind.COMPACTION, defined,
                 (run.kinds[steps] == StepKind.PROMPT) | run.is_system[steps]],
                [Input.COMPACTION, Input.DEFINITION, Input.PROMPT], Input.NOTHING,
            )  # fmt: skip
            self.classes[rows[run.is_system[steps]]] = DifferenceClass.PROMPT

    def _other_agents(self, a: Array, b: Array) -> NDArray[np.bool_]:
        """(n,) bool, pairs whose senders differ, though one of them takes part in both runs."""
        one, other = self._one, self._other
        strings = one.analysis.capture.strings, other.analysis.capture.strings
        senders = one.senders[a], other.senders[b]
        both = np.stack(senders, axis=1)
        known, places = np.unique(both, axis=0, return_inverse=True)
        names = [
            {some[code] for code in np.unique(run.senders).tolist()}
            for some, run in zip(strings, (one, other), strict=True)
        ]
        differs = [
            strings[0][x] != strings[1][y] and (strings[0][x] in names[1] or strings[1][y] in names[0])
            for x, y in known.tolist()
        ]
        return np.array(differs, np.bool_)[places.reshape(-1)]


def _with_notes(rows: Rows, around: Surroundings) -> tuple[Rows, list[Change]]:
    """Inserts a row before the first step of each change of model, settings or definitions."""
    changes = around.changes(rows.one, rows.other)
    if not changes:
        return rows, []
    where = np.array([change.row for change in changes], np.int64)
    found = Rows(
        np.insert(rows.one, where, rows.one[where]), np.insert(rows.other, where, rows.other[where]),
        np.insert(rows.depths, where, rows.depths[where]),
        np.insert(rows.classes, where, [change.found for change in changes]),
        np.insert(rows.inputs, where, [change.given for change in changes]),
        np.insert(rows.notes, where, np.arange(len(changes))),
    )  # fmt: skip
    return found, changes
