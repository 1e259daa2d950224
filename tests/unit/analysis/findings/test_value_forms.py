"""Findings that hang on how exactly a value is written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.builders import document_of, envelope, tool_call, tool_result
from tests.unit.analysis.findings.checked_logs import told, told_either_way

REQUEST = tool_call("look", id="q1")


def test_a_number_under_a_secret_key() -> None:
    def codes(context: dict[str, Any]) -> list[int]:
        lines = envelope(context={"id": "scan-1f3a9"}), envelope(context={"id": "job-77a1c", **context})
        return [row for code, row in told_either_way(*lines) if code == "context-metadata-secret"]

    assert codes({"metadata": {"password": 123456}}) == [2]
    assert codes({"metadata": {"api_key": ["abcdef0123"]}}) == [2]
    assert codes({"parent": {"id": "up-91f2c", "metadata": {"password": "hunter2hunter2"}}}) == [2]
    assert codes({"metadata": {"password": True, "max_tokens": 500, "token": 3, "secret": ""}}) == []


@pytest.mark.parametrize(
    ("context", "secret"),
    [
        ("job-sk-abcdefghijklmnop1234", True), ("sk-abcdefghijklmnop1234", True), ("job/ghp_abcdefgh12345678", True),
        ("job-sk-ant-api03-abcdefgh12345678", True), ("host-192.168.0.12", True), ("10.0.0.1/x", True),
        ("203.0.113.9", True), ("node-203.0.113.9", True),
        ("build-1.2.3.4", False), ("v1.2.3.4", False), ("ask-sk-team-planning-2024", False),
        ("risk-assessment-of-everything-2024", False), ("task-sk-analysis-results-2024", False),
    ],
)  # fmt: skip
def test_secrets_in_context_ids(context: str, *, secret: bool) -> None:
    assert (("context-secret", 2) in told_either_way(envelope(context="a1f93c"), envelope(context=context))) is secret


def test_a_misspelt_hint_beside_a_signal() -> None:
    hint = [{"step": 2, "tool": "a", "lifecycle": "transient", "consumedBy": "b"}]
    signal = {"lifecycle": "transient", "summary": "s"}
    result = tool_result(REQUEST, meta={"contextHint": hint, "context": signal})
    assert ("hint-misspelled", 3) in told_either_way(REQUEST, tool_result(REQUEST), result)
    both = tool_result(REQUEST, meta={"contextHint": hint, "contextHints": hint})
    assert "hint-misspelled" not in dict(told_either_way(REQUEST, both))


@pytest.mark.parametrize(
    ("used", "most", "said"),
    [
        ("96", "100", "96 %"), ("999", "1000", "99 %"), ("1000", "1000", "100 %"), ("5000", "1000", "500 %"),
        ("true", "true", None), ("NaN", "1", None), ("Infinity", "Infinity", None), ("1", "1" + "0" * 400, None),
        ("1" + "0" * 400, "1", None), ("1e400", "1e400", None), ("-1", "1", None), ("1", "0", None),
        ("1e308", "1e-308", "9900 %"),
    ],
)  # fmt: skip
def test_how_full_a_window_is(used: str, most: str, said: str | None) -> None:
    line = json.dumps(envelope("participant/status", "PAYLOAD"))
    line = line.replace('"PAYLOAD"', f'{{"tokens": {used}, "max_tokens": {most}}}')
    found = [f for f in document_of(envelope(), line).analysis.findings.all() if f.code == "context-window-full"]
    assert [said] * len(found) == [f.text.partition("reports ")[2].partition(" of its")[0] for f in found]
    assert bool(found) is (said is not None)


RECORDS = [{"id": n, "name": f"visit {n}"} for n in range(6)]


@pytest.mark.parametrize(
    ("name", "result", "found"),
    [
        ("list_visits", {"content": [{"type": "text", "text": json.dumps(RECORDS)}]}, True),
        ("list_visits", {"content": [{"type": "text", "text": json.dumps({"visits": RECORDS, "total": 6})}]}, True),
        ("list_visits", {"content": [{"type": "text", "text": "6:"}, {"type": "text", "text": json.dumps(RECORDS)}]},
         True),
        ("list_visits", {"content": [], "structuredContent": {"visits": RECORDS}}, True),
        ("list_visits", {"content": [], "structuredContent": {"data": {"visits": RECORDS}}}, True),
        ("search_records", {"content": [{"type": "text", "text": json.dumps([*range(6)])}]}, True),
        ("list_visits", {"content": [], "structuredContent": {"visits": RECORDS[:4]}}, False),
        ("list_visits", {"content": [{"type": "text", "text": json.dumps(RECORDS[:4])}]}, False),
        ("list_directory", {"content": [{"type": "text", "text": json.dumps(["a.txt"] * 50)}]}, False),
        ("search_records", {"content": [], "structuredContent": {"records": [], "facets": ["a"] * 9}}, False),
        ("list_visits", {"content": [], "structuredContent": {"visits": RECORDS}, "isError": True}, False),
        ("list_visits", {"content": [], "structuredContent": {"visits": RECORDS},
                         "_meta": {"context": {"lifecycle": "transient", "summary": "6 visits"}}}, False),
        ("list_visits", {"content": [{"type": "text", "text": "{" * 40}]}, False),
    ],
)  # fmt: skip
def test_records_in_results(name: str, result: dict[str, Any], *, found: bool) -> None:
    asked = [tool_call(name, id=f"q{n}") for n in range(2)]
    answers = [tool_result(asked[0]), tool_result(asked[1], result=result)]
    codes = told_either_way(asked[0], answers[0], asked[1], answers[1])
    assert (("records-not-transient", 4) in codes) is found


def test_a_list_of_tools_is_no_page_of_records() -> None:
    asked = envelope("mcp/request", {"method": "tools/list"}, id="q", to=["files"])
    tools = [{"name": f"tool{n}", "inputSchema": {}} for n in range(9)]
    answer = envelope("mcp/response", {"result": {"tools": tools}}, sender="files", correlation_id=["q"])
    assert told_either_way(asked, answer) == []


def test_a_stream_that_a_later_welcome_lists_goes_on() -> None:
    def at(second: int, **what: Any) -> dict[str, Any]:
        return {"t": 1767603600000000000 + second * 10**9, "dir": "in", "src": 0, **what}

    def gateway(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return envelope(kind, payload, sender="system:gateway")

    lines = [
        {"ctxcap": 1, "origin": {"url": "ws://x"}},
        at(0, frame=gateway("stream/open", {"stream_id": "s1"})),
        at(1, text="#s1#a"),
        at(2, frame=gateway("stream/close", {"stream_id": "s1", "reason": "x"})),
    ]
    welcome = gateway(
        "system/welcome", {"you": {"id": "me"}, "participants": [], "active_streams": [{"stream_id": "s1"}]}
    )
    late = ("stream-frame-after-close", 5)
    assert late not in told(*lines, at(100, frame=welcome), at(101, text="#s1#b"))
    assert late in told(*lines, at(100, frame=gateway("system/welcome", {"you": {"id": "me"}})), at(101, text="#s1#b"))
    again = [at(102, frame=lines[3]["frame"]), at(110, text="#s1#c")]
    assert ("stream-frame-after-close", 7) in told(*lines, at(100, frame=welcome), at(101, text="#s1#b"), *again)
