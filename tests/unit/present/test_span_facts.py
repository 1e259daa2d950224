"""A span says how long it took, how it ended, what lies around and within it, and what went wrong."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.document.document import CaptureDocument
from inspector.present import span_facts as span_rows
from inspector.present.head_words import second_line
from inspector.present.places import ContextPlace
from inspector.present.span_facts import exception_facts, span_facts, within_facts
from inspector.present.subject import Subject
from inspector.present.token_facts import message_tokens
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
    assert [one.value for one in rows if one.right] == ["season"]
    linked = [(one.name, part.message) for one in rows for part in one.parts if part.message is not None]
    links = [row for _, row in linked]
    assert {name for name, _ in linked} == {"Span", "Message"}
    assert [log.capture.records.payload(row)["text"][:6] for row in links] == [
        "bake, ", "chat m", "season", "serve ",
    ]  # fmt: skip
    assert within_facts(told(log, "bake")[0]) == []


def test_exceptions_have_type_message_and_stack() -> None:
    rows = exception_facts(told(document(), "bake")[0])
    assert [(one.name, one.value) for one in rows] == [
        ("Exception", "OvenError: too hot"), ("Stack", "line 1\nline 2"),
    ]  # fmt: skip


def test_what_lies_within_is_found_without_reading_later_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = [span("outer", "01", "", 0, 900_000)]
    spans += [span(f"step {place}", f"{place:x}".zfill(2), "01", place, place + 1) for place in range(2, 200)]
    log = document_of({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": spans}]}]})
    subject = told(log, "outer")[0]
    read: list[int] = []
    nodes_of = log.analysis.contexts.nodes_of
    monkeypatch.setattr(span_rows, "_SEARCHED_AT_ONCE", 10)
    monkeypatch.setattr(
        log.analysis.contexts, "nodes_of", lambda rows: (read.append(len(found := nodes_of(rows))), found)[1]
    )
    rows = within_facts(subject)
    assert (rows[0].name, rows[-1].value) == ("Span", "190 more messages")
    assert sum(read) <= 20


def test_a_span_without_words_has_no_line_about_tokens() -> None:
    log = document()
    log.count_tokens()
    rows = {one.name for one in message_tokens(log.analysis, told(log, "bake")[0].message)}
    assert "Tokens" not in rows
