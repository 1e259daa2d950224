"""Steps of traces and of recorded model APIs: durations of spans, outputs of models, one turn a trace."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from inspector.analysis.views.steps.step_columns import NO_NODE, StepKind, StepState, StepTable
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.time_split import split_time
from inspector.document.document import CaptureDocument
from inspector.store.columns.hashes import NO_ROW
from tests.builders import document_at, document_of
from tests.samples import sample
from tests.unit.formats.test_model_calls import asked, end, head

_MS, _S = 1_000_000, 1_000_000_000


def _table(name: str) -> StepTable:
    with closing(CaptureDocument()) as document:
        for _ in document.open_log(sample(name), together=True):
            pass
        return step_table(document.analysis)


def test_spans_have_their_own_durations() -> None:
    table = _table("formats/otlp.jsonl")
    spans = np.flatnonzero(table.kinds == StepKind.SPAN)
    assert len(spans)
    assert (table.took_ns[spans] > 0).all()
    for span in spans.tolist():
        below = np.flatnonzero((table.nodes == table.opens[span]) & (table.opens[span] != NO_NODE))
        below = below[table.took_ns[below] >= 0]
        assert (table.stops_ns[below] <= table.stops_ns[span]).all()


def test_a_trace_is_one_turn_and_its_root_belongs_to_it() -> None:
    table = _table("formats/otlp.jsonl")
    root = int(np.flatnonzero(table.kinds == StepKind.SPAN)[0])
    assert table.turns[root] == 0
    asked = np.flatnonzero(table.kinds == StepKind.PROMPT)
    assert len(table.prompts) < len(asked)


def test_outputs_of_a_trace_have_the_duration_of_their_span() -> None:
    table = _table("formats/otlp.jsonl")
    models = np.flatnonzero(table.kinds == StepKind.MODEL)
    assert (table.took_ns[models] > 0).all()
    assert (table.tokens[models, 1] > 0).all()


def test_a_recorded_model_call_is_an_output_and_no_call() -> None:
    table = _table("formats/model-calls.jsonl")
    models = np.flatnonzero(table.kinds == StepKind.MODEL)
    assert round(float(table.took_ns[models[0]]) / _MS, 3) == 2.603
    assert (table.rows[models[0]], table.ends[models[0]]) == (4, 6)
    calls = table.rows[table.kinds == StepKind.CALL]
    assert 6 in calls  # the tool that the model called
    assert 1 not in calls  # the request to the model


def test_a_request_to_a_model_without_tokens_is_the_work_of_the_model() -> None:
    table = step_table(document_at(sample("aider-calls.llm.history")).analysis)
    outputs = np.flatnonzero(table.kinds == StepKind.MODEL)
    assert len(outputs) > 0
    assert (table.ends[table.kinds == StepKind.CALL] == NO_ROW).all()
    split = split_time(table, np.arange(len(table)))
    assert split.model == table.took_ns[outputs].clip(0).sum() > 0
    assert (split.tools, split.person) == (0, 0)


def _wire(*lines: dict[str, Any]) -> StepTable:
    return step_table(document_of(*lines).analysis)


_REMINDER = {"type": "text", "text": "<system-reminder>\nBe brief.\n</system-reminder>"}
_FAILURE = {"error": {"message": "Overloaded", "type": "overloaded_error"}}


def _asks(x: int, *parts: Any, **more: Any) -> dict[str, Any]:
    return asked(x, messages=[{"role": "user", "content": list(parts)}], **more)


def _says(x: int, text: str) -> dict[str, Any]:
    answer = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}
    return head(x, message={"id": f"r{x}", **answer})


def test_a_text_of_the_program_begins_no_turn() -> None:
    table = _wire(_asks(1, _REMINDER, {"type": "text", "text": "Go on"}), _says(1, "Done"), end(1))
    assert table.rows[table.prompts].tolist() == [2]
    assert table.kinds[table.step_of[1]] == StepKind.RECORD


def test_a_prompt_after_a_reminder_in_one_text_begins_a_turn() -> None:
    both = {"type": "text", "text": _REMINDER["text"] + "\nGo on"}
    assert len(_wire(_asks(1, both), _says(1, "Done"), end(1)).prompts) == 1


def test_an_image_beside_a_prompt_begins_no_turn_of_its_own() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    table = _wire(_asks(1, {"type": "text", "text": "See"}, image), _says(1, "Done"), end(1))
    assert table.rows[table.prompts].tolist() == [1]


def test_a_call_that_is_repeated_after_a_failure_ends_with_its_answer() -> None:
    said = {"type": "text", "text": "Go on"}
    table = _wire(
        _asks(1, said), head(1, 529, message=_FAILURE), end(1),
        _asks(2, said, headers={"x-stainless-retry-count": "1"}), _says(2, "Done"), end(2),
    )  # fmt: skip
    assert not (table.kinds == StepKind.CALL).any()
    (output,) = np.flatnonzero(table.kinds == StepKind.MODEL)
    assert (table.attempts[output], table.states[output]) == (2, StepState.NONE)
    assert table.took_ns[output] / _S == 4  # from the first request


def test_a_call_that_always_fails_is_one_failed_output() -> None:
    said, table = {"type": "text", "text": "Go on"}, list[dict[str, Any]]()
    for x in (1, 2, 3):
        headers = {"x-stainless-retry-count": str(x - 1)}
        table += [_asks(x, said, headers=headers), head(x, 529, message=_FAILURE), end(x)]
    steps = _wire(*table)
    assert not (steps.kinds == StepKind.CALL).any()
    (output,) = np.flatnonzero(steps.kinds == StepKind.MODEL)
    assert (steps.attempts[output], steps.states[output]) == (3, StepState.FAILED)
