"""A2A over HTTP+JSON gives the rows of the same conversation over JSON-RPC; calls over gRPC are named."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.filters.fields import FIELD_BY_NAME
from inspector.store.messages.original_lines import LoggedLines
from tests.builders import GrowingLog, document_at, log_file
from tests.samples import FORMAT_SAMPLES

_FIELDS = ("kind", "text", "context", "context.state", "proposal.state", "repeats", "answers", "error")
_SAMPLE = FORMAT_SAMPLES["a2a-rest.jsonl"]
_PATHS = {"SendMessage": "message:send", "SendStreamingMessage": "message:stream"}


def values(document: CaptureDocument, *fields: str) -> list[tuple[Any, ...]]:
    document.catch_up()
    chosen = [FIELD_BY_NAME[field] for field in fields]
    return [tuple(field.value(document.analysis, m) for field in chosen) for m in range(len(document.capture))]


def opened(*lines: dict[str, Any]) -> CaptureDocument:
    return document_at(log_file(written(*lines), "wire.jsonl"))


def written(*lines: dict[str, Any]) -> bytes:
    return b"".join(
        json.dumps({"t": f"2026-09-01T10:00:{n:02}Z", **one}).encode() + b"\n" for n, one in enumerate(lines)
    )


def asked(number: int, path: str, body: Any = None, method: str = "POST", **more: Any) -> dict[str, Any]:
    held = {} if body is None else {"message": body}
    return {
        "dir": "client->server", "kind": "http-request", "x": number, "method": method, "path": path,
        "headers": {"host": "agent.test"}, **held, **more,
    }  # fmt: skip


def answered(number: int, body: Any = None, status: int = 200, **more: Any) -> dict[str, Any]:
    held = {} if body is None else {"message": body}
    kind = "http-response"
    return {"dir": "server->client", "kind": kind, "x": number, "status": status, "headers": {}, **held, **more}


def event(number: int, body: Any) -> dict[str, Any]:
    return {"dir": "server->client", "kind": "sse-event", "x": number, "sse": {}, "message": body}


def said(identifier: str, text: str = "Go", **more: Any) -> dict[str, Any]:
    return {"message": {"messageId": identifier, "role": "ROLE_USER", "parts": [{"text": text}], **more}}


def task(state: str, identifier: str = "t", **more: Any) -> dict[str, Any]:
    return {"id": identifier, "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}, **more}


def as_rpc(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the same recording over JSON-RPC; errors are those of the test's conversation."""
    found: list[dict[str, Any]] = []
    for line in lines:
        envelope = {"jsonrpc": "2.0", "id": f"r{line['x']}"}
        if line["kind"] == "http-request":
            verb = line["path"].rpartition("/")[2]
            named = {name: method for method, name in _PATHS.items()}
            method = named.get(verb, "CancelTask" if verb.endswith(":cancel") else "GetTask")
            params = line["message"] if verb in named else {"id": verb.partition(":")[0]}
            found.append({**line, "path": "/", "message": {**envelope, "method": method, "params": params}})
        elif line.get("message") is None:
            found.append(line)
        elif line.get("status", 200) >= 400:
            found.append({**line, "status": 200, "message": {**envelope, "error": {"code": -1, "message": "No"}}})
        else:
            found.append({**line, "message": {**envelope, "result": line["message"]}})
    return found


def conversation(base: str = "/v1") -> list[dict[str, Any]]:
    question = {"messageId": "m2", "role": "ROLE_AGENT", "parts": [{"text": "Where to?"}]}
    update = {"taskId": "u", "contextId": "c"}
    artifact = {"artifactId": "a", "parts": [{"text": "one "}]}
    waiting = {**task("INPUT_REQUIRED"), "status": {"state": "TASK_STATE_INPUT_REQUIRED", "message": question}}
    return [
        asked(1, f"{base}/message:send", said("m1", "Book")),
        answered(1, {"task": {**waiting, "history": [said("m1", "Book")["message"]]}}),
        asked(2, f"{base}/message:send", said("m3", "To the coast", taskId="t", contextId="c")),
        answered(2, {"task": task("FAILED")}),
        asked(3, f"{base}/message:stream", said("m4", "Again", contextId="c")),
        answered(3, headers={"content-type": "text/event-stream"}),
        event(3, {"task": task("SUBMITTED", "u")}),
        event(3, {"artifactUpdate": {**update, "artifact": artifact}}),
        event(3, {"artifactUpdate": {**update, "artifact": artifact, "append": True, "lastChunk": True}}),
        event(3, {"statusUpdate": {**update, "status": {"state": "TASK_STATE_COMPLETED"}}}),
        asked(4, f"{base}/tasks/t", method="GET"),
        answered(4, task("FAILED")),
        asked(5, f"{base}/tasks/t:cancel", {}),
        answered(5, {"error": {"code": 409, "message": "No"}}, 409),
    ]  # fmt: skip


