"""Which turns of the loop take long, and in what: a window offscreen opens a log, does things with it, or is live.

A turn is what the loop does before it hears of keys and the mouse again. It is counted in processor time of the
loop's own thread, so that what else runs on the machine does not count. A timer of processor time takes samples of the
stack, and of the turns longer than LONG_S it is printed where they were. For whoever looks for what to slice; run as

    python -m tests.bench.turns open LOG
    python -m tests.bench.turns act LOG [ACTION]...
    python -m tests.bench.turns look LOG
    python -m tests.bench.turns live MIX RATE SECONDS

`look` selects the first messages and the last, and turns to every tab of the details. `act` triggers actions of the
window by their ids, sorts (`sort:time`, `sort:payload.n`), filters (`filter:TEXT`) or asks in SQL (`query:SELECT ...`),
some seconds after one another.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractEventDispatcher

from inspector.ui.app.application import Application
from inspector.ui.panels.query.panel import QueryPanel
from inspector.ui.window.main_window import MainWindow
from tests.bench.live import measure as measure_live
from tests.bench.offscreen import Found, run

LONG_S = 0.030
_SAMPLE_S = 0.002
_SHOWN, _MOST_LINES = 12, 25
_AFTER_S = 3.0
"""What is put off goes on so long after the log is there."""

Stack = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A long turn: when it began, its processor and clock time, what of it the collector took, and its samples."""

    at_s: float
    cpu_s: float
    wall_s: float
    gc_s: float
    stacks: list[Stack]


