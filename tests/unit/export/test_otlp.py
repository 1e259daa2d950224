"""Messages as traces: calls and tokens come back as they were, and nobody's words or secrets go along unasked."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from inspector.document.summary import summary
from inspector.export import otlp_sending
from inspector.export.options import ExportOptions
from inspector.export.otlp import TraceWriter, write_traces
from inspector.export.otlp_sending import CollectorError, send_traces, traces_url
from inspector.export.redaction import Redaction
from inspector.export.steps import sending_steps
from inspector.formats.otlp.receiver import Receiver, address_of, listener_at, receive
from tests.builders import document_at, document_of, envelope, tool_call, tool_result
from tests.commands import asked
from tests.pages import ROOT
from tests.samples import FORMAT_SAMPLES, sample

_DATA = ROOT / "tests/data"
_LOGS = [
    "formats/claude-code.jsonl", "formats/otlp.jsonl", "formats/codex.jsonl",
    "recordings/mew/coding-agent/envelope-history.jsonl",
]  # fmt: skip


def spans_of(*lines: Any, content: bool = False) -> list[dict[str, Any]]:
    document = document_of(*lines)
    writer = TraceWriter(document, range(len(document.capture)), content=content, redaction=Redaction())
    held = [json.loads(line)["resourceSpans"][0] for line, _ in writer.lines()]
    return [span for one in held for span in one["scopeSpans"][0]["spans"]]


def facts(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


@pytest.mark.parametrize("name", _LOGS)
def test_calls_and_tokens_come_back(name: str, tmp_path: Path) -> None:
    document = document_at(sample(name))
    target = tmp_path / "traces.jsonl"
    writer = TraceWriter(document, range(len(document.capture)), content=True, redaction=Redaction())
    deque(write_traces(writer, target), maxlen=0)
    before, after = summary(document, "x"), summary(document_at(target), "x")
    for key in ("calls", "tool_counts", "models", "usage"):
        assert after[key] == before[key], key


def test_a_request_and_its_answer_are_a_span_in_their_context() -> None:
    call = tool_call("grep", arguments={"q": "x"}, context="r/s")
    spans = spans_of(call, tool_result(call, context="r/s"), envelope(context="r"))
    named = {span["name"]: span for span in spans}
    tool, inner = named["execute_tool grep"], named["invoke_agent s"]
    assert tool["parentSpanId"] == inner["spanId"]
    assert inner["parentSpanId"] == named["invoke_agent r"]["spanId"]
    assert int(tool["endTimeUnixNano"]) > int(tool["startTimeUnixNano"])
    assert [event["name"] for event in named["invoke_agent r"]["events"]][:1] == ["chat"]


def test_a_call_that_nobody_answered_has_not_succeeded() -> None:
    refused, cancelled, later = tool_call("rm"), tool_call("wait"), tool_call("late")
    no = envelope("system/error", {"error": "capability_violation"}, sender="system:gateway",
                  correlation_id=[refused["id"]])  # fmt: skip
    taken_back = envelope("mcp/request", {"method": "notifications/cancelled", "params": {"requestId": 7}},
                          to=cancelled["to"])  # fmt: skip
    cancelled["payload"]["id"] = 7
    spans = {span["name"]: span for span in spans_of(refused, no, cancelled, taken_back, later)}
    told = [(facts(spans[f"execute_tool {name}"]), spans[f"execute_tool {name}"]) for name in ("rm", "wait", "late")]
    assert [one.get("error.type") for one, _ in told] == ["refused", "cancelled", None]
    assert [one["mew.state"] for one, _ in told] == ["failed", "cancelled", "waiting"]
    assert [span["status"] for _, span in told] == [{"code": 2}, {"code": 2}, {}]


def test_a_call_in_several_requests_is_one_span() -> None:
    document = document_at(_DATA / "recordings/mcp/py2-stdio-modern.jsonl")
    writer = TraceWriter(document, range(len(document.capture)), content=False, redaction=Redaction())
    held = [json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"] for line, _ in writer.lines()]
    names = [span["name"] for spans in held for span in spans if span["name"].startswith("execute_tool")]
    assert len(names) == summary(document, "x")["calls"]["tools"]


def test_traceparent_puts_a_call_into_the_trace_it_names() -> None:
    trace, parent = "ab" * 16, "cd" * 8
    call = tool_call("grep")
    call["payload"]["params"]["_meta"] = {"traceparent": f"00-{trace}-{parent}-01"}
    (span,) = [one for one in spans_of(call) if one["name"] == "execute_tool grep"]
    assert (span["traceId"], span["parentSpanId"]) == (trace, parent)


def test_content_only_on_request_and_masked() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    lines = (envelope(payload={"text": f"hello {token}"}), tool_call("grep", arguments={"password": "hunter22"}))
    assert "hello" not in str(spans_of(*lines))
    told = str(spans_of(*lines, content=True))
    assert "hello" in told
    assert token not in told
    assert "hunter22" not in told


def test_what_a_terminal_would_act_on_is_escaped() -> None:
    text = "a\u202eb\x9b2Jc\U000e0041d \u00e9\u4e2d"
    document = document_of(envelope(payload={"text": text}))
    writer = TraceWriter(document, range(1), content=True, redaction=Redaction())
    written = b"".join(line for line, _ in writer.lines())
    assert [one for one in written.decode() if not one.isprintable()] == []
    assert b"\\u202e" in written
    assert "\u00e9\u4e2d".encode() in written, "what is plain to see stays"
    assert text in json.dumps(json.loads(written), ensure_ascii=False), "it means the same"


def test_a_collector_gets_everything(tmp_path: Path) -> None:
    path = tmp_path / "got.jsonl"
    listener, address = listener_at(address_of("127.0.0.1:0"))
    receiver = Receiver(path, address)
    document = document_at(FORMAT_SAMPLES["otlp.jsonl"])
    writer = TraceWriter(document, range(len(document.capture)), content=True, redaction=Redaction())
    lines = list(writer.lines())

    async def both() -> int:
        taking = receive(receiver, listener, seconds=20, spans=sum(count for _, count in lines))
        sending = asyncio.to_thread(send_traces, lines, traces_url(address.origin), threading.Event())
        sent, _ = await asyncio.gather(sending, taking)
        return sent

    assert asyncio.run(both()) == receiver.spans
    receiver.close()
    assert summary(document_at(path), "x")["usage"] == summary(document, "x")["usage"]


def test_sending_to_a_silent_collector_ends_when_it_is_cancelled() -> None:
    document = document_of(tool_call("grep"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        steps = sending_steps(document, range(len(document.capture)), url, ExportOptions())
        next(steps)
        # The lines are made between two steps.
        taking = threading.Thread(target=lambda: taken.append(silent.accept()[0]))
        taken: list[socket.socket] = []
        taking.start()
        while taking.is_alive():
            next(steps)
        began = time.monotonic()
        steps.close()
        assert time.monotonic() - began < otlp_sending._PATIENCE_S / 2
        taken[0].close()


def test_a_collector_that_refuses_is_told(tmp_path: Path) -> None:
    log = document_of(envelope()).capture.sources[0].path
    listener, address = listener_at(address_of("127.0.0.1:0"))
    listener.close()
    found = asked("export", log, "--format", "otlp", "--to", address.origin)
    assert found.exit_code == 2
    assert "took 0 spans and cannot be reached" in found.stderr
    for words in (("--format", "otlp"), ("--format", "csv", "--to", "http://x"), ("-o", "x", "--to", "http://x")):
        assert asked("export", log, *words).exit_code == 2
    with pytest.raises(CollectorError):
        traces_url("ws://x")


def test_a_collector_that_is_full_refuses_or_takes_a_part_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[tuple[int, str]] = []
    taken: list[int] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, text = answers.pop(0) if answers else (200, "{}")
            if status == 200:
                taken.append(len(body["resourceSpans"][0]["scopeSpans"][0]["spans"]))
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    monkeypatch.setattr(otlp_sending, "_WAIT_S", 0)
    log = FORMAT_SAMPLES["otlp.jsonl"]
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        words = ("export", log, "--format", "otlp", "--to", f"http://me:hidden-word@127.0.0.1:{server.server_port}")
        assert asked(*words).exit_code == 0
        whole, each = sum(taken), taken[:]
        assert len(each) > 1
        told = '{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "too old."}}'
        for first, code, sentence in (
            ([(503, "busy"), (429, ""), (200, "{}")], 0, f"{whole} spans sent."),
            ([(503, "busy")] * 3, 2, "took 0 spans, and then answered 503: busy."),
            ([(200, "{}"), (400, "no\n room")], 2, f"took {each[0]} spans, and then answered 400: no room."),
            ([(200, told)], 2, f"took {whole - 1} spans and refused 1: too old."),
            ([(200, '{"partialSuccess": {"errorMessage": "deprecated"}}')], 0, f"{whole} spans sent."),
            ([(302, "")], 2, "took 0 spans, and then answered 302: Found."),
            ([(401, "Bearer sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56")], 2, "answered 401"),
        ):
            taken.clear()
            answers[:] = first
            found = asked(*words)
            assert (found.exit_code, sentence in found.stderr) == (code, True), found.stderr
            assert sum(taken) == whole or code
            assert "Ab12Cd34" not in found.stderr
            assert "hidden-word" not in found.stderr
        server.shutdown()


@pytest.mark.real
def test_it_is_otlp_as_the_proto_says(tmp_path: Path) -> None:
    from google.protobuf.json_format import ParseDict
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    document = document_at(_DATA / "recordings/mew/coding-agent/envelope-history.jsonl")
    writer = TraceWriter(document, range(len(document.capture)), content=True, redaction=Redaction())
    spans = 0
    for line, count in writer.lines():
        value = json.loads(line)
        for span in value["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for key in (
                "traceId",
                "spanId",
                "parentSpanId",
            ):  # in hex in OTLP, in base64 in protobuf's JSON
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
        request = ParseDict(value, ExportTraceServiceRequest())
        assert len(request.resource_spans[0].scope_spans[0].spans) == count
        spans += count
    assert spans
