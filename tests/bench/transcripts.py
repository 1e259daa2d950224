"""Sessions of coding agents, as big as wanted: one of Claude Code with sub-agents, one of Codex with many children.

    python -m tests.bench.transcripts claude MEGABYTES FOLDER
    python -m tests.bench.transcripts codex CHILDREN FOLDER

writes one and prints its path. A turn is told once and repeated under other ids: a prompt, thoughts, three calls at
once with their results told twice in a record, ticks, an edit, a plan, usage that grows; every 60th turn starts a
sub-agent with a file of its own, every 50th has a picture, every 400th compacts. In the middle of Claude Code's stands
one line as long as its sixth part, at most 90 MB.
"""

from __future__ import annotations

import base64
import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.transcribed import ClaudeSession

SESSION = "11111111-2222-4333-8444-555555555555"
_AGENTS_EVERY, _PICTURES_EVERY, _COMPACTED_EVERY = 60, 50, 400
_MOST_LINE = 90_000_000
_MARK = "@TURN@"
_WORDS = str.split(
    "the loader reads every record of a session once and keeps what columns need so that nothing else has to be decoded"
)
_BEGUN = datetime(2026, 4, 1, tzinfo=UTC)
_random = random.Random(21)


def _text(words: int) -> str:
    return " ".join(_random.choices(_WORDS, k=words))


def _code(lines: int) -> str:
    return "\n".join(f"{number:6}→    {_text(8)} = {number}" for number in range(1, lines + 1))


def _lines(session: ClaudeSession) -> bytes:
    return b"".join(json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in session.records)


def _work(session: ClaudeSession, reads: int) -> None:
    """Some calls at once, each with its result and the program's own copy of it."""
    session.says({"type": "thinking", "thinking": _text(40), "signature": "c2lnbmF0dXJl" * 20})
    calls = [session.call("Read", {"file_path": f"/work/app/src/part{n}.py"}) for n in range(reads)]
    for number, call in enumerate(calls):
        code = _code(30 + 20 * number)
        own = {"type": "text", "file": {"filePath": f"/work/app/src/part{number}.py", "content": code, "numLines": 30}}
        session.result(call, code, toolUseResult=own)
    command = session.call("Bash", {"command": "pytest -q", "description": "Run the tests"})
    for elapsed in (2, 4, 6):
        data = {"type": "bash_progress", "output": _text(20), "elapsedTimeSeconds": elapsed, "totalLines": 20}
        session.add("progress", data=data, toolUseID=f"bash-{elapsed}", parentToolUseID=command)
    session.result(command, _text(120), toolUseResult={"stdout": _text(120), "stderr": "", "interrupted": False})


@cache
def _turn() -> bytes:
    session = ClaudeSession(SESSION)
    session.prompt(f"{_MARK} {_text(30)}")
    session.text(_text(40))
    _work(session, 3)
    edit = {"file_path": "/work/app/src/part1.py", "old_string": _code(8), "new_string": _code(9)}
    session.runs("Edit", edit, f"updated\n{_code(12)}", toolUseResult={"filePath": "part1.py", "oldString": _code(8)})
    session.runs("TodoWrite", {"todos": [{"content": _text(6), "status": "pending", "activeForm": "x"}] * 5})
    session.text(_text(60))
    session.system("turn_duration", durationMs=61_000)
    return _marked(session)


def _marked(session: ClaudeSession) -> bytes:
    """The lines of a session, with a mark in each id that has to differ from turn to turn."""
    written = _lines(session)
    for name in ("m-0", "toolu_m_0", "msg_m_0"):
        written = written.replace(f'"{name}'.encode(), f'"{name[:-1]}{_MARK}'.encode())
    return written.replace(b"req_msg_m_0", f"req_msg_m_{_MARK}".encode())


@cache
def _spawning() -> bytes:
    session = ClaudeSession(SESSION)
    arguments = {"description": "Look it up", "prompt": f"{_MARK} {_text(40)}", "subagent_type": "Explore"}
    call = session.call("Task", arguments)
    session.result(
        call, [{"type": "text", "text": _text(60)}], toolUseResult={"agentId": f"a{_MARK}", "status": "completed"}
    )
    return _marked(session).replace(b'"m-', b'"s-').replace(b"toolu_m_", b"toolu_s_").replace(b"msg_m_", b"msg_s_")


@cache
def _agent() -> bytes:
    session = ClaudeSession(SESSION, agent=f"a{_MARK}", model="claude-haiku-4-5")
    session.prompt(f"{_MARK} {_text(40)}")
    for _ in range(6):
        _work(session, 2)
    session.text(_text(60))
    return _lines(session)


