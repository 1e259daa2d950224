"""Spans as SDKs print them and other programs export them are read as traces."""

from __future__ import annotations

import copy
import json
import random
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.summary import summary
from inspector.formats.file_records import complete_records
from inspector.formats.langfuse import conversion as langfuse
from inspector.formats.langsmith import conversion as langsmith
from inspector.formats.mlflow import conversion as mlflow
from inspector.formats.otlp import printed
from inspector.formats.otlp.conversion import lines_in_order
from inspector.formats.otlp.file_conversion import OtlpFile
from inspector.formats.otlp.spans import spans_in
from inspector.formats.otlp.stream_conversion import as_they_come
from inspector.formats.phoenix import conversion as phoenix
from inspector.formats.span_records import span_document, span_record
from inspector.formats.weave import conversion as weave
from inspector.protocol.tolerant_encoder import to_json
from tests.builders import document_at, log_file
from tests.samples import FORMAT_SAMPLES
from tests.unit.formats.test_conformance import places_in
from tests.varied import ODD

_CONSOLE = """{
  resource: { attributes: { 'service.name': "the cook's" } },
  traceId: 'ab', parentId: undefined, name: `it's "hot"`, id: 'cd', timestamp: 1790000001000000, duration: 2000,
  attributes: {
    text: 'first\\n' +
      'second', big: 1e+21, n: -0.5, list: [ 1, 2, ... 3 more items ], deep: [Object], none: null
  },
  status: { code: 2, message: 'cold' }
}
"""


def summary_of(value: Any) -> dict[str, Any]:
    """Opens a document with a value."""
    return summary(document_at(log_file(json.dumps(value, indent=1).encode())), "")


def test_spans_on_a_console_of_javascript_are_read() -> None:
    (line,) = b"".join(lines_in_order(_CONSOLE.encode())).splitlines()
    (span,) = spans_in(json.loads(line))
    assert (span.name, span.trace, span.parent, span.failed, span.status) == ('it\'s "hot"', "ab", "", True, "cold")
    assert span.end_ns - span.start_ns == 2_000_000
    assert span.resource == {"service.name": "the cook's"}
    assert span.attributes == {"text": "first\nsecond", "big": 1e21, "n": -0.5, "list": "[1,2]", "deep": "[Object]"}


@pytest.mark.parametrize("name", ["python-console.json", "javascript-console.txt"])
def test_a_torn_object_at_the_end_is_one_unreadable_line(name: str) -> None:
    document = document_at(log_file(FORMAT_SAMPLES[name].read_bytes()[:-3], name))
    assert (document.format, document.unreadable) == ("otlp", 1)


def test_spans_dumped_with_ids_as_numbers_are_read() -> None:
    context = {"trace_id": 0xAB, "span_id": 0xCD}
    span = {"name": "wait", "context": context, "parent": {**context, "span_id": 1}, "start_time": 1758026593210770000,
            "end_time": 1758026593449611000, "status": {"status_code": "error"}, "attributes": {}}  # fmt: skip
    dumped = {"spans": [span], "final_output": "done"}
    (found,) = spans_in(json.loads(b"".join(lines_in_order(json.dumps(dumped).encode()))))
    assert (found.trace, found.identifier, found.parent, found.failed) == (
        f"{0xAB:016x}",
        f"{0xCD:016x}",
        f"{1:016x}",
        True,
    )
    assert summary_of(dumped)["kinds"] == {"otlp/span": 1}


def test_the_reported_cost_of_nested_calls_is_counted_once() -> None:
    told = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 1,
            "gen_ai.usage.cost": 0.5}  # fmt: skip
    spans = [
        span_record(trace="ab", identifier=name, parent=parent, name="chat", start_ns=start, end_ns=9, attributes=told)
        for name, parent, start in (("c1", None, 1), ("c2", "c1", 2))
    ]
    assert summary(document_at(log_file(to_json(span_document(spans)))), "")["stated_cost"] == 0.5


