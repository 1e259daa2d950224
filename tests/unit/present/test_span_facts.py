"""A span says how long it took, how it ended, what lies around and within it, and what went wrong."""

from __future__ import annotations

from typing import Any

from inspector.document.document import CaptureDocument
from inspector.present.head_words import second_line
from inspector.present.span_facts import exception_facts, span_facts, within_facts
from inspector.present.subject import ContextPlace, Subject
from tests.builders import document_of

START = 1_700_000_000_000_000_000


def span(name: str, identifier: str, parent: str, start_ms: int, end_ms: int | None, **more: Any) -> dict[str, Any]:
    written = {
        "traceId": "ab" * 16, "spanId": identifier * 8, "parentSpanId": parent * 8, "name": name,
        "startTimeUnixNano": str(START + start_ms * 1_000_000), "attributes": [], **more,
    }  # fmt: skip
    if end_ms is not None:
        written["endTimeUnixNano"] = str(START + end_ms * 1_000_000)
    return written


def attributes(**pairs: str) -> list[dict[str, Any]]:
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in pairs.items()]


RAISED = {"name": "exception", "timeUnixNano": str(START), "attributes": attributes(
    exception__type="OvenError", exception__message="too hot", exception__stacktrace="line 1\nline 2")}  # fmt: skip


def document() -> CaptureDocument:
    model = attributes(gen_ai__operation__name="chat", gen_ai__request__model="m-1")
    spans = [
        span("supper", "01", "", 0, 5_000),
        span("bake", "02", "01", 100, 1_600, status={"code": 2}, events=[RAISED]),
        span("chat m-1", "03", "01", 2_000, 2_300, attributes=model),
        span("season", "04", "01", 3_000, 3_100),
        span("salt", "05", "04", 3_000, 3_050),
        span("serve", "06", "01", 4_000, None),
    ]
    return document_of({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]})


def told(of: CaptureDocument, name: str) -> tuple[Subject, dict[str, str]]:
    rows = range(len(of.capture))
    row = next(row for row in rows if str(of.capture.records.payload(row).get("text", "")).startswith(name))
    subject = Subject(of, row)
    return subject, {one.name: one.value for one in span_facts(subject)}


def test_duration_status_and_parent() -> None:
    log = document()
    assert told(log, "supper")[1] == {"Kind": "Span", "Duration": "5.0 s", "Status": "ok"}
    subject, facts = told(log, "bake")
    assert facts == {"Kind": "Span", "Duration": "1.5 s", "Status": "OvenError: too hot", "Parent": "supper"}
    (place,) = [part.place for one in span_facts(subject) for part in one.parts if part.place is not None]
    assert isinstance(place, ContextPlace)
    assert told(log, "serve")[1]["Status"] == "not ended yet"
    assert "everyone" not in second_line(subject)  # a record of a trace is no broadcast


def test_what_lies_within_is_linked() -> None:
    log = document()
    rows = within_facts(told(log, "supper")[0])
    assert [one.value for one in rows if one.name == "Span"] == ["season"]
    links = [part.message for one in rows if one.name == "Message" for part in one.parts if part.message is not None]
    assert [log.capture.records.payload(row)["text"][:6] for row in links] == [
        "bake, ", "chat m", "season", "serve ",
    ]  # fmt: skip
    assert within_facts(told(log, "bake")[0]) == []


def test_exceptions_have_type_message_and_stack() -> None:
    rows = exception_facts(told(document(), "bake")[0])
    assert [(one.name, one.value) for one in rows] == [
        ("Exception", "OvenError: too hot"), ("Stack", "line 1\nline 2"),
    ]  # fmt: skip
