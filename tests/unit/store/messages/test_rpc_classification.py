"""JSON-RPC that is not MCP goes by its own name; connections are told apart by their methods."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from inspector.analysis.passes.log_vocabulary import kind_word
from inspector.analysis.states.state_pass import MessageState
from inspector.cli import app
from inspector.document.document import CaptureDocument
from inspector.filters.compile import compile_filter
from inspector.filters.field import Depends
from inspector.filters.fields import FIELD_BY_NAME
from inspector.filters.plain_words import SUGGESTED_FILTERS
from inspector.filters.visible import VisibleRows
from inspector.present.log_topics import LogTopics, spoken_kinds
from tests.builders import GrowingLog, document_of


def ask(identifier: int | None, method: str, **params: Any) -> dict[str, Any]:
    told = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    return {key: value for key, value in told.items() if value is not None}


def answer(identifier: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "result": result}


LSP = (
    ask(0, "initialize", processId=1, rootUri="file:///k", capabilities={}),
    answer(0, capabilities={"hoverProvider": True}),
    ask(None, "initialized"),
    ask(1, "textDocument/hover", position={"line": 0}),
    answer(1, contents="int"),
    ask(2, "shutdown"),
)
MCP = (
    ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}),
    answer(0, protocolVersion="2025-06-18", capabilities={}),
    ask(None, "notifications/initialized"),
    ask(1, "vendor/index"),
)


def shown(document: CaptureDocument) -> list[str]:
    value = FIELD_BY_NAME["kind"].value
    return [str(value(document.analysis, row)) for row in range(len(document.capture))]


def test_a_language_server_is_json_rpc() -> None:
    document = document_of(*LSP)
    assert shown(document) == [
        "jsonrpc/request", "jsonrpc/response", "jsonrpc/notification", "jsonrpc/request", "jsonrpc/response",
        "jsonrpc/request",
    ]  # fmt: skip
    assert document.kind_counts() == {"jsonrpc/request": 3, "jsonrpc/response": 2, "jsonrpc/notification": 1}
    assert [kind_word(document.capture, row) for row in (0, 1, 2)] == ["request", "response", "notification"]
    info = [FIELD_BY_NAME["info"].value(document.analysis, row) for row in (0, 3)]
    assert info[0] == 'initialize {"processId":1,"rootUri":"file:///k","capabilities":{}}'
    assert info[1] == 'textDocument/hover {"position":{"line":0}}'


def test_answers_alone_are_json_rpc_by_a_result_that_is_no_object() -> None:
    bare = {"jsonrpc": "2.0", "id": 2, "result": None}
    assert shown(document_of(answer(0, capabilities={}), bare)) == ["jsonrpc/response"] * 2
    assert shown(document_of(answer(0, capabilities={}), answer(1, content=[]))) == ["mcp/response"] * 2
    assert shown(document_of(answer(0), bare, ask(3, "tools/list"))) == ["mcp/response"] * 2 + ["mcp/request"]


@pytest.mark.parametrize("method", ["tools/list", "ping", "shutdown"])
def test_a_later_method_outweighs_the_form_of_results(method: str) -> None:
    bare = {"jsonrpc": "2.0", "id": 2, "result": [1]}
    log = GrowingLog()
    log.write(bare)
    assert shown(log.document) == ["jsonrpc/response"]
    log.write(ask(3, method))
    assert shown(log.document) == shown(document_of(bare, ask(3, method)))
    assert shown(log.document)[0].startswith("jsonrpc" if method == "shutdown" else "mcp")


def test_ids_and_results_of_json_rpc_are_paired() -> None:
    analysis = document_of(*LSP).analysis
    assert analysis.correlation.columns["answer"][:].tolist()[3] == 4
    assert [analysis.states.state_of(row) for row in (0, 2, 3, 5)] == [
        MessageState.ANSWERED, MessageState.NONE, MessageState.ANSWERED, MessageState.WAITING,
    ]  # fmt: skip
    assert FIELD_BY_NAME["method"].value(analysis, 4) == "textDocument/hover"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('kind == "jsonrpc/request"', [0, 3, 5]),
        ('kind == "mcp/request"', []),
        ('kind like "jsonrpc/request:textDocument*"', [3]),
        ('kind like "jsonrpc/*"', [0, 1, 2, 3, 4, 5]),
    ],
)
def test_filters_take_the_kinds_shown(text: str, rows: list[int]) -> None:
    analysis = document_of(*LSP).analysis
    assert VisibleRows(analysis).evaluate(compile_filter(text), None).tolist() == rows
    assert compile_filter(text).note is None


@pytest.mark.parametrize(
    ("text", "depends"),
    [
        ('kind == "chat"', Depends.FIXED), ('kind in {"chat", "presence"}', Depends.FIXED), ("kind", Depends.FIXED),
        ('kind in {"chat", "mcp/response"}', Depends.PASS), ('kind != "jsonrpc/response"', Depends.PASS),
        ('kind matches "chat"', Depends.PASS),
    ],
)  # fmt: skip
def test_only_kinds_of_json_rpc_change_later(text: str, depends: Depends) -> None:
    assert compile_filter(text).depends == {depends}


@pytest.mark.parametrize(
    "lines",
    [
        MCP,
        (ask(7, "vendor/index"), ask(8, "tools/list")),
        (ask(1, "initialize", capabilities={}), ask(2, "tools/call", name="t")),
        (ask(1, "ping"), answer(1)),
        (ask(1, "tasks/get", taskId="t"), ask(None, "notifications/progress", progressToken=1)),
    ],
)
def test_methods_of_mcp_make_a_connection_mcp(lines: tuple[dict[str, Any], ...]) -> None:
    assert {kind.partition("/")[0] for kind in shown(document_of(*lines))} == {"mcp"}


def test_each_connection_is_told_apart() -> None:
    lines = [{"t": row, "dir": "in", "src": src, "frame": one} for src, log in ((1, LSP), (2, MCP))
             for row, one in enumerate(log, 1)]  # fmt: skip
    document = document_of(*lines, name="two.ctxcap")
    assert [kind.partition("/")[0] for kind in shown(document)] == ["jsonrpc"] * len(LSP) + ["mcp"] * len(MCP)
    topics = LogTopics()
    topics.update(document)
    assert set(topics.order) == {"json-rpc", "mcp"}
    assert spoken_kinds(document)["jsonrpc/request"] == "JSON-RPC request"


def test_a_connection_that_turns_out_to_be_mcp_is_named_anew() -> None:
    log = GrowingLog()
    log.write(ask(1, "vendor/index"), ask(2, "vendor/look"))
    assert shown(log.document)[0] == "jsonrpc/request"
    (changes,) = log.write(ask(3, "tools/list"))
    assert changes.changed.tolist()[:2] == [0, 1]
    assert shown(log.document) == ["mcp/request"] * 3


@pytest.mark.parametrize("command", ["list", "summary"])
def test_the_command_line_says_json_rpc(command: str) -> None:
    path = document_of(*LSP).path
    said = CliRunner().invoke(app, [command, str(path)]).output.replace(str(path), "")
    assert "jsonrpc/request" in said
    assert "mcp" not in said.lower()
    assert "opens the session" not in said


@pytest.mark.parametrize(("word", "rows"), [("requests", [0, 3, 5]), ("response", [1, 4])])
def test_plain_words_find_json_rpc(word: str, rows: list[int]) -> None:
    analysis = document_of(*LSP).analysis
    assert VisibleRows(analysis).evaluate(compile_filter(SUGGESTED_FILTERS[word][1]), None).tolist() == rows
