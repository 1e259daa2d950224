"""What happened, in sentences: each true, and each leading to what it speaks of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.analysis.states.state_pass import MessageState
from inspector.analysis.views.summaries.token_shares import sum_in_steps
from inspector.analysis.views.waste import WasteFinder
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.document.summary import summary
from inspector.filters import compile_filter
from inspector.filters.visible import VisibleRows
from inspector.present.account import Account, account_of
from inspector.present.call_facts import request_facts
from inspector.present.subject import Subject
from inspector.present.waste_words import spared_words
from tests.builders import (
    account_tally,
    clean_up,
    closed_at_end,
    document_of,
    envelope,
    lines_of,
    tool_call,
    tool_result,
)
from tests.findings import HELLO, at, ended, gateway
from tests.samples import FORMAT_SAMPLES, RECORDINGS, recordings_swept
from tests.transcribed import ClaudeSession

WIRE = Path(__file__).parents[2] / "data" / "captures" / "model-wire.jsonl"


def account(document: CaptureDocument) -> Account:
    tally = account_tally(document)
    waste = tool_tokens = None
    if document.analysis.tokens.done:
        tool_tokens = run_to_end(sum_in_steps(document.analysis, "tool"))
        waste = run_to_end(WasteFinder(document.analysis).search()).totals
    return account_of(document, tally, waste, tool_tokens)


def lines(*traffic: Any) -> list[tuple[str, str]]:
    return [(line.about, line.text) for line in account(document_of(*traffic)).lines]


def proposal(**fields: Any) -> dict[str, Any]:
    payload = {"method": "tools/call", "params": {"name": "write_file", "arguments": {}}}
    return envelope("mcp/proposal", payload, **fields)


def test_who_asked_what_and_who_did_it() -> None:
    asked = envelope("chat", {"text": "Fix the timeout"}, sender="human", to=["lead"], ts=at(0))
    start = envelope("reasoning/start", {"input": "why"}, correlation_id=[asked["id"]], id="r-1", ts=at(0))
    calls = [tool_call("grep", ts=at(0)), tool_call("stat", ts=at(0)), tool_call("grep", sender="coder", ts=at(0))]
    answers = [tool_result(call, ts=at(0)) for call in calls]
    end = envelope("reasoning/conclusion", {"text": "done"}, context="r-1", ts=at(0))
    found = lines(asked, start, *calls, *answers, end)
    assert found == [
        ("Asked", "human to lead: “Fix the timeout”"),
        ("Done", "lead called tools of files twice: grep 1, stat 1"),
        ("", "coder called grep of files once"),
        ("", "lead reasoned once: concluded"),
    ]


def test_a_message_without_a_sender_is_of_no_participant() -> None:
    chats = [envelope(sender=name) for name in ("ann", "bob", "cleo", "dan", None)]
    assert ("Said", "5 chats, by 4 participants") in lines(*chats)


def test_participants_of_several_conversations_are_counted_by_name_as_they_are_listed() -> None:
    said = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    other = [{"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]
    document = document_of({"messages": said}, {"messages": other})
    assert len(document.analysis.participants.all) == 4
    assert account(document).head.startswith("4 messages of 2 participants")


def test_what_calls_of_a_model_reported() -> None:
    document = CaptureDocument()
    document.load(WIRE)
    (found,) = (line for line in account(document).lines if line.about == "Reported")
    assert found.text == (
        "6 calls of claude-example-1: 302 tokens out, 18 in; 4,551 read from the cache, 3,615 written to it"
    )
    assert found.filter is not None
    assert len(VisibleRows(document.analysis).evaluate(compile_filter(found.filter), None)) == 6
    (tried_again,) = document.analysis.correlation.rounds.calls
    assert ["".join(part.text for part in fact.parts) for fact in request_facts(Subject(document, tried_again))] == [
        "Answered after 5.1 s: No. 33", "Failed at first, No. 24", "1 further request, the last No. 25",
    ]  # fmt: skip
    document.close()


def test_what_became_of_proposals() -> None:
    first, second = proposal(ts=at(0)), proposal(ts=at(0))
    reject = envelope("mcp/reject", {"reason": "unsafe"}, sender="human", correlation_id=[first["id"]], ts=at(0))
    found = lines(first, second, reject)
    assert ("Proposed", "lead proposed 2 calls: 1 rejected, 1 left open") in found
    assert ("", "human rejected write_file") in found
    assert ("Left open", "lead had no decision: write_file") in found


def test_what_failed_and_what_was_refused() -> None:
    call, refused = tool_call("grep", ts=at(0)), tool_call("rm", sender="intern", ts=at(0))
    failed = tool_result(call, result={"isError": True}, ts=at(0))
    error = gateway("system/error", {"error": "capability_violation"}, correlation_id=[refused["id"]], ts=at(0))
    found = lines(call, failed, refused, error)
    assert ("Failed", "1 call failed: grep, asked by lead") in found
    assert ("Refused", "The gateway refused 1 message: rm, asked by intern") in found


def test_how_a_tapped_server_ended_is_told_where_its_tap_wrote_it() -> None:
    once = account(document_of(*HELLO, ended(3)))
    assert [(line.about, line.text, line.message) for line in once.lines if line.about == "Ended"] == [
        ("Ended", "The server ended with exit code 3", 1)
    ]
    asked = {"t": 1, "dir": "client->server", "kind": "http-request", "x": 1, "method": "GET", "path": "/mcp"}
    over_http = account(document_of({"ctxcap": 1}, asked, ended(3)))
    assert [line.message for line in over_http.lines if line.about == "Ended"] == [1]
    twice = document_of(*HELLO, ended(3), ended(-11))
    told = next(line for line in account(twice).lines if line.about == "Ended")
    assert told.text == "The server ended with exit code 3; the first of 2 crashes"
    assert told.filter is not None
    assert VisibleRows(twice.analysis).evaluate(compile_filter(told.filter), None).tolist() == [1, 2]


def test_the_end_of_a_server_ends_the_log_and_its_waits() -> None:
    end_ns: int = ended(3)["t"]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "boom", "arguments": {}}}
    call = {"t": end_ns - 1_900_000_000, "dir": "client->server", "src": 0, "frame": asked}
    progress = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    said = {"t": end_ns - 900_000_000, "dir": "server->client", "src": 0, "frame": progress}
    document = document_of({"ctxcap": 1}, call, said, ended(3))
    assert account_tally(document).span_ns == 1_900_000_000
    assert document.analysis.states.state_of(0) is MessageState.UNANSWERED
    assert document_of({"ctxcap": 1}, call, said).analysis.states.state_of(0) is MessageState.WAITING
    told = next(line.text for line in account(document).lines if line.about == "Left open")
    assert told.endswith("in the last 1.9 s: boom")


@pytest.mark.parametrize(
    "traffic",
    [
        pytest.param([*HELLO, ended(0)], id="done"),
        pytest.param([*HELLO, ended(-15)], id="told to end"),
        pytest.param([envelope(), ended(3)], id="in a log of what others said"),
        pytest.param([envelope(), {"t": 1, "kind": "end", "exit": 3}], id="the same, as of a recording"),
        pytest.param([{"t": 1, "dir": "a->b", "message": ended(3)}], id="said by a participant"),
        pytest.param([{"t": 1, "dir": "a->b", "message": {"t": 1, "kind": "end", "exit": 3}}], id="recording"),
        pytest.param([*HELLO, {"t": 1, "dir": "in", "frame": [ended(3)]}], id="in a batch"),
        pytest.param([envelope("recorder/end", {"error": {"code": 3}})], id="as a kind"),
    ],
)
def test_ends_that_a_participant_could_write_are_not_told(traffic: list[dict[str, Any]]) -> None:
    document = document_of(*traffic)
    assert not [line for line in account(document).lines if line.about == "Ended"]
    assert "server-ended" not in {found.check.code for found in document.analysis.findings.found.all()}


def test_waits_for_tools_stand_apart() -> None:
    listing = envelope("mcp/request", {"method": "tools/list"}, to=["files"], ts=at(0))
    document = document_of(listing, tool_call("grep", ts=at(0)), envelope(ts=at(7)))
    found = account(document).lines
    told = [(line.about, line.text, line.tone) for line in found if "had no" in line.text]
    assert told == [
        ("Left open", "lead had no answer from files in the last 7 s: grep", "warn"),
        ("", "1 question about tools/list had no answer", "quiet"),
    ]


def test_waiting_has_the_first_place_while_a_session_is_live() -> None:
    call = tool_call("grep", ts=at(0))
    document = document_of(envelope(ts=at(0)), call)
    document.live = True
    first = int(document.capture.columns["time_ns"][1])
    for seconds in (3, 34):
        document.analysis.now_ns = first + seconds * 10**9
        line = account(document).lines[0]
        assert (line.about, line.text, line.message) == (
            "Waiting now", f"lead waits for files, {seconds} s: grep", 1,
        )  # fmt: skip
    answered = document_of(envelope(ts=at(0)), call, tool_result(call, ts=at(1)))
    answered.live = True
    lines = account(answered).lines
    assert [(line.about, line.text) for line in lines[:2]] == [
        ("Waiting now", "None"), ("First message", lines[1].text),
    ]  # fmt: skip


def test_each_rejection_has_a_line() -> None:
    proposals = [
        envelope("mcp/proposal", {"method": "tools/call", "params": {"name": tool, "arguments": {}}}, sender="lead")
        for tool in ("delete_file", "write_file")
    ]  # fmt: skip
    rejections = [envelope("mcp/reject", {}, sender="human", correlation_id=[one["id"]]) for one in proposals]
    found = account(document_of(*proposals, *rejections)).lines
    assert [(line.text, line.message) for line in found if "rejected " in line.text and line.message is not None] == [
        ("human rejected delete_file", 0), ("human rejected write_file", 1),
    ]  # fmt: skip


def test_lines_of_mcp_name_a_client_where_they_name_nobody() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "grep", "arguments": {}}}
    found = lines(call)
    assert ("Done", "The MCP client called grep once") in found
    assert ("Left open", "The MCP client had no answer from the server: grep") in found


def test_a_log_that_goes_on_for_days_tells_no_wait() -> None:
    call = tool_call("grep", ts="2026-01-05T09:00:00Z")
    found = lines(call, envelope("chat", {"text": "later"}, ts="2026-05-24T09:00:00Z"))
    assert ("Left open", "lead had no answer from files: grep") in found


def test_a_proposal_followed_by_an_equal_call_stays_open_and_names_it() -> None:
    asked = {"method": "tools/call", "params": {"name": "add", "arguments": {"a": 10, "b": 5}}}
    proposal = envelope("mcp/proposal", asked, sender="lead")
    made = envelope("mcp/request", asked, sender="helper", to=["files"])
    answer = envelope("mcp/response", {"result": 15}, sender="files", correlation_id=[made["id"]])
    found = lines(proposal, made, answer)
    assert ("Proposed", "lead proposed 1 call: left open") in found
    assert (
        "Left open",
        "lead had no decision in the last 2 s: add; No. 2 makes the same call without naming it",
    ) in found


def test_a_request_is_unanswered_whenever_its_recipient_left() -> None:
    joins, leaves = (
        gateway("system/presence", {"event": one, "participant": {"id": "files"}}) for one in ("join", "leave")
    )
    call = tool_call("grep", ts=at(0))
    assert ("Unanswered", "1 request to participants who left without an answer") in lines(joins, call, leaves)


@pytest.mark.parametrize("lines_", [(), ("{torn", "{torn"), (envelope("odd/kind"),)])
def test_odd_logs_have_an_account(lines_: tuple[Any, ...]) -> None:
    found = account(document_of(envelope("odd/kind"), *lines_))
    assert found.head.startswith(str(1 + len(lines_)))


def test_names_and_texts_are_made_plain_and_secrets_masked() -> None:
    said = envelope("chat", {"text": "my token=s3cr3t-value \u202e"}, sender="a\nb\u202e", ts=at(0))
    text = lines(said)[0][1]
    assert "s3cr3t-value" not in text
    assert "\u202e" not in text
    assert "\n" not in text


def test_what_could_be_spared_in_few_words() -> None:
    document = document_of(*[tool_call("grep")])
    document.count_tokens()
    found = run_to_end(WasteFinder(document.analysis).search())
    assert spared_words(found.totals, short=True) == ""


SAMPLES = sorted(
    path
    for folder in ("recordings", "dialects", "captures", "msp", "")
    for path in ((RECORDINGS.parent / folder).rglob("*.*") if folder else FORMAT_SAMPLES.values())
    if path.suffix in (".jsonl", ".ctxcap") or path.name == "weekly-report.json"
)


@pytest.mark.parametrize("path", recordings_swept(SAMPLES), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_each_line_leads_to_what_it_counts(path: Any) -> None:
    """The first number of a sentence that filters is how many messages the filter shows."""
    document = CaptureDocument()
    try:
        for _ in document.open_log(path):
            pass
        run_to_end(document.postponed_checks())
        rows = VisibleRows(document.analysis)
        for line in account(document).lines:
            assert (line.message is not None) + (line.filter is not None) + (line.panel is not None) == 1
            if line.message is not None:
                assert 0 <= line.message < len(document.capture)
            # The sentence about stated costs names dollars, and no number of messages.
            if line.filter not in (None, "cost.stated"):
                shown = len(rows.evaluate(compile_filter(line.filter), None))
                counts = {"once": 1, "twice": 2}
                words = line.text.replace(",", "").replace(":", "").split()
                assert shown in {counts.get(word, int(word) if word.isdigit() else -1) for word in words}, line
    finally:
        document.close()
        clean_up()


def test_the_time_between_two_unrelated_logs_is_no_silence(tmp_path: Path) -> None:
    logs = {"a.jsonl": "2026-01-05T10:00", "b.jsonl": "2026-10-21T18:30"}
    for name, minute in logs.items():
        lines_ = [envelope(ts=f"{minute}:{second:02}Z") for second in (0, *range(20, 60))]
        (tmp_path / name).write_bytes(lines_of(*lines_))
    document = closed_at_end(CaptureDocument())
    for _ in document.open_together([SourceChoice(tmp_path / name) for name in logs]):
        pass
    found = account(document)
    assert " h " not in found.head
    (silence,) = (line for line in found.lines if line.about == "Silence")
    assert silence.text == "Longest pause 20 s, before No. 2"


def test_calls_that_report_no_tokens_are_told() -> None:
    session = ClaudeSession()
    session.prompt("go")
    session.text("Yes.")
    del session.text("No.")["message"]["usage"]
    document = document_of(*session.records)
    (found,) = (line for line in account(document).lines if line.about == "Reported")
    assert found.text.startswith("1 of 2 calls of claude-opus-4-5: 50 tokens out")
    assert summary(document, "")["unreported"] == 1


def test_a_pause_before_a_further_file_of_a_session_counts(tmp_path: Path) -> None:
    def spoken(moment: str, **more: Any) -> str:
        line = {
            "type": "user", "uuid": moment, "parentUuid": None, "sessionId": "s1", "timestamp": f"2026-03-04T{moment}Z",
            "message": {"role": "user", "content": "Go."}, "version": "2.1.0", "cwd": "/work", "userType": "external",
            "isSidechain": bool(more), **more,
        }  # fmt: skip
        return f"{json.dumps(line)}\n"

    main, agent = tmp_path / "s1.jsonl", tmp_path / "agent-a1.jsonl"
    main.write_text(spoken("09:00:00.000") + spoken("09:00:02.000"))
    agent.write_text(spoken("09:00:50.000", agentId="a1"))
    document = closed_at_end(CaptureDocument())
    for _ in document.open_together([SourceChoice(main), SourceChoice(agent)]):
        pass
    assert "Longest pause 48 s, before No. 3" in [line.text for line in account(document).lines]