@pytest.mark.parametrize("base", ["", "/v1", "/tenant/agent"])
def test_both_bindings_give_the_same_rows(base: str) -> None:
    lines = conversation(base)
    rest, rpc = values(opened(*lines), *_FIELDS), values(opened(*as_rpc(lines)), *_FIELDS)
    assert rest == rpc
    assert {row[2] for row in rest if row[2]} == {"c", "c/t", "c/u"}
    assert [row[4] for row in rest if row[0] == "mcp/proposal"] == ["answered"]


def test_a_followed_file_gives_the_rows_of_a_whole_one() -> None:
    log = GrowingLog()
    for line in written(*conversation()).splitlines(keepends=True):
        log.write_bytes(line)
    assert values(log.end(), *_FIELDS) == values(opened(*conversation()), *_FIELDS)


def test_the_lines_stay_as_written() -> None:
    document, lines = document_at(_SAMPLE), _SAMPLE.read_bytes().splitlines()
    document.catch_up()
    kinds = [row[0] for row in values(document, "kind")]
    raw = [b"\n".join(LoggedLines(document.capture, m)) for m in range(len(kinds))]
    assert all(line in lines for one in raw for line in one.split(b"\n"))
    pieces = next(
        one for one, row in zip(raw, values(document, "text"), strict=True) if row[0] and "Two rooms" in row[0]
    )
    assert len(pieces.split(b"\n")) == 2


def test_an_archive_is_read_as_its_recording() -> None:
    entries = []
    for second, (path, body, answer) in enumerate(
        [("/a/message:send", said("m1"), {"task": task("COMPLETED")}), ("/a/tasks/t", None, task("COMPLETED"))]
    ):
        post = {} if body is None else {"postData": {"mimeType": "application/json", "text": json.dumps(body)}}
        content = {"mimeType": "application/a2a+json", "text": json.dumps(answer)}
        entries.append(
            {
                "startedDateTime": f"2026-09-01T10:00:{second:02}.000Z", "time": 5,
                "request": {"method": "POST" if post else "GET", "url": f"https://agent.test{path}", **post},
                "response": {"status": 200, "headers": [], "content": content},
            }
        )  # fmt: skip
    archive = {"log": {"version": "1.2", "creator": {"name": "a proxy", "version": "1"}, "entries": entries}}
    document = document_at(log_file(json.dumps(archive).encode(), "session.har"))
    kinds = [row[0] for row in values(document, "kind") if not row[0].startswith("http/")]
    assert kinds == ["mcp/request", "chat", "mcp/response", "reasoning/conclusion", "mcp/request", "mcp/response",
                     "reasoning/conclusion"]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "more", "words"),
    [
        ({"error": {"code": 404, "message": "No such task", "details": []}}, {}, "No such task"),
        ({"type": "about:blank", "title": "Not Found", "detail": "No such task"}, {}, "No such task"),
        ({"message": "Task not found"}, {}, "Task not found"),
        (None, {"text": "Bad gateway"}, "Bad gateway"),
        (None, {}, "HTTP status 502"),
        ([1], {}, "[1]"),
    ],
)
def test_a_failing_status_is_an_error(body: Any, more: dict[str, Any], words: str) -> None:
    document = opened(asked(1, "/message:send", said("m1")), answered(1, body, 502, **more))
    assert values(document, "kind", "text", "error", "answers")[-1] == ("mcp/response", words, True, 1)


