"""A log that grows and is rotated once, followed in the window, offscreen; prints one JSON object.

A writer's process appends lines of about 400 bytes. Nothing may be lost, come twice or be out of order; how far the
window is behind is told by the writer's own notes. Run as `python -m tests.bench.follow RATE SECONDS`.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from inspector.engine.requests.stories import ListMessages
from inspector.ui.app.application import Application
from inspector.ui.document_client import DocumentClient
from tests.bench import machine
from tests.bench.offscreen import Found, Heartbeat, run, until
from tests.bench.sender import LIVE_BLOCK
from tests.bench.sending import ROOT

_SAID = re.compile(r"[a-z]+-[0-9a-f]{8}-([0-9]{10})")
FIRST_LINE = b'{"protocol":"mew/v0.4","id":"before-1","ts":"2026-01-05T09:00:00.000Z","from":"lead","kind":"chat"}\n'
_PATIENCE_S = 30.0


@contextmanager
def writing(log: Path, rate: float, count: int, *, rotate: bool = True) -> Generator[subprocess.Popen[bytes]]:
    """A writer's process; killed when the context is left before its end. Its notes lie beside the log."""
    command = [sys.executable, "-m", "tests.bench.writer", str(log), str(rate), str(count), str(notes_of(log))]
    process = subprocess.Popen([*command, *([] if rotate else ["keep"])], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def notes_of(log: Path) -> Path:
    """Where the writer of a log notes what it wrote when."""
    return log.with_name("notes.jsonl")


async def numbers_of(client: DocumentClient) -> tuple[list[int], int]:
    """Numbers of the writer's lines in a document, in its order, and how many other messages there are."""
    said: list[re.Match[str] | None] = []
    listed = asyncio.get_running_loop().create_future()
    client.request_parts(
        ListMessages(("id",)),
        lambda part: said.extend(_SAID.fullmatch(one["id"] or "") for one in part),
        listed.set_result,
    )
    await listed
    places = [divmod(int(one[1]), 100_000) for one in said if one is not None]
    return [block * LIVE_BLOCK + place for block, place in places], len(said) - len(places)


def lag_s(notes: Path, seen: list[tuple[int, int]]) -> float:
    """The longest that a line had been written and was not yet read, in seconds.

    Args:
        notes: the writer's.
        seen: times, ns since the epoch, and how many lines had been read by then.
    """
    noted = [json.loads(line) for line in notes.read_bytes().splitlines()]
    written = np.array([note["written"] for note in noted])
    times = np.array([note["t"] for note in noted])
    longest = 0.0
    for now, read in seen:
        place = int(np.searchsorted(written, read, "right"))  # the first write that went beyond what was read
        if place < len(times):
            longest = max(longest, (now - int(times[place])) / 1e9)
    return longest


async def measure(application: Application, folder: Path, rate: float, seconds: float) -> Found:
    """Open the log, let it grow, and look what was read of it."""
    log, count = folder / "growing.jsonl", round(rate * seconds)
    log.write_bytes(FIRST_LINE)
    window = application.new_window()
    window.opening.open_path(log)
    await until(lambda: window.shown.state.messages, "the line that was there before", _PATIENCE_S)
    await asyncio.sleep(0.3)
    client = window.shown.client
    assert client is not None
    seen: list[tuple[int, int]] = []

    async def look() -> None:
        while True:
            seen.append((time.time_ns(), client.state.messages - 1))
            await asyncio.sleep(0.05)

    used, memory, begun = machine.cpu_s(), machine.private_dirty_mb(), time.perf_counter()
    with writing(log, rate, count) as process, Heartbeat(application) as heart:
        looking = application.spawn(look(), "look")
        try:
            await until(lambda: client.state.messages > 1, "the first line that was added", _PATIENCE_S)
        except TimeoutError as error:
            return {"not_measured": f"the window does not follow a log that grows: {error}"}
        await until(lambda: process.poll() is not None, "the writer", 5 * seconds + 10)
        writing_s = time.perf_counter() - begun
        await until(lambda: client.state.messages > count, "the last line", 5 * seconds + 10)
        found: Found = {"behind_s": time.perf_counter() - begun - writing_s, "written_s": _seconds(notes_of(log))}
        looking.cancel()
        await asyncio.sleep(0.3)
    found |= heart.found() | {"cpu_s": machine.cpu_s() - used, "memory_mb": machine.private_dirty_mb() - memory}
    numbers, others = await numbers_of(client)
    distinct = len(set(numbers))
    return found | {
        "written": count,
        "lag_s": lag_s(notes_of(log), seen),
        "lost": count - distinct,
        "duplicates": len(numbers) - distinct,
        "in_order": numbers == sorted(numbers),
        "rotations": others - 1,
    }


def _seconds(notes: Path) -> float:
    """How long the writer wrote."""
    noted = notes.read_bytes().splitlines()
    return (json.loads(noted[-1])["t"] - json.loads(noted[0])["t"]) / 1e9


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as made:
        rate, seconds = float(sys.argv[1]), float(sys.argv[2])
        print(json.dumps(run(lambda application: measure(application, Path(made), rate, seconds))))
