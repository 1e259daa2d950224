"""Pairs of runs that differ in one thing, made by changing recordings; each with where they part, and why."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import inspector.formats
from tests.transcribed import ClaudeSession

DATA = Path(__file__).parent / "data" / "recordings"
STDIO = DATA / "mcp" / "py2-stdio-modern.jsonl"
WIRE = Path(inspector.formats.__file__).parent / "wire_recording" / "samples" / "model-calls.jsonl"
CODER = DATA / "mew" / "coding-agent" / "envelope-history.jsonl"
HINTS = DATA / "mcp-rune" / "01-loop-current-names.jsonl"
SPACE = DATA / "mew" / "scenario-3-proposals" / "envelope-history.jsonl"

Lines = list[dict[str, Any]]
Change = Callable[[dict[str, Any]], object]


class Pair(NamedTuple):
    """Two runs.

    Attributes:
        name: names the change.
        one, other: lines of both logs.
        first: class of the first divergence; "" if the runs are equal.
        cause: class of the cause; "" without one.
        shown: text that the first divergence holds.
    """

    name: str
    one: Lines
    other: Lines
    first: str
    cause: str
    shown: str = ""


# A session of a coding agent, with parameters for what may change


def session(
    *, prompt: str = "Fix the parser.", model: str = "claude-opus-4-5", order: tuple[int, ...] = (0, 1, 2),
    read: str = "def parse(): pass", edit: str = "return 1", test: str = "1 failed", answer: str = "It is fixed.",
    second: str = "Now the docs.", identity: str = "00000000-0000-4000-8000-00000000000a", later: str = "",
    extra: bool = False,
    lost: bool = False, failed: bool = False, compact: bool = False, swapped: bool = False, forgotten: int = 0,
    thought: str = "I read first.",
    temp: str = "/tmp/tmpa1b2c3d4/out", keys: bool = False, tool: str = "Edit", task: str = "two places",
    told: str = "Grep it.",
    seed: int = 1, turn: bool = False, announced: str = "",
) -> Lines:  # fmt: skip
    """A session of two turns: three reads at once, an edit, a test, an answer; a sub-agent's work, an answer."""
    made = ClaudeSession(identity, model=model)
    made.second += len(later)
    made.prompt(prompt)
    made.says({"type": "thinking", "thinking": thought, "signature": "s"}, {"type": "text", "text": "I look at it."})
    files = [("a.py", read), ("b.py", "x = 1"), ("c.py", "y = 2")]
    blocks = [
        {"type": "tool_use", "id": f"toolu_{identity[-2:]}{n}{later}0000000{place}", "name": "Read",
         "input": dict([("offset", 1), ("file_path", files[n][0])] if keys else
                       [("file_path", files[n][0]), ("offset", 1)])}
        for place, n in enumerate(order)
    ]  # fmt: skip
    made.says(*blocks)
    for block, n in reversed(list(zip(blocks, order, strict=True))):
        if lost and n == 0:
            continue
        made.result(str(block["id"]), files[n][1], failed=failed and n == 0)
    if extra:
        made.runs("Bash", {"command": "git status"}, "clean")
    if announced:
        made.text(announced)
    steps = [
        lambda: made.runs(tool, {"file_path": "a.py", "old_string": "pass", "new_string": edit}, "done"),
        lambda: made.runs("Bash", {"command": f"pytest -o {temp}", "seed": seed}, test),
    ]
    for step in reversed(steps) if swapped else steps:
        step()
    if forgotten:
        saved = {"trigger": "auto", "preTokens": 60_000, "tokensSaved": forgotten, "compactedToolIds": ["toolu_before"]}
        made.system("microcompact_boundary", content="Context microcompacted", microcompactMetadata=saved)
    if compact:
        made.system("compact_boundary", content="Conversation compacted")
        made.prompt("This session continues: a.py was read.", isCompactSummary=True)
    made.text(answer)
    made.prompt(second)
    call = made.call("Task", {"description": "Search", "prompt": "Where is it named?", "subagent_type": "Explore"})
    made.result(call, f"Found in {task}.")
    made.runs("Write", {"file_path": "docs.md", "content": told}, "written")
    if turn:
        made.text("Written.")
        made.prompt("Thanks. And the tests?")
        made.runs("Bash", {"command": "make test"}, "ok")
    made.text("Done.")
    return made.records