def test_names_of_the_older_version_are_read() -> None:
    message = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "Go"}]}
    reply = {"messageId": "m2", "role": "ROLE_AGENT", "content": [{"file": {"fileWithUri": "https://a.test/b"}}]}
    document = opened(asked(1, "/v1/message:send", {"message": message}), answered(1, {"message": reply}))
    assert values(document, "kind", "text") == [
        ("mcp/request", "Go"), ("chat", "Go"), ("mcp/response", "message"), ("chat", "file, https://a.test/b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "method"),
    [
        ("/tasks/5", None, "GET"),
        ("/tasks", None, "GET"),
        ("/tasks/5:cancel", {}, "POST"),
        ("/v1/card", None, "GET"),
        ("/message:send", {"message": "hello"}, "POST"),
        ("/message:send", {"message": {"text": "hello"}}, "POST"),
        ("/message:send", [1], "POST"),
        ("/message:send", None, "POST"),
        ("/message:send", said("m"), "PUT"),
    ],
)
def test_other_services_keep_their_rows(path: str, body: Any, method: str) -> None:
    document = opened(asked(1, path, body, method), answered(1, task("COMPLETED")))
    assert [row[0] for row in values(document, "kind")] == ["http/request", "http/response"]


def test_another_host_is_not_the_agents() -> None:
    other = asked(2, "/v1/tasks/t", method="GET", headers={"host": "board.test"})
    document = opened(asked(1, "/v1/message:send", said("m")), answered(1, {"task": task("WORKING")}), other)
    assert values(document, "kind")[-1] == ("http/request",)


def test_headers_name_the_protocol_of_a_request_without_a_message() -> None:
    document = opened(
        asked(1, "/tasks/t", method="GET", headers={"A2A-Version": "1.0"}), answered(1, task("COMPLETED"))
    )
    assert [row[:2] for row in values(document, "kind", "context")][1] == ("mcp/response", "c/t")


def test_damaged_bodies_stay_visible() -> None:
    document = opened(
        asked(1, "/message:send", said("m")), answered(1, text='{"task": {"id'),
        asked(2, "/message:send", text='{"message": {"par'), answered(2, {"task": task("WORKING")}),
    )  # fmt: skip
    kinds = [row[0] for row in values(document, "kind")]
    assert kinds == ["mcp/request", "chat", "http/response", "http/request", "http/response"]


def test_configurations_are_calls() -> None:
    path = "/tasks/t/pushNotificationConfigs"
    document = opened(
        asked(1, "/message:send", said("m")), answered(1, {"task": task("WORKING")}),
        asked(2, path, {"url": "https://a.test/hook"}), answered(2, {"id": "p"}),
        asked(3, f"{path}/p", method="DELETE"), answered(3, status=204),
    )  # fmt: skip
    rows = [row for row in values(document, "kind", "answers") if row[0].startswith("mcp/")]
    assert [row[0] for row in rows] == ["mcp/request", "mcp/response"] * 3
    assert all(row[1] is not None for row in rows[1::2])


_BINARY = b"\0\0\0\0\x05\n\x03\xff\xfe\x01"


@pytest.mark.parametrize("path", ["/a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService/SendMessage"])
def test_grpc_is_named_and_not_decoded(path: str) -> None:
    coded = base64.b64encode(_BINARY).decode()
    document = opened(asked(1, path, b64=coded), answered(1, b64=coded))
    assert [row[0] for row in values(document, "text")] == [
        "gRPC call SendMessage, 10 bytes, not decoded", "status 200, gRPC answer to SendMessage, 10 bytes, not decoded",
    ]  # fmt: skip


def test_grpc_in_an_archive_has_no_text_of_its_bytes() -> None:
    headers = [{"name": "Content-Type", "value": "application/grpc+proto"}]
    content = {
        "mimeType": "application/grpc", "size": 10, "encoding": "base64", "text": base64.b64encode(_BINARY).decode(),
    }  # fmt: skip
    entry = {
        "startedDateTime": "2026-09-01T10:00:00.000Z", "time": 5,
        "request": {
            "method": "POST", "url": "https://agent.test/lf.a2a.v1.A2AService/GetTask", "headers": headers,
            "postData": {"mimeType": "application/grpc", "text": "\0\0\ufffd\x05"},
        },
        "response": {"status": 200, "headers": headers, "content": content},
    }  # fmt: skip
    archive = {"log": {"version": "1.2", "creator": {"name": "a proxy", "version": "1"}, "entries": [entry]}}
    document = document_at(log_file(json.dumps(archive).encode(), "session.har"))
    assert [row[0] for row in values(document, "text")][:2] == [
        "gRPC call GetTask, not decoded", "status 200, gRPC answer to GetTask, 10 bytes, not decoded",
    ]  # fmt: skip


_KEYS = st.sampled_from(("message", "parts", "content", "task", "status", "error", "messageId", "role", "file", "code"))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)
_TARGETS = st.sampled_from(["/message:send", "/message:stream", "/tasks/t", "/tasks", "/a.A2AService/X", None, 1])


@settings(max_examples=25)
@given(st.lists(st.tuples(_TARGETS, _VALUES, _VALUES), max_size=5))
def test_values_of_any_type_are_read(exchanges: list[tuple[Any, Any, Any]]) -> None:
    lines = [asked(0, "/message:send", said("m"))]
    for number, (path, body, answer) in enumerate(exchanges):
        lines += [asked(number, path, body, headers=answer), answered(number, answer, body), event(number, body)]
    document = opened(*lines)
    assert len(values(document, "text")) >= len(lines)
