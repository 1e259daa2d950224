"""Who leaves or is started again waits no more, and nobody waits for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.passes.calls.open_waits import GivenUp
from inspector.analysis.views.account.unanswered import is_pending, party_who_left
from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, clean_up, delivered, document_of, envelope, grown_log, received
from tests.findings import answer, ask, at, gateway, later, propose


def moved(name: str, event: str = "leave", **fields: Any) -> dict[str, Any]:
    return gateway("system/presence", {"event": event, "participant": {"id": name}}, **fields)


def codes(document: CaptureDocument) -> set[str]:
    return {found.code for found in document.analysis.findings.all()}


@pytest.mark.parametrize(
    ("event", "name", "left"),
    [("leave", "lead", "asker"), ("join", "lead", "asker"), ("leave", "files", "asked"), ("join", "files", "asked"),
     ("leave", "coder", ""), ("update", "lead", ""), ("invited", "files", "")],
)  # fmt: skip
def test_a_request_ends_with_either_of_the_two(event: str, name: str, left: str) -> None:
    document = document_of(ask(), moved(name, event, ts=at(1)), later(16))
    assert party_who_left(document.analysis, 0) == left
    assert is_pending(document.analysis, 0) is (not left)
    assert ("request-unanswered" in codes(document)) is (left != "asker")  # it waits in vain for who is gone


def test_what_came_after_or_was_answered_or_is_for_several_goes_on() -> None:
    assert is_pending(document_of(moved("lead"), ask()).analysis, 0) is False
    assert is_pending(document_of(moved("lead"), ask()).analysis, 1)
    assert is_pending(document_of(ask(to=["files", "coder"]), moved("files")).analysis, 0)
    document = document_of(ask(), moved("files"), answer())
    assert document.analysis.correlation.columns["answer"][0] == 2


def test_a_proposal_ends_with_who_made_it_alone() -> None:
    assert not is_pending(document_of(propose(to=["human"]), moved("coder")).analysis, 0)
    assert is_pending(document_of(propose(to=["human"]), moved("human")).analysis, 0)


def test_a_copy_of_a_join_is_no_new_start() -> None:
    joined = moved("lead", "join", id="presence-1", ts=at(0))
    assert is_pending(document_of(joined, ask(), joined).analysis, 1)
    assert not is_pending(document_of(joined, ask(), {**joined, "ts": at(3)}).analysis, 1)


def test_a_log_goes_on_after_its_gateway_was_started_again() -> None:
    def welcomed(name: str, *others: str) -> dict[str, Any]:
        payload = {"you": {"id": name}, "participants": [{"id": other} for other in others]}
        return delivered(gateway("system/welcome", payload, to=[name]), name)

    before = [welcomed("lead"), welcomed("files", "lead"), received(ask())]
    document = document_of(*before, welcomed("human"))
    assert not is_pending(document.analysis, 2)
    assert [one.here for one in document.analysis.participants.all.values()] == [False, False, True]
    assert is_pending(document_of(*before, welcomed("human", "files", "lead")).analysis, 2)


def test_usage_is_reset_and_told_again() -> None:
    full = [envelope("participant/status", {"tokens": 95, "max_tokens": 100}) for _ in "12"]
    document = document_of(full[0], moved("lead"), moved("lead", "join"), full[1])
    assert document.analysis.findings.found.counts()["context-window-full"] == 2
    assert document.analysis.participants.all[0, "lead"].tokens == 95
    assert document_of(full[0], moved("lead")).analysis.participants.all[0, "lead"].tokens is None


@given(
    st.lists(st.tuples(st.sampled_from(["ask", "leave", "join", "answer"]), st.sampled_from("ab"), st.integers(0, 5)))
)
def test_any_batches_give_the_same_as_looking_at_each_request(steps: list[tuple[str, str, int]]) -> None:
    lines: list[dict[str, Any]] = []
    asked: list[tuple[int, str]] = []
    for what, name, number in steps:
        other = "b" if name == "a" else "a"
        if what == "ask":
            asked.append((len(lines), name))
            lines.append(ask(id=f"q{len(lines)}", sender=name, to=[other]))
        elif what == "answer" and asked:
            row, asker = asked[number % len(asked)]
            ends = {"sender": "b" if asker == "a" else "a", "to": [asker]}
            lines.append(answer(id=f"r{len(lines)}", correlation_id=[f"q{row}"], **ends))
        elif what in ("leave", "join"):
            lines.append(moved(name, what, id=f"p{len(lines)}"))
    log = grown_log(lines)
    for document in (document_of(*lines), log.end()):
        for row, asker in asked:
            given_up = int(document.analysis.correlation.columns["given_up"][row])
            assert given_up == expected(lines, row, asker)
    clean_up()


def expected(lines: list[dict[str, Any]], row: int, asker: str) -> int:
    """What is said of a request by going through what followed, one by one."""
    here: dict[str, bool | None] = {"a": None, "b": None}
    for number, line in enumerate(lines):
        if line["kind"] == "mcp/response" and line["correlation_id"] == [f"q{row}"]:
            return GivenUp.NO
        if line["kind"] == "system/presence":
            name, event = line["payload"]["participant"]["id"], line["payload"]["event"]
            ended = event == "join" or here[name] is not False
            here[name] = event == "join"
            if number > row and ended:
                return GivenUp.ASKER_LEFT if name == asker else GivenUp.ASKED_LEFT
    return GivenUp.NO


@given(st.integers(1, 5))
def test_what_a_server_was_asked_ends_when_it_is_started_again(size: int) -> None:
    def line(message: dict[str, Any], way: str = "client->server", src: int = 0) -> dict[str, Any]:
        return {"t": 1_767_603_600_000_000_000, "dir": way, "src": src, "frame": message}

    def call(number: int, src: int = 0) -> dict[str, Any]:
        params = {"name": "grep", "arguments": {}}
        return line({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}, src=src)

    opened = {"t": 1_767_603_600_000_000_000, "src": 0, "mark": "opened"}
    answer = line({"jsonrpc": "2.0", "id": 1, "result": {}}, "server->client")
    lines = [opened, call(1), call(2), call(7, src=1), answer, opened, call(2), call(3)]
    log = GrowingLog()
    try:
        for start in range(0, len(lines), size):
            log.write(*lines[start : start + size])
        analysis = log.document.analysis
        asked = [row for row in range(len(analysis)) if analysis.capture.string("method", row) == "tools/call"]
        assert [is_pending(analysis, row) for row in asked] == [False, False, True, True, True]
        assert [party_who_left(analysis, row) for row in asked] == ["", "asked", "", "", ""]
    finally:
        clean_up()
