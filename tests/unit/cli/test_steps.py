"""`steps`: rows with durations and figures that agree with `summary`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from inspector.cli.commands import app
from tests.builders import envelope, lines_of, log_file
from tests.samples import sample
from tests.unit.analysis.views.steps.test_step_tree import session


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def answered(*arguments: str) -> dict[str, Any]:
    return json.loads(said(*arguments, "--json"))


def _log() -> str:
    return str(log_file("".join(f"{json.dumps(one)}\n" for one in session().records).encode()))


def test_it_lists_turns_and_their_steps() -> None:
    lines = said("steps", _log()).splitlines()
    assert lines[0].startswith("8 steps: model ")
    assert "4 tool calls, 1 failed, 0 rejected" in lines[0]
    assert "Turn 1" in lines[1]
    assert any("make test" in line and "(failed)" in line for line in lines)


def test_a_reasoning_has_its_label_once_and_its_calls_their_states() -> None:
    call = {"method": "tools/call", "params": {"name": "run"}}
    start = envelope("reasoning/start", {"message": "Find the fault"}, id="r-1")
    proposals = [envelope("mcp/proposal", call, id=name) for name in ("open", "withdrawn")]
    withdrawal = envelope("mcp/withdraw", {"reason": "other"}, correlation_id=["withdrawn"])
    path = str(log_file(lines_of(start, envelope("reasoning/thought", context="r-1"), *proposals, withdrawal)))
    told = said("steps", path)
    assert told.count("Find the fault") == 1
    assert "(waiting)" in told
    assert "(cancelled)" in told


def test_a_rejected_proposal_counts_as_rejected() -> None:
    call = {"method": "tools/call", "params": {"name": "run"}}
    rejection = envelope("mcp/reject", {"reason": "unsafe"}, correlation_id=["p-1"], sender="beta")
    told = said("steps", str(log_file(lines_of(envelope("mcp/proposal", call, id="p-1"), rejection))))
    assert "0 tool calls, 0 failed, 1 rejected" in told
    assert "(rejected)" in told


def test_its_figures_are_those_of_the_summary() -> None:
    log = _log()
    head, summary = answered("steps", log)["head"], answered("summary", log)
    assert head["calls"] == summary["calls"]["tools"]
    assert head["failed"] == summary["calls"]["failed"]
    assert head["model_calls"] == sum(summary["models"].values())


def test_the_slowest_steps_come_first() -> None:
    rows = answered("steps", _log(), "--sort", "took", "--limit", "3")["rows"]
    took = [one["took_ms"] for one in rows]
    assert len(rows) == 3
    assert took == sorted(took, reverse=True)


def _rpc(*methods: str) -> str:
    """Requests of a client, each answered after 10 ms."""
    lines: list[dict[str, Any]] = []
    for number, method in enumerate(methods):
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": "weigh"}}
        told = {"jsonrpc": "2.0", "id": number, "result": {}}
        for way, message, ms in (("client->server", asked, 0), ("server->client", told, 10)):
            time = f"2026-09-01T08:00:{number:02}.{ms:03}Z"
            lines.append({"t": time, "dir": way, "kind": "line", "message": message})
    return str(log_file("".join(f"{json.dumps(one)}\n" for one in lines).encode()))


def test_only_calls_of_tools_are_tools() -> None:
    log = _rpc("initialize", "tools/list", "no/such", "tools/call")
    head = answered("steps", log)["head"]
    assert (head["calls"], head["tools_ms"]) == (1, 10.0)
    assert "Slowest tool weigh 10 ms" in said("summary", log)
    assert not {"joined"} & {one["kind"] for one in answered("steps", log)["rows"]}
    kinds = {one["text"]: one["kind"] for one in answered("steps", log, "--group", "tool")["rows"]}
    assert "tool" not in kinds.values()


def test_without_a_tool_the_slowest_request_is_named() -> None:
    log = _rpc("initialize", "no/such", "no/such")
    assert said("steps", log).splitlines()[0].startswith("3 steps: requests 30 ms; 0 model calls, 0 tool calls")
    summary = said("summary", log)
    assert "requests 30 ms · between steps" in summary
    assert "Slowest request initialize 10 ms" in summary
    kinds = [one["kind"] for one in answered("steps", log, "--group", "tool")["rows"]]
    assert kinds == ["step", "joined", "step", "step"]


def test_it_tells_the_critical_path_of_a_trace() -> None:
    log = str(sample("formats/otlp.jsonl"))
    assert any(line.startswith("Critical path of ") for line in said("steps", log).splitlines())
    path = answered("steps", log)["head"]["critical_path"]
    assert 0 < sum(one["ms"] for one in path["steps"]) <= path["took_ms"]


def test_it_names_unread_files_of_sub_agents_and_the_argument_that_reads_them() -> None:
    folder = sample("transcripts/orders/3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10")
    alone = CliRunner().invoke(app, ["steps", f"{folder}.jsonl", "--json"])
    assert alone.stderr == (
        f"This session has sub-agents in 3 files that are not read. Give {folder} instead to read them too.\n"
    )
    whole = CliRunner().invoke(app, ["steps", str(folder), "--json"])
    assert whole.stderr == ""
    counts = [json.loads(one.stdout)["head"]["calls"] for one in (alone, whole)]
    assert counts[0] < counts[1]


def test_a_turn_of_several_sessions_names_its_session_once(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for file in files:
        records = [{**one, "sessionId": file.stem, "uuid": f"{file.stem}-{one['uuid']}"} for one in session().records]
        file.write_text("".join(f"{json.dumps(one)}\n" for one in records))
    turns = [line for line in said("steps", *map(str, files)).splitlines() if "Turn" in line]
    assert [line.count("read the three files") for line in turns] == [1, 1, 1, 1]
    assert sum("run the tests" in line for line in turns) == 2


def test_it_tells_output_tokens_of_the_beginning_of_an_answer() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    usage = {"input_tokens": 3, "output_tokens": 1}
    message = {"id": "m1", "model": "m", "role": "assistant", "content": [call], "stop_reason": None, "usage": usage}
    line = {"type": "assistant", "uuid": "u1", "parentUuid": None, "sessionId": "s", "version": "2.1.31",
            "isSidechain": False, "timestamp": "2026-02-01T10:00:00.000Z", "message": message}  # fmt: skip
    log = str(log_file(json.dumps(line).encode() + b"\n"))
    assert "output tokens incomplete" in said("steps", log)
