"""What an HTTP tap costs, with and without by turns in one run; prints one JSON object.

One client asks one plain server (`tests/http_server.py`), through the tap and directly: calls of 330 bytes answered
with 1 kB, events as fast as they come, the first piece of a streamed answer. Run as `python -m tests.bench.http_tap
[CALLS] [EVENTS] [CALLS_FOR_MEMORY]`.
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
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from tests.bench.tap import figures
from tests.http_server import ROOT, serving

TURN = 25
"""Calls in a row with or without the tap."""
WARM = 100
_CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "a" * 250}}).encode()
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@contextmanager
def tapping(url: str, output: Path, *options: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """A tap before a server; its address and its process."""
    command = [sys.executable, "-m", "inspector", "tap", "--http", url, "-o", str(output), *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(4)]
        yield lines[2].strip(), process
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


async def _calls(session: aiohttp.ClientSession, bases: dict[str, str], count: int) -> dict[str, list[float]]:
    """Seconds of each call, by manner."""
    taken: dict[str, list[float]] = {manner: [] for manner in bases}
    for turn in range(-(WARM // TURN), count // TURN):
        for manner, base in bases.items():
            for _ in range(TURN):
                begun = time.perf_counter()
                async with session.post(f"{base}/call", data=_CALL, headers=_HEADERS) as answer:
                    await answer.read()
                if turn >= 0:
                    taken[manner].append(time.perf_counter() - begun)
    return taken


async def _throughput(session: aiohttp.ClientSession, bases: dict[str, str], count: int) -> dict[str, float]:
    """Events a second, by manner; the median of five turns each."""
    rates: dict[str, list[float]] = {manner: [] for manner in bases}
    for _ in range(5):
        for manner, base in bases.items():
            begun, seen = time.perf_counter(), 0
            async with session.get(f"{base}/events?count={count}&size=60", headers=_HEADERS) as answer:
                async for piece in answer.content.iter_any():
                    seen += piece.count(b"\n\n")
            assert seen == count, (seen, count)
            rates[manner].append(count / (time.perf_counter() - begun))
    return {manner: statistics.median(found) for manner, found in rates.items()}


async def _first_pieces(session: aiohttp.ClientSession, bases: dict[str, str], count: int) -> dict[str, list[float]]:
    """Seconds until the first piece of a streamed answer, by manner."""
    taken: dict[str, list[float]] = {manner: [] for manner in bases}
    for turn in range(count):
        for manner, base in bases.items():
            begun = time.perf_counter()
            async with session.post(f"{base}/model?count=2", data=_CALL, headers=_HEADERS) as answer:
                await answer.content.readany()
                if turn >= 10:
                    taken[manner].append(time.perf_counter() - begun)
                await answer.read()
    return taken


def _tree_mb(pid: int) -> float:
    """Resident memory of a process and those it started."""
    pids, found = [pid], 0
    while pids:
        one = pids.pop()
        try:
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
            pids += map(int, Path(f"/proc/{one}/task/{one}/children").read_text().split())
        except OSError:
            continue
        found += pages * os.sysconf("SC_PAGE_SIZE")
    return found / 1e6


async def _memory(session: aiohttp.ClientSession, base: str, pid: int, count: int) -> dict[str, float]:
    """Memory after a tenth of the calls and after all of them, several at once."""
    done, figures_mb = 0, dict[str, float]()

    async def some(number: int) -> None:
        for _ in range(number):
            async with session.post(f"{base}/call", data=_CALL, headers=_HEADERS) as answer:
                await answer.read()

    for name, share in (("early_mb", 0.1), ("late_mb", 1.0)):
        todo = int(count * share) // 8 * 8 - done
        await asyncio.gather(*(some(todo // 8) for _ in range(8)))
        done += todo
        await asyncio.sleep(0.3)  # what waits is written
        figures_mb[name] = _tree_mb(pid)
    return figures_mb | {"grown_mb": figures_mb["late_mb"] - figures_mb["early_mb"]}


async def _measured(origin: str, tap: str, pid: int, calls: int, events: int, many: int) -> dict[str, Any]:
    bases = {"direct": origin, "tapped": tap.removesuffix("/call")}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None)) as session:
        called = figures(await _calls(session, bases, calls))
        first = figures(await _first_pieces(session, bases, max(60, calls // 10)))
        rates = await _throughput(session, bases, events)
        memory = await _memory(session, bases["tapped"], pid, many)
    return {
        "calls": calls, "events": events, "call": called, "first": first, "events_a_second": rates,
        "events_ratio": rates["tapped"] / rates["direct"], "memory_calls": many, "memory": memory,
    }  # fmt: skip


def measure(calls: int, events: int, many: int) -> dict[str, Any]:
    """All of it."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder, serving() as (origin, _):
        os.environ["CONTEXT_INSPECTOR_HOME"] = str(Path(folder, "home"))
        capture = Path(folder, "calls.ctxcap")
        with tapping(f"{origin}/call", capture) as (address, process):
            found = asyncio.run(_measured(origin, address, process.pid, calls, events, many))
        lines = capture.read_bytes()
        asked = calls // TURN * TURN + WARM // TURN * TURN + many
        written = lines.count(b'"method":"POST","path":"/call"')
        answered = lines.count(b'"kind":"http-response"') - lines.count(b'"content-type":"text/event-stream"')
        return found | {"asked": asked, "written": written, "answered": answered}


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:4])) if len(sys.argv) > 3 else measure(1_500, 20_000, 5_000)))
