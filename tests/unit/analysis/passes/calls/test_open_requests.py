"""Requests that wait for an answer, by JSON-RPC id."""

from __future__ import annotations

from typing import Any

from inspector.document.document import CaptureDocument
from tests.builders import document_of, envelope


def line(way: str, **message: Any) -> dict[str, Any]:
    return {"dir": way, "message": {"jsonrpc": "2.0", **message}}


def answers(document: CaptureDocument) -> list[int]:
    return document.analysis.correlation.columns["answer"].tolist()


def test_an_answered_request_is_not_asked_again() -> None:
    ask, answer = line("c->s", id=1, method="ping"), line("s->c", id=1, result={})
    document = document_of(ask, answer, answer, ask, answer)
    assert answers(document) == [1, -1, -1, 4, -1]
    assert document.analysis.correlation.columns["cause"].tolist() == [-1, 0, -1, -1, 3]


def test_what_was_answered_by_name_is_not_open() -> None:
    ask = envelope("mcp/request", {"id": 1, "method": "ping"}, id="q", to=["files"])
    named = envelope("mcp/response", {"id": 1, "result": {}}, sender="files", to=["lead"], correlation_id=["q"])
    bare = envelope("mcp/response", {"id": 1, "result": {}}, sender="files", to=["lead"])
    assert answers(document_of(ask, named, bare)) == [1, -1, -1]
    assert answers(document_of(ask, bare, named)) == [1, -1, -1]


def test_several_askers() -> None:
    asks = [envelope("mcp/request", {"id": 1, "method": "ping"}, sender=name, to=["files"]) for name in ("a", "b", "c")]
    answer = envelope("mcp/response", {"id": 1, "result": {}}, sender="files", to=["b", "a"])
    assert document_of(*asks, answer, answer, answer).analysis.correlation.columns["cause"].tolist() == [
        -1, -1, -1, 1, 0, -1,
    ]  # fmt: skip


def test_requests_nobody_answers_do_not_stand_in_the_way() -> None:
    lost = [line("c->elsewhere", id=1, method="ping") for _ in range(100)]
    answer = line("s->c", id=1, result={})
    document = document_of(
        line("c->s", id=1, method="ping"), *lost[:40], answer, line("c->s", id=1, method="ping"), *lost, answer
    )
    assert document.analysis.correlation.columns["cause"].tolist()[41] == 0
    assert document.analysis.correlation.columns["cause"].tolist()[-1] == 42


def test_one_id_to_a_hundred_participants() -> None:
    names = [f"p{number}" for number in range(100)]
    asks = [envelope("mcp/request", {"id": 1, "method": "ping"}, to=[name]) for name in names]
    answer = [envelope("mcp/response", {"id": 1, "result": {}}, sender=name, to=["lead"]) for name in names]
    assert answers(document_of(*asks, *answer))[:100] == list(range(100, 200))


def test_one_pipe_both_ways() -> None:
    ways = [line("out", id=1, method="ping"), line("in", id=1, method="roots/list")]
    document = document_of(*ways, line("out", id=1, result={}), line("in", id=1, result={}))
    assert answers(document) == [3, 2, -1, -1]


def test_what_is_answered_is_not_kept() -> None:
    ask = envelope("mcp/request", {"id": 1, "method": "ping"}, id="q", to=["files", "disk"])
    named = envelope("mcp/response", {"id": 1, "result": {}}, sender="files", to=["lead"], correlation_id=["q"])
    bare = envelope("mcp/response", {"id": 2, "result": {}}, sender="files", to=["lead"])
    document = document_of(*[ask, named] * 50, bare)
    assert document.analysis.correlation._open_calls._open == {}


def test_nothing_is_listed_where_everybody_names_requests() -> None:
    ask = envelope("mcp/request", {"id": 1, "method": "ping"}, id="q")
    document = document_of(ask, envelope("mcp/response", {"result": {}}, correlation_id=["q"]))
    assert document.analysis.correlation._open_calls._open == {}
