"""How long the timeline takes: making its lanes, frames while zooming and moving, flushes; prints one dict.

Times are milliseconds of wall clock. Run as `python -m tests.bench.timeline [MESSAGES] [LANES]`, offscreen at 1280x800.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from inspector.ui.panels.timeline.panel import TimelinePanel
from tests.bench.views import Firehose, summed_up, timed

_BATCH = 50_000


def envelopes(start: int, count: int, lanes: int) -> Iterable[dict[str, Any]]:
    """Chat, calls with answers and thoughts of so many participants, in nested contexts."""
    for n in range(start, start + count):
        who, kind = n % lanes, n % 7
        made: dict[str, Any] = {"id": f"t{n}", "from": f"agent-{who}", "kind": "chat", "payload": {"text": "hello"}}
        if kind >= 3:
            made["context"] = f"reason-{who * 4 + n // 50_000 % 4}/a{n % 2}"
        if kind in (3, 4):
            made["kind"] = "reasoning/thought"
        elif kind == 5:
            made |= {"kind": "mcp/request", "payload": {"method": "tools/call", "params": {"name": "read"}}}
        elif kind == 6:
            made |= {"kind": "mcp/response", "correlation_id": [f"t{n - 1}"], "payload": {"result": {}}}
        yield made


def _frames(name: str, panel: TimelinePanel, steps: Iterable[Callable[[], object]]) -> dict[str, float]:
    """Of each step, the time until it is painted: by the wall clock, and of the processor alone."""
    times: list[float] = []
    worked: list[float] = []
    for step in steps:
        began, cpu = time.perf_counter(), time.thread_time()
        step()
        panel.view.repaint()
        panel.ruler.repaint()
        panel.strip.repaint()
        times.append((time.perf_counter() - began) * 1000)
        worked.append((time.thread_time() - cpu) * 1000)
    return {**summed_up(name, times), **summed_up(f"{name}_cpu", worked)}


def measure(messages: int = 1_000_000, lanes: int = 50) -> dict[str, float]:
    """Everything, over a window that shows so many messages."""
    hose = Firehose()
    hose.window.resize(1280, 800)
    hose.hold()
    for start in range(0, messages, _BATCH):
        hose.write(envelopes(start, min(_BATCH, messages - start), lanes))
    hose.panes.bridge.set_paused(False)
    hose.settle()
    opened = timed(hose.window.actions_by_id["view.timeline"].trigger)
    panel = hose.window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    made = opened + hose.go_on_while(lambda: not panel.latest.is_current)
    axis, view = panel.axis, panel.view
    middle = (axis.first_ns + axis.last_ns) // 2
    found: dict[str, float] = {
        "messages": messages,
        "lanes": lanes,
        "made_ms": round(made, 2),
    }
    found |= _frames("whole", panel, [view.refresh] * 20)
    found |= _frames("cursor", panel, [lambda n=n: axis.set_cursor(middle + n) for n in range(20)])
    found |= _frames("zoom", panel, [lambda: axis.zoom(1.5, middle)] * 30)
    found |= _frames("close", panel, [lambda: axis.pan(0.1)] * 20)
    axis.fit()
    axis.zoom(8, middle)
    found |= _frames("pan", panel, [lambda n=n: axis.pan(0.05 if n % 2 else -0.05) for n in range(20)])
    axis.fit()
    own: list[float] = []
    for turn in range(30):
        hose.panes.bridge.set_paused(True)
        hose.write(envelopes(messages + turn * 660, 660, lanes))
        own.append(_own_part(panel, hose))
        hose.qt.processEvents()
    found |= summed_up("flush_own", own)
    hose.close()
    return found


def _own_part(panel: TimelinePanel, hose: Firehose) -> float:
    """Milliseconds the timeline takes of a flush, without painting."""
    took: list[float] = []
    refresh = panel.refresh
    panes, own = hose.panes, lambda: took.append(timed(refresh))
    panes.counts_changed.disconnect(panel.refresh)
    panes.counts_changed.connect(own)
    try:
        hose.panes.bridge.set_paused(False)
    finally:
        panes.counts_changed.disconnect(own)
        panes.counts_changed.connect(panel.refresh)
    return sum(took)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*map(int, sys.argv[1:]))) + "\n")
