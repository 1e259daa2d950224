"""Counts the tokens of a log behind a window while a heartbeat runs, and once without one; prints one JSON object.

Run as `python -m tests.bench.tokens LOG`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application
from inspector.ui.window.main_window import MainWindow
from tests.bench import machine
from tests.bench.offscreen import Found, Heartbeat, run

TURNS = 2
_GIVEN_UP_S = 240


async def opened(application: Application, path: Path, *, counting: bool) -> tuple[MainWindow, float]:
    """A window on a log, and the seconds until all was read."""
    application.settings.display.count_tokens = counting
    window = application.new_window()
    started = time.perf_counter()
    await window.opening.load(path)
    return window, time.perf_counter() - started


async def counted(application: Application, window: MainWindow, size: int) -> Found:
    """Count everything; the tree shows tokens meanwhile."""
    assert window.panes is not None
    client = window.panes.client
    window.panes.contexts.tokens_action.setChecked(True)
    before, cpu = machine.private_dirty_mb(children=False), time.process_time()
    until = time.perf_counter() + _GIVEN_UP_S
    with Heartbeat(application) as heart:
        while not client.state.counted and time.perf_counter() < until:  # noqa: ASYNC110  a window has no event for it
            await asyncio.sleep(0.01)
        started, first = time.perf_counter(), client.state.counted
        while client.state.uncounted and time.perf_counter() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        took = time.perf_counter() - started
        await asyncio.sleep(0.6)  # views are told
    here = machine.private_dirty_mb(children=False)
    counted = client.state.counted
    return {
        "counted": counted,
        "per_s": (counted - first) / took,
        "mb_per_s": size / 1e6 * (counted - first) / max(1, counted) / took,
        "window_share": (time.process_time() - cpu) / (took + 0.6),
        "window_mb": here - before,
        "worker_mb": machine.private_dirty_mb() - here,
        **heart.found(),
    }


async def measure(application: Application, path: Path, size: int) -> Found:
    """Open by turns, then count in the last window."""
    times: dict[bool, list[float]] = {False: [], True: []}
    window: MainWindow | None = None
    for counting in (False, True) * TURNS:
        if window is not None:
            window.close()
            await asyncio.sleep(0.2)
        window, took = await opened(application, path, counting=counting)
        times[counting].append(took)
    assert window is not None
    found = await counted(application, window, size)
    return found | {"opening_ratio": min(times[True]) / min(times[False]), "opening_s": min(times[True])}


def headless(path: Path) -> Found:
    """Messages a second counted by `CaptureDocument.count_tokens`, processes started included; whether sums agree."""
    document = CaptureDocument()
    document.load(path)
    started = time.perf_counter()
    document.count_tokens()
    took = time.perf_counter() - started
    document.close()
    tokens = document.analysis.tokens
    sums, column = tokens.all_sums(), int(tokens.columns["tokens"].sum())
    totals = {sum(table.values()) for table in (sums.by_kind, sums.by_participant, sums.by_tool)}
    return {
        "headless_per_s": tokens.counted / took,
        "agree": {*totals, int(sums.by_node.own.sum()), int(sums.by_node.subtree[-1]), sums.total} == {column},
    }


if __name__ == "__main__":
    log = Path(sys.argv[1])
    measured = run(lambda application: measure(application, log, log.stat().st_size))
    print(json.dumps(measured | headless(log)))
