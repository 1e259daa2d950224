"""Fields of an evaluation's runs: task, score and error of the run that a message belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from inspector.analysis import Analysis
from inspector.analysis.arrays.field_columns import Column, Flags, Interned, Numbers
from inspector.filters.field import Depends, Field, FieldType
from inspector.formats.run_files import number_or_none
from inspector.formats.table import OUTCOME_KINDS
from inspector.protocol.secrets.masking import mask_text


class RunFact(NamedTuple):
    """One fact about a run, a member of its outcome: a field of messages, and a column of surveys."""

    name: str
    type: FieldType
    label: str
    help: str


RUN_FACTS = (
    RunFact("task", FieldType.STRING, "Task", "Task of its run, as the evaluation names it."),
    RunFact("score", FieldType.NUMBER, "Score", "Score of its run, if the evaluation states a number."),
    RunFact("passed", FieldType.BOOLEAN, "Passed", "The evaluation counts the task of its run as solved."),
    RunFact("error", FieldType.STRING, "Run error", "Reason for which its run failed, as the evaluation states it."),
)


def outcomes_by_space(analysis: Analysis) -> dict[int, Mapping[str, Any]]:
    """Returns the outcome of each run, by the string id of its space."""
    capture = analysis.capture
    codes = [code for kind in OUTCOME_KINDS if (code := capture.strings.find(kind))]
    if not codes:
        return {}
    rows = np.flatnonzero(np.isin(capture.columns["kind"][:], codes))
    spaces = capture.columns["space"][rows]
    return {space: capture.records.payload(row) for space, row in zip(spaces.tolist(), rows.tolist(), strict=True)}


def _column(fact: RunFact) -> Callable[[Analysis], Column]:
    def column(analysis: Analysis) -> Column:
        spaces, outcomes = analysis.capture.columns["space"][:], outcomes_by_space(analysis)
        places = np.zeros(int(spaces.max(initial=0)) + 1, np.uint32)  # 0 for messages without an outcome
        places[list(outcomes)] = range(1, 1 + len(outcomes))
        values = [None, *(one.get(fact.name) for one in outcomes.values())]
        if fact.type is FieldType.STRING:
            table = [mask_text(one) if isinstance(one, str) else "" for one in values]
            ids = np.array([place if text else 0 for place, text in enumerate(table)], np.uint32)
            return Interned(ids[places[spaces]], table)
        if fact.type is FieldType.BOOLEAN:
            return Flags(np.array([one is True for one in values], np.uint8)[places[spaces]], 1)
        known = [np.nan if (one := number_or_none(value)) is None else one for value in values]
        return Numbers(np.array(known, np.float64)[places[spaces]])

    return column


RUN_FIELDS = tuple(
    Field(f"run.{one.name}", one.type, one.label, one.help, _column(one), Depends.PASS) for one in RUN_FACTS
)
