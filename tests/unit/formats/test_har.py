"""Entries of HTTP archives, as lines of a recording and as what those mean."""

from __future__ import annotations

import base64
import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.exchange_entries import entry_to_lines, parse_server_sent_events
from inspector.formats.har import conversion as har
from inspector.formats.har.conversion import is_archive
from inspector.present.converted import place_in_original
from inspector.reading.files.source_reader import UnknownFormatError
from tests.builders import document_at, field_values, log_file
from tests.pictures import picture


def entry(
    second: int, body: Any, answer: str, *, mime: str = "application/json", spent: int = 500, **response: Any
) -> dict[str, Any]:
    return {
        "startedDateTime": f"2026-09-01T10:00:{second:02}.000+02:00", "time": spent,
        "timings": {"blocked": -1, "send": 10, "wait": 100, "receive": spent - 110},
        "request": {
            "method": "POST", "url": "https://api.example.com/v1/messages?beta=true",
            "headers": [{"name": "X-Api-Key", "value": "sk-ant-api03-" + "a1B2" * 12}],
            "postData": {"mimeType": "application/json", "text": json.dumps(body)},
        },
        "response": {
            "status": 200, "headers": [{"name": "Content-Type", "value": mime}],
            "content": {"mimeType": mime, "text": answer}, **response,
        },
    }  # fmt: skip


def archive(*entries: Any, tail: str = "") -> bytes:
    log = {"version": "1.2", "creator": {"name": "a browser", "version": "1"}, "pages": [], "entries": list(entries)}
    return json.dumps({"log": log}, indent=2).encode() + tail.encode()


def opened_file(data: bytes) -> CaptureDocument:
    return document_at(log_file(data, "session.har"))


def opened(*entries: Any) -> CaptureDocument:
    return opened_file(archive(*entries))


ASKED = {"model": "m-1", "messages": [{"role": "user", "content": "Can she come in?"}]}
SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
}


def stream(*events: dict[str, Any]) -> str:
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)


def test_a_field_of_a_program_s_own_may_stand_first() -> None:
    for own in (b'"_recordingName": "a \\" b", ', b'"comment": "x", "_n": 3, ', b""):
        assert is_archive(b'{"log": {' + own + b'"version": "1.2", "entries": []}}')
    assert not is_archive(b'{"log": {"_own": "x", "lines": []}}')


def test_an_archive_that_is_packed_or_piped_reads_as_it_is(tmp_path: Path) -> None:
    data = archive(entry(1, ASKED, json.dumps(SAID)), entry(2, ASKED, json.dumps(SAID)))
    plain, packed = opened_file(data), opened_file(gzip.compress(data))
    assert (packed.format, picture(packed)) == (plain.format, picture(plain))
    if not hasattr(os, "mkfifo"):
        return
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    assert field_values(document_at(pipe), "text") == field_values(plain, "text")
    writer.join()


def test_calls_of_models_at_once_and_in_events() -> None:
    events = stream(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    )
    document = opened(
        entry(1, ASKED, json.dumps(SAID)), entry(2, ASKED, events, mime="text/event-stream; charset=utf-8")
    )
    rows = field_values(document, "kind", "text", "latency", "usage.output", "first_token", "repeats")
    assert document.format == "har"
    assert place_in_original(document.capture, 4) == "Converted from entry 2 of session.har."
    assert [row[:2] for row in rows[2:4]] == [("mcp/response", "end_turn"), ("chat", "Yes.")]
    assert rows[6][:5] == ("mcp/response", "end_turn; 3 tokens in, 2 out", 500.0, 2, None)
    assert [row[5] for row in rows[4:]] == [None, 2, None, None]
    assert document.capture.record_count == 11


def test_keys_in_headers_are_masked_where_they_are_shown() -> None:
    document = opened({**entry(1, {"a": 1}, "{}"), "comment": ""})
    assert [row[0] for row in field_values(document, "kind")] == ["http/request", "http/response", "http/end"]
    document.catch_up()
    assert field_values(document, "finding")[0][0] == ["secret-in-clear"]


