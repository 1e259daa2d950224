"""Steps of every log agree with the counts of `summary`: calls, failures, refusals, tokens, dollars."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from inspector.analysis import Analysis
from inspector.analysis.views.account.tool_calls import calls_of
from inspector.analysis.views.steps.step_columns import StepKind, StepState
from inspector.analysis.views.steps.step_table import step_table
from inspector.document.document import CaptureDocument
from tests.samples import FORMAT_SAMPLES, RECORDINGS, recordings_swept

LOGS = [
    *FORMAT_SAMPLES.values(),
    *sorted(path for path in RECORDINGS.rglob("*.*") if path.suffix in (".jsonl", ".json")),
]
PRICES = "1 in, 2 out, 0.1 cache read, 1.25 cache write"


@pytest.mark.parametrize("path", recordings_swept(LOGS), ids=lambda path: path.name)
def test_steps_agree_with_the_summary(path: Path) -> None:
    with closing(CaptureDocument()) as document:
        for _ in document.open_log(path, together=True):
            pass
        _compare(document.analysis)


def _compare(analysis: Analysis) -> None:
    analysis.costs.set_prices([f"{model} = {PRICES}" for model in analysis.usage.calls_by_model() if model], "")
    table, calls, usage = step_table(analysis), calls_of(analysis), analysis.usage.total()
    own = np.flatnonzero((table.kinds == StepKind.CALL) & np.isin(table.rows, calls.rows))
    assert sorted(table.rows[own].tolist()) == calls.rows.tolist()
    assert (table.states[own] == StepState.FAILED).sum() == (calls.failed & ~calls.declined).sum()
    assert (table.states[own] == StepState.REJECTED).sum() == calls.declined.sum()
    assert np.maximum(table.tokens, 0).sum(axis=0).tolist() == list(usage or (0, 0, 0, 0))
    cost = analysis.costs.total()
    assert np.nansum(table.dollars) == pytest.approx(cost.total if cost is not None else 0)
    assert len(table.step_of) == len(analysis)
    assert (np.diff(table.rows) >= 0).all()
    took = table.took_ns[table.kinds == StepKind.MODEL]
    assert (took < 10**18).all()
