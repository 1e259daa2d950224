"""Opens a log in the window, offscreen, while a heartbeat runs on the loop; prints one JSON object.

Memory is private dirty, beyond that of the same window before it was opened; `peak_mb` is sampled while reading,
worker processes included. Run as `python -m tests.bench.open_window LOG`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.bench import machine
from tests.bench.offscreen import Found, Heartbeat, repaint, run


async def first_rows(window: MainWindow, started: float) -> float:
    """Seconds until the table has rows and was painted."""
    while window.panes is None or not len(window.panes.rows):  # noqa: ASYNC110  a window has no event for it
        await asyncio.sleep(0.002)
    repaint(window)
    return time.perf_counter() - started


async def peak(found: Found) -> None:
    """Note the most private dirty memory there is, twice a second; a look takes some ms, and the loop none of them."""
    while True:
        await asyncio.sleep(0.5)
        found["peak_mb"] = max(found.get("peak_mb", 0.0), await asyncio.to_thread(machine.private_dirty_mb))


async def measure(application: Application, path: Path) -> Found:
    """Open the log in a new window; times in seconds."""
    window = application.new_window()
    while "capture_saving" not in vars(window):  # noqa: ASYNC110  made a piece each turn of the loop, once it is painted
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    before = machine.private_dirty_mb()
    found: Found = {}
    sampling = application.spawn(peak(found), "memory")
    with Heartbeat(application) as heart:
        started = time.perf_counter()
        rows = application.spawn(first_rows(window, started), "first rows")
        await window.opening.load(path)
        found["complete_s"] = time.perf_counter() - started
        found["first_s"] = await rows
        await asyncio.sleep(0.2)
    sampling.cancel()
    assert window.panes is not None
    memory = machine.private_dirty_mb() - before
    found |= {"messages": window.shown.state.messages, "shown": len(window.panes.rows), "memory_mb": memory}
    found["peak_mb"] = max(found.get("peak_mb", 0.0) - before, memory)
    return found | heart.found()


if __name__ == "__main__":
    log = Path(sys.argv[1])
    print(json.dumps(run(lambda application: measure(application, log))))
