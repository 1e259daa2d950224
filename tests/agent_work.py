"""A day's work of two coding agents, as their transcripts have it: one session of Claude Code, one thread of Codex.

Written after the shapes in docs/transcripts.md, for tests that read a whole session, and for the pictures of the guide:
prompts, thoughts, calls at once, edits, plans, hooks, errors and retries, a picture, an interrupted turn, sub-agents in
files of their own (one of them in the background, one within another), compaction, results that are cleared, a session
that was resumed the day after; and a thread that spawns another, whose file begins with a copy of it.
"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.transcribed import ClaudeSession

SESSION = "3b8a2a8e-5b0f-4a57-9f37-0c1f6d2f7e10"
_SOURCE = """from decimal import Decimal


class Order:
    \"\"\"What a customer orders.\"\"\"

    def __init__(self, lines):
        self.lines = lines

    def total(self):
        return round(sum(line.price * line.count for line in self.lines), 2)
"""
_FIXED = """    def total(self):
        # Each line is rounded, as the invoice shows it.
        return sum(rounded(line.price * line.count) for line in self.lines)
"""
_PROMPT_EXPLORE = (
    "Find every place in src/ and web/ that rounds an amount of money. Report file, line and how it rounds."
)
_PROMPT_TESTS = "Run the tests of the invoices in the background and report which fail, with their messages."


def numbered(text: str, first: int = 1) -> str:
    """A file as the Read tool prints it."""
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(text.splitlines(), first))


def _usage(context: int, written: int, out: int) -> dict[str, int]:
    return {
        "input_tokens": 4,
        "cache_read_input_tokens": context,
        "cache_creation_input_tokens": written,
        "output_tokens": out,
    }


def write_claude(projects: Path) -> Path:
    """Write the session into a folder of projects; the path of its file."""
    project = projects / "-work-orders"
    agents = project / SESSION / "subagents"
    agents.mkdir(parents=True)
    main = ClaudeSession(SESSION)
    explore = ClaudeSession(SESSION, agent="a91c2f7", model="claude-haiku-4-5")
    nested = ClaudeSession(SESSION, agent="a5510de", model="claude-haiku-4-5")
    tests = ClaudeSession(SESSION, agent="a77e9b0")
    calls = _morning(main, explore, nested, tests)
    _afternoon(main)
    _next_day(main)
    told = (
        (explore, "Explore", "Find roundings of money", calls[0], None),
        (nested, "general-purpose", "Look at the web client", calls[1], "a91c2f7"),
        (tests, "general-purpose", "Run invoice tests", calls[2], None),
    )
    for session, sort, about, call, parent in told:
        meta = {"agentType": sort, "description": about, "toolUseId": call, "spawnDepth": 2 if parent else 1}
        if parent:
            meta["parentAgentId"] = parent
        (agents / f"agent-{session.agent}.meta.json").write_text(json.dumps(meta))
        (agents / f"agent-{session.agent}.jsonl").write_text(_lines(session.records))
    path = project / f"{SESSION}.jsonl"
    heads = [{"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": SESSION}]
    tails = [
        {"type": "ai-title", "aiTitle": "Rounding of order totals", "sessionId": SESSION},
        {"type": "last-prompt", "lastPrompt": "Write it into the changelog.", "sessionId": SESSION},
    ]
    path.write_text(_lines([*heads, *main.records, *tails]))
    return path


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records)


def _read(session: ClaudeSession, path: str, text: str, **more: Any) -> None:
    own = {"type": "text", "file": {"filePath": path, "content": text, "numLines": text.count("\n"), "startLine": 1}}
    session.runs("Read", {"file_path": path}, numbered(text), toolUseResult=own, **more)


def _plan(session: ClaudeSession, done: int, **more: Any) -> None:
    steps = (
        "Find where amounts are rounded",
        "Round each line of an order",
        "Let the tests say so",
        "Look at the web client",
    )
    states = ["completed"] * done + ["in_progress"] + ["pending"] * len(steps)
    todos = [{"content": step, "status": state, "activeForm": step} for step, state in zip(steps, states, strict=False)]
    words = "Todos have been modified successfully."
    session.runs("TodoWrite", {"todos": todos}, words, toolUseResult={"oldTodos": [], "newTodos": todos}, **more)


def _morning(main: ClaudeSession, explore: ClaudeSession, nested: ClaudeSession, tests: ClaudeSession) -> list[str]:
    """The first prompt: looking around with sub-agents, and a fix. Gives the calls that started them."""
    memory = {
        "type": "nested_memory",
        "path": "/work/orders/CLAUDE.md",
        "content": {
            "path": "/work/orders/CLAUDE.md",
            "type": "Project",
            "content": "Run `make test` before you say that you are done.",
        },
    }
    main.prompt(
        "The total of an order differs from the sum of its lines by a cent. Find out why, and fix it.",
        promptSource="typed",
    )
    main.add("attachment", attachment=memory)
    main.says(
        {"type": "thinking", "thinking": "Money is rounded somewhere. First see where.", "signature": "c2ln" * 40},
        {"type": "text", "text": "I'll look where amounts are rounded."},
        usage=_usage(12_400, 3_100, 210),
    )
    _plan(main, 0, after_s=2)
    arguments = {"description": "Find roundings of money", "prompt": _PROMPT_EXPLORE, "subagent_type": "Explore"}
    spawned = main.call("Agent", arguments, usage=_usage(15_500, 900, 180))
    grep = main.call("Grep", {"pattern": r"round\(", "path": "src", "output_mode": "content"})
    hook = {
        "type": "hook_progress",
        "hookEvent": "PreToolUse",
        "hookName": "PreToolUse:Grep",
        "command": "check-path.sh",
    }
    main.add("progress", data=hook, toolUseID=grep, parentToolUseID=grep)
    main.result(grep, "src/orders.py:11:        return round(sum(line.price * line.count for line in self.lines), 2)")
    explore.second = main.second
    explore.prompt(_PROMPT_EXPLORE)
    explore.runs(
        "Grep",
        {"pattern": "round|toFixed", "output_mode": "files_with_matches"},
        "src/orders.py\nsrc/invoices.py\nweb/cart.ts",
    )
    _read(explore, "/work/orders/src/orders.py", _SOURCE)
    inner = explore.call(
        "Agent",
        {
            "description": "Look at the web client",
            "prompt": "How does web/cart.ts round?",
            "subagent_type": "general-purpose",
        },
    )
    nested.second = explore.second
    nested.prompt("How does web/cart.ts round?")
    _read(
        nested,
        "/work/orders/web/cart.ts",
        "export const total = (lines: Line[]) =>\n  Number(lines.reduce(add, 0).toFixed(2));\n",
    )
    nested.text("It adds first and rounds the sum, with `toFixed(2)`.", usage=_usage(6_000, 500, 40))
    explore.second = nested.second
    explore.result(
        inner,
        [{"type": "text", "text": "It adds first and rounds the sum, with `toFixed(2)`."}],
        toolUseResult={"status": "completed", "agentId": "a5510de", "totalTokens": 6_544, "totalToolUseCount": 1},
    )
    found = (
        "Three places round:\n\n- `src/orders.py:11` rounds the **sum**\n"
        "- `src/invoices.py:8` rounds each **line**\n- `web/cart.ts:2` rounds the **sum**"
    )
    explore.text(found, usage=_usage(9_800, 700, 160))
    main.second = explore.second
    main.result(
        spawned,
        [{"type": "text", "text": found}],
        toolUseResult={
            "status": "completed",
            "agentId": "a91c2f7",
            "totalTokens": 10_660,
            "totalToolUseCount": 3,
            "totalDurationMs": 21_000,
        },
    )
    main.says(
        {
            "type": "thinking",
            "thinking": "The invoice rounds lines, the order rounds the sum. The invoice is what is paid.",
            "signature": "c2ln",
        },
        {
            "type": "text",
            "text": "The invoice rounds each line, the order the sum: that is the cent. I'll round each line.",
        },
        usage=_usage(18_200, 1_400, 320),
    )
    _read(main, "/work/orders/src/orders.py", _SOURCE)
    edit = {
        "file_path": "/work/orders/src/orders.py",
        "old_string": "\n".join(_SOURCE.splitlines()[9:]) + "\n",
        "new_string": _FIXED,
    }
    main.result(
        main.call("Edit", {**edit, "old_string": "    def totals(self):"}),
        "<tool_use_error>String to replace not found in file.\nString: def totals(self):</tool_use_error>",
        failed=True,
        toolUseResult="Error: String to replace not found in file.",
    )
    main.runs(
        "Edit",
        edit,
        "The file /work/orders/src/orders.py has been updated.",
        toolUseResult={"filePath": "/work/orders/src/orders.py"},
    )
    _plan(main, 2)
    background = main.call(
        "Agent",
        {
            "description": "Run invoice tests",
            "prompt": _PROMPT_TESTS,
            "run_in_background": True,
            "subagent_type": "general-purpose",
        },
    )
    main.result(
        background,
        [{"type": "text", "text": "Async agent launched. agentId: a77e9b0"}],
        toolUseResult={"isAsync": True, "status": "async_launched", "agentId": "a77e9b0"},
    )
    tests.second = main.second
    tests.prompt(_PROMPT_TESTS)
    run = tests.call("Bash", {"command": "pytest tests/invoices -q", "description": "Run the tests of invoices"})
    for elapsed in (3, 6, 9):
        tick = {"type": "bash_progress", "output": "...", "elapsedTimeSeconds": elapsed, "totalLines": 1}
        tests.add("progress", data=tick, toolUseID=f"bash-{elapsed}", parentToolUseID=run, after_s=3)
    tests.result(
        run,
        "Exit code 1\nF..\nE  assert 10.01 == 10.00\n1 failed, 2 passed",
        failed=True,
        toolUseResult="Error: Exit code 1\nF..",
    )
    tests.text(
        "One test fails: `test_total_of_three` expects 10.00, the order says 10.01.", usage=_usage(5_200, 600, 60)
    )
    for number in range(6):
        path = f"/work/orders/tests/test_orders_{number}.py"
        _read(main, path, f"def test_{number}():\n    assert total({number}) == {number}\n" * 12)
    main.runs(
        "Write",
        {"file_path": "/work/orders/src/money.py", "content": "def rounded(amount):\n    return round(amount, 2)\n"},
        "File created successfully at: /work/orders/src/money.py",
    )
    main.second = max(main.second, tests.second)
    note = (
        "<task-notification>\n<task-id>a77e9b0</task-id>\n<status>completed</status>\n"
        '<summary>Agent "Run invoice tests" completed</summary>\n'
        "<result>One test fails: `test_total_of_three` expects 10.00, the order says 10.01.</result>\n"
        "</task-notification>"
    )
    main.records.append(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": main.records[-1]["timestamp"],
            "sessionId": SESSION,
            "content": note,
        }
    )
    main.prompt(note, origin={"kind": "task-notification"})
    return [spawned, inner, background]


def _afternoon(main: ClaudeSession) -> None:
    """Errors of the API, a picture, an interrupted turn, results that are cleared, and a context that fills."""
    error = {
        "status": 529,
        "headers": {},
        "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    }
    for attempt in (1, 2, 3):
        main.system(
            "api_error", error=error, retryAttempt=attempt, maxRetries=10, retryInMs=500.0 * attempt, level="error"
        )
    main.text("One test still expects the sum to be rounded. I'll correct it.", usage=_usage(31_000, 2_200, 140))
    edits = [
        {"old_string": "== 10.00", "new_string": "== 10.01"},
        {"old_string": "# the sum", "new_string": "# each line"},
    ]
    main.runs("MultiEdit", {"file_path": "/work/orders/tests/test_orders_0.py", "edits": edits}, "Applied 2 edits")
    main.runs(
        "mcp__tracker__comment",
        {"issue": 412, "text": "Fixed: each line is rounded."},
        [{"type": "text", "text": "comment 9 on issue 412"}],
    )
    main.system(
        "stop_hook_summary",
        hookCount=1,
        hookInfos=[{"command": "notify.sh"}],
        hookErrors=[],
        preventedContinuation=False,
    )
    main.system("turn_duration", durationMs=184_000)
    picture = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(bytes(range(256)) * 40).decode()}
    content = [
        {"type": "text", "text": "This is what the shop shows now. Is it right?"},
        {"type": "image", "source": picture},
    ]
    main.add("user", message={"role": "user", "content": content}, after_s=900)
    main.call("Bash", {"command": "npm run build", "description": "Build the shop"})
    main.add(
        "user",
        message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]},
    )
    main.prompt("Don't build, just look at the picture.", after_s=20)
    main.text("It shows 10.01 €, as the invoice does: that is right.", usage=_usage(36_500, 1_800, 90))
    cleared = [
        f"toolu_m_{number:06d}"
        for number, record in enumerate(main.records)
        if record["type"] == "assistant" and record["message"]["content"][0].get("name") == "Read"
    ][:4]
    meta = {
        "trigger": "auto",
        "preTokens": 38_390,
        "tokensSaved": 3_120,
        "compactedToolIds": cleared,
        "clearedAttachmentUUIDs": [],
    }
    main.system("microcompact_boundary", microcompactMetadata=meta, content="Context microcompacted")
    for number in range(30):
        module = f"/work/orders/src/module_{number}.py"
        main.runs(
            "Grep",
            {"pattern": "round", "path": module},
            f"{module}:{number}: round(amount, 2)",
            usage=_usage(40_000 + 4_000 * number, 4_000, 60),
        )
    before = main.records[-1]["uuid"]
    boundary = main.system(
        "compact_boundary",
        content="Conversation compacted",
        compactMetadata={"trigger": "auto", "preTokens": 161_204},
        logicalParentUuid=before,
    )
    boundary["parentUuid"] = None
    summary = (
        "This session is being continued from a previous conversation.\n\n"
        "The order rounds each line now; tests agree. Open: the web client."
    )
    main.prompt(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)
    reminder = {
        "type": "todo_reminder",
        "content": [{"content": "Look at the web client", "status": "in_progress"}],
        "itemCount": 1,
    }
    main.add("attachment", attachment=reminder)
    cart = {
        "file_path": "/work/orders/web/cart.ts",
        "old_string": "Number(lines.reduce(add, 0).toFixed(2))",
        "new_string": "lines.map(rounded).reduce(add, 0)",
    }
    main.runs("Edit", cart, "The file /work/orders/web/cart.ts has been updated.", usage=_usage(9_000, 5_200, 220))
    _plan(main, 4)
    main.text(
        "The web client rounds each line now, too. Everything on the list is done.", usage=_usage(14_400, 700, 110)
    )


def _next_day(main: ClaudeSession) -> None:
    """The session is resumed: the same file goes on."""
    main.prompt("Write it into the changelog.", after_s=61_000)
    main.runs(
        "Edit",
        {
            "file_path": "/work/orders/CHANGELOG.md",
            "old_string": "# Changes\n",
            "new_string": "# Changes\n\n- Totals are the sum of rounded lines.\n",
        },
        "The file /work/orders/CHANGELOG.md has been updated.",
        usage=_usage(0, 15_100, 90),
    )
    main.text("Done: the changelog says that totals are the sum of rounded lines.", usage=_usage(15_100, 300, 40))


# Codex

PARENT, CHILD = "019cb813-5280-7000-8000-000000000001", "019cb814-3ce0-7000-8000-000000000002"
_PATCH = """*** Begin Patch
*** Update File: src/report.py
@@ def page():
 def page(rows):
