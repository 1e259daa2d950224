"""One call that an agent's transcript and its MCP server's tap both have, and what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inspector.analysis.views.account.account import Deed
from inspector.analysis.views.account.call_pairs import CallPairs
from inspector.analysis.views.account.same_calls import same_calls
from inspector.analysis.views.account.tool_calls import ToolCalls, tool_calls
from inspector.analysis.views.causes.chain import chain_of
from inspector.analysis.views.causes.likely_links import likely_causes, likely_chain, likely_effects
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from inspector.store.columns.hashes import NO_ROW
from tests.builders import account_tally

_SESSION = "7c1d0000-0000-4000-8000-000000000001"


def _at(seconds: float) -> str:
    return f"2026-09-20T10:{int(seconds) // 60:02}:{seconds % 60:06.3f}Z"


def called(seconds: float, identifier: str, tool: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": identifier, "name": tool, "input": arguments}
    return _record("assistant", seconds, identifier, [block])


def returned(seconds: float, identifier: str, text: str = "done") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": identifier, "content": text}
    return _record("user", seconds, f"{identifier}-r", [block])


def _record(role: str, seconds: float, uuid: str, content: list[Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"model": "claude-opus-4-5", "id": f"msg_{uuid}", "type": "message"}
    return {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/work", "sessionId": _SESSION,
        "version": "2.1.0", "type": role, "uuid": uuid, "timestamp": _at(seconds), "message": message,
    }  # fmt: skip


def asked(seconds: float, number: int, tool: str, meta: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": given, **({"_meta": meta} if meta else {})}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return {"t": _at(seconds), "dir": "client->server", "message": message}


def answered(seconds: float, number: int, text: str = "done") -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}}
    return {"t": _at(seconds), "dir": "server->client", "message": message}


def opened(folder: Path, **sources: list[dict[str, Any]]) -> CaptureDocument:
    choices: list[SourceChoice] = []
    for name, lines in sources.items():
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        choices.append(SourceChoice(path))
    document = CaptureDocument()
    for _ in document.open_together(choices):
        pass
    return document


def pairs(document: CaptureDocument) -> list[tuple[str, str, bool]]:
    """Every call of two sources, as the ids of the two and whether it is certain; told alike from both ends."""
    capture = document.capture
    found = {
        (one.outer, one.inner, one.is_certain)
        for row in range(len(capture))
        for one in same_calls(document.analysis, row)
    }
    for outer, inner, certain in found:
        assert any(one.inner == inner for one in same_calls(document.analysis, outer))
        assert any(one.outer == outer for one in same_calls(document.analysis, inner))
        assert certain or any(link.effect == inner for link in likely_effects(document.analysis, outer))
        assert certain or any(link.cause == outer for link in likely_causes(document.analysis, inner))
    assert counted_pairs(document) == {(one[0], one[1]) for one in found}
    return sorted((str(capture.records.envelope_id(a)), str(capture.records.envelope(b)["id"]), c) for a, b, c in found)


def counted_pairs(document: CaptureDocument) -> set[tuple[int, int]]:
    """The same, as found for all calls at once."""
    rows = np.arange(len(document.capture))
    outer = CallPairs.find_all(document.analysis).outer_calls(rows)
    return {(int(one), int(row)) for row, one in zip(rows, outer, strict=True) if one != NO_ROW}


def test_the_call_of_a_transcript_is_the_request_its_server_got(tmp_path: Path) -> None:
    document = opened(
        tmp_path,
        agent=[called(1, "toolu_a", "mcp__files__read", path="a.txt"), returned(3, "toolu_a")],
        files=[asked(1.1, 1, "read", path="a.txt"), answered(2.9, 1)],
    )
    assert pairs(document) == [("toolu_a", "1", False)]
    assert tool_calls(document.analysis) == ToolCalls(1, 1, 0, 0, 0, {"mcp__files__read": 1})
    tally = account_tally(document)
    assert tally.count(Deed.CALL) == 1
    chain = likely_chain(document.analysis, 0)
    assert [step.message for step in chain.steps] == [0, 1, 2, 3]
    assert [link.why for link in chain.links] == ["the same tool with the same arguments in files.jsonl, 100 ms later"]
    document.close()


def test_what_the_server_told_meanwhile_is_in_the_chain_of_the_agents_call(tmp_path: Path) -> None:
    def told(seconds: float, token: Any) -> dict[str, Any]:
        params = {"progressToken": token, "progress": seconds}
        message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        return {"t": _at(seconds), "dir": "server->client", "message": message}

    asks = [
        asked(1.1, 1, "read", {"progressToken": 1}, path="a"),
        asked(1.2, 2, "read", {"progressToken": "1"}, path="b"),
    ]
    document = opened(
        tmp_path,
        agent=[called(1, "toolu_a", "mcp__files__read", path="a"), returned(5, "toolu_a")],
        files=[*asks, told(2, 1), told(2.1, "1"), told(2.2, 2), told(3, 1), answered(4, 1), told(4.5, 1)],
    )
    chain = likely_chain(document.analysis, 0)
    assert [(step.message, step.relation) for step in chain.steps] == [
        (0, "asked"), (1, "asked"), (3, "reported"), (6, "reported"), (7, "answered"), (9, "answered"),
    ]  # fmt: skip
    assert [step.message for step in chain_of(document.analysis, 4)] == [2, 4]
    assert [step.message for step in chain_of(document.analysis, 5)] == [5]
    document.close()


@pytest.mark.parametrize("key", ["claudecode/toolUseId", "example.com/tool_call_id"])
def test_a_request_that_names_the_call_is_certain_however_late_and_whatever_its_arguments(
    tmp_path: Path, key: str
) -> None:
    document = opened(
        tmp_path,
        agent=[called(1, "toolu_a", "mcp__files__read", path="a.txt"), returned(2, "toolu_a")],
        files=[asked(90, 1, "read", {key: "toolu_a"}, path="/real/a.txt"), answered(91, 1)],
    )
    assert pairs(document) == [("toolu_a", "1", True)]
    assert {step.message for step in chain_of(document.analysis, 0)} == {0, 1, 2, 3}
    document.close()


def test_alike_calls_go_with_each_other_in_their_order(tmp_path: Path) -> None:
    document = opened(
        tmp_path,
        agent=[called(1 + n, f"toolu_{n}", "mcp__files__poll") for n in range(4)]
        + [returned(6 + n, f"toolu_{n}") for n in range(4)],
        files=[asked(1.1 + n, n, "poll") for n in range(4)] + [answered(5, n) for n in range(4)],
    )
    assert pairs(document) == [(f"toolu_{n}", str(n), False) for n in range(4)]
    document.close()


def test_request_1_of_five_servers_never_goes_with_that_of_another(tmp_path: Path) -> None:
    names = ("files", "search", "mail", "calendar", "shell")
    taps = {name: [asked(1 + n / 100, 1, "run", x=1), answered(2, 1)] for n, name in enumerate(names)}
    document = opened(tmp_path, **taps)
    assert pairs(document) == []
    assert all(len(likely_chain(document.analysis, row).steps) == 2 for row in range(10))
    document.close()


def test_the_servers_name_tells_alike_calls_of_two_servers_apart(tmp_path: Path) -> None:
    document = opened(
        tmp_path,
        agent=[called(1, "toolu_a", "mcp__files__find", q="x"), returned(3, "toolu_a")],
        files=[asked(1.1, 1, "find", q="x"), answered(2, 1)],
        search=[asked(1.2, 1, "find", q="x"), answered(2, 1)],
    )
    assert pairs(document) == [("toolu_a", "1", False)]
    inner = next(one.inner for one in same_calls(document.analysis, 0))
    assert document.capture.sources[int(document.capture.columns["source"][inner])].name == "files.jsonl"
    document.close()


NO_PAIR = {
    "another tool": asked(1.1, 1, "unread", path="a.txt"),
    "other arguments": asked(1.1, 1, "read", path="b.txt"),
    "after the answer": asked(9, 1, "read", path="a.txt"),
    "long before": asked(1, 1, "read", path="a.txt"),
}


@pytest.mark.parametrize("near_miss", NO_PAIR.values(), ids=NO_PAIR)
def test_what_is_another_call(tmp_path: Path, near_miss: dict[str, Any]) -> None:
    start = 30 if near_miss is NO_PAIR["long before"] else 1
    document = opened(
        tmp_path,
        agent=[called(start, "toolu_a", "mcp__files__read", path="a.txt"), returned(start + 2, "toolu_a")],
        files=[near_miss, answered(60, 1)],
    )
    assert pairs(document) == []
    document.close()


def test_a_bridge_of_a_workspace_and_the_tap_of_its_server(tmp_path: Path) -> None:
    payload = {"method": "tools/call", "params": {"name": "read", "arguments": {"path": "a", "_": 1}}}
    request = {
        "protocol": "mew/v0.4", "id": "r1", "ts": _at(1), "from": "agent", "to": ["fs"], "kind": "mcp/request",
        "payload": payload,
    }  # fmt: skip
    traced = json.loads(json.dumps(request))
    traced["id"], traced["payload"]["params"]["_meta"] = "r2", {"traceparent": "00-4bf9-00f0-01"}
    document = opened(
        tmp_path,
        workspace=[request, traced],
        tap=[asked(1.2, 7, "read", path="a", _=1), asked(1.3, 8, "read", {"traceparent": "00-4bf9-00f0-01"}, path="z")],
    )
    assert pairs(document) == [("r1", "7", False), ("r2", "8", True)]
    document.close()
