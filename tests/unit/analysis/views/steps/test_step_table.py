"""Steps of sessions: turns, outputs of models, calls with their answers, sub-agents, and the time they took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.steps.step_columns import StepKind, StepState, StepTable
from inspector.analysis.views.steps.step_table import step_table
from inspector.analysis.views.steps.time_split import TimeSplit, split_time
from inspector.engine.engine import Engine
from inspector.engine.requests.steps import DescribeSteps, ListSteps, RowKind, StepQuestion
from inspector.engine.requests.turns import DescribePrompts, ListTurns
from inspector.ui.panels.conversation.turns import fact_words
from tests.builders import document_at, document_of, log_file

_S = 1_000_000_000


def _line(number: int, second: float, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        usage = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 1}
        message |= {"id": f"msg_{number}", "type": "message", "model": "claude-opus-4-5", "usage": usage}
    return {
        "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None, "sessionId": "s1",
        "timestamp": f"2026-02-05T11:31:{second:06.3f}Z", "message": message, "isSidechain": False, "version": "2.1.0",
        "cwd": "/work", "userType": "external", **fields,
    }  # fmt: skip


def _call(identifier: str, name: str, **arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": identifier, "name": name, "input": arguments}]


def _result(identifier: str, text: str, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": identifier, "content": text, "is_error": failed}]


def _table(tmp_path: Path, *lines: dict[str, Any]) -> StepTable:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return step_table(document_at(path).analysis)


_AS_TWO_TURNS = (
    _line(0, 0, "user", "run the tests"),
    _line(1, 4, "assistant", _call("t1", "Bash", command="make test")),
    _line(2, 7, "user", _result("t1", "Exit code 1", failed=True)),
    _line(3, 9, "assistant", [{"type": "text", "text": "They fail."}]),
    _line(4, 20, "user", "again"),
    _line(5, 21, "assistant", [{"type": "text", "text": "They still fail."}]),
)


def _two_turns(tmp_path: Path) -> StepTable:
    return _table(tmp_path, *_AS_TWO_TURNS)


def test_a_call_and_its_answer_are_one_step(tmp_path: Path) -> None:
    table = _two_turns(tmp_path)
    kinds = [StepKind(kind).name for kind in table.kinds]
    assert kinds == ["PROMPT", "MODEL", "CALL", "MODEL", "ANSWER", "PROMPT", "MODEL", "ANSWER"]
    assert table.states[2] == StepState.FAILED
    assert (table.rows[2], table.ends[2]) == (1, 2)
    assert (table.took_ns[[1, 2, 3, 6]] / _S).tolist() == [4, 3, 2, 1]
    assert table.step_of.tolist() == [0, 2, 2, 4, 5, 7]


def test_a_prompt_begins_a_turn(tmp_path: Path) -> None:
    table = _two_turns(tmp_path)
    assert table.prompts.tolist() == [0, 5]
    assert table.turns.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_tokens_belong_to_the_output(tmp_path: Path) -> None:
    table = _two_turns(tmp_path)
    assert table.tokens[1].tolist() == [3, 5, 7, 1]
    assert table.tokens[table.kinds != StepKind.MODEL].max() == -1


def test_each_moment_of_a_turn_counts_once(tmp_path: Path) -> None:
    table = _two_turns(tmp_path)
    assert split_time(table, np.flatnonzero(table.turns == 0)) == TimeSplit(6 * _S, 3 * _S, 0)
    assert split_time(table, np.flatnonzero(table.turns == 1)) == TimeSplit(1 * _S, 0, 0)


def test_parallel_calls_count_once(tmp_path: Path) -> None:
    table = _table(
        tmp_path,
        _line(0, 0, "user", "read both"),
        _line(1, 1, "assistant", [*_call("t1", "Read", file_path="a"), *_call("t2", "Read", file_path="b")]),
        _line(2, 4, "user", _result("t1", "a")),
        _line(3, 6, "user", _result("t2", "b")),
    )
    assert [int(one) for one in table.took_ns[table.kinds == StepKind.CALL] / _S] == [3, 5]
    assert split_time(table, np.arange(len(table))) == TimeSplit(1 * _S, 5 * _S, 0)


def test_a_refusal_takes_the_time_of_a_person(tmp_path: Path) -> None:
    refusal = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
        "the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to "
        "proceed."
    )
    table = _table(
        tmp_path,
        _line(0, 0, "user", "edit it"),
        _line(1, 1, "assistant", _call("t1", "Edit", file_path="a", old_string="a", new_string="b")),
        _line(2, 9, "user", _result("t1", refusal, failed=True)),
    )
    (call,) = np.flatnonzero(table.kinds == StepKind.CALL)
    assert table.states[call] == StepState.REJECTED
    assert split_time(table, np.arange(len(table))) == TimeSplit(1 * _S, 0, 8 * _S)


def test_a_long_change_of_a_file_includes_a_permission(tmp_path: Path) -> None:
    change = {"file_path": "a", "old_string": "a", "new_string": "b"}
    table = _table(
        tmp_path,
        _line(0, 0, "user", "edit it"),
        _line(1, 1, "assistant", _call("t1", "Edit", **change)),
        _line(2, 2, "user", _result("t1", "changed")),
        _line(3, 3, "assistant", _call("t2", "Edit", **change)),
        _line(4, 9, "user", _result("t2", "changed")),
        _line(5, 10, "assistant", _call("t3", "Bash", command="make")),
        _line(6, 20, "user", _result("t3", "made")),
    )
    assert table.allowed[table.kinds == StepKind.CALL].tolist() == [False, True, False]
    assert split_time(table, np.arange(len(table))) == TimeSplit(3 * _S, 11 * _S, 0, 6 * _S)


def test_steps_of_a_sub_agent_are_below_its_call(tmp_path: Path) -> None:
    agent = {"isSidechain": True, "agentId": "a1"}
    table = _table(
        tmp_path,
        _line(0, 0, "user", "count the files"),
        _line(
            1, 1, "assistant", _call("t1", "Task", description="Count", prompt="Count them.", subagent_type="Explore")
        ),
        _line(2, 2, "user", "Count them.", **agent | {"parentUuid": None}),
        _line(3, 4, "assistant", [{"type": "text", "text": "Three."}], **agent),
        _line(4, 5, "user", _result("t1", "Three."), toolUseResult={"agentId": "a1", "status": "completed"}),
    )
    (call,) = np.flatnonzero(table.kinds == StepKind.CALL)
    below = np.flatnonzero(table.nodes == table.opens[call])
    assert [StepKind(kind).name for kind in table.kinds[below]] == ["PROMPT", "MODEL", "ANSWER"]
    assert table.prompts.tolist() == [0]
    assert set(table.turns.tolist()) == {0}


def test_turns_have_times_calls_and_failures() -> None:
    engine = Engine()
    number = engine.adopt(document_of(*_AS_TWO_TURNS))
    turns = engine.answer_request(number, ListTurns())
    first, second = turns[0], turns[1]
    assert engine.answer_request(number, DescribePrompts(tuple(turns.messages.tolist()))) == ["run the tests", "again"]
    assert (first.message, first.calls, first.failed) == (0, 1, 1)
    assert (first.model_ns, first.tools_ns, first.person_ns) == (6 * _S, 3 * _S, 0)
    assert first.stops_ns - first.starts_ns == 9 * _S
    assert (len(turns), second.message, second.calls) == (2, 4, 0)


def _rpc(second: float, way: str, **message: Any) -> dict[str, Any]:
    return {"t": f"2026-02-05T11:31:{second:06.3f}Z", "dir": way, "message": {"jsonrpc": "2.0", **message}}


def _permission(answered: float, done: float) -> StepTable:
    """A session over ACP in which a call of a tool begins at 2 s, and asks for a permission at 3 s."""
    session = {"sessionId": "s"}
    call = {"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Write", "status": "pending", "kind": "edit"}
    ended = {"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}
    options = [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]
    outcome = {"outcome": {"outcome": "selected", "optionId": "a"}}
    to, back = "client->server", "server->client"
    return step_table(document_of(
        _rpc(0, to, id=0, method="initialize", params={"protocolVersion": 1, "clientCapabilities": {}}),
        _rpc(1, to, id=1, method="session/prompt", params={**session, "prompt": [{"type": "text", "text": "go"}]}),
        _rpc(2, back, method="session/update", params={**session, "update": call}),
        _rpc(3, back, id=7, method="session/request_permission",
             params={**session, "toolCall": {"toolCallId": "c1", "title": "Write"}, "options": options}),
        *([_rpc(answered, to, id=7, result=outcome)] if answered else []),
        _rpc(done, back, method="session/update", params={**session, "update": ended}),
    ).analysis)  # fmt: skip


def test_the_wait_for_a_permission_is_the_persons() -> None:
    table = _permission(answered=8, done=10)
    (wait,) = np.flatnonzero(table.of_person)
    assert table.took_ns[wait] == 5 * _S
    (call,) = table.approvals.steps
    assert (table.stops_ns[call] - table.starts_ns[call], table.took_ns[call]) == (8 * _S, 3 * _S)
    assert split_time(table, np.arange(len(table)))[1:3] == (3 * _S, 5 * _S)
    assert split_time(table, np.array([call]))[1:3] == (3 * _S, 5 * _S)


def test_without_an_answer_a_permission_takes_no_time_from_its_call() -> None:
    table = _permission(answered=0, done=10)
    assert not len(table.approvals.steps)
    assert split_time(table, np.arange(len(table)))[1:3] == (8 * _S, 0)


def _telemetry(second: float, round_: int, text: str) -> dict[str, Any]:
    event = {
        "event.name": "qwen-code.api_response", "model": "m", "input_token_count": 3, "output_token_count": 5,
        "total_token_count": 8, "response_text": text, "prompt_id": f"s1#helper-x1#{round_}", "subagent_name": "helper",
    }  # fmt: skip
    return _qwen(second, "system", subtype="ui_telemetry", systemPayload={"uiEvent": event})


def _qwen(second: float, type_: str, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": f"u{second}", "parentUuid": None, "sessionId": "s1", "timestamp": f"2026-02-05T11:31:{second:06.3f}Z",
        "type": type_, "cwd": "/w", "version": "0.15.10", **fields,
    }  # fmt: skip


def test_a_sub_agent_known_by_its_type_is_below_the_only_call_of_that_type(tmp_path: Path) -> None:
    given = {"description": "count", "prompt": "Count", "subagent_type": "helper"}
    call = {"functionCall": {"id": "c1", "name": "agent", "args": given}}
    answer = {"functionResponse": {"id": "c1", "name": "agent", "response": {"output": "2"}}}
    table = _table(
        tmp_path,
        _qwen(1, "user", message={"role": "user", "parts": [{"text": "go"}]}),
        _qwen(2, "assistant", model="m", message={"role": "model", "parts": [call]}),
        _telemetry(3, 0, "I look."), _telemetry(4, 1, "There are 2."),
        _qwen(5, "tool_result", message={"role": "user", "parts": [answer]}),
    )  # fmt: skip
    (opening,) = np.flatnonzero(table.opens >= 0)
    assert table.kinds[opening] == StepKind.CALL
    inside = np.flatnonzero((table.nodes == table.opens[opening]) & (table.kinds == StepKind.ANSWER))
    assert table.rows[inside].tolist() == [2, 3]
    assert table.tokens[:, 1].clip(0).sum() == 10


def test_the_time_of_a_turn_is_the_same_in_steps_and_in_the_conversation() -> None:
    engine = Engine()
    late = {"type": "last-prompt", "lastPrompt": "again", "leafUuid": "u5", "sessionId": "s1"}
    noted = _line(6, 50, "user", "<local-command-stdout>Set effort to high</local-command-stdout>", isMeta=True)
    number = engine.adopt(document_of(*_AS_TWO_TURNS, noted, late))
    turns = engine.answer_request(number, ListTurns())
    rows = engine.answer_request(number, ListSteps(StepQuestion()))
    engine.close()
    of_turns = rows.kinds == RowKind.TURN
    assert rows.took_ns[of_turns].tolist() == [9 * _S, 1 * _S]
    assert [turn.took_ns for turn in (turns[0], turns[1])] == [9 * _S, 1 * _S]
    assert fact_words(turns[1])[0][0] == "1.0 s"


def test_a_compaction_before_an_output_has_its_own_time(tmp_path: Path) -> None:
    done = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 155_000}}  # fmt: skip
    table = _table(
        tmp_path,
        _line(0, 0, "user", "run the tests"),
        _line(1, 4, "assistant", _call("t1", "Bash", command="make test")),
        _line(2, 7, "user", _result("t1", "ok")),
        {**_line(3, 37, "system", ""), **done},
        _line(4, 37, "user", "This session is being continued.", isCompactSummary=True),
        _line(5, 45, "assistant", [{"type": "text", "text": "They pass."}]),
    )
    (compaction,) = np.flatnonzero(table.kinds == StepKind.COMPACTION)
    outputs = np.flatnonzero(table.kinds == StepKind.MODEL)
    assert table.took_ns[compaction] == 30 * _S
    assert (table.took_ns[outputs] / _S).tolist() == [4, 8]
    assert split_time(table, np.arange(len(table))).model == 42 * _S


def test_a_background_agent_lasts_until_its_end(tmp_path: Path) -> None:
    launched = _result("t1", "Async agent launched successfully.")
    told = {"isAsync": True, "status": "async_launched", "agentId": "a1", "description": "count", "prompt": "Count."}
    notice = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>"
    lines = (
        _line(0, 0, "user", "count the files"),
        _line(1, 1, "assistant", _call("t1", "Agent", description="count", prompt="Count.", run_in_background=True)),
        _line(2, 1.1, "user", launched, toolUseResult=told),
        _line(3, 9, "assistant", [{"type": "text", "text": "I wait."}]),
        _line(4, 21, "user", notice),
    )
    table = _table(tmp_path, *lines)
    (call,) = np.flatnonzero(table.kinds == StepKind.CALL)
    assert table.took_ns[call] == 20 * _S
    inside = [
        {**_line(5, 2, "user", "Count."), "isSidechain": True, "agentId": "a1"},
        {**_line(6, 15, "assistant", [{"type": "text", "text": "Two."}]), "isSidechain": True, "agentId": "a1"},
    ]
    table = _table(tmp_path, *lines[:3], *inside, *lines[3:])
    (call,) = np.flatnonzero(table.kinds == StepKind.CALL)
    assert table.took_ns[call] == 14 * _S


def test_a_file_written_again_with_equal_content_gains_no_lines(tmp_path: Path) -> None:
    def written(number: int) -> tuple[dict[str, Any], ...]:
        asked = _call(f"t{number}", "Write", file_path="/work/a.txt", content="one\n")
        return _line(number, number, "assistant", asked), _line(
            number + 1, number + 1, "user", _result(f"t{number}", "ok")
        )

    path = tmp_path / "session.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (_line(0, 0, "user", "go"), *written(1), *written(3))))
    engine, question = Engine(), StepQuestion(None, "step")
    number = engine.adopt(document_at(path))
    rows = engine.answer_request(number, ListSteps(question))
    texts = engine.answer_request(number, DescribeSteps(question, rows.revision, [*range(len(rows.kinds))]))
    assert [text.text.split()[0] for text in texts if text.tool == "Write"] == ["+1", "unchanged"]


def test_notifications_are_no_steps_unless_they_report_a_failure() -> None:
    def notified(method: str, **params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}

    document = document_of(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count", "arguments": {}}},
        notified("progress", progressToken=1, progress=1),
        notified("message", level="info", data="half"),
        notified("message", level="error", data="disk full"),
        notified("tasks/status", taskId="t", status="failed"),
        notified("tools/list_changed"),
        {"jsonrpc": "2.0", "id": 1, "result": {"content": []}},
    )
    steps = step_table(document.analysis)
    assert steps.rows[steps.kinds == StepKind.CALL].tolist() == [0, 3, 4]


@pytest.mark.parametrize("count", [2, 2_001])
def test_any_number_of_notifications_are_no_steps(count: int) -> None:
    levels = ["info", "info", "\\u0065rror", "ERROR", *["info"] * count]
    lines = [
        f'{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"no error"}}}}'
        for level in levels
    ]
    steps = step_table(document_at(log_file("\n".join(lines).encode() + b"\n")).analysis)
    assert steps.rows[steps.kinds == StepKind.CALL].tolist() == [2, 3]