def test_a_call_without_an_id_in_an_answer_is_that_of_the_tools_span() -> None:
    answer = {"content": {"role": "model", "parts": [{"function_call": {"name": "kettle", "args": {}}}]}}
    model = {"gen_ai.operation.name": "chat", "gcp.vertex.agent.llm_response": answer}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "kettle", "gen_ai.tool.call.id": "adk-1"}
    spans = [
        span_record(trace="ab", identifier=name, parent=None, name=name, start_ns=start, end_ns=9, attributes=told)
        for name, start, told in (("m1", 1, model), ("t1", 2, tool), ("t2", 3, tool | {"gen_ai.tool.call.id": "adk-2"}))
    ]
    assert summary(document_at(log_file(to_json(span_document(spans)))), "")["calls"]["tools"] == 2


def test_messages_of_several_programs_are_read_from_a_span() -> None:
    call = {"id": "k1", "function": {"name": "kettle", "arguments": "{}"}}
    told = {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": [
            {"role": "user", "content": "boil"},
            {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [call]}},
            {"role": "kettle", "content": "hot"},
            {"role": "tool", "content": {"type": "function", "function": {"name": "kettle"}}},
        ],
        "langfuse.observation.output": [{"role": "assistant", "parts": [{"type": "text", "content": "done"}]}],
        "langfuse.observation.usage_details": {"input": 9, "output": 2, "output_reasoning": 3, "total": 14},
    }
    span = span_record(trace="ab", identifier="c1", parent=None, name="chat", start_ns=1, end_ns=9, attributes=told)
    found = summary(document_at(log_file(to_json(span_document([span])))), "")
    assert found["kinds"] == {"chat": 2, "mcp/request": 1, "mcp/response": 1}
    assert (found["usage"]["input"], found["usage"]["output"]) == (9, 5)


@pytest.mark.parametrize("counts", [
    {"promptTokens": 9, "completionTokens": 2, "calculatedTotalCost": 0.5},
    {"usage": {"input": 9, "output": 2, "total": 11}, "usageDetails": {}, "costDetails": {"total": 0.5}},
    {"usageDetails": {"input": 9, "output": 2}, "promptTokens": 1, "costDetails": {"input": 0.25, "output": 0.25}},
])  # fmt: skip
def test_tokens_of_langfuse_are_read_under_names_of_each_age(counts: dict[str, Any]) -> None:
    told = {"id": "o1", "traceId": "t1", "type": "GENERATION", "startTime": "2024-03-01T10:00:00Z", "model": "m-1",
            "output": "done", **counts}  # fmt: skip
    found = summary_of({"id": "t1", "name": "egg", "observations": [told]})
    assert (found["usage"]["input"], found["usage"]["output"], found["stated_cost"]) == (9, 2, 0.5)


_GROWING = ("python-console.json", "javascript-console.txt", "javascript-file.jsonl")


@pytest.mark.parametrize("name", _GROWING)
def test_a_console_shows_each_span_as_it_comes(name: str) -> None:
    data = FORMAT_SAMPLES[name].read_bytes()
    pauses = chain.from_iterable((line, None) for line in data.splitlines(keepends=True))
    pieces = [one for one in as_they_come(pauses) if one]
    assert len(pieces) > 2
    assert figures_of(b"".join(pieces)) == figures_of(data)


@pytest.mark.parametrize("name", _GROWING)
def test_a_log_of_spans_grows(name: str) -> None:
    data = FORMAT_SAMPLES[name].read_bytes()
    cut = data.index(b"\n}\n") + 2 if data.startswith(b"{\n") else data.index(b"\n") + 1
    path = log_file(data[:cut])
    growing = OtlpFile(path)
    lines = b"".join(growing.lines()) + growing.convert_more(data[cut:-9]) + growing.convert_more(data[-9:])
    assert growing.can_grow
    assert figures_of(lines) == figures_of(data)


def figures_of(log: bytes, name: str = "log.jsonl") -> list[Any]:
    """Returns the sums of a log."""
    found = summary(document_at(log_file(log, name)), "")
    return [found[key] for key in ("usage", "calls", "models", "unreadable")]