def _sessions() -> list[Pair]:
    base = session()

    reading = "def parse(): x"

    def pair(name: str, first: str, cause: str, shown: str = "", **changes: Any) -> Pair:
        return Pair(name, base, session(**changes), first, cause, shown)

    return [
        pair("a result, and the next call", "arguments", "result", "new_string", read=reading, edit="return 2"),
        pair("a result alone", "result", "result", "parse", read=reading),
        pair("arguments alone", "arguments", "choice", "return 2", edit="return 2"),
        pair("a prompt, and a call", "arguments", "prompt", "new_string", prompt="Fix the lexer.", edit="return 2"),
        pair("a prompt alone", "prompt", "prompt", "lexer", prompt="Fix the lexer."),
        pair("a later prompt, and a call", "arguments", "prompt", "content", second="Now the guide.", told="Look."),
        pair("the model alone", "model", "model", "claude-sonnet-4-5", model="claude-sonnet-4-5"),
        pair("the model, and a call", "arguments", "model", "new_string", model="claude-sonnet-4-5", edit="return 2"),
        pair("the order of calls at once", "", "", order=(2, 0, 1)),
        pair("ids and times", "", "", identity="00000000-0000-4000-8000-00000000000b", later="abc"),
        pair("the order of keys", "", "", keys=True),
        pair("a temporary path", "", "", temp="/tmp/tmpz9y8x7w6/out"),
        pair("order of calls at once, and a call", "arguments", "choice", "return 2", order=(1, 2, 0), edit="return 2"),
        pair("a lost result, and a call", "arguments", "delivery", "new_string", lost=True, edit="return 2"),
        pair("a lost result alone", "missing", "delivery", "a.py", lost=True),
        pair("a failed call, and a call", "arguments", "result", "new_string", failed=True, edit="return 2"),
        pair("a failed call alone", "failed", "result", "only in B", failed=True),
        pair("a further call", "extra", "choice", "git status", extra=True),
        pair("a further turn", "extra", "choice", "Written.", turn=True),
        pair("calls in another order", "order", "choice", swapped=True),
        pair("an answer in other words", "words", "choice", "repaired", answer="It is repaired."),
        pair("a result, and the answer", "words", "result", "2 tests", test="2 failed", answer="2 tests are left."),
        pair("a thought in other words", "words", "", "", thought="First I read."),
        pair("a text before a call, and a call", "arguments", "choice", "return 2", announced="I edit.",
             edit="return 2"),
        pair("an answer that names more, and a call", "arguments", "choice", "content",
             answer="It is fixed in 2 places.", told="Look."),
        Pair("a time of day in a result", session(read="at 9:29:52 PM"), session(read="at 8:01:07 PM"), "", ""),
        Pair("dates in a listing", session(read="4 Apr  9 06:18 a.py"), session(read="4 Apr 13 17:11 a.py"), "", ""),
        pair("another tool", "missing", "choice", "Replace", tool="Replace"),
        pair("a compaction, and a call", "arguments", "compaction", "content", compact=True, told="Look."),
        pair("forgotten results, and a call", "arguments", "compaction", "content", forgotten=900, told="Look."),
        Pair("the size of forgotten results", session(forgotten=900), session(forgotten=800), "", ""),
        pair("a result of a sub-agent, and a call", "arguments", "result", "content", task="one place", told="Look."),
        pair("a number in arguments", "arguments", "choice", "seed", seed=2),
    ]  # fmt: skip


# Recordings of protocols, changed in one place


def _lines(path: Path) -> Lines:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _changed(path: Path, change: Change) -> tuple[Lines, Lines]:
    """Lines of a log, and the same with each changed in place; a change that returns False drops its line."""
    one = _lines(path)
    other = [line for line in copy.deepcopy(one) if change(line) is not False]
    return one, other


