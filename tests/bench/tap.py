"""What a tap costs a call, with and without by turns in one run; prints one JSON object.

A real client and server of the `mcp` package talk through the tap and, by turns, without it; `cat` in place of a server
shows what a line alone takes. The capture is read back: every call has its answer in it. Run as `python -m
tests.bench.tap [CALLS] [LINES]`.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.bench.sending import ROOT

WARM = 50
TURN = 10
"""Calls in a row with or without the tap."""


def tapped(capture: Path, *command: str) -> list[str]:
    """The command of a server, with a tap before it."""
    return [sys.executable, "-m", "inspector", "tap", "-o", str(capture), "--", *command]


async def calls(capture: Path, count: int) -> dict[str, list[float]]:
    """Seconds of each call, by manner."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    server = [sys.executable, "-m", "tests.mcp_server"]
    taken: dict[str, list[float]] = {"direct": [], "tapped": []}
    async with AsyncExitStack() as stack:
        sessions: dict[str, Any] = {}
        for manner, words in (("direct", server), ("tapped", tapped(capture, *server))):
            asked = StdioServerParameters(command=words[0], args=words[1:], cwd=ROOT)
            read, write = await stack.enter_async_context(stdio_client(asked))
            sessions[manner] = await stack.enter_async_context(ClientSession(read, write))
            await sessions[manner].initialize()
            for _ in range(WARM):
                await sessions[manner].call_tool("echo", {"text": "warm"})
        for turn in range(count // TURN):
            for manner, session in sessions.items():
                for number in range(turn * TURN, (turn + 1) * TURN):
                    begun = time.perf_counter()
                    await session.call_tool("echo", {"text": f"call {number} ", "times": 40})
                    taken[manner].append(time.perf_counter() - begun)
    return taken


def lines(capture: Path, count: int) -> dict[str, list[float]]:
    """Seconds until `cat` gave a line of 400 bytes back, by manner."""
    taken: dict[str, list[float]] = {"direct": [], "tapped": []}
    processes = {
        manner: subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        for manner, words in (("direct", ["cat"]), ("tapped", tapped(capture, "cat")))
    }
    line = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":"' + b"x" * 340 + b'"}}\n'
    for turn in range(-WARM // TURN, count // TURN):
        for manner, process in processes.items():
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(TURN):
                begun = time.perf_counter()
                process.stdin.write(line)
                left = len(line)
                while left:
                    left -= len(os.read(process.stdout.fileno(), left))
                if turn >= 0:
                    taken[manner].append(time.perf_counter() - begun)
    for process in processes.values():
        process.communicate()
    return taken


def figures(taken: dict[str, list[float]]) -> dict[str, float]:
    """Median and 99th percentile in seconds, and how they compare."""
    found: dict[str, float] = {}
    for manner, times in taken.items():
        cuts = statistics.quantiles(times, n=100)
        found |= {f"{manner}_median_s": cuts[49], f"{manner}_p99_s": cuts[98]}
    for what in ("median", "p99"):
        found[f"{what}_ratio"] = found[f"tapped_{what}_s"] / found[f"direct_{what}_s"]
        found[f"{what}_added_s"] = found[f"tapped_{what}_s"] - found[f"direct_{what}_s"]
    return found


def spawn_s(folder: Path, turns: int = 7) -> float:
    """Seconds from starting a tap to its server's first words, without those that the server itself takes; median."""
    added: list[float] = []
    for turn in range(turns):
        took: list[float] = []
        for words in (["echo"], tapped(folder / f"spawn-{turn}.ctxcap", "echo")):
            begun = time.perf_counter()
            process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0)
            assert process.stdout is not None
            process.stdout.read(1)
            took.append(time.perf_counter() - begun)
            process.communicate()
        added.append(took[1] - took[0])
    return statistics.median(added)


def recorded(capture: Path) -> tuple[int, int]:
    """Calls in a capture and how many of them have their one answer."""
    asked: dict[int, int] = {}
    for line in capture.read_bytes().splitlines():
        frame = json.loads(line).get("frame", {})
        if frame.get("method") == "tools/call" and frame["params"]["arguments"]["text"].startswith("call"):
            asked[frame["id"]] = 0
        elif frame.get("id") in asked:
            asked[frame["id"]] += 1
    return len(asked), sum(answers == 1 for answers in asked.values())


def measure(call_count: int, line_count: int) -> dict[str, Any]:
    """All of it."""
    if find_spec("mcp") is None:
        return {"not_measured": "the package mcp is not installed"}
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        capture, bare = Path(folder, "calls.ctxcap"), Path(folder, "lines.ctxcap")
        called = figures(asyncio.run(calls(capture, call_count)))
        asked, answered = recorded(capture)
        passed = figures(lines(bare, line_count))
        kept = bare.read_bytes().count(b'"frame":')
        return {
            "calls": call_count, "asked": asked, "answered": answered, "call": called, "line": passed,
            "lines_kept": kept, "lines_said": 2 * (line_count + WARM), "spawn_s": spawn_s(Path(folder)),
        }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:3])) if len(sys.argv) > 2 else measure(2_000, 5_000)))