def test_an_outer_call_that_ends_with_the_inner_one_counts_no_tokens() -> None:
    told = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 1}
    spans = [
        span_record(trace="ab", identifier=name, parent=parent, name="chat", start_ns=start, end_ns=9, attributes=told)
        for name, parent, start in (("c1", None, 1), ("c2", "c1", 2))
    ]
    lines = b"".join(to_json(span_document([one])) + b"\n" for one in spans)
    assert summary(document_at(log_file(lines)), "")["usage"]["input"] == 3


@pytest.mark.parametrize("name", ["frame.jsonl", "runs.jsonl"])
def test_spans_in_a_parquet_file_are_read(name: str, tmp_path: Path) -> None:
    import duckdb

    sample, target = FORMAT_SAMPLES[name], tmp_path / "spans.parquet"
    texts = [f"to_json({key})::VARCHAR AS {key}" for key in ("inputs", "outputs", "extra") if name == "runs.jsonl"]
    told = f"REPLACE ({', '.join(texts)})" if texts else ""
    rows = f"SELECT * {told} FROM read_json('{sample}', union_by_name = true)"
    duckdb.execute(f"COPY ({rows}) TO '{target}'")
    assert figures_of(target.read_bytes(), "spans.parquet") == figures_of(sample.read_bytes())


_EXPORTS = {
    "python-console.json": printed.as_otlp, "javascript-file.jsonl": printed.as_otlp, "trace.json": langfuse.restate,
    "observations.jsonl": langfuse.restate, "runs.jsonl": langsmith.restate, "batch.json": langsmith.restate,
    "trace-2.json": mlflow.restate, "traces-3.json": mlflow.restate, "spans.json": phoenix.restate,
    "frame.jsonl": phoenix.restate, "calls.jsonl": weave.restate,
}  # fmt: skip


@pytest.mark.parametrize("name", _EXPORTS)
@given(seed=st.integers(0, (1 << 32) - 1))
def test_values_of_any_type_are_converted(name: str, seed: int) -> None:
    chance = random.Random(seed)
    records = [one for one in complete_records(FORMAT_SAMPLES[name].read_bytes()) if len(one) > 2]
    value = json.loads(chance.choice(records))
    for _ in range(chance.randint(1, 3)):
        holder, key = chance.choice(list(places_in(value)))
        holder[key] = copy.deepcopy(chance.choice(ODD))
    assert b"".join(lines_in_order(to_json(value), _EXPORTS[name])).count(b"\n")


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_runs_that_are_posted_and_patched_are_joined(apart: bool, named: bool) -> None:
    def run(identifier: str, **members: Any) -> dict[str, Any]:
        own = {"id": identifier, "trace_id": "t", "dotted_order": f"20260101T000000000000Z{identifier}"}
        return own | ({"parent_run_id": "t"} if identifier != "t" else {}) | members

    posted = [
        run(identifier, run_type=kind, name=kind, start_time=f"2026-01-01T00:00:0{place}Z", inputs={"input": "q"})
        for place, (identifier, kind) in enumerate([("t", "chain"), ("m", "llm"), ("k", "tool")])
    ]
    answer = {"choices": [{"message": {"role": "assistant", "content": "yes"}}],
              "usage": {"prompt_tokens": 5, "completion_tokens": 2}}  # fmt: skip
    patched = [
        run("m", end_time="2026-01-01T00:00:01.5Z", outputs=answer),
        run("k", end_time="2026-01-01T00:00:03Z", outputs={"output": "found"}),
        run("t", end_time="2026-01-01T00:00:04Z", outputs={"output": "done"}),
    ]
    if named:  # as clients write that leave out the inputs
        kinds = {"t": "chain", "m": "llm", "k": "tool"}
        patched = [one | {"name": kinds[one["id"]], "run_type": kinds[one["id"]]} for one in patched]
    parts = [{"post": posted}, {"patch": patched}] if apart else [{"post": posted, "patch": patched}]
    log = "\n".join(map(json.dumps, parts)).encode()
    document = document_at(log_file(log, "log.jsonl"))
    found = summary(document, "x")
    assert (found["usage"]["input"], found["usage"]["output"]) == (5, 2)
    assert found["calls"] == {"tools": 1, "answered": 1, "failed": 0, "unanswered": 0, "rejected": 0}
    assert len(document.capture) == 5
