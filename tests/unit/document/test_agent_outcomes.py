"""Outcomes of an agent's calls: failures that only the output tells, refusals by the user, times that tools tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.latency.latency import latency_ms
from inspector.analysis.views.model_context.context_owners import Reader
from inspector.analysis.views.model_context.reconstruction import ModelContext
from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.document.summary import summary
from inspector.filters import compile_filter
from tests.builders import document_at, log_file
from tests.unit.present.test_account import account

SESSIONS = Path(__file__).parents[2] / "data" / "transcripts" / "sessions"
THREAD = "01a221f5-3b4e-7313-bade-56488c0bdaa7"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)."


def document_with(lines: list[dict[str, Any]]) -> CaptureDocument:
    return document_at(log_file("".join(json.dumps(line) + "\n" for line in lines).encode()))


def rows(document: CaptureDocument, text: str) -> list[int]:
    return np.flatnonzero(compile_filter(text).mask(document.analysis, np.arange(len(document.capture)))).tolist()


def calls(document: CaptureDocument) -> dict[str, int]:
    return summary(document, "")["calls"]


def latencies(document: CaptureDocument, text: str = "kind == mcp/response") -> list[float | None]:
    found = latency_ms(document.analysis, np.array(rows(document, text), np.int64))
    alone = [document.analysis.correlation.latency_ns(row) for row in rows(document, text)]
    assert [None if np.isnan(one) else one for one in found] == [None if one is None else one / 1e6 for one in alone]
    return [None if one is None else one / 1e6 for one in alone]


# Codex


def codex(second: int, sort: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-11-28T11:40:{second:02}.000Z", "type": sort, "payload": payload}


def script(second: int, call: str) -> dict[str, Any]:
    code = "const r = await tools.exec_command({cmd: 'x'}); text(r);"
    return codex(second, "response_item", type="custom_tool_call", name="exec", call_id=call, input=code)


def printed(second: int, call: str, *texts: str, wall: float = 0.2) -> dict[str, Any]:
    head = f"Script completed\nWall time {wall} seconds\nOutput:\n"
    blocks = [{"type": "input_text", "text": text} for text in (head, *texts)]
    return codex(second, "response_item", type="custom_tool_call_output", call_id=call, output=blocks)


def ran(second: int, identifier: str, code: int) -> dict[str, Any]:
    item = {"type": "CommandExecution", "id": identifier, "command": ["bash", "-lc", "x"], "exit_code": code,
            "status": "failed" if code else "completed"}  # fmt: skip
    return codex(second, "event_msg", type="item_completed", thread_id=THREAD, item=item)


@pytest.fixture(scope="module")
def scripts() -> list[dict[str, Any]]:
    told = json.dumps({"chunk_id": "c", "wall_time_seconds": 0.1, "exit_code": 3, "output": "about to fail\n"})
    return [
        codex(0, "session_meta", id=THREAD, source="exec"),
        script(1, "call_1"), ran(2, "exec-1", 3), printed(2, "call_1", told),  # printed and recorded
        script(3, "call_2"), ran(4, "exec-2", 4), printed(4, "call_2", "done", wall=0.3),  # recorded only
        script(5, "call_3"), printed(6, "call_3", told),  # printed only
        script(7, "call_4"), ran(8, "exec-4", 0), printed(8, "call_4", "hi"),
        codex(9, "response_item", type="function_call", name="exec_command", call_id="call_5", arguments="{}"),
        codex(50, "response_item", type="function_call_output", call_id="call_5",
              output="exec command rejected by user"),
    ]  # fmt: skip


def test_failures_of_scripts_are_failures_everywhere(scripts: list[dict[str, Any]]) -> None:
    document = document_with(scripts)
    assert calls(document) == {"tools": 5, "answered": 5, "failed": 3, "unanswered": 0, "rejected": 1}
    assert len(rows(document, "error")) == len(rows(document, "kind == mcp/request && state == failed")) == 3
    lines = {line.about: line.text for line in account(document).lines}
    assert (lines["Failed"], lines["Rejected"]) == (
        "3 calls failed: exec 3",
        "The user rejected 1 call: exec_command 1",
    )
    said = [
        document.capture.records.payload(row)["result"]["content"] for row in rows(document, "kind == mcp/response")
    ]
    assert [one[0]["text"] for one in said] == [
        "Exit code: 3\nabout to fail", "done", "Exit code: 3\nabout to fail", "hi", "exec command rejected by user",
    ]  # fmt: skip
    assert latencies(document) == [200.0, 300.0, 200.0, 200.0, None]


def test_an_agent_that_could_not_be_started_is_a_failure() -> None:
    asked = codex(1, "response_item", type="function_call", name="spawn_agent", call_id="c1", arguments="{}")
    told = "collab spawn failed: agent thread limit reached"
    answered = codex(2, "response_item", type="function_call_output", call_id="c1", output=told)
    assert calls(document_with([codex(0, "session_meta", id=THREAD), asked, answered]))["failed"] == 1


def test_a_call_written_with_its_result_takes_what_that_tells() -> None:
    assert latencies(document_at(SESSIONS / "codex-call-with-its-result.jsonl")) == [24_500.0]


# Claude Code


def claude(number: int, role: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s",
        "timestamp": f"2026-11-28T11:40:{number:02}.000Z", "message": {"role": role, "content": [*blocks]}, **more,
    }  # fmt: skip


def used(call: str, name: str, number: int = 0) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": {"number": number}}


def result(call: str, text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}


def test_what_the_user_refuses_is_no_failure_and_no_latency() -> None:
    document = document_with(
        [
            claude(0, "assistant", used("a", "Bash")), claude(1, "user", result("a", REFUSED, failed=True)),
            claude(2, "assistant", used("b", "Bash")), claude(3, "user", result("b", "Exit code 1", failed=True)),
            claude(4, "assistant", used("c", "AskUserQuestion")), claude(20, "user", result("c", "blue")),
            claude(21, "assistant", used("d", "Grep")),
            claude(29, "user", result("d", "x"), toolUseResult={"durationMs": 12}),
        ]
    )  # fmt: skip
    assert calls(document) == {"tools": 4, "answered": 4, "failed": 1, "unanswered": 0, "rejected": 1}
    assert len(rows(document, "error")) == len(rows(document, "state == failed")) == document.capture.failed_count == 1
    assert len(rows(document, "state == rejected")) == 1
    assert latencies(document) == [None, 1_000.0, None, 12.0]
    document = document_with(
        [one for number in range(0, 12, 2) for one in (
            claude(number, "assistant", used(f"c{number}", "Bash", number)),
            claude(number + 1, "user", result(f"c{number}", REFUSED, failed=True)))]
    )  # fmt: skip
    run_to_end(document.postponed_checks())
    assert summary(document, "")["findings"] == {}


@pytest.mark.parametrize(
    ("text", "told", "rejected"),
    [
        (REFUSED, None, 1), (REFUSED, "User rejected tool use", 1), (REFUSED, f"Error: {REFUSED}", 1),
        ("Blocked.", "User rejected tool use", 1),
        (REFUSED, {"stdout": "", "stderr": REFUSED}, 0), (REFUSED, [{"type": "text", "text": REFUSED}], 0),
        (REFUSED, f"Error: Exit code 1\n{REFUSED}", 0), (f"Exit code 1\n{REFUSED}", None, 0),
        (f"<tool_use_error>{REFUSED}", None, 0), (f" {REFUSED}", None, 0), (REFUSED, "", 0),
    ],
)  # fmt: skip
def test_what_a_tool_of_claude_printed_is_no_refusal(text: str, told: Any, rejected: int) -> None:
    more = {} if told is None else {"toolUseResult": told}
    lines = [claude(0, "assistant", used("a", "Bash")), claude(1, "user", result("a", text, failed=True), **more)]
    found = calls(document_with(lines))
    assert (found["rejected"], found["failed"]) == (rejected, 1 - rejected)
    (*_, answer), more = (result("a", REFUSED),), {"toolUseResult": "User rejected tool use"}
    assert calls(document_with([lines[0], claude(1, "user", answer, **more)]))["rejected"] == 0, "it did not fail"


# Gemini CLI


def test_results_that_the_model_gets_are_no_prompts_and_an_exit_code_is_a_failure() -> None:
    document = document_at(SESSIONS / "gemini-functionResponse.jsonl")
    told = account(document).lines
    assert [line.text for line in told if line.about in ("Asked", "")][:1] == [
        "user to gemini: “PROMPT one: look at the notes and do the work”"
    ]
    assert not rows(document, "kind == participant/compact-done")
    assert len(rows(document, "kind == mcp/response && !repeats")) == calls(document)["tools"] == 1
    output = "<untrusted_context>\nOutput: no\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>"
    made, refused = (
        {
            "id": call, "name": "run_shell_command", "args": {}, "status": status, "timestamp": "2026-11-28T11:43:24Z",
            "result": [{"functionResponse": {"id": call, "name": "run_shell_command", "response": response}}],
        }
        for call, status, response in (
            ("x", "success", {"output": output}),
            ("y", "cancelled", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
        )
    )  # fmt: skip
    start = {"sessionId": "g", "projectHash": "p", "startTime": "2026-11-28T11:43:20Z", "kind": "main"}
    said = {"id": "m", "timestamp": "2026-11-28T11:43:23Z", "type": "gemini", "content": "", "model": "g"}
    document = document_with([start, {**said, "toolCalls": [made, refused]}])
    assert calls(document) == {"tools": 2, "answered": 2, "failed": 1, "unanswered": 0, "rejected": 1}


def test_a_history_that_shrank_was_compacted() -> None:
    start = {"sessionId": "g", "projectHash": "p", "startTime": "2026-11-28T11:43:20Z", "kind": "main"}
    asked = [
        {"id": f"m{n}", "timestamp": f"2026-11-28T11:43:{n:02}Z", "type": "user", "content": f"ask {n}"}
        for n in range(4)
    ]
    grown, shrunk = ({"$set": {"messages": messages}} for messages in (asked[:1], asked[2:]))
    document = document_with([start, grown, *asked, shrunk])
    assert rows(document, "kind == participant/compact-done") == [len(document.capture) - 1]


def test_a_message_told_twice_in_one_document_is_one_and_no_latency_is_negative() -> None:
    document = document_at(SESSIONS / "gemini-same-id-twice.json")
    assert latencies(document) == [None]
    assert len(rows(document, "repeats")) == 1


# Others


@pytest.mark.parametrize(
    "text", ["The user rejected this tool call.", "The user rejected permission to use this specific tool call."]
)
def test_a_refusal_in_a_session_of_copilot(text: str) -> None:
    def event(number: int, sort: str, **data: Any) -> dict[str, Any]:
        return {"type": sort, "id": f"e{number}", "parentId": f"e{number - 1}", "data": data,
                "timestamp": f"2026-11-28T11:43:{number:02}.000Z"}  # fmt: skip

    document = document_with(
        [
            event(1, "session.start", sessionId="s"),
            event(2, "assistant.message", content="", messageId="m",
                  toolRequests=[{"toolCallId": "t", "name": "bash", "arguments": {}}]),
            event(30, "tool.execution_complete", toolCallId="t", success=False,
                  error={"code": "denied", "message": text}),
        ]
    )  # fmt: skip
    assert calls(document) == {"tools": 1, "answered": 1, "failed": 0, "unanswered": 0, "rejected": 1}


# Calls without a result


def progress(number: int, call: str) -> dict[str, Any]:
    return {
        "type": "progress", "uuid": f"u{number}", "parentUuid": "u0", "sessionId": "s", "parentToolUseID": call,
        "timestamp": f"2026-11-28T11:40:{number:02}.000Z", "data": {"type": "bash_progress", "output": "x"},
    }  # fmt: skip


def spoke(number: int, message: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    made = claude(number, "assistant", *blocks)
    made["message"] |= {"id": message, "model": "m", "usage": {"input_tokens": number, "output_tokens": 1}}
    return made


def findings(document: CaptureDocument) -> dict[str, int]:
    run_to_end(document.postponed_checks())
    return summary(document, "")["findings"]


def test_a_call_is_unanswered_when_its_agent_went_on_not_when_its_file_ends(tmp_path: Path) -> None:
    asked = [spoke(0, "m1", used("a", "Bash")), spoke(1, "m1", used("b", "Bash")), claude(2, "user", result("b", "x"))]
    working = [*asked, spoke(3, "m1", used("c", "Bash")), progress(10, "a"), progress(20, "c")]
    document = document_with(working)
    assert findings(document) == {}
    (end,) = (line.text for line in account(document).lines if line.about == "At the end" and "still" in line.text)
    assert end == "claude is still working at the end of the file, 20 s: Bash"
    gone_on = [*asked, spoke(4, "m2", {"type": "text", "text": "Next"})]
    document = document_with(gone_on)
    assert findings(document) == {"request-unanswered": 1}
    assert len(rows(document, "state == unanswered")) == 1
    (found,) = document.analysis.findings.all()
    assert found.text == "claude sent tools/call Bash to tools and went on without an answer."
    lines = [(line.about, line.text) for line in account(document).lines if "Bash" in line.text]
    assert ("Unanswered", "claude went on without an answer: Bash") in lines
    answered = [*gone_on, claude(5, "user", result("a", "late"))]
    assert findings(document_with(answered)) == {}
    other = [{**line, "sessionId": "t", "uuid": f"t{n}", "timestamp": "2026-11-28T11:59:00.000Z"}
             for n, line in enumerate([spoke(0, "m9", {"type": "text", "text": "Hi"})])]  # fmt: skip
    for name, lines in (("one.jsonl", working), ("two.jsonl", other)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert findings(document_at(tmp_path)) == {}  # the clock of another file says nothing


# Compactions


@pytest.mark.parametrize("named", ["uuids", "segment", "nothing"])
def test_what_a_compaction_kept_stands_behind_its_summary(named: str) -> None:
    lines = [json.loads(line) for line in (SESSIONS / "compaction-keeps-the-last.jsonl").read_text().splitlines()]
    told = lines[4]["compactMetadata"]
    if named != "uuids":
        del told["preservedMessages"]
    if named == "nothing":
        del told["preservedSegment"]
    document = document_with(lines)
    (space,) = (space for space in document.analysis.contexts.spaces if space)
    moment = ModelContext(document.analysis, Reader(space, "claude")).moment_at(len(document.capture) - 1)
    assert [entry.message + 1 for entry in moment.entries()] == [6, *([] if named == "nothing" else [3, 4]), 7, 8]


def test_a_compaction_is_an_event_of_what_happened() -> None:
    document = document_at(SESSIONS / "compaction-keeps-the-last.jsonl")
    (line,) = (line for line in account(document).lines if line.about == "Compacted")
    assert (line.text, line.message) == ("the context of claude once", 5)
    assert line.filter is None or rows(document, line.filter) == [5]
    assert summary(document, "")["compactions"] == 1


# Costs that a session states


def test_a_cost_that_a_session_states_is_its_last_total_else_the_sum_of_its_calls() -> None:
    def state(number: int, dollars: float) -> dict[str, Any]:
        return {"type": "cost-state", "sessionId": "s", "totalCostUSD": dollars,
                "timestamp": f"2026-11-28T11:40:{number:02}.000Z"}  # fmt: skip

    said = spoke(0, "m1", {"type": "text", "text": "Hi"})
    document = document_with([said, state(1, 0.06), spoke(2, "m2", {"type": "text", "text": "Ho"}), state(3, 0.12)])
    assert summary(document, "")["stated_cost"] == 0.12
    assert rows(document, "cost.stated > 0.1") == [3]
    (line,) = (line for line in account(document).lines if line.about == "Cost")
    assert line.text == "$0.120, as the session states"
    by_call = [{**spoke(n, f"m{n // 2}", {"type": "text", "text": f"{n}"}), "costUSD": 0.25} for n in range(4)]
    assert summary(document_with(by_call), "")["stated_cost"] == 0.5  # two records of each call
    assert summary(document_with([said]), "")["stated_cost"] is None


# Reminders on the wire


def test_a_reminder_of_the_client_is_not_what_the_user_asked(tmp_path: Path) -> None:
    def text(words: str) -> dict[str, str]:
        return {"type": "text", "text": words}

    def asked(*blocks: dict[str, str]) -> list[str]:
        request = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": [*blocks]}]}
        answer = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [text("Hi")],
                  "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 1}}  # fmt: skip
        path = tmp_path / "call.json"
        path.write_text(json.dumps({"request": request, "response": answer}))
        return [line.text for line in account(document_at(path)).lines if line.about == "Asked"]

    reminder = "<system-reminder>\nThe list of tasks is empty.\n</system-reminder>\n"
    typed = ["user to assistant: “Fly a kite”"]
    assert asked(text("Fly a kite")) == typed
    assert asked(text(reminder), text("Fly a kite")) == typed
    assert asked(text(f"{reminder}{reminder}Fly a kite")) == typed
    assert asked(text(reminder)) == []


def test_a_command_that_codex_exec_declined_is_rejected_and_no_failure() -> None:
    item = {"id": "item_1", "type": "command_execution", "command": "rm -r build", "aggregated_output": ""}
    lines: list[dict[str, Any]] = [
        {"type": "thread.started", "thread_id": THREAD},
        {"type": "turn.started"},
        {"type": "item.started", "item": {**item, "status": "in_progress"}},
        {"type": "item.completed", "item": {**item, "exit_code": -1, "status": "declined"}},
    ]
    document = document_with(lines)
    assert (calls(document)["failed"], calls(document)["rejected"]) == (0, 1)
    assert document.capture.failed_count == 0
