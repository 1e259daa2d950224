"""Conversation of a long session in a window with its engine process, offscreen; prints one JSON object.

Run as `python -m tests.bench.conversation TURNS`; a turn has five messages. The document is open before, on its
overview. Times are wall clock in milliseconds: from the choice of the tab to its first painted cards, and from a jump
to the painted cards there. A painted frame of scrolling is processor time of the main thread. Memory is private dirty,
the engine's included.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from inspector.ui.app.application import Application
from inspector.ui.panels.conversation.panel import ConversationPanel
from inspector.ui.window.main_window import MainWindow
from tests.bench import machine
from tests.bench.offscreen import Found, Heartbeat, run, until

_FRAMES = 240
_JUMPS = 40
_STEPS = (40, 120, 900)
"""Pixels of a frame: a wheel, a fling, a page."""
_WAIT_S = 120.0


def write_session(path: Path, turns: int, *, seed: int = 5) -> None:
    """Writes a session: in each turn a prompt, a thought, a failed command, and an answer in Markdown."""
    words = str.split("the loader reads every record of a session once and keeps the columns that views need")
    chosen = random.Random(seed)

    def text(count: int) -> str:
        return " ".join(chosen.choices(words, k=count))

    with path.open("w") as file:
        number = 0
        for turn in range(turns):
            output = "\n".join(f"checked {text(6)}" for _ in range(chosen.randrange(3, 30)))
            answer = f"## Part {turn}\n\n{text(40)} **{text(2)}**.\n\n- {text(9)}\n- `{text(3)}`\n"
            command = {"type": "tool_use", "id": f"c{turn}", "name": "Bash", "input": {"command": f"make part-{turn}"}}
            failed = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": output, "is_error": turn % 9 == 0}
            for role, content in (
                ("user", f"Please fix part {turn}: {text(chosen.randrange(4, 40))}"),
                ("assistant", [{"type": "thinking", "thinking": text(30), "signature": "s"}]),
                ("assistant", [command]), ("user", [failed]), ("assistant", [{"type": "text", "text": answer}]),
            ):  # fmt: skip
                message: dict[str, Any] = {"role": role, "content": content}
                if role == "assistant":
                    message |= {"id": f"m{number}", "model": "claude-sonnet-4-5", "type": "message"}
                second, millis = divmod(number * 700, 1000)
                minute, hour = second // 60, second // 3600
                moment = (
                    f"2026-03-{1 + hour // 24:02d}T{hour % 24:02d}:{minute % 60:02d}:{second % 60:02d}.{millis:03d}Z"
                )
                file.write(json.dumps({
                    "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
                    "sessionId": "s1", "timestamp": moment, "version": "2.1.0", "cwd": "/work/app", "message": message,
                }) + "\n")  # fmt: skip
                number += 1


def is_painted(panel: ConversationPanel) -> bool:
    """Returns True if all cards in sight have arrived; paints them."""
    seen = panel.view.rows_in_sight()
    if panel.model.outline is None or not len(seen) or any(panel.model.card(row) is None for row in seen):
        return False
    panel.view.viewport().repaint()
    return True


async def _painted(panel: ConversationPanel) -> None:
    while not is_painted(panel):  # noqa: ASYNC110  a view has no event for it
        await asyncio.sleep(0.001)


async def _scroll(panel: ConversationPanel, step: int) -> dict[str, float]:
    """Scrolls frame by frame: milliseconds of a frame, and the share of frames with a card that had not arrived."""
    bar, took, late = panel.view.verticalScrollBar(), [], 0
    for _ in range(_FRAMES):
        began = time.thread_time()
        bar.setValue(bar.value() + step)
        panel.view.viewport().repaint()
        took.append((time.thread_time() - began) * 1000)
        late += any(panel.model.card(row) is None for row in panel.view.rows_in_sight())
        await asyncio.sleep(max(0.0, 1 / 60 - took[-1] / 1000))
    middle, slow = np.percentile(took, (50, 99)).tolist()
    name = f"scroll_{step}"
    return {
        f"{name}_p50_ms": middle, f"{name}_p99_ms": slow, f"{name}_max_ms": max(took),
        f"{name}_late_share": late / _FRAMES,
    }  # fmt: skip


async def _open_tab(window: MainWindow) -> tuple[ConversationPanel, float, float]:
    """Chooses the tab: the panel, and milliseconds until its cards are painted, and until its turns are there."""
    began = time.perf_counter()
    window.actions_by_id["view.conversation"].trigger()
    panel = window.center.currentWidget()
    assert isinstance(panel, ConversationPanel)
    await _painted(panel)
    first = (time.perf_counter() - began) * 1000
    await until(lambda: panel.side.turns_model.count, "the turns", _WAIT_S)
    return panel, first, (time.perf_counter() - began) * 1000


async def measure(application: Application, turns: int) -> Found:
    """Opens a session, then its conversation; scrolls and jumps."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        path = Path(folder) / "session.jsonl"
        write_session(path, turns)
        window = application.new_window()
        window.resize(1280, 800)
        await until(lambda: "capture_saving" in vars(window), "the parts of the window", _WAIT_S)
        await window.opening.load(path)
        await asyncio.sleep(5)  # everything that is painted and counted after opening
        before = machine.private_dirty_mb()
        with Heartbeat(application) as heart:
            panel, first_ms, turns_ms = await _open_tab(window)
            await asyncio.sleep(0.5)
        found: Found = {"messages": window.shown.state.messages, "first_ms": first_ms, "turns_ms": turns_ms}
        found |= heart.found()
        for step in _STEPS:
            found |= await _scroll(panel, step)
        jumps, chosen = list[float](), random.Random(3)
        for _ in range(_JUMPS):
            began = time.perf_counter()
            panel.go_to_turn(chosen.randrange(turns))
            await _painted(panel)
            jumps.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.05)
        found |= {"jump_p50_ms": float(np.median(jumps)), "jump_max_ms": max(jumps)}
        return found | {"memory_mb": machine.private_dirty_mb() - before}


if __name__ == "__main__":
    count = int(sys.argv[1])
    print(json.dumps(run(lambda application: measure(application, count))))
