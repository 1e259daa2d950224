"""Several connections in one capture, at a time or after one another: JSON-RPC ids and pairs of tools of each alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.analysis.views.model_context import ModelContext, Reader
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from tests.builders import closed_at_end, document_at, document_of, lines_of, log_file
from tests.unit.analysis.transient_traffic import Call, Event, Stdio, fetch, in_turn, store, workflow

NINE = 1_767_603_600_000_000_000


def line(message: dict[str, Any] | list[Any], way: str, src: int = 0) -> dict[str, Any]:
    return {"t": NINE, "dir": way, "src": src, "frame": message}


def ask(number: int, src: int = 0, method: str = "ping") -> dict[str, Any]:
    return line({"jsonrpc": "2.0", "id": number, "method": method}, "client->server", src)


def answer(number: int, src: int = 0) -> dict[str, Any]:
    return line({"jsonrpc": "2.0", "id": number, "result": {}}, "server->client", src)


def opened(src: int = 0) -> dict[str, Any]:
    return {"t": NINE, "src": src, "mark": "opened"}


def causes(*lines: Any) -> list[int]:
    return document_of(*lines).analysis.correlation.columns["cause"].tolist()


def talk(events: list[Event], src: int) -> list[dict[str, Any]]:
    """A connection's calls as lines of a capture."""
    wrap = Stdio()
    lines = (wrap(call, half) for call, half in events)
    return [line(one["message"], one["dir"], src) for one in lines]


def told(document: CaptureDocument) -> list[tuple[str | None, list[str], int | None]]:
    """Of each result its tool, badges, and what consumed it."""
    analysis, capture = document.analysis, document.capture
    rows = [row for row in range(len(capture)) if capture.string("kind", row) == "mcp/response"]
    targets = analysis.correlation.columns["target"]
    return [
        (
            capture.strings[int(targets[row])],
            list(analysis.transients.badges(row)),
            analysis.transients.collapsed_by(row),
        )
        for row in rows
    ]


def test_a_server_that_was_started_again_answers_nothing_of_before() -> None:
    assert causes(opened(), ask(0, method="initialize"), answer(0), ask(1), opened(), answer(1), answer(0)) == [
        -1, 0, -1, -1, -1,
    ]  # fmt: skip
    assert causes(ask(1), opened(), ask(1), answer(1), answer(1)) == [-1, -1, 1, -1]


def test_a_server_that_was_not_does() -> None:
    assert causes(ask(1), {"t": NINE, "src": 0, "mark": "ended"}, opened(1), answer(1)) == [-1, 0]


def test_the_same_ids_over_two_connections_at_a_time() -> None:
    assert causes(ask(1, 0), ask(1, 1), answer(1, 0), answer(1, 1)) == [-1, -1, 0, 1]
    assert causes(ask(1, 0), ask(1, 1), answer(1, 1), answer(1, 0), answer(1, 1)) == [-1, -1, 1, 0, -1]


def test_a_batch_of_answers_belongs_to_its_connection() -> None:
    both: list[Any] = [{"jsonrpc": "2.0", "id": number, "result": {}} for number in (1, 2)]
    assert causes(ask(1, 0), ask(2, 0), ask(2, 1), line(both, "server->client", 0)) == [-1, -1, -1, 0, 1]


def test_a_cancellation_is_for_its_own_connection() -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    document = document_of(ask(1, 0), ask(1, 1), line(cancel, "client->server", 0))
    assert document.analysis.correlation.columns["given_up"].astype(bool).tolist() == [True, False, False]


def test_two_captures_with_the_same_ids_do_not_mix() -> None:
    logs = [log_file(lines_of(line), name) for line, name in ((ask(1), "one.ctxcap"), (answer(1), "other.ctxcap"))]
    document = closed_at_end(CaptureDocument())
    for _ in document.open_together([SourceChoice(log) for log in logs]):
        pass
    assert len(document.capture) == 2
    assert document.analysis.correlation.columns["cause"].tolist() == [-1, -1]