-    return rows[:20]
+    return rows[: PAGE]
*** Add File: src/limits.py
+PAGE = 50
*** End Patch
"""


class CodexThread:
    """Makes the records of a thread one after the other, a second apart, as envelopes of a time and a payload.

    Attributes:
        records: those made so far.
    """

    def __init__(self, thread: str, second: float = 0.0, **source: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self.second = second
        self._total = 0
        told = {"cwd": "/work/report", "originator": "codex_cli_rs", "cli_version": "0.150.0", "source": "cli"}
        self.add("session_meta", id=thread, timestamp=self._stamp(), **{**told, **source})

    def _stamp(self) -> str:
        moment = datetime(2026, 3, 4, 9, tzinfo=UTC) + timedelta(seconds=self.second)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

    def add(self, kind: str, **payload: Any) -> None:
        """A record."""
        self.second += 1
        self.records.append({"timestamp": self._stamp(), "type": kind, "payload": payload})

    def item(self, kind: str, **payload: Any) -> None:
        """What the model was given, or said."""
        self.add("response_item", type=kind, **payload)

    def event(self, kind: str, **payload: Any) -> None:
        """What the program tells."""
        self.add("event_msg", type=kind, **payload)

    def turn(self, words: str, identifier: str) -> None:
        """What a user asks, told as an item and as an event."""
        self.event("task_started", turn_id=identifier, model_context_window=258_400)
        self.add("turn_context", turn_id=identifier, cwd="/work/report", model="gpt-5.3-codex", effort="medium")
        self.item("message", role="user", content=[{"type": "input_text", "text": words}])
        self.event("user_message", message=words)

    def thinks(self, words: str) -> None:
        """A thought, told twice."""
        self.item("reasoning", summary=[{"type": "summary_text", "text": words}], encrypted_content="b3BhcXVl" * 8)
        self.event("agent_reasoning", text=words)

    def calls(self, call: str, name: str, arguments: dict[str, Any], output: str, *, code: int = 0) -> None:
        """A call of a function with what came of it, which an event tells again."""
        self.item("function_call", name=name, call_id=call, arguments=json.dumps(arguments))
        if name == "exec_command":
            output = f"Wall time: 0.2 seconds\nProcess exited with code {code}\nOutput:\n{output}"
            self.event("exec_command_end", call_id=call, exit_code=code, aggregated_output=output, status="completed")
        self.item("function_call_output", call_id=call, output=output)

    def patches(self, call: str, patch: str, *, success: bool = True) -> None:
        """A patch, as a tool of its own takes it."""
        self.item("custom_tool_call", name="apply_patch", call_id=call, input=patch, status="completed")
        self.event("patch_apply_end", call_id=call, success=success, stdout="Success.", stderr="", changes={})
        output = json.dumps({"output": "Success.", "metadata": {"exit_code": 0 if success else 1}})
        self.item("custom_tool_call_output", call_id=call, output=output)

    def tokens(self, context: int, out: int, window: int = 258_400) -> None:
        """What a call of the model used, written twice."""
        self._total += context + out
        last = {"input_tokens": context, "cached_input_tokens": context - 500, "output_tokens": out}
        total = {"input_tokens": self._total - out, "output_tokens": out, "total_tokens": self._total}
        info = {"last_token_usage": {**last, "total_tokens": context + out}, "total_token_usage": total}
        for _ in range(2):
            self.event("token_count", info={**info, "model_context_window": window})

    def answers(self, words: str) -> None:
        """What the model answers at last, told twice."""
        self.item("message", role="assistant", content=[{"type": "output_text", "text": words}])
        self.event("agent_message", message=words)
        self.event("task_complete", turn_id=None)


def write_codex(home: Path) -> Path:
    """Write the two threads into a folder of sessions; the path of the first."""
    day = home / "sessions" / "2026" / "03" / "04"
    day.mkdir(parents=True)
    parent = CodexThread(PARENT, base_instructions={"text": "You are a coding agent."})
    parent.turn("Pages of the report should be longer.", "019cb813-5280-7000-9000-000000000001")
    parent.thinks("**Looking at the report**")
    parent.calls("call_1", "exec_command", {"cmd": "rg -n 'rows\\[' src"}, "src/report.py:2:    return rows[:20]")
    parent.tokens(8_000, 120)
    steps = [{"step": "Make the limit a name", "status": "in_progress"}, {"step": "Try it", "status": "pending"}]
    parent.calls("call_2", "update_plan", {"explanation": "Two steps.", "plan": steps}, "Plan updated")
    parent.patches("call_3", _PATCH)
    copied = list(parent.records)
    arguments = {"message": "Run the tests and say what fails.", "agent_type": "worker"}
    parent.calls("call_4", "spawn_agent", arguments, json.dumps({"agent_id": CHILD, "nickname": "Ada"}))
    spawn = {"parent_thread_id": PARENT, "depth": 1, "agent_role": "worker", "agent_nickname": "Ada"}
    child = CodexThread(CHILD, parent.second, source={"subagent": {"thread_spawn": spawn}})
    child.records += copied
    child.turn("Run the tests and say what fails.", "019cb814-3ce0-7000-9000-000000000001")
    child.calls("call_c1", "exec_command", {"cmd": "pytest -q"}, "1 failed, 4 passed", code=1)
    child.tokens(6_000, 60)
    child.answers("`test_page` fails: it expects 20 rows.")
    parent.second = child.second
    done = json.dumps({"status": {CHILD: {"completed": "`test_page` fails: it expects 20 rows."}}})
    parent.calls("call_5", "wait_agent", {"ids": [CHILD]}, done)
    parent.calls("call_6", "exec_command", {"cmd": "pytest -q"}, "5 passed")
    parent.tokens(240_000, 90)
    parent.add(
        "compacted",
        message="The limit is a name now, PAGE.",
        replacement_history=[
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "The limit is a name now, PAGE."}],
            }
        ],
    )
    parent.answers("Pages have 50 rows now; tests pass.")
    parent.turn("No, 40.", "019cb815-3ce0-7000-9000-000000000002")
    parent.event("turn_aborted", reason="interrupted")
    parent.event("thread_rolled_back", num_turns=1)
    path = day / f"rollout-2026-03-04T09-00-00-{PARENT}.jsonl"
    path.write_text(_lines(parent.records))
    (day / f"rollout-2026-03-04T09-01-00-{CHILD}.jsonl").write_text(_lines(child.records))
    return path
