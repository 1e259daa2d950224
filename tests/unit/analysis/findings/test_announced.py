"""What is judged by the capabilities that were announced, and what was refused, in words."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from inspector.document.document import CaptureDocument
from tests.builders import GrowingLog, clean_up, document_of, envelope, received, tool_call
from tests.findings import ask, at, gateway, told_of
from tests.work import steps_of

CODE = "beyond-capabilities"
READ = {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "read_*"}}}


def said(document: CaptureDocument, code: str = CODE) -> list[tuple[int, str]]:
    return [(one.row, one.text) for one in document.analysis.findings.all() if one.code == code]


def test_one_who_may_chat_calls_a_tool() -> None:
    calls = [tool_call("delete_file", sender="intern") for _ in "123"]
    document = document_of(told_of("intern", {"kind": "chat"}), envelope(sender="intern"), *calls)
    assert [row for row, _ in said(document)] == [2, 3, 4]
    assert all("sent mcp/request tools/call delete_file, but none of its" in text for _, text in said(document))
    assert document.analysis.findings.found.counts()[CODE] == 3


def test_by_name_and_by_arguments() -> None:
    calls = [tool_call(name, sender="intern") for name in ("read_file", "delete_file", "delete_file")]
    assert [row for row, _ in said(document_of(told_of("intern", READ), *calls))] == [2, 3]
    deep = {"kind": "mcp/request", "payload": {"params": {"arguments": {"path": "/tmp/*"}}}}
    tried = ("/tmp/a", "/etc/b", "/tmp/c", "/etc/b")
    paths = [tool_call("rm", sender="intern", arguments={"path": path}) for path in tried]
    assert [row for row, _ in said(document_of(told_of("intern", deep), *paths))] == [2, 4]


def test_a_grant_bound_to_a_context_is_for_messages_in_it() -> None:
    bound = told_of("intern", {"kind": "mcp/request", "context": "review"})
    within = [tool_call("rm", sender="intern", context=name) for name in ("review", "review/lint", "reviewer", None)]
    assert [row for row, _ in said(document_of(bound, *within))] == [3, 4]
    by_parent = {"id": "lint", "parent": "review"}
    objects = [tool_call("rm", sender="intern", context=context) for context in (by_parent, {"id": "lint"})]
    assert said(document_of(bound, *objects)) == []


def test_what_is_not_judged() -> None:
    call = tool_call("delete_file", sender="intern")
    only_chat = told_of("intern", {"kind": "chat"})
    grant = envelope("capability/grant", {"recipient": "intern", "capabilities": [{"kind": "mcp/*"}]})
    revoke = envelope("capability/revoke", {"recipient": "intern", "capabilities": [{"kind": "mcp/*"}]})
    other = envelope("capability/grant", {"recipient": "the-intern", "capabilities": [{"kind": "mcp/*"}]})
    answered = envelope("mcp/response", {"result": {}}, sender="intern")
    for lines in (
        [call], [told_of("intern"), call], [only_chat, grant, call], [only_chat, grant, revoke, call],
        [only_chat, other, call], [only_chat, answered], [call, only_chat],
        [only_chat, received(call, "mallory")],
    ):  # fmt: skip
        assert said(document_of(*lines)) == []


def test_a_kind_that_names_its_call_names_it_once() -> None:
    told = told_of("intern", "mcp/request:tools/call:read_*")
    for kind, words in (
        ("mcp/request:tools/call:rm", "mcp/request:tools/call:rm"), ("mcp/request", "mcp/request tools/call rm"),
        ("mcp/request:tools/call", "mcp/request:tools/call rm"),
    ):  # fmt: skip
        found = said(document_of(told, {**tool_call("rm", sender="intern"), "kind": kind}))
        assert [sentence for _, sentence in found] == [
            f"intern sent {words}, but none of its announced or granted capabilities covers it."
        ]


def test_a_refusal_names_method_and_tool() -> None:
    error: dict[str, Any] = {"error": "capability_violation", "attempted_kind": "mcp/request"}
    refused = gateway("system/error", error, to=["intern"], correlation_id=["q1"])
    seen = document_of(ask(sender="intern"), refused)
    assert said(seen, "capability-denied") == [(1, "intern may not send mcp/request tools/call grep.")]
    held = [{"kind": "chat"}, {"kind": "mcp/request", "payload": {"method": "tools/list"}}]
    unseen = document_of({**refused, "payload": {**error, "your_capabilities": held}})
    assert said(unseen, "capability-denied") == [
        (0, "intern may not send this mcp/request, whose content is unknown; it may send mcp/request:tools/list.")
    ]
    rejected = {**received(ask(sender="intern", ts=at(0))), "event": "rejected"}
    assert said(document_of(rejected), "capability-denied") == [(0, "intern may not send mcp/request tools/call grep.")]


def crowd(count: int) -> GrowingLog:
    """A space in which many were granted something, under names nobody goes by, and one may chat."""
    grants = [
        envelope("capability/grant", {"recipient": f"guest-{n}", "capabilities": [{"kind": "mcp/*"}]})
        for n in range(count)
    ]
    log = GrowingLog()
    log.write(told_of("intern", {"kind": "chat"}), *grants)
    log.write(envelope(sender="intern"))  # checks may wait for what comes at once
    while log.document.sources.unread_bytes or log.document.has_backlog:
        log.document.poll()
    return log


def test_a_message_costs_the_same_in_a_crowd() -> None:
    few, many = crowd(100), crowd(2_000)
    steps = [steps_of(lambda log=log: log.write(tool_call("rm", sender="intern")), "announced") for log in (few, many)]
    assert steps[0] == steps[1] > 0
    clean_up()


@given(st.lists(st.integers(0, 11), max_size=14), st.lists(st.integers(1, 5), min_size=1, max_size=8))
def test_grants_for_names_nobody_goes_by_leave_open_what_was_meant(kinds: list[int], sizes: list[int]) -> None:
    """Whatever the batches, as a plain look at all that was announced and granted so far says."""
    calls = [{"kind": "mcp/*"}]
    ways: list[dict[str, Any]] = [tool_call(f"t{n}", sender="intern") for n in range(6)]
    ways += [envelope("capability/grant", {"recipient": name, "capabilities": calls}) for name in ("a", "b", "intern")]
    ways += [told_of("a", {"kind": "chat"}), told_of("b", {"kind": "chat"}), told_of("intern", {"kind": "chat"})]
    lines = [{**ways[kind], "id": f"m{n}"} for n, kind in enumerate(kinds)]
    log, place = GrowingLog(), 0
    log.write(told_of("intern", {"kind": "chat"}))
    for size in sizes * len(lines):
        if lines[place : place + size]:
            log.write(*lines[place : place + size])
        place += size
    assert [row for row, _ in said(log.document)] == [n + 1 for n in _beyond(kinds)]
    clean_up()


def _beyond(kinds: list[int]) -> list[int]:
    found: list[int] = []
    for place, kind in enumerate(kinds):
        before = kinds[:place]
        first = {name: next((n for n, k in enumerate(before) if k in (6 + name, 9 + name)), None) for name in (0, 1)}
        unplaced = any(
            at is not None and before[at] == 6 + name and 9 + name not in before[at:] for name, at in first.items()
        )
        latest = max((n for n, k in enumerate(before) if k == 11), default=-1)
        granted = 8 in before[latest + 1 :]
        if kind < 6 and not unplaced and not granted:
            found.append(place)
    return found


def test_what_the_gateway_refused_has_its_verdict() -> None:
    call = tool_call("delete_file", sender="intern", id="c1")
    refused = gateway(
        "system/error", {"error": "capability_violation", "attempted_kind": "mcp/request"}, to=["intern"],
        correlation_id=["c1"],
    )  # fmt: skip
    chat_alone, again = told_of("intern", {"kind": "chat"}), tool_call("delete_file", sender="intern")
    log = GrowingLog()
    log.write({"ctxcap": 1})
    for line in (chat_alone, call):
        log.write(line)
    assert [row for row, _ in said(log.document)] == [1]
    log.write(refused)
    assert said(log.document) == []
    log.write(again)
    for document in (log.end(), document_of(chat_alone, call, refused, again)):
        assert [row for row, _ in said(document)] == [3]
        assert [row for row, _ in said(document, "capability-denied")] == [2]