def test_pairs_and_pending_results_end_with_the_session() -> None:
    first = talk(in_turn(workflow(), fetch()), 0)
    second = talk(in_turn(store()), 0)
    assert told(document_of(*first, *second))[1][1] == ["transient", "collapsed"]
    badges = [badges for _, badges, _ in told(document_of(*first, opened(), *second))]
    assert badges == [[], ["transient"], ["consumed"]]


def test_interleaved_connections_consume_their_own() -> None:
    calls: list[Call] = [workflow(), fetch(), fetch(), store()]
    ours = talk(in_turn(*calls), 0)
    theirs = talk(in_turn(*calls), 1)
    alone = told(document_of(*ours))
    mixed = document_of(*(one for pair in zip(ours, theirs, strict=True) for one in pair))
    rows = [told(mixed)[n::2] for n in (0, 1)]
    for side in (0, 1):
        assert [(tool, badges) for tool, badges, _ in rows[side]] == [(tool, badges) for tool, badges, _ in alone]
        assert [by for *_, by in rows[side]] == [None if by is None else 2 * by + side for *_, by in alone]


def test_a_capture_that_was_gone_on_with_reads_as_its_sessions(tmp_path: Any) -> None:
    path = tmp_path / "a.ctxcap"
    first = [opened(), *talk(in_turn(workflow(), fetch()), 0), ask(7)]
    second = [opened(), *talk(in_turn(workflow(), fetch(), store()), 0), answer(7)]
    path.write_bytes(lines_of('{"ctxcap":1}', *(json.dumps(one) for one in (*first, *second))))
    document = document_at(path)
    assert [badges for _, badges, _ in told(document)] == [
        [], ["transient"], [], ["transient", "collapsed"], ["consumed"], [],
    ]  # fmt: skip
    assert document.analysis.correlation.columns["answer"][4] == -1


def test_a_hint_over_one_connection_of_a_client_pairs_tools_over_another() -> None:
    document = document_of(*talk(in_turn(workflow()), 0), *talk(in_turn(fetch()), 1), *talk(in_turn(store()), 2))
    assert [badges for _, badges, _ in told(document)] == [[], ["transient", "collapsed"], ["consumed"]]


def test_a_server_that_was_started_again_is_of_another_run() -> None:
    lines = [*talk(in_turn(workflow(), fetch()), 0), opened(), *talk(in_turn(fetch()), 0), *talk(in_turn(store()), 1)]
    assert [badges for _, badges, _ in told(document_of(*lines))][2] == ["transient"]


def initialized(src: int = 0) -> list[dict[str, Any]]:
    return [ask(90, src, "initialize"), answer(90, src)]


@pytest.mark.parametrize("begun", [[], initialized()])
def test_another_initialize_begins_another_run(begun: list[dict[str, Any]]) -> None:
    first, second = talk(in_turn(workflow(), fetch()), 0), talk(in_turn(store()), 0)
    document = document_of(*begun, *first, *initialized(), *second)
    badges = {tool: badges for tool, badges, _ in told(document) if tool}
    assert badges == {"get_workflow_step": [], "search_records": ["transient"], "analysis_store": ["consumed"]}
    context = ModelContext(document.analysis, Reader(0, "client"))
    seen = [entry.message for entry in context.moment_at(len(document.capture) - 1).entries() if entry.included]
    assert seen == [len(document.capture) - 2, len(document.capture) - 1]


def test_the_initialize_of_each_server_begins_the_same_run() -> None:
    lines = [*initialized(0), *talk(in_turn(workflow()), 0), *initialized(1), *talk(in_turn(fetch(), store()), 1)]
    found = [badges for tool, badges, _ in told(document_of(*lines)) if tool]
    assert found == [[], ["transient", "collapsed"], ["consumed"]]
