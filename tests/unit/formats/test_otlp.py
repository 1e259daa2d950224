"""Traces as messages: calls once, tokens once, contexts and agents, whatever convention recorded them."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.account.tool_calls import calls_of, tool_calls
from inspector.analysis.views.latency.latency import latency_by_tool, tools_of
from inspector.analysis.views.steps.step_table import step_table
from inspector.document.document import CaptureDocument
from inspector.document.summary import context_nodes, summary
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.sentences import info
from inspector.formats.line_reading import read_line_as
from inspector.formats.otlp import content
from inspector.formats.otlp import reader as otlp
from inspector.formats.otlp.conversion import lines_in_order
from inspector.formats.otlp.stream_conversion import as_they_come
from inspector.present.answers import summary_answer, waste_of
from inspector.protocol.record import Shape
from inspector.store.columns.flags import Flag
from tests.builders import GrowingLog, document_at, field_values, log_file
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES

_DATA = ROOT / "tests/data/otlp"
_OWN = FORMAT_SAMPLES["otlp.jsonl"]
_SHARED = ROOT.parent / "shared/recordings/transcripts"


def opened(name: str) -> CaptureDocument:
    return document_at(_OWN if name.startswith(_OWN.stem) else _DATA / name)


@pytest.mark.parametrize(
    ("name", "tokens", "calls", "people", "agents"),
    [
        ("langgraph-openinference-0.1.80", (110, 23, 20, 0), {"add": 1, "fail": 1}, {"agent"}, 2),
        ("langgraph-traceloop-0.40.14-old-names", (60, 12, 20, 0), {"add": 1, "fail": 1}, {"adder"}, 0),
        ("openai-agents-openinference-2.6.0", (215, 19, 0, 0), {"transfer_to_billing": 1, "lookup": 1},
         {"Triage", "Billing"}, 2),
        ("pydantic-ai-1.0.18-v1-events-attribute", (370, 52, 0, 0), {"ask_weather": 1, "flaky": 1},
         {"planner", "weather_agent"}, 1),
        ("otlp", (162, 52, 192, 16), {"ask_weather": 1, "flaky": 1}, {"planner", "weather_agent"}, 1),
    ],
)  # fmt: skip
def test_samples(name: str, tokens: tuple[int, ...], calls: dict[str, int], people: set[str], agents: int) -> None:
    document = opened(f"{name}.jsonl")
    found, account = summary_answer(document, name, step_table(document.analysis), tokens=False)
    assert found["format"] == "otlp"
    assert found["unreadable"] == 0
    assert tuple(found["usage"].values()) == tokens
    assert dict(tool_calls(document.analysis).by_tool) == calls
    assert found["calls"]["unanswered"] == 0
    assert people <= set(found["participants"])
    assert found["sub_agents"] == agents
    assert any(line.about == "Failed" for line in account.lines) == (found["calls"]["failed"] > 0)


@pytest.mark.skipif(not _SHARED.exists(), reason="traces of others are not part of the project")
def test_tokens_of_all_samples_are_counted_once() -> None:
    expected: dict[str, Any] = json.loads((_SHARED / "EXPECTED.json").read_text("utf-8"))
    for name, given_ in expected.items():
        if name.startswith("otlp/") and "tokens_of_model_spans" in given_:
            usage = summary(document_at(_SHARED / name), name)["usage"]
            told = given_["tokens_of_model_spans"]
            assert usage["input"] + usage["cache_read"] + usage["cache_write"] == told["input"], name
            assert (usage["output"], usage["cache_read"]) == (told["output"], told["cache_read"]), name


def test_an_agent_within_a_call_is_a_context_within_one() -> None:
    nodes = list(context_nodes(opened("otlp.jsonl")))
    assert [(node["label"], node["depth"], node["state"]) for node in nodes] == [
        ("agent run", 1, "concluded"), ("ask_weather", 2, "concluded"), ("agent run", 3, "concluded"),
    ]  # fmt: skip


def _span(
    name: str, identifier: str, parent: str = "", start: int = 1, end: int = 2, **attributes: Any
) -> dict[str, Any]:
    told = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    return {
        "traceId": "ab" * 16, "spanId": identifier * 8, "parentSpanId": parent * 8, "name": name,
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + start), "endTimeUnixNano": 1_700_000_000_000_000_000 + end,
        "attributes": told,
    }  # fmt: skip


def _line(*spans: dict[str, Any], holder: str = "resourceSpans") -> str:
    return json.dumps({holder: [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]})


_NESTED = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m", "gen_ai__usage__input_tokens": "7"}


@pytest.mark.parametrize("holder", ["resourceSpans", "resource_spans", "batches"])
def test_three_nested_calls_of_a_model_are_one_whatever_their_order(holder: str) -> None:
    spans = [
        _span("c", "cc", "bb", 3, 4, **_NESTED),
        _span("b", "bb", "aa", 2, 5, **_NESTED),
        _span("a", "aa", "", 1, 6, **_NESTED),
    ]
    for order in (spans, spans[::-1]):
        log = log_file("\n".join(_line(one, holder=holder) for one in order).encode(), "x.jsonl")
        usage = summary(document_at(log), "x")["usage"]
        assert usage["input"] == 7


@pytest.mark.parametrize("fails", [False, True])
def test_a_call_told_by_two_agents_is_one_with_one_state_and_one_latency(fails: bool) -> None:
    said = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "t", "arguments": {}}]}]
    )
    model = _span(
        "chat m", "cc", start=1, end=2, **_NESTED, gen_ai__agent__name="editor", gen_ai__output__messages=said
    )
    tool = _span("execute_tool t", "dd", start=3, end=4, gen_ai__tool__name="t", gen_ai__tool__call__id="c1",
                 gen_ai__agent__name="runner", **({"error__type": "boom"} if fails else {}))  # fmt: skip
    analysis = document_at(log_file(_line(model, tool).encode(), "x.json")).analysis
    calls = calls_of(analysis)
    assert calls.failed.tolist() == [fails]
    requests = np.flatnonzero(tools_of(analysis, slice(0, len(analysis))) != 0)
    states = [FIELD_BY_NAME["state"].value(analysis, row) for row in requests.tolist()]
    assert set(states) - {None} == {"failed" if fails else "answered"}
    assert latency_by_tool(analysis)["t"].count == 1


def test_calls_with_one_id_in_two_traces_have_their_own_results() -> None:
    said = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "edit", "arguments": {}}]}]
    )
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__call__id": "c1"}
    outer = [
        _span("chat m", "cc", start=1, end=2, **_NESTED, gen_ai__output__messages=said, gen_ai__agent__name="editor"),
        _span("execute_tool edit", "dd", start=3, end=9, **tool, gen_ai__tool__name="edit",
              gen_ai__tool__call__result="edited"),
    ]  # fmt: skip
    inner = _span("execute_tool write", "ee", start=4, end=7, **tool, gen_ai__tool__name="write",
                  gen_ai__tool__call__result="written")  # fmt: skip
    document = document_at(log_file(_line(*outer, inner | {"traceId": "ef" * 16}).encode(), "x.json"))
    found = summary_answer(document, "x", step_table(document.analysis), tokens=False)[0]
    assert found["calls"] == {"tools": 2, "answered": 2, "failed": 0, "unanswered": 0, "rejected": 0}
    assert not found["waiting"]
    assert latency_by_tool(document.analysis)["edit"].count == latency_by_tool(document.analysis)["write"].count == 1


def test_calls_of_models_in_spans_with_one_id_in_two_traces_are_two() -> None:
    first = _span("chat m", "cc", start=1, end=2, **_NESTED)
    found = summary(document_at(log_file(_line(first, first | {"traceId": "ef" * 16}).encode(), "x.json")), "x")
    assert (found["models"], found["usage"]["input"]) == ({"m": 2}, 14)


def test_the_same_words_in_answer_to_something_else_are_another_call_and_a_span_told_twice_is_one() -> None:
    def chat(number: int, question: str) -> dict[str, Any]:
        said = {"role": "user", "parts": [{"type": "text", "content": question}]}
        answer = {"role": "assistant", "parts": [{"type": "text", "content": "yes"}]}
        facts = _NESTED | {
            "gen_ai__input__messages": json.dumps([said]),
            "gen_ai__output__messages": json.dumps([answer]),
        }
        return _span("chat m", f"0{number}", start=number, end=number + 1, **facts)

    lines = _line(chat(1, "is a right?"), chat(3, "is b right?"))
    document = document_at(log_file((lines + "\n" + lines).encode()))
    found = summary(document, "x")
    assert found["models"] == {"m": 2}
    assert found["usage"]["input"] == 14
    _, is_copy = document.capture.repeated_messages(np.arange(len(document.capture)))
    texts = [FIELD_BY_NAME["text"].value(document.analysis, row) for row in np.flatnonzero(~is_copy).tolist()]
    assert texts == ["is a right?", "yes", "is b right?", "yes"]


def test_a_tool_is_named_by_its_span_where_nothing_else_names_it() -> None:
    document = document_at(
        log_file(_line(_span("execute_tool sum_up", "01", gen_ai__operation__name="execute_tool")).encode())
    )
    assert dict(tool_calls(document.analysis).by_tool) == {"sum_up": 1}


def test_a_trace_of_jaeger_may_stand_by_itself(tmp_path: Path) -> None:
    span = {"traceID": "ab", "spanID": "cd", "operationName": "work", "startTime": 5, "duration": 3, "processID": "p1"}
    trace = {"traceID": "ab", "spans": [span], "processes": {"p1": {"serviceName": "desk"}}}
    for value in (trace, dict(reversed(trace.items())), [trace]):
        (tmp_path / "trace.json").write_text(json.dumps(value, indent=2), "utf-8")
        document = document_at(tmp_path / "trace.json")
        assert (document.format, len(document.capture)) == ("otlp", 1)
        assert document.capture.string("sender", 0) == "desk"


def test_a_parent_that_never_comes_is_a_context_all_the_same() -> None:
    log = log_file(_line(_span("execute_tool", "cc", "bb", gen_ai__tool__name="t")).encode(), "x.json")
    document = document_at(log)
    assert [node["path"] for node in context_nodes(document)] == ["bb" * 8]


def test_a_span_whose_parent_is_missing_is_placed_below_the_root_of_its_trace() -> None:
    spans = [
        _span("root", "aa", "", 1, 9), _span("execute_tool", "cc", "bb", 2, 3, gen_ai__tool__name="t"),
        _span("late", "dd", "ee", 20, 30),
    ]  # fmt: skip
    document = document_at(log_file("\n".join(map(_line, spans)).encode(), "x.jsonl"))
    assert {node["path"] for node in context_nodes(document)} == {"aa" * 8, "ee" * 8}
    lost = [document.capture.records.payload(row).get("lost_parent") for row in range(len(document.capture))]
    assert {one for one in lost if one} == {"bb" * 8}


def test_an_exception_is_told_with_its_type() -> None:
    attributes = [{"key": "exception.type", "value": {"stringValue": "TimeoutError"}}]
    event = {"name": "exception", "timeUnixNano": "1500", "attributes": attributes}
    document = document_at(log_file(_line({**_span("wait", "aa"), "events": [event]}).encode(), "x.json"))
    assert [info(document.analysis, row) for row in range(len(document.capture))][-1] == "exception: TimeoutError"


def test_ids_in_base64_are_those_in_hex() -> None:
    span = {**_span("x", "cc"), "traceId": "q6urq6urq6urq6urq6urqw==", "spanId": "zMzMzMzMzMw="}
    record, label = read_line_as(_line(span).encode())
    assert (label, record.space) == ("otlp", f"trace {'ab' * 16}")


def _records(*records: dict[str, Any]) -> str:
    told = [{"traceId": "ab" * 16, "spanId": "cc" * 8, "timeUnixNano": "1700000000000000003", **one} for one in records]
    return json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": told}]}]})


_ASKED = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Is berth 4 free?"}]}])
_SAID = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Yes"}]}])


def _pairs(**pairs: str) -> list[dict[str, Any]]:
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in pairs.items()]


@pytest.mark.parametrize(
    "records",
    [
        [{"eventName": "gen_ai.client.inference.operation.details",
          "attributes": _pairs(gen_ai__input__messages=_ASKED, gen_ai__output__messages=_SAID)}],
        [{"eventName": "gen_ai.user.message", "body": {"kvlistValue": {"values": _pairs(content="Is berth 4 free?")}}},
         {"eventName": "gen_ai.choice", "body": {"kvlistValue": {"values": [
             {"key": "message", "value": {"kvlistValue": {"values": _pairs(content="Yes")}}}]}}}],
    ],
)  # fmt: skip
def test_what_records_of_a_log_say_of_a_call_is_said_in_it(records: list[dict[str, Any]]) -> None:
    call, other = _span("chat m", "cc", start=2, end=4, **_NESTED), _span("chat m", "dd", start=5, end=6, **_NESTED)
    text = "\n".join([_records(*records, {"spanId": "ee" * 8, "eventName": "gen_ai.choice"}), _line(call, other)])
    document = document_at(log_file(text.encode(), "x.jsonl"))
    rows = [(FIELD_BY_NAME["kind"].value(document.analysis, row), FIELD_BY_NAME["text"].value(document.analysis, row))
            for row in range(len(document.capture))]  # fmt: skip
    assert rows == [("chat", "Is berth 4 free?"), ("otlp/log", "gen_ai.choice"), ("chat", "Yes"),
                    ("chat", "chat m: content not recorded")]  # fmt: skip
    assert summary(document, "x")["usage"]["input"] == 14


def test_a_failed_request_tells_its_status_and_the_wait_for_a_disconnect_is_no_work() -> None:
    failed = {**_span("POST /x", "aa", http__response__status_code="503"), "status": {"code": 2}}
    spans = [failed, _span("POST /x http receive", "bb", "aa", 1, 9_000_001, asgi__event__type="http.disconnect")]
    document = document_at(log_file(_line(*spans).encode(), "x.json"))
    assert [str(text).rpartition(", ")[2] for text in _texts(document)] == ["9 ms", "failed: HTTP 503"]
    took = document.capture.extracted.tool_durations_ns(np.arange(2))
    assert (took > 0).tolist() == [False, True]  # the root comes last


def test_unknown_spans_metrics_and_logs_are_rows() -> None:
    metrics = {"resourceMetrics": [{"scopeMetrics": []}]}
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "said"}, "eventName": "e"}]}]}]}
    text = "\n".join([_line(_span("GET /x", "aa")), json.dumps(metrics), json.dumps(logs)])
    document = document_at(log_file(text.encode(), "x.jsonl"))
    assert sorted(document.kind_counts()) == ["otlp/log", "otlp/metrics", "otlp/span"]


def test_protobuf_is_read() -> None:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = bytes.fromhex("ab" * 16), bytes.fromhex("cd" * 8), "chat m"
    span.attributes.add(key="gen_ai.operation.name").value.string_value = "chat"
    span.attributes.add(key="gen_ai.usage.output_tokens").value.int_value = 5
    path = log_file(request.SerializeToString(), "traces.pb")
    found = summary(document_at(path), "x")
    assert (found["format"], found["usage"]["output"]) == ("otlp", 5)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["resource", "scopeSpans", "spans", "attributes", "key", "value", "stringValue", "kvlistValue",
                         "values", "name", "events", "spanId", "traceId", "gen_ai.input.messages", "status"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(["resourceSpans", "batches", "resourceLogs"]), st.lists(JSON, max_size=3))
def test_nothing_raises_and_every_message_has_a_payload(holder: str, held: list[Any]) -> None:
    line = json.dumps({holder: held}).encode()
    record = otlp.read(line)
    if record is not None:
        assert record.shape is Shape.DERIVED
        assert record.derived_messages
        for number in range(len(record.derived_messages)):
            otlp.payload(line, number)


@pytest.mark.parametrize("end", ["", "\n", "\ngarbage\n"])
def test_what_is_spoilt_is_read_as_far_as_it_goes(end: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(_line(_span("x", "aa")) + end)
    assert len(document_at(path).capture)


def _said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _texts(document: CaptureDocument) -> list[Any]:
    return [FIELD_BY_NAME["text"].value(document.analysis, row) for row in range(len(document.capture))]


def test_a_history_that_spans_repeat_is_told_once_and_equal_words_in_it_stay_apart() -> None:
    history = [_said("user", "go"), _said("assistant", "yes"), _said("user", "go"), _said("assistant", "done")]
    spans = [
        _span("chat m", f"0{number}", start=2 * number, end=2 * number + 1, **_NESTED,
              gen_ai__input__messages=json.dumps(history[:number]),
              gen_ai__output__messages=json.dumps(history[number : number + 1]))
        for number in (1, 3)
    ]  # fmt: skip
    document = document_at(log_file(_line(*spans).encode(), "x.json"))
    assert _texts(document) == ["go", "yes", "go", "done"]
    assert summary(document, "x")["usage"]["input"] == 14


@pytest.mark.parametrize("prefix", ["gen_ai.prompt", "llm.input_messages"])
def test_a_flat_history_is_told_once(prefix: str) -> None:
    inner = "message." if prefix.startswith("llm") else ""
    spans: list[dict[str, Any]] = []
    for number in (1, 2):
        span = _span("chat m", f"0{number}", start=number, end=number + 1, **_NESTED)
        for place in range(number):
            for key, value in (("role", "user"), ("content", f"word {place}")):
                written = {"key": f"{prefix}.{place}.{inner}{key}", "value": {"stringValue": value}}
                span["attributes"].append(written)
        spans.append(span)
    texts = _texts(document_at(log_file(_line(*spans).encode(), "x.json")))
    assert [text for text in texts if "recorded" not in text] == ["word 0", "word 1"]


def test_a_span_that_holds_others_is_one_row_with_its_duration_and_its_context_ends_with_the_last_within() -> None:
    spans = [
        _span("chat m", "02", "01", 2, 3, **_NESTED),
        _span("work", "01", start=1, end=5_000_001, gen_ai__operation__name="invoke_agent", gen_ai__agent__name="a"),
    ]
    document = document_at(log_file(_line(*spans).encode(), "x.json"))
    assert _texts(document) == ["work, 5 ms", "chat m: content not recorded"]
    assert [(node["label"], node["state"]) for node in context_nodes(document)] == [("work", "concluded")]


@pytest.mark.parametrize("announced", [True, False])
def test_a_span_that_goes_on_and_its_end_are_one_call(announced: bool) -> None:
    tool = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "t", "gen_ai__tool__call__id": "c"}
    pending, whole = _span("t", "02", "01", 2, 2, **tool), _span("t", "02", "01", 2, 9, **tool)
    if announced:  # as Logfire does: within the span that it announces
        told = {"logfire__span_type": "pending_span", "logfire__pending_parent_id": "01" * 8}
        pending = _span("t", "03", "02", 2, 2, **tool, **told)
    else:
        del pending["endTimeUnixNano"]
    for lines, state in (([pending, whole], "answered"), ([whole, pending], "answered"), ([pending], "waiting")):
        text = "\n".join(_line(one) for one in lines)
        document = document_at(log_file(text.encode(), "x.jsonl"))
        found = summary(document, "x")["calls"]
        assert (found["tools"], found["answered"]) == (1, int(state == "answered"))
        assert len(document.capture) == (2 if state == "answered" else 1)


_STRANGE = ROOT / "tests/data/otlp/strange"


@pytest.mark.parametrize(
    ("name", "calls", "usage", "tools", "texts"),
    [
        ("call-llm", 1, (30, 3), {}, ["boil"]),
        ("vercel", 2, (60, 9), {"oven": 1}, ["how hot is the oven", "It is 200 degrees."]),
        ("langfuse-otel", 1, (30, 3), {"kettle": 1}, ["boil", "done"]),
        ("mlflow-otel", 1, (30, 3), {"kettle": 1}, ["boil", "done"]),
        ("langsmith-otel", 1, (30, 3), {}, ["boil an egg", "six minutes"]),
        ("agent-only-usage", 1, (900, 40), {"stir": 1}, []),
        ("nested-inner-no-usage", 1, (30, 3), {}, []),
        ("noargs", 1, (10, 2), {"stir": 3}, []),
    ],
)
@pytest.mark.parametrize("arriving", [False, True])
def test_calls_tokens_and_words_of_other_conventions(
    name: str, calls: int, usage: tuple[int, int], tools: dict[str, int], texts: list[str], arriving: bool
) -> None:
    data = (_STRANGE / f"{name}.json").read_bytes()
    if arriving:  # span by span, each as it ends
        spans = json.loads(data)["resourceSpans"][0]["scopeSpans"][0]["spans"]
        lines = [_line(span).encode() + b"\n" for span in sorted(spans, key=lambda one: int(one["endTimeUnixNano"]))]
        pieces = as_they_come(chain.from_iterable((line, None) for line in lines))
        data = b'{"resourceSpans":[],"resolved":{}}\n' + b"".join(pieces)
    document = document_at(log_file(data, "x.jsonl" if arriving else "x.json"))
    found = summary(document, "x")
    assert found["models"] == {"m-1": calls}
    assert (found["usage"]["input"], found["usage"]["output"]) == usage
    assert dict(tool_calls(document.analysis).by_tool) == tools
    assert found["calls"]["unanswered"] == 0
    chats = np.flatnonzero(document.capture.columns["kind"] == (document.capture.strings.find("chat") or -1)).tolist()
    said = [FIELD_BY_NAME["text"].value(document.analysis, row) for row in chats]
    assert [text for text in said if "not recorded" not in str(text)] == texts


def test_an_agent_that_reports_what_several_calls_within_do_not_is_no_call_more() -> None:
    agent = {
        "gen_ai__operation__name": "invoke_agent",
        "gen_ai__request__model": "m",
        "gen_ai__usage__input_tokens": "9",
    }
    chat = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m"}
    spans = [
        _span("a", "01", "", 1, 9, **agent),
        _span("c", "02", "01", 2, 3, **chat),
        _span("c", "03", "01", 4, 5, **chat),
    ]
    found = summary(document_at(log_file(_line(*spans).encode(), "x.json")), "x")
    assert (found["models"], found["usage"]["input"]) == ({"m": 2}, 9)


def test_what_was_not_recorded_is_compared_with_nothing_and_costs_no_tokens() -> None:
    document = document_at(_STRANGE / "noargs.json")
    document.count_tokens()
    assert waste_of(document).wastes == ()
    assert not document.analysis.tokens.columns["tokens"][
        document.capture.columns["flags"] & Flag.UNRECORDED != 0
    ].any()


def test_a_failure_is_told_once_with_its_exception_by_the_innermost_span() -> None:
    attributes = _pairs(exception__type="ValueError", exception__message="cold", exception__stacktrace="Traceback")
    raised = {"events": [{"name": "exception", "attributes": attributes}], "status": {"code": 2}}
    spans = [
        {**_span("run", "01", start=1, end=9), **raised},
        {**_span("GET /oven", "02", "01", 2, 3), **raised},
        {
            **_span("stir", "03", "01", 4, 5, gen_ai__operation__name="execute_tool", gen_ai__tool__name="stir"),
            **raised,
        },
    ]
    document = document_at(log_file(_line(*spans).encode(), "x.json"))
    _, account = summary_answer(document, "x", step_table(document.analysis), tokens=False)
    failed = [line for line in account.lines if line.tone == "bad"]
    assert [line.text.partition(":")[0] for line in failed] == [
        "2 failures in all", "1 call failed", "1 failure outside calls",
    ]  # fmt: skip
    assert document.capture.failed_count == 2
    told = [{"type": "ValueError", "message": "cold", "stacktrace": "Traceback"}]
    for row in (0, 1, 3):
        assert document.capture.records.payload(row)["exceptions"] == told
    assert len(document.capture) == 4


def _oi_call(number: int, history: list[dict[str, str]], call: str) -> dict[str, Any]:
    """A span of a model call as OpenInference has it: a key for each member of each message."""
    told = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    for place, message in enumerate(history):
        told |= {f"llm.input_messages.{place}.message.{key}": value for key, value in message.items()}
    answer = "llm.output_messages.0.message."
    told |= {f"{answer}role": "assistant", f"{answer}tool_calls.0.tool_call.id": call,
             f"{answer}tool_calls.0.tool_call.function.name": "read"}  # fmt: skip
    span = _span("chat", f"{number:02}", start=10 * number, end=10 * number + 5)
    return {**span, "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]}


_ASK = {"role": "user", "content": "Read both"}
_CALL_A = {"role": "assistant", "tool_calls.0.tool_call.id": "a", "tool_calls.0.tool_call.function.name": "read"}
_RESULT_A = {"role": "tool", "tool_call_id": "a", "content": "first page"}


@pytest.mark.parametrize("pending", [False, True])
def test_calls_wait_only_in_traces_that_record_tools(pending: bool) -> None:
    spans = [_oi_call(1, [_ASK], "a"), _oi_call(2, [_ASK, _CALL_A, _RESULT_A], "b")]
    if pending:
        tool = _span("read", "77", start=26, openinference__span__kind="TOOL", tool__name="read", tool_call__id="b")
        del tool["endTimeUnixNano"]
        spans.append(tool)
    document = document_at(log_file("\n".join(map(_line, spans)).encode(), "x.jsonl"))
    calls = summary(document, "x")["calls"]
    assert (calls["tools"], calls["answered"], calls["unanswered"]) == (2, 1, int(pending))
    assert calls.get("untraced", 0) == int(not pending)
    assert [MessageState(one).name for one in document.analysis.states.states_at(calls_of(document.analysis).rows)] == [
        "ANSWERED", "WAITING" if pending else "NONE",
    ]  # fmt: skip


def test_a_call_waits_once_the_first_span_of_a_tool_comes() -> None:
    before, other = _line(_oi_call(1, [_ASK], "a")), _span("t", "78", start=9, end=9, openinference__span__kind="TOOL")
    del other["endTimeUnixNano"]
    pieces = as_they_come(piece for line in (before, _line(other)) for piece in (line.encode() + b"\n", None))
    lines = b"".join(pieces).splitlines()
    first, later = lines[:-1], lines[-1:]
    log = GrowingLog()
    log.write(*first)
    (asked,) = calls_of(log.document.analysis).rows.tolist()
    assert log.document.analysis.states.state_of(asked) is MessageState.NONE
    assert asked in {row for changes in log.write(*later) for row in changes.changed.tolist()}
    assert log.document.analysis.states.state_of(asked) is MessageState.WAITING


def test_flat_histories_of_a_thousand_messages_are_read_without_building_them_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = 0
    original = content._of_openinference

    def counting(fields: Any) -> Any:
        nonlocal built
        built += 1
        return original(fields)

    monkeypatch.setattr(content, "_of_openinference", counting)
    history: list[dict[str, str]] = [_ASK]
    spans: list[dict[str, Any]] = []
    for number in range(40):
        spans.append(_oi_call(number + 1, history, f"c{number}"))
        history = [*history, {"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}"}]
    b"".join(lines_in_order("\n".join(map(_line, spans)).encode()))
    assert built < 400  # all histories together hold 820 messages


def test_the_end_of_a_call_looks_through_its_new_attributes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    original = content._is_history

    def counting(key: object) -> bool:
        nonlocal looked_at
        looked_at += 1
        return original(key)

    monkeypatch.setattr(content, "_is_history", counting)
    history: list[dict[str, str]] = [_ASK]
    spans: list[dict[str, Any]] = []
    for number in range(40):
        spans.append(_oi_call(number + 1, history, f"c{number}"))
        history = [*history, {"role": "tool", "tool_call_id": f"c{number}", "content": f"page {number}"}]
    b"".join(lines_in_order("\n".join(map(_line, spans)).encode()))
    assert looked_at < 1.25 * sum(len(span["attributes"]) for span in spans)


def test_a_cancelled_wait_that_its_span_survives_is_no_failure() -> None:
    def event(kind: str) -> dict[str, Any]:
        return {"name": "exception", "timeUnixNano": "1500", "attributes": _pairs(exception__type=kind)}

    spans = [
        {**_span("poll", one), "events": [event(kind)]}
        for one, kind in (("aa", "asyncio.exceptions.CancelledError"), ("bb", "ValueError"))
    ]
    document = document_at(log_file("\n".join(_line(span) for span in spans).encode(), "x.json"))
    rows = [row for row in field_values(document, "kind", "text", "error") if row[0] == "otlp/event"]
    assert [row[1:] for row in rows] == [
        ("exception: asyncio.exceptions.CancelledError", None), ("exception: ValueError", True),
    ]  # fmt: skip
