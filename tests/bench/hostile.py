"""Hostile files at the sizes of the design: how long each takes to open, look at, export; the longest stalls meanwhile.

    python -m tests.bench.hostile [--small] [CASE]...

Each case is opened in a window of its own process (offscreen), its big message selected, and every tab of its details
turned to and painted; then all is exported as JSON Lines, secrets masked. A stall is by how much a 10 ms heartbeat
of the event loop came late, or what a step took.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests import hostile

_HEARTBEAT_S = 0.01


def main(arguments: list[str]) -> int:
    """Run the cases asked for, all by default, and print one JSON object of case -> figures."""
    full = "--small" not in arguments
    names = [name for name in arguments if not name.startswith("--")] or list(hostile.CASES)
    print(json.dumps(run(names, full=full), indent=2))
    return 0


def run(names: list[str], *, full: bool = True) -> dict[str, dict[str, Any]]:
    """Figures by case: open_s; stalls of opening, looking and exporting in ms; slowest (look), peak_mb, messages."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="inspector-hostile-") as folder:
        for name in names:
            path = hostile.write(name, Path(folder), full=full)
            environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
            command = [sys.executable, "-m", "tests.bench.hostile", "--one", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
            said = done.stdout.strip().splitlines()
            found[name] = json.loads(said[-1]) if done.returncode == 0 and said else {"failed": done.stderr[-2_000:]}
            path.unlink()
    return found


def one(path: Path) -> int:
    """Open one file in a window and look at it."""
    from inspector.ui.app.application import Application, make_qt, run_loop

    qt = make_qt()
    figures: dict[str, Any] = {}

    async def steps() -> int:
        application = Application(qt, theme="light", bundled_fonts=True, remembers=False)

        async def start() -> None:
            await _look(application, path, figures)
            await application.close_all()

        await application.run(start())
        return 0

    code = run_loop(steps(), qt)
    figures["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(json.dumps(figures))
    return code


async def _look(application: Any, path: Path, figures: dict[str, Any]) -> None:
    from inspector.ui.panels.details.panel import TABS

    window = application.new_window()
    window.resize(1280, 800)
    window.show()
    await asyncio.sleep(0.2)
    lateness = [0.0]
    beating = asyncio.ensure_future(_beat(lateness))  # noqa: TID251  ends with the process
    started = time.perf_counter()
    await window.opening.load(path)
    figures["open_s"] = round(time.perf_counter() - started, 3)
    await asyncio.sleep(0.1)
    figures["open_stall_ms"] = round(lateness[0] * 1000, 1)
    panes = window.panes
    count = panes.client.state.messages
    figures["messages"] = count
    slowest, what = 0.0, ""
    for message in sorted({0, 1, 2, count - 1} & set(range(count))):
        acts = [(f"select {message + 1}", lambda message=message: panes.go_to(message))]
        acts += [(f"{tab} {message + 1}", lambda tab=tab: panes.details.show_tab(tab)) for tab in TABS]
        for words, act in acts:
            lateness[0] = 0.0
            began = time.perf_counter()
            act()
            window.repaint()
            took = time.perf_counter() - began
            await asyncio.sleep(0.03)
            took = max(took, lateness[0])
            if took > slowest:
                slowest, what = took, words
    figures["look_stall_ms"], figures["slowest"] = round(slowest * 1000, 1), what
    lateness[0], target = 0.0, path.with_suffix(".export")
    window.exporting.export(target)
    while not target.exists():  # noqa: ASYNC110  it stands there whole
        await asyncio.sleep(0.02)
    target.unlink()
    figures["export_stall_ms"] = round(lateness[0] * 1000, 1)
    beating.cancel()


async def _beat(lateness: list[float]) -> None:
    while True:
        expected = time.perf_counter() + _HEARTBEAT_S
        await asyncio.sleep(_HEARTBEAT_S)
        lateness[0] = max(lateness[0], time.perf_counter() - expected)


if __name__ == "__main__":
    sys.exit(one(Path(sys.argv[2])) if sys.argv[1:2] == ["--one"] else main(sys.argv[1:]))