def _of_id(identifier: int, change: Change, side: str) -> Change:
    """A change of the request or the response with an id."""

    def made(line: dict[str, Any]) -> object:
        message = line.get("message") or {}
        return change(message) if message.get("id") == identifier and side in message else None

    return made


def _envelope(prefix: str, change: Change) -> Change:
    """A change of all copies of an envelope."""
    return lambda line: change(line["envelope"]) if str(line.get("id", "")).startswith(prefix) else None


def _renumber(line: dict[str, Any]) -> None:
    message = line.get("message") or {}
    if isinstance(message.get("id"), int):
        message["id"] += 400
    params = message.get("params")
    if isinstance(params, dict) and isinstance(params.get("requestId"), int):
        params["requestId"] += 400
    line["t"] = line["t"].replace("2026-11-22T21", "2026-11-23T04")


def _describe(message: dict[str, Any]) -> None:
    message["result"]["tools"][0]["description"] = "Depth of the water."


def _drop_tool(message: dict[str, Any]) -> None:
    del message["result"]["tools"][1]


def _reverse_tools(message: dict[str, Any]) -> None:
    message["result"]["tools"].reverse()


def _fail(message: dict[str, Any]) -> None:
    message["result"] = {"content": [{"type": "text", "text": "No such port."}], "isError": True}


def _rename_server(message: dict[str, Any]) -> None:
    message["result"]["capabilities"].pop("prompts")


def _unframe(line: dict[str, Any]) -> None:
    """Removes the members of results that older versions of MCP do not have."""
    result = (line.get("message") or {}).get("result") or {}
    if "capabilities" not in result and result.get("resultType") == "complete":
        for key in ("resultType", "cacheScope", "ttlMs"):
            result.pop(key, None)


def _listed_again() -> tuple[Lines, Lines]:
    """Two runs of one client with other arguments; the second lists the tools twice."""
    one, other = _changed(STDIO, _of_id(7, lambda call: call["params"]["arguments"].update(crates=5), "params"))
    listed = copy.deepcopy([line for line in other if (line.get("message") or {}).get("id") == 2])
    for line in listed:
        line["message"]["id"] = 902
    place = next(n for n, line in enumerate(other) if (line.get("message") or {}).get("id") == 7)
    return one, [*other[:place], *listed, *other[place:]]


def _other_time(line: dict[str, Any]) -> None:
    line["timestamp"] = line["timestamp"].replace("2026-11-21T20", "2026-11-24T07")
    envelope = line["envelope"]
    if "ts" in envelope:
        envelope["ts"] = envelope["ts"].replace("2026-11-21T20", "2026-11-24T07")


def _undelivered(line: dict[str, Any]) -> bool:
    lost = str(line.get("id", "")).startswith("calculator-agent-1795293179564-1") and line.get("event") == "delivered"
    return not (lost and line.get("participant") == "fulfiller")


def _consumed(line: dict[str, Any]) -> None:
    result = (line.get("message") or {}).get("result") or {}
    if (line.get("message") or {}).get("id") == 8 and "_meta" in result:
        del result["_meta"]