def test_mcp_over_http_with_a_question_of_the_server_meanwhile() -> None:
    def rpc(**members: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", **members}

    asked = rpc(id=1, method="elicitation/create", params={"message": "Sure?"})
    done = rpc(id=7, result={"content": []})
    body = f"data: {json.dumps(asked)}\n\ndata: {json.dumps(done)}\n\n"
    session: dict[str, Any] = {
        "headers": [{"name": "Mcp-Session-Id", "value": "s"}, {"name": "content-type", "value": "text/event-stream"}]
    }
    call = entry(
        1, rpc(id=7, method="tools/call", params={"name": "f"}), body, spent=5000, mime="text/event-stream", **session
    )
    answer = entry(3, rpc(id=1, result={"action": "accept"}), "", **session)
    for one in (call, answer):
        one["request"]["headers"] = [{"name": "mcp-session-id", "value": "s"}]
    document = opened(call, answer)
    document.catch_up()
    rows = field_values(document, "kind", "from", "answers", "finding")
    assert [row[:3] for row in rows if row[0].startswith("mcp/")] == [
        ("mcp/request", "client", None), ("mcp/request", "server", None), ("mcp/response", "client", 3),
        ("mcp/response", "server", 1),
    ]  # fmt: skip
    assert not any(row[3] for row in rows)


def test_what_got_no_answer_and_what_is_no_text() -> None:
    picture = base64.b64encode(b"\x89PNG\xff").decode()
    document = opened(
        entry(1, {}, "", status=0, _error="net::ERR_ABORTED"),
        entry(2, {}, "", content={"mimeType": "image/png", "size": 5, "encoding": "base64", "text": picture}),
        entry(3, ASKED, "", status=0, _error="timed out"),
    )  # fmt: skip
    rows = field_values(document, "kind", "text", "error")
    assert rows[1] == ("http/error", "net::ERR_ABORTED", True)
    assert rows[3] == ("http/response", "status 200 image/png, 5 B", None)
    assert rows[-1] == ("mcp/response", "timed out", True)


def test_exchanges_that_overlap_are_in_the_order_of_time() -> None:
    document = opened(entry(1, ASKED, json.dumps(SAID), spent=5000), entry(2, ASKED, json.dumps(SAID)))
    rows = field_values(document, "http.exchange", "kind", "answers")
    assert [row[0] for row in rows if row[0]] == [1, 2, 2, 1]
    assert [row[2] for row in rows if row[2]] == [3, 1]


def test_a_torn_archive_is_read_as_far_as_it_goes() -> None:
    data = archive(entry(1, {}, "{}"), entry(2, {}, "{}"))
    document = document_at(log_file(data[: data.rindex(b'"response"')], "torn.har"))
    assert [row[0] for row in field_values(document, "kind")] == ["http/request", "http/response", "http/end"]
    assert any("ends in the middle" in str(one) for one in document.read_errors)


def test_only_an_archive_is_taken_for_one() -> None:
    assert har.is_archive(b'\xef\xbb\xbf {"log" : {"version":"1.2","entries":[]}}')
    for head in (
        b'{"log":"a line of a container\\n","stream":"stdout"}',
        b'{"log":{"level":"info"}}',
        b'{"log":[]}',
        b"",
    ):
        assert not har.is_archive(head)
    with pytest.raises(UnknownFormatError, match="has no entries"):
        document_at(log_file(b'{"log":{"version":"1.2"}}', "none.har"))


def test_events_as_the_standard_has_them() -> None:
    text = ': hi\n\nid: 7\nevent: a\ndata: {"x":\r\ndata:1}\r\n\r\nretry: 5\n\ndata: [DONE]'
    assert list(parse_server_sent_events(text)) == [
        {"sse": {"comment": "hi"}}, {"sse": {"id": "7", "event": "a"}, "message": {"x": 1}}, {"sse": {"retry": "5"}},
        {"sse": {}, "text": "[DONE]"},
    ]  # fmt: skip


_MEMBERS = (
    "startedDateTime",
    "time",
    "request",
    "response",
    "timings",
    "headers",
    "url",
    "content",
    "text",
    "status",
    "postData",
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "x", "http://[", "text/event-stream"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_MEMBERS), inner, max_size=4),
    max_leaves=10,
)


@given(_VALUES)
def test_entries_of_any_shape_are_taken_in(value: Any) -> None:
    assert all(isinstance(line["kind"], str) for _, line in entry_to_lines(value, 1))
