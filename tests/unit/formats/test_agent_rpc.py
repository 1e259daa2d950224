"""ACP and A2A: who asks whom, texts in pieces, decisions that wait, tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from inspector.formats.line_reading import read_line_as
from inspector.store.messages.exact_bytes import ExactMessage
from inspector.store.messages.original_lines import LoggedLines
from tests.builders import GrowingLog, document_at, document_of, field_values, lines_of, log_file
from tests.samples import FORMAT_SAMPLES

SHARED = Path(__file__).parents[4] / "shared" / "recordings" / "transcripts"
SESSION = "s1"


def rpc(method: str, identifier: int | None = None, **params: Any) -> dict[str, Any]:
    named = {} if identifier is None else {"id": identifier}
    return {"jsonrpc": "2.0", **named, "method": method, "params": {"sessionId": SESSION, **params}}


def result(identifier: int | str, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


def update(sort: str, **update: Any) -> dict[str, Any]:
    return rpc("session/update", update={"sessionUpdate": sort, **update})


def piece(text: str, sort: str = "agent_message_chunk", **more: Any) -> dict[str, Any]:
    return update(sort, content={"type": "text", "text": text}, **more)


def prompt(identifier: int, text: str = "Go") -> dict[str, Any]:
    return rpc("session/prompt", identifier, prompt=[{"type": "text", "text": text}])


def permission(identifier: int) -> dict[str, Any]:
    options = [
        {"optionId": "y", "name": "Allow", "kind": "allow_once"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]
    return rpc("session/request_permission", identifier, toolCall={"toolCallId": "t"}, options=options)


# ACP


def test_a_session_of_the_sdk() -> None:
    document = document_at(FORMAT_SAMPLES["acp.jsonl"])
    found = field_values(document, "kind", "from", "context", "proposal.state")
    assert document.capture.record_count == 32
    assert [row[0] for row in found].count("chat") == 6  # three prompts' parts, three runs of the agent's chunks
    texts = [
        document.capture.records.payload(row)
        for row, (kind, *_) in enumerate(found)
        if kind in ("chat", "reasoning/thought")
    ]
    assert [payload["text"] for payload in texts if "pieces" in payload] == [
        "I should look first.", "Let me read it.", "I should look first.", "Let me read it.",
    ]  # fmt: skip
    assert [row[3] for row in found if row[0] == "mcp/proposal"] == ["fulfilled"]
    assert {row[2] for row in found[4:]} == {"sess_demo_1"}
    answered = field_values(document, "kind", "answers")
    assert all(row[1] for row in answered if row[0] == "mcp/response" and row != answered[16])


def test_ids_of_the_two_sides_do_not_meet() -> None:
    document = document_of(
        prompt(1), rpc("fs/read_text_file", 1, path="/a"), result(1, content="A"), result(1, stopReason="end_turn"),
        prompt(2), rpc("fs/read_text_file", 2, path="/b"), result(2, stopReason="end_turn"), result(2, content="B"),
    )  # fmt: skip
    rows = field_values(document, "method", "answers", "from")
    answers = [(rows[row[1] - 1][0], row[2]) for row in rows if row[1]]
    assert answers == [
        ("fs/read_text_file", "client"), ("session/prompt", "agent"), ("session/prompt", "agent"),
        ("fs/read_text_file", "client"),
    ]  # fmt: skip


def test_a_direction_tells_whose_an_answer_is() -> None:
    def line(way: str, message: dict[str, Any]) -> dict[str, Any]:
        return {"t": "2026-09-01T08:00:00Z", "dir": way, "kind": "line", "message": message}

    def frame(way: str, message: dict[str, Any]) -> dict[str, Any]:
        return {"t": 1, "dir": way, "src": 0, "frame": message}

    out, back = "client->server", "server->client"
    document = document_of(
        line(out, prompt(7)), line(back, rpc("terminal/create", 7, command="ls")), line(back, result(7)),
        line(out, result(7)),
    )  # fmt: skip
    rows = field_values(document, "method", "answers", "protocol", "dir")
    assert [(row[0], row[1], row[3]) for row in rows[3:]] == [("session/prompt", 1, back), ("terminal/create", 3, out)]
    assert {row[2] for row in rows} == {"acp"}
    tapped = document_of(
        {"ctxcap": 1}, frame(out, prompt(7)), frame(back, rpc("terminal/create", 7, command="ls")),
        frame(back, piece("a")), frame(back, piece("b")), frame(back, result(7)), frame(out, result(7)),
    )  # fmt: skip
    assert [row[:2] for row in field_values(tapped, "method", "answers")][3:] == [
        (None, None), ("session/prompt", 1), ("terminal/create", 3),
    ]  # fmt: skip
    assert (tapped.format, field_values(tapped, "text")[3]) == ("capture", ("ab",))


@pytest.mark.parametrize(
    ("outcome", "kind", "state"),
    [
        ({"outcome": "selected", "optionId": "y"}, "mcp/response", "fulfilled"),
        ({"outcome": "selected", "optionId": "n"}, "mcp/reject", "rejected"),
        ({"outcome": "cancelled"}, "mcp/reject", "rejected"),
        (None, None, "open"),
    ],
)
def test_a_permission_waits_for_a_decision(outcome: dict[str, Any] | None, kind: str | None, state: str) -> None:
    answer = [result(0, outcome=outcome)] if outcome is not None else []
    document = document_of(update("tool_call", toolCallId="t", title="Write"), permission(0), *answer)
    rows = field_values(document, "kind", "proposal.state", "waiting", "text")
    assert rows[1] == ("mcp/proposal", state, "decision" if outcome is None else None, "Write (Allow, No)")
    assert [row[0] for row in rows[2:]] == ([kind] if kind else [])


def test_pieces_of_a_text_are_one_until_something_else_is_said() -> None:
    document = document_of(
        prompt(1), piece("a"), piece("b"), piece("c", "agent_thought_chunk"), piece("d", messageId="m"),
        piece("e", messageId="n"), update("plan", entries=[]), piece("f"),
    )  # fmt: skip
    assert [row[0] for row in field_values(document, "text")[2:]] == ["ab", "c", "d", "e", "plan: empty", "f"]
    assert document.capture.record_count == 8


def test_what_was_put_together_is_shown_as_it_was_logged() -> None:
    lines = [prompt(1), piece("a"), piece("b"), result(1, stopReason="end_turn")]
    plain, array = document_of(*lines), document_at(log_file(json.dumps(lines, indent=1).encode()))
    for document in (plain, array):
        logged = [LoggedLines(document.capture, row) for row in range(len(document.capture))]
        assert [[json.loads(line) for line in one] for one in logged] == [lines[:1], lines[:1], lines[1:3], lines[3:]]
        assert [logged[2].read(start, 9) for start in (0, logged[2].length - 9)] == [
            b"".join(logged[2].read(at, 1) for at in range(start, start + 9)) for start in (0, logged[2].length - 9)
        ]  # fmt: skip
    behind = b"".join(b"2026-09-01T08:00:0%dZ [agent] %s" % (at, lines_of(line)) for at, line in enumerate(lines))
    assert field_values(document_at(log_file(behind)), "text") == field_values(plain, "text")
    assert b"".join(ExactMessage(plain.capture, 2).read_parts()).splitlines() == list(LoggedLines(plain.capture, 2))
    assert field_values(plain, "text", "answers") == field_values(array, "text", "answers")


def test_half_a_surrogate_is_borne() -> None:
    document = document_of(prompt(1, "\ud800"), piece("a\ud800"), piece("b"), result(1, stopReason="\udfff"))
    assert len(document.capture) == 4
    written = [document.capture.records.read_line_of(row).lower() for row in range(4)]
    assert all(any(mark in raw for raw in written) for mark in (b"ud800", b"ud800b", b"udfff"))


def test_a_growing_log_gains_a_text_once_it_is_whole() -> None:
    log = GrowingLog()
    log.write(prompt(1), piece("a"))
    assert len(log.document.capture) == 2
    log.write(piece("b"), result(1, stopReason="end_turn"))
    assert [row[0] for row in field_values(log.document, "text")[2:]] == ["ab", "end turn"]


def test_a_live_session_that_ends_in_a_text_has_it(tmp_path: Path) -> None:
    path = tmp_path / "live.ctxcap"
    path.write_bytes(lines_of({"ctxcap": 1}, {"t": 1, "dir": "server->client", "src": 0, "frame": piece("a")}))
    document = CaptureDocument()
    document.follow_capture(path, name="live")
    while document.poll():
        pass
    assert len(document.capture) == 0
    document.end_live()
    assert [row[0] for row in field_values(document, "text")] == ["a"]
    document.close()


def test_what_is_told_again_when_a_session_is_loaded_is_no_new_message() -> None:
    document = document_of(
        prompt(1, "Go"), piece("Done."), result(1, stopReason="end_turn"), rpc("session/load", 2, cwd="/"),
        piece("Go", "user_message_chunk"), piece("Done."), result(2), piece("Done."),
    )  # fmt: skip
    assert [row for row in field_values(document, "text", "repeats") if row[0] in ("Go", "Done.")] == [
        ("Go", None), ("Done.", None), ("Go", 2), ("Done.", 3), ("Done.", None),
    ]  # fmt: skip


def test_a_tool_that_is_known_by_its_first_update_is_called_then() -> None:
    document = document_of(
        update("tool_call_update", toolCallId="t", title="Search", status="pending"),
        update("tool_call_update", toolCallId="t", status="failed", rawOutput={"code": 1}),
    )
    rows = field_values(document, "kind", "tool", "answers", "error", "text")
    assert [row[:4] for row in rows] == [("mcp/request", "Search", None, None), ("mcp/response", "Search", 1, True)]
    assert rows[1][4] == '{"code":1}'


def test_calls_of_a_turn_that_the_client_ends_wait_no_more() -> None:
    lines = (
        prompt(1), update("tool_call", toolCallId="t", title="Search"), rpc("session/cancel"),
        result(1, stopReason="cancelled"), prompt(2), update("tool_call", toolCallId="u", title="Read"),
    )  # fmt: skip
    states = dict(field_values(document_of(*lines), "tool", "state"))
    assert (states["Search"], states["Read"]) == ("cancelled", "waiting")


def test_nothing_is_believed_that_a_message_tells_of_itself() -> None:
    forged = {**result(9, outcome={}), "known": {"protocol": "acp", "method": "session/prompt"}}
    document = document_of(prompt(9), forged, {**piece("x"), "known": {"pieces": 9}})
    assert [row[0] for row in field_values(document, "method")][:1] == ["session/prompt"]
    assert "pieces" not in document.capture.records.payload(3)


def test_mcp_stays_what_it_is() -> None:
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "t"}},
        {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}},
    ):
        assert read_line_as(json.dumps(message).encode())[1] == "json-rpc"


def test_a_session_of_version_2_is_followed_from_its_first_message_on() -> None:
    hello = {"protocolVersion": 2, "info": {"name": "cook", "version": "1"}, "capabilities": {}}
    document = document_of(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, result(0, **hello), prompt(2),
        result(2, messageId="m1"), update("state_update", state="running"),
        update("tool_call_update", toolCallId="t", title="oven", status="in_progress", rawInput={"rack": 2}),
        update("tool_call_content_chunk", toolCallId="t", content={"type": "content", "content": {"text": "200"}}),
        update("tool_call_update", toolCallId="t", status="completed"),
        update("state_update", state="idle", stopReason="end_turn"),
        {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}},
    )  # fmt: skip
    rows = field_values(document, "from", "kind", "text")
    assert rows[1] == ("agent", "mcp/response", "cook speaks version 2")
    assert rows[5:] == [
        ("agent", "acp/state_update", "the turn is running"), ("agent", "mcp/request", "rack=2"),
        ("agent", "acp/tool_call_content_chunk", "200"), ("tools", "mcp/response", "completed"),
        ("agent", "acp/state_update", "the turn is idle, end turn"),
        ("client", "acp/cancel_request", "request 3 is cancelled"),
    ]  # fmt: skip
    document.catch_up()
    assert [row[0] for row in field_values(document, "finding") if row[0]] == []


# A2A


def test_a_session_of_a2as_sdk() -> None:
    document = document_at(FORMAT_SAMPLES["a2a.jsonl"])
    rows = field_values(document, "kind", "answers", "repeats", "proposal.state", "context.state")
    assert document.capture.record_count == 18
    assert [row[3] for row in rows if row[0] == "mcp/proposal"] == ["answered"]
    assert [row[0] for row in rows].count("mcp/response") == 7
    assert len({row[1] for row in rows if row[0] == "mcp/response"}) == 7
    assert sum(row[2] is not None for row in rows if row[0] == "chat") == 13
    assert [row[4] for row in rows if row[0] == "reasoning/cancel"] == ["cancelled"]


def task(state: str, **more: Any) -> dict[str, Any]:
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state}, **more}


def send(identifier: str, method: str = "message/send", **message: Any) -> dict[str, Any]:
    said = {
        "kind": "message",
        "role": "user",
        "messageId": identifier,
        "parts": [{"kind": "text", "text": "Go"}],
        **message,
    }
    return {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {"message": said}}


def test_a_task_that_waits_is_given_up_with_its_cancellation() -> None:
    cancel = {"jsonrpc": "2.0", "id": "2", "method": "tasks/cancel", "params": {"id": "t"}}
    document = document_of(send("1"), result("1", **task("input-required")), cancel, result("2", **task("canceled")))
    rows = field_values(document, "kind", "proposal.state", "context", "error")
    assert [row[1] for row in rows if row[0] == "mcp/proposal"] == ["rejected"]
    assert {row[2] for row in rows if row[0] in ("mcp/proposal", "mcp/reject")} == {"c/t"}
    assert not any(row[3] for row in rows)  # the task was canceled, as it should be


def test_what_tells_of_a_failed_task_has_not_failed_itself() -> None:
    get = {"jsonrpc": "2.0", "id": "2", "method": "tasks/get", "params": {"id": "t"}}
    rows = field_values(
        document_of(send("1"), result("1", **task("failed")), get, result("2", **task("failed"))), "answers", "error"
    )
    assert [row for row in rows if row[0]] == [(1, True), (5, None)]


def test_an_artifact_in_chunks_is_one_text_and_the_stream_one_answer() -> None:
    def chunk(text: str, *, append: bool, last: bool) -> dict[str, Any]:
        artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
        more = {"append": append, "lastChunk": last, "artifact": artifact}
        return result("1", kind="artifact-update", taskId="t", contextId="c", **more)

    final = result("1", kind="status-update", taskId="t", contextId="c", final=True, status={"state": "completed"})
    document = document_of(
        send("1", "message/stream"), result("1", **task("submitted")), chunk("x", append=False, last=False),
        chunk("y", append=True, last=True), final,
    )  # fmt: skip
    rows = field_values(document, "kind", "text", "answers")
    assert ("chat", "a: xy", None) in rows
    assert [row for row in rows if row[2]] == [("mcp/response", "task completed", 1)]


def test_version_1_has_no_kinds() -> None:
    said = {"role": "ROLE_AGENT", "messageId": "m", "parts": [{"text": "Hello"}]}
    done = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED", "message": said}}}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"parts": [{"text": "Hi"}]}}}
    rows = field_values(document_of(sent, result(1, **done)), "kind", "from", "text", "context")
    assert rows == [
        ("mcp/request", "client", "Hi", None), ("chat", "client", "Hi", None),
        ("mcp/response", "agent", "task completed", "c/t"), ("chat", "agent", "Hello", "c/t"),
        ("reasoning/conclusion", "agent", "task completed", "c/t"),
    ]  # fmt: skip


def test_over_http_ids_mean_something_in_their_exchange() -> None:
    def line(kind: str, x: int, message: dict[str, Any]) -> dict[str, Any]:
        way = "client->server" if kind == "http-request" else "server->client"
        return {"t": "2026-09-01T08:00:00Z", "dir": way, "kind": kind, "x": x, "path": "/", "message": message}

    document = document_of(
        line("http-request", 1, send("1")), line("http-request", 2, send("1", messageId="other")),
        line("http-response", 2, result("1", **task("completed"))),
        line("http-response", 1, {"jsonrpc": "2.0", "id": "1", "error": {"message": "no"}}),
    )  # fmt: skip
    rows = field_values(document, "kind", "text", "http.exchange")
    assert [row[1:] for row in rows if row[0] == "mcp/response"] == [("task completed", 2), ("no", 1)]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the samples of others are not here")
@pytest.mark.parametrize("name", ["acp/spec-examples-v1", "acp/spec-examples-v2", "a2a/spec-examples-1.0"])
def test_examples_of_specifications_have_no_findings(name: str) -> None:
    document = document_at(SHARED / f"{name}.jsonl")
    document.catch_up()
    assert document.format == name.partition("/")[0]
    assert [row[0] for row in field_values(document, "finding") if row[0]] == []


_INNER = (
    "content", "text", "kind", "id", "status", "state", "parts", "update", "sessionUpdate", "artifact", "message",
)  # fmt: skip
_PLAIN = st.sampled_from(["", "t", "text", "task", "completed", "status-update"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | _PLAIN,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(_INNER), inner, max_size=3),
    max_leaves=8,
)
_METHODS = ("session/update", "session/prompt", "session/request_permission", "message/stream", "tasks/get", None)
_SORTS = ("agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update", "x")


@given(
    st.lists(st.tuples(st.sampled_from(_METHODS), st.integers(0, 1), st.sampled_from(_SORTS), _VALUES), max_size=8),
    st.integers(20, 400),
)
def test_values_of_any_type_are_read_however_they_come(
    messages: list[tuple[str | None, int, str, Any]], cut: int
) -> None:
    written: list[dict[str, Any]] = [prompt(1)]
    for method, identifier, sort, value in messages:
        inner = {**value, "sessionUpdate": sort} if isinstance(value, dict) else value
        body = (
            {"result": value} if method is None else {"method": method, "params": {"update": inner, "message": value}}
        )
        written.append({"jsonrpc": "2.0", "id": identifier, **body})
    document = CaptureDocument()
    for _ in document.open_log(log_file(lines_of(*written)), block_bytes=cut):
        pass
    whole = document_of(*written)
    for name in ("kind", "text", "info", "context", "answers", "repeats", "proposal.state"):
        assert field_values(document, name) == field_values(whole, name)
    document.close()