class Turns:
    """Times the turns of this thread's loop from entering to leaving it.

    Attributes:
        times: processor seconds of each turn.
        long: those longer than LONG_S.
    """

    def __init__(self) -> None:
        self.times: list[float] = []
        self.long: list[Turn] = []
        self._main = threading.get_ident()
        self._stacks: list[Stack] = []
        self._began = self._cpu = self._wall = self._gc = self._gc_began = 0.0

    def __enter__(self) -> Turns:
        self._dispatcher = QAbstractEventDispatcher.instance()
        assert self._dispatcher is not None
        self._dispatcher.awake.connect(self._on_turn)
        self._dispatcher.aboutToBlock.connect(self._on_turn)
        gc.callbacks.append(self._on_collection)
        self._began = self._wall = time.perf_counter()
        self._cpu = time.thread_time()
        # Of a thread that looks at this one's frames the interpreter dies now and then.
        signal.signal(signal.SIGPROF, self._on_sample)
        signal.setitimer(signal.ITIMER_PROF, _SAMPLE_S, _SAMPLE_S)
        return self

    def __exit__(self, *_error: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        gc.callbacks.remove(self._on_collection)
        self._dispatcher.awake.disconnect(self._on_turn)
        self._dispatcher.aboutToBlock.disconnect(self._on_turn)

    def _on_turn(self) -> None:
        cpu, wall = time.thread_time(), time.perf_counter()
        took = cpu - self._cpu
        self.times.append(took)
        if took >= LONG_S:
            turn = Turn(self._wall - self._began, took, wall - self._wall, self._gc, self._stacks)
            self.long.append(turn)
        self._stacks = []
        self._gc = 0.0
        self._cpu, self._wall = time.thread_time(), time.perf_counter()

    def _on_collection(self, phase: str, _info: dict[str, int]) -> None:
        if threading.get_ident() == self._main:
            if phase == "start":
                self._gc_began = time.thread_time()
            else:
                self._gc += time.thread_time() - self._gc_began

    def _on_sample(self, _signal: int, frame: FrameType | None) -> None:
        if time.thread_time() - self._cpu > _SAMPLE_S:  # else another thread's
            self._stacks.append(_stack(frame))

    def found(self) -> Found:
        """Longest and 99th percentile, in seconds of processor time, of the turns in which anything was done."""
        times = np.array([took for took in self.times if took > 0.001] or [0.0])
        return {"turn_max_s": float(times.max()), "turn_p99_s": float(np.percentile(times, 99)), "turns": len(times)}

    def report(self) -> str:
        """What the longest turns were at."""
        said = self.found()
        lines = [
            f"{said['turns']} turns, longest {said['turn_max_s'] * 1e3:.0f} ms, p99 {said['turn_p99_s'] * 1e3:.0f} ms,"
            f" {len(self.long)} longer than {LONG_S * 1e3:.0f} ms"
        ]
        for turn in sorted(self.long, key=lambda turn: -turn.cpu_s)[:_SHOWN]:
            lines.append(
                f"{turn.cpu_s * 1e3:.0f} ms (clock {turn.wall_s * 1e3:.0f}, collector {turn.gc_s * 1e3:.0f})"
                f" at {turn.at_s:.2f} s"
            )
            lines += _where(turn.stacks)[:_MOST_LINES]
        return "\n".join(lines)


def _stack(frame: FrameType | None) -> Stack:
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen"):
            frame = frame.f_back
            continue
        name = code.co_filename.rpartition("/inspector/")[2].rpartition("/site-packages/")[2]
        found.append(f"{name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return tuple(found[::-1])


def _where(stacks: list[Stack], depth: int = 0, shown: int = 1) -> list[str]:
    """The tree of samples, branches of one in eight at least; what all have in common is left out."""
    lines: list[str] = []
    total = len(stacks)
    while stacks:
        counts = Counter(stack[depth] for stack in stacks if len(stack) > depth)
        if not counts:
            break
        name, most = counts.most_common(1)[0]
        if most < total * 0.9:
            for name, count in counts.most_common():
                if count >= max(2, total / 8):
                    below = [stack for stack in stacks if len(stack) > depth and stack[depth] == name]
                    lines.append(f"{'  ' * shown}{count}/{total} {name}")
                    lines += _where(below, depth + 1, shown + 1)
            break
        if not any(part in name for part in ("qasync", "asyncio/", "bench/", "runpy", "app/application")):
            lines.append(f"{'  ' * shown}{most}/{total} {name}")
        stacks = [stack for stack in stacks if len(stack) > depth and stack[depth] == name]
        depth += 1
    return lines


async def _opened(application: Application, path: Path) -> MainWindow:
    window = application.new_window()
    window.resize(1280, 800)
    while "capture_saving" not in vars(window):  # noqa: ASYNC110  made a piece each turn of the loop, once it is painted
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.3)
    return window


async def opening(application: Application, path: Path) -> Found:
    """Open the log, and let what was put off be done."""
    window = await _opened(application, path)
    with Turns() as turns:
        await window.opening.load(path)
        await asyncio.sleep(_AFTER_S)
    print(turns.report())
    return turns.found()


async def acting(application: Application, path: Path, acts: list[str]) -> Found:
    """Open the log, then do one thing after another."""
    window = await _opened(application, path)
    await window.opening.load(path)
    await asyncio.sleep(_AFTER_S)
    assert window.panes is not None
    found: Found = {}
    for act in acts:
        with Turns() as turns:
            await asyncio.sleep(0.05)
            if act.startswith("sort:"):
                window.panes.messages.sorter.sort(act[5:], False)
            elif act.startswith("filter:"):
                window.panes.filter_state.apply_filter(act[7:])
            elif act.startswith("query:"):
                await _asking(window, act[6:])
            else:
                window.actions_by_id[act].trigger()
            await asyncio.sleep(_AFTER_S)
        print(f"{act}: {turns.report()}")
        found[act] = turns.found()
    return found


async def _asking(window: MainWindow, sql: str) -> None:
    """Ask in the Query panel, and wait for all that it shows of the answer."""
    assert window.panes is not None
    window.actions_by_id["analyze.query"].trigger()
    panel = window.panes.panel("query")
    assert isinstance(panel, QueryPanel)
    panel.editor.set_text(sql)
    panel.run_query()
    while panel.is_running:  # noqa: ASYNC110  as whoever waits for it does
        await asyncio.sleep(0.02)


async def looking(application: Application, path: Path) -> Found:
    """Open the log, then look at its first messages and its last one in every way."""
    from inspector.ui.panels.details.panel import TABS

    window = await _opened(application, path)
    with Turns() as turns:
        await window.opening.load(path)
        await asyncio.sleep(0.5)
    print(f"opening: {turns.report()}")
    panes = window.panes
    assert panes is not None
    count = panes.client.state.messages
    for message in sorted({0, 1, 2, count - 1} & set(range(count))):
        for tab in ("", *TABS):
            with Turns() as turns:
                await asyncio.sleep(0.02)
                if tab:
                    panes.details.show_tab(tab)
                else:
                    panes.go_to(message)
                window.repaint()
                await asyncio.sleep(0.3)
            if turns.long:
                print(f"{message} {tab}: {turns.report()}")
    return {}


async def living(application: Application, mix: str, rate: float, seconds: float) -> Found:
    """Take in so much live traffic of a mix."""
    with Turns() as turns:
        found = await measure_live(application, rate, seconds, mix=mix if mix != "story" else None)
    print(turns.report())
    print({name: found[name] for name in ("behind_s", "late_max_s", "late_p99_s", "cpu_s", "memory_mb", "received")})
    return turns.found()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    steps: dict[str, Any] = {
        "open": lambda application: opening(application, Path(rest[0])),
        "look": lambda application: looking(application, Path(rest[0])),
        "act": lambda application: acting(application, Path(rest[0]), rest[1:]),
        "live": lambda application: living(application, rest[0], float(rest[1]), float(rest[2])),
    }
    run(steps[what])