def _recordings() -> list[Pair]:
    result, params = "result", "params"
    answer = "calculator-agent-1795293179564-1"
    described = _changed(STDIO, _of_id(2, _describe, result))
    return [
        Pair("ids and times of a server", *_changed(STDIO, _renumber), "", ""),
        Pair("a description of a tool", *described, "definition", "definition", "tide"),
        Pair("a tool less", *_changed(STDIO, _of_id(2, _drop_tool, result)), "definition", "definition", "unload"),
        Pair("the order of tools", *_changed(STDIO, _of_id(2, _reverse_tools, result)), "", ""),
        Pair("a failed tool", *_changed(STDIO, _of_id(6, _fail, result)), "failed", "result", "tide"),
        Pair("a capability", *_changed(STDIO, _of_id(1, _rename_server, result)), "result", "result", "prompts"),
        Pair(
            "arguments of a client",
            *_changed(STDIO, _of_id(7, lambda one: one["params"]["arguments"].update(crates=5), params)),
            "arguments", "unknown", "crates",
        ),
        Pair("the version of results", *_changed(STDIO, _unframe), "", ""),
        Pair("tools listed again, and a call", *_listed_again(), "arguments", "unknown", "crates"),
        Pair("times of a space", *_changed(SPACE, _other_time), "", ""),
        Pair("a lost delivery", *_changed(SPACE, _undelivered), "missing", "delivery", "fulfiller"),
        Pair(
            "a result in a space",
            *_changed(SPACE, _envelope(answer, lambda one: one["payload"].update(result=16))),
            "result", "result", "16",
        ),
        Pair(
            "a proposal's arguments",
            *_changed(SPACE, _envelope(
                "proposal-multiply", lambda one: one["payload"]["params"].update(arguments={"a": 7, "b": 9}))),
            "arguments", "choice", "b",
        ),
        Pair(
            "a message",
            *_changed(SPACE, _envelope("fulfiller-1795293179651-4", lambda one: one["payload"].update(text="57"))),
            "words", "choice", "57",
        ),
        Pair("a collapsed result", *_changed(HINTS, _consumed), "result", "compaction", "collapsed"),
    ]  # fmt: skip


# What a model receives beside prompts and results


def _codex(*, model: str = "gpt-5.1-codex-max", command: str = "ls", told: str = "cwd: /srv") -> Lines:
    """A session of Codex, which names its model for each turn and reports usage after each output."""
    usage = {"input_tokens": 9, "cached_input_tokens": 0, "output_tokens": 4, "total_tokens": 13}
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "a", "cwd": "/srv", "originator": "codex_cli_rs", "cli_version": "0.66.0"}),
        ("response_item", _said("user", f"<environment_context>{told}</environment_context>")),
        ("response_item", _said("user", "List the files.")),
        ("turn_context", {"cwd": "/srv", "model": model, "effort": "medium"}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": command}),
                           "call_id": "call_1"}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}}),
        ("response_item", {"type": "function_call_output", "call_id": "call_1", "output": "a.py"}),
    ]  # fmt: skip
    return [
        {"timestamp": f"2026-11-21T20:00:{second:02}.000Z", "type": sort, "payload": payload}
        for second, (sort, payload) in enumerate(payloads)
    ]


def _claude_listing() -> Lines:
    """The session of `_codex`, as another agent records it: without the text of the program."""
    made = ClaudeSession("00000000-0000-4000-8000-00000000000c", model="gpt-5.1-codex-max")
    made.prompt("List the files.")
    made.runs("shell", {"command": "ls"}, "a.py")
    return made.records


def _said(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def _other_system_prompt(line: dict[str, Any]) -> None:
    message = line.get("message") or {}
    if "messages" in message:
        message["system"] = "You are a pilot."
    elif message.get("stop_reason") == "tool_use":
        message["content"][1]["input"] = {"port": "Weser"}


def _longer_id(line: dict[str, Any]) -> None:
    if line["envelope"].get("kind") == "reasoning/conclusion":
        line["id"] = line["envelope"]["id"] = f"{line['id']}-of-another-run"


def _surroundings() -> list[Pair]:
    one, other = _changed(WIRE, _other_system_prompt)
    return [
        Pair("the model of Codex", _codex(), _codex(model="gpt-5.1-codex-mini", command="tree"), "arguments", "model",
             "tree"),
        Pair("a text of Codex", _codex(), _codex(told="cwd: /opt", command="tree"), "arguments", "prompt", "tree"),
        Pair("a system prompt", one[:4], other[:4], "arguments", "prompt", "Weser"),
        Pair("a text that the other format does not record", _codex(), _claude_listing(), "", ""),
        Pair("ids of messages without content", *_changed(CODER, _longer_id), "", ""),
    ]  # fmt: skip


def pairs() -> list[Pair]:
    """All pairs."""
    return [*_sessions(), *_recordings(), *_surroundings()]


def write(folder: Path, pair: Pair) -> tuple[Path, Path]:
    """Writes both logs of a pair."""
    paths = folder / "one.jsonl", folder / "other.jsonl"
    for path, lines in zip(paths, (pair.one, pair.other), strict=True):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return paths