@cache
def _picture() -> bytes:
    session = ClaudeSession(SESSION)
    source = {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(_random.randbytes(150_000)).decode(),
    }
    session.add("user", message={"role": "user", "content": [{"type": "image", "source": source}]})
    return _marked(session).replace(b'"m-', b'"p-')


@cache
def _compaction() -> bytes:
    session = ClaudeSession(SESSION)
    session.system("compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 160_000})
    session.prompt(_text(400), isCompactSummary=True)
    return _marked(session).replace(b'"m-', b'"c-')


def write_claude(folder: Path, size: int) -> Path:
    """Write a session of about so many bytes with its sub-agents; its folder, which opens all of it."""
    project = folder / "claude" / "-work-app"
    agents = project / SESSION / "subagents"
    agents.mkdir(parents=True)
    written, turn, long = 0, 0, min(size // 6, _MOST_LINE)
    with (project / f"{SESSION}.jsonl").open("wb") as file:
        while written < size:
            number = f"{turn:07d}".encode()
            parts = [_turn()]
            if turn % _AGENTS_EVERY == 0:
                parts.append(_spawning())
                own = _at(_agent().replace(_MARK.encode(), number), turn)
                (agents / f"agent-a{turn:07d}.jsonl").write_bytes(own)
                meta = {"toolUseId": f"toolu_s_{turn:07d}00000", "agentType": "Explore", "description": "Look it up"}
                (agents / f"agent-a{turn:07d}.meta.json").write_text(json.dumps(meta))
                written += len(own)
            parts += [_picture()] * (turn % _PICTURES_EVERY == 7) + [_compaction()] * (turn % _COMPACTED_EVERY == 399)
            for part in parts:
                written += file.write(_at(part.replace(_MARK.encode(), number), turn))
            if long and written > size // 2:
                written += file.write(_long_line(long))
                long = 0
            turn += 1
    return project / SESSION


def _at(lines: bytes, turn: int) -> bytes:
    """Lines of a turn at its time: turns begin a minute after one another."""
    for minute in (2, 1, 0):
        moment = _BEGUN + timedelta(minutes=turn + minute)
        lines = lines.replace(b"2026-03-04T09:%02d:" % minute, moment.strftime("%Y-%m-%dT%H:%M:").encode())
    return lines


def files_of(path: Path) -> list[Path]:
    """The files that open with what `write_claude` gave, or with the folder that `write_codex` wrote to."""
    beside = [path.with_suffix(".jsonl")] if path.name == SESSION else []
    return [*beside, *path.rglob("*.jsonl")]


def _long_line(size: int) -> bytes:
    session = ClaudeSession(SESSION)
    session.result("toolu_m_000000000003", "@", uuid="long")
    text = json.dumps("\n".join(f"{n:9} {_text(12)}" for n in range(1000)))[1:-1]
    return _lines(session).replace(b"@", (text * (size // len(text) + 1)).encode()[:size].rstrip(b"\\"), 1)


def write_sessions(folder: Path, count: int) -> None:
    """Write so many sessions as agents leave them: of five, three of Claude Code in twenty projects, two of Codex."""
    turns = b"".join(_turn().replace(_MARK.encode(), b"%07d" % turn) for turn in range(8))
    for number in range(count * 3 // 5):
        session = f"{number:08x}{SESSION[8:]}"
        project = folder / "claude" / "projects" / f"-work-app{number % 20}"
        agents = project / session / "subagents"
        (agents if number % 3 == 0 else project).mkdir(parents=True, exist_ok=True)
        (project / f"{session}.jsonl").write_bytes(turns.replace(SESSION.encode(), session.encode()))
        for agent in range(5 if number % 3 == 0 else 0):
            (agents / f"agent-a{agent}.jsonl").write_bytes(_agent().replace(_MARK.encode(), b"%07d" % agent))
    for number in range(count - count * 3 // 5):
        day, thread = folder / "codex" / "sessions" / "2026" / "03" / f"{number % 28 + 1:02d}", _thread(number)
        day.mkdir(parents=True, exist_ok=True)
        told = _codex_lines([_meta(thread), *_codex_turns(thread, 10, 1)])
        (day / f"rollout-2026-03-{day.name}T09-00-00-{thread}.jsonl").write_bytes(told)


# Codex


def write_codex(folder: Path, children: int, turns: int = 40) -> Path:
    """Write a thread that spawns so many children, each of which begins with a copy of it; the parent's file."""
    day = folder / "codex" / "sessions" / "2026" / "03" / "04"
    day.mkdir(parents=True)
    parent = _thread(0)
    told = list(_codex_turns(parent, turns, 0))
    spawned = [line for number in range(1, children + 1) for line in _spawn(number)]
    path = day / f"rollout-2026-03-04T09-00-00-{parent}.jsonl"
    path.write_bytes(_codex_lines([_meta(parent), *told, *spawned]))
    for number in range(1, children + 1):
        own = _thread(number)
        head = _meta(
            own,
            source={"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1, "agent_role": "explorer"}}},
        )
        lines = [head, _meta(parent), *told, *_codex_turns(own, turns, number)]
        (day / f"rollout-2026-03-04T10-{number // 60:02d}-{number % 60:02d}-{own}.jsonl").write_bytes(
            _codex_lines(lines)
        )
    return path


def _thread(number: int) -> str:
    """An id that holds a time, as version 7 has it: children after the parent."""
    milliseconds = 1_772_614_800_000 + number * 1_000_000
    digits = f"{milliseconds:012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-{number:012d}"


def _codex_lines(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def _codex(kind: str, second: float, **payload: Any) -> dict[str, Any]:
    hour, rest = divmod(int(second), 3600)
    stamp = f"2026-03-04T{9 + hour % 14:02d}:{rest // 60:02d}:{rest % 60:02d}.{int(second * 1000) % 1000:03d}Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def _meta(thread: str, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"cwd": "/work/app", "originator": "cli", "cli_version": "0.150.0", "source": "cli"}
    told["base_instructions"] = {"text": _text(400)}
    return _codex("session_meta", 0, **{"id": thread, "timestamp": "2026-03-04T09:00:00.000Z", **told, **more})


def _spawn(number: int) -> Iterator[dict[str, Any]]:
    call = f"call_spawn_{number}"
    arguments = json.dumps({"message": f"Part {number}: {_text(20)}", "agent_type": "explorer"})
    second = 1_000 + number
    yield _codex("response_item", second, type="function_call", name="spawn_agent", call_id=call, arguments=arguments)
    output = json.dumps({"agent_id": _thread(number)})
    yield _codex("response_item", second, type="function_call_output", call_id=call, output=output)


def _codex_turns(thread: str, turns: int, seed: int) -> Iterator[dict[str, Any]]:
    total = 0
    for turn in range(turns):
        second = seed * 1_000 + turn * 20.0
        name = f"{thread[-4:]}-{turn}"
        prefix = f"{int(thread[:8] + thread[9:13], 16) + turn:012x}"
        identifier = f"{prefix[:8]}-{prefix[8:]}-7000-9000-{turn:012d}"
        words = f"{name} {_text(25)}"
        yield _codex("event_msg", second, type="task_started", turn_id=identifier, model_context_window=258_400)
        content = [{"type": "input_text", "text": words}]
        yield _codex("response_item", second, type="message", role="user", content=content)
        yield _codex("event_msg", second, type="user_message", message=words)
        yield _codex(
            "turn_context", second, turn_id=identifier, cwd="/work/app", model="gpt-5.3-codex", effort="medium"
        )
        thought = _text(30)
        summary = [{"type": "summary_text", "text": thought}]
        yield _codex("response_item", second + 2, type="reasoning", summary=summary, encrypted_content="b3BhcXVl" * 60)
        yield _codex("event_msg", second + 2, type="agent_reasoning", text=thought)
        for step in range(3):
            call = f"call_{name}_{step}"
            arguments = json.dumps({"cmd": f"sed -n 1,200p src/part{step}.py", "workdir": "/work/app"})
            yield _codex("response_item", second + 3 + step, type="function_call", name="exec_command", call_id=call,
                         arguments=arguments)  # fmt: skip
            output = f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{_code(40)}"
            yield _codex("response_item", second + 4 + step, type="function_call_output", call_id=call, output=output)
            yield _codex("event_msg", second + 4 + step, type="exec_command_end", call_id=call, exit_code=0,
                         aggregated_output=_code(10))  # fmt: skip
            total += 4_000
            usage = {"input_tokens": 3_500, "cached_input_tokens": 3_000, "output_tokens": 500, "total_tokens": 4_000}
            info = {"total_token_usage": {**usage, "total_tokens": total}, "last_token_usage": usage}
            for _ in range(2):
                yield _codex("event_msg", second + 4 + step, type="token_count", info=info)
        answer = _text(40)
        content = [{"type": "output_text", "text": answer}]
        yield _codex("response_item", second + 9, type="message", role="assistant", content=content)
        yield _codex("event_msg", second + 9, type="agent_message", message=answer)
        yield _codex("event_msg", second + 9, type="task_complete", turn_id=identifier)


if __name__ == "__main__":
    kind, size, into = sys.argv[1], float(sys.argv[2]), Path(sys.argv[3])
    print(write_claude(into, round(size * 1e6)) if kind == "claude" else write_codex(into, round(size)))
