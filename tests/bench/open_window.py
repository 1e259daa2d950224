"""Opens a log in the window, offscreen, while a heartbeat runs on the loop; prints one JSON object.

Lateness is how much later than due a 10 ms heartbeat came. Run as `python -m tests.bench.open_window LOG`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from inspector.ui.app import Application, make_qt, run_loop
from inspector.ui.main_window import MainWindow

BEAT_S = 0.010


async def heartbeat(late: list[float]) -> None:
    """Note how late each beat comes, in seconds."""
    while True:
        due = time.perf_counter() + BEAT_S
        await asyncio.sleep(BEAT_S)
        late.append(max(0.0, time.perf_counter() - due))


async def first_rows(window: MainWindow, started: float) -> float:
    """Seconds until the table has rows and was painted."""
    while window.panes is None or not len(window.panes.rows):  # noqa: ASYNC110  a window has no event for it
        await asyncio.sleep(0.002)
    window.panes.messages.view.viewport().repaint()
    return time.perf_counter() - started


async def measure(application: Application, path: Path) -> dict[str, float]:
    """Open the log in a new window; times in seconds."""
    window = application.new_window()
    await asyncio.sleep(0.2)
    late: list[float] = []
    beat = application.spawn(heartbeat(late), "heartbeat")
    started = time.perf_counter()
    rows = application.spawn(first_rows(window, started), "first rows")
    await window.opening.load(path)
    complete = time.perf_counter() - started
    first = await rows
    await asyncio.sleep(0.1)
    beat.cancel()
    late.sort()
    return {
        "messages": len(window.document.capture),
        "first_s": first,
        "complete_s": complete,
        "late_max_s": late[-1],
        "late_p99_s": late[int(len(late) * 0.99)],
        "beats": len(late),
    }


def run(path: Path) -> dict[str, float]:
    """Measure in an application of its own that stores nothing."""
    qt = make_qt()
    found: dict[str, float] = {}

    async def main() -> int:
        application = Application(qt, theme="light", bundled_fonts=True, remembers=False)

        async def start() -> None:
            found.update(await measure(application, path))
            await application.close_all()

        await application.run(start())
        return 0

    run_loop(main(), qt)
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(Path(sys.argv[1]))))
