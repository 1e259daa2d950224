"""Lines of a recording over HTTP: messages, rows without one, and what belongs together."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.filters.fields import FIELD_BY_NAME
from inspector.formats.line_reading import read_line_as
from inspector.protocol.record import Shape
from tests.builders import document_of


def line(kind: str, x: int = 1, way: str = "client->server", **more: Any) -> dict[str, Any]:
    return {"t": "2026-09-01T08:00:00Z", "dir": way, "kind": kind, "x": x, **more}


def call(identifier: int | str, **more: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": identifier, "method": more.pop("method", "ping")}
    return line("http-request", message=message, method="POST", path="/mcp", **more)


def answer(identifier: int | str, kind: str = "sse-event", **more: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": identifier, "result": {}}
    return line(kind, way="server->client", message=message, **more)


def values(field: str, *lines: dict[str, Any]) -> list[object]:
    document = document_of(*lines)
    return [FIELD_BY_NAME[field].value(document.analysis, m) for m in range(len(document.capture))]


def test_ids_of_two_clients_without_a_session_do_not_meet() -> None:
    lines = call(1, x=1), call(1, x=2), answer(1, x=1), answer(1, x=2)
    assert values("answers", *lines) == [None, None, 1, 2]


def test_in_a_session_an_answer_may_come_in_another_exchange() -> None:
    session: dict[str, Any] = {"headers": {"Mcp-Session-Id": "s"}}
    lines = (
        line("http-request", 9, method="GET", path="/mcp", **session),
        line("http-response", 9, "server->client", status=200, **session),
        call(1, x=10, **session), line("http-response", 10, "server->client", status=202), answer(1, x=9),
    )  # fmt: skip
    assert values("answers", *lines)[-1] == 3


def test_the_address_of_the_old_transport_names_the_session() -> None:
    lines = (
        line("http-request", 1, method="GET", path="/sse"),
        line("sse-event", 1, "server->client", sse={"event": "endpoint"}, text="/messages/?session_id=s"),
        call(1, x=2, query="session_id=s"), answer(1, x=1),
    )  # fmt: skip
    assert values("answers", *lines)[-1] == 3


def test_an_event_that_comes_again_is_one_message() -> None:
    event = answer(1, sse={"id": "e-1"})
    assert len(values("kind", call(1), event, event)) == 2
    assert len(values("kind", call(1), event, answer(1, sse={"id": "e-2"}))) == 3


def test_status_and_path_are_those_of_the_exchange() -> None:
    lines = (
        call(1), line("http-response", way="server->client", status=500, text="no"),
        line("http-end", way="server->client", how="complete"),
    )  # fmt: skip
    assert values("http.status", *lines) == [None, 500, 500]
    assert values("http.path", *lines) == ["/mcp"] * 3
    assert values("error", *lines) == [None, True, None]
    assert values("text", *lines)[1:] == ["status 500 no", "exchange complete"]


def test_a_message_on_several_lines_and_one_in_a_frame_are_messages() -> None:
    spread = '{"jsonrpc": "2.0",\n "id": 1, "method": "tools/list"}\n'
    lines = line("http-request", text=spread, method="POST"), answer(1, kind="websocket-frame")
    assert values("answers", *lines) == [None, 1]
    assert values("kind", *lines) == ["mcp/request", "mcp/response"]


def test_first_byte_and_end_are_told_after_the_request() -> None:
    at = "2026-09-01T08:00:00.{}Z"
    lines = (
        call(1, t=at.format("000")), line("http-response", way="server->client", status=200, t=at.format("020")),
        answer(1, t=at.format("100")), line("http-end", how="complete", t=at.format("250")),
        call(2, x=2, t=at.format("300")), answer(2, x=2, kind="http-response", first_ms=1.5, t=at.format("400")),
    )  # fmt: skip
    first, whole = values("http.first_ms", *lines), values("http.whole_ms", *lines)
    assert first == [None, 20.0, 20.0, 20.0, None, 1.5]
    assert whole == [None, None, None, 250.0, None, None]


def test_an_envelope_with_such_a_kind_is_an_envelope() -> None:
    for written in ({"kind": "line", "from": "a", "payload": {}}, {"kind": "http-end", "payload": {}, "ts": "x"}):
        assert read_line_as(json.dumps(written).encode())[1] == "envelopes"
    assert read_line_as(json.dumps({"t": 1, "dir": "in", "frame": {"kind": "line"}}).encode())[1] == "capture"


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
_KEYS = ("x", "path", "query", "status", "headers", "sse", "text", "how", "message", "process", "dir")
_KINDS = ("http-request", "http-response", "sse-event", "http-end", "http-error", "line", "start")


@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES), st.sampled_from(_KINDS))
def test_values_of_any_type_are_read(members: dict[str, Any], kind: str) -> None:
    written = {"t": "2026-09-01T08:00:00Z", "dir": "server->client", **members, "kind": kind}
    record, _ = read_line_as(json.dumps(written).encode())
    assert record.shape in Shape
    document = document_of(written, call(1), answer(1))
    for name in ("text", "info", "http.status", "mcp.version", "answers"):
        for row in range(len(document.capture)):
            FIELD_BY_NAME[name].value(document.analysis, row)
