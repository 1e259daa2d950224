"""One message of 50 MB among small ones: listed, selected, saved; prints one JSON object.

The longest stall is that of a 10 ms heartbeat on the window's loop. Run as `python -m tests.bench.huge MEGABYTES`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from inspector.ui.app.application import Application
from tests.bench.generate import envelope_template
from tests.bench.offscreen import Found, Heartbeat, repaint, run, until

AROUND = 1_000
"""Small messages before and after it."""
_SETTLE_S = 1.0


def huge_line(megabytes: float) -> bytes:
    """A tool's result of so many megabytes of text: lines of words, with escapes and letters beyond ASCII."""
    text = rb"The quick brown fox \"jumps\" over the lazy d\u00f6g, caf\u00e9 in hand: 0123456789.\n"
    body = text * (round(megabytes * 1e6) // len(text))
    return (
        b'{"protocol":"mew/v0.4","id":"huge-1","ts":"2026-01-05T09:00:00.000Z","from":"files","to":["lead"],'
        b'"kind":"mcp/response","correlation_id":["asked-1"],"payload":{"jsonrpc":"2.0","id":1,"result":{"content":'
        b'[{"type":"text","text":"' + body + b'"}]}}}'
    )


async def measure(application: Application, folder: Path, megabytes: float) -> Found:
    """Open, select, and save."""
    path, saved, line = folder / "huge.jsonl", folder / "saved.json", huge_line(megabytes)
    small = bytes(envelope_template().block(0)[: int(envelope_template().ends[AROUND])])
    path.write_bytes(small + line + b"\n" + small)
    window = application.new_window()
    await asyncio.sleep(0.3)
    with Heartbeat(application) as heart:
        started = time.perf_counter()
        loading = application.spawn(window.opening.load(path), "open")
        await until(lambda: window.panes is not None and len(window.panes.rows) > AROUND, "the row", 60)
        listed = time.perf_counter() - started
        await loading
        assert window.panes is not None
        repaint(window)
        await asyncio.sleep(0.1)
        opened = len(heart.late_s)
        started = time.perf_counter()
        window.panes.go_to(AROUND)
        window.panes.details.repaint()
        selected = time.perf_counter() - started
        await asyncio.sleep(_SETTLE_S)
        shown = len(heart.late_s)
        started = time.perf_counter()
        window.saving.save(AROUND, saved)
        await until(lambda: window.notices.notice("message") is not None, "the word that it is saved", 60)
        found: Found = {"listed_s": listed, "selected_s": selected, "saved_s": time.perf_counter() - started}
        await asyncio.sleep(0.1)
        found |= {"open_late_s": max(heart.late_s[:opened], default=0.0)}
        found |= {"select_late_s": max(heart.late_s[opened:shown], default=0.0)}
        found |= {"save_late_s": heart.found(shown)["late_max_s"]}
    assert window.panes.messages.current_message() == AROUND
    found |= {"messages": window.shown.state.messages, "bytes": len(line)}
    found["saved_equal"] = saved.read_bytes() == line
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as made:
        print(json.dumps(run(lambda application: measure(application, Path(made), float(sys.argv[1])))))
