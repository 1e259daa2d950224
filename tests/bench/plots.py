"""How long the plots below the timeline take: adding up a context's growth, frames while zooming; prints one dict.

Times are milliseconds of wall clock, those named `_cpu` of the processor alone. Run as
`python -m tests.bench.plots [MESSAGES]`, offscreen at 1280x800.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable

import numpy as np

from inspector.analysis.views.summaries.token_shares import Grouping, shares
from inspector.engine.engine import Engine
from inspector.engine.requests.growth import ContextGrowth
from inspector.ui.panels.growth import GrowthPlot
from inspector.ui.panels.growth.panel import GROWTH, RATES
from inspector.ui.panels.timeline.panel import TimelinePanel
from tests.bench.timeline import envelopes
from tests.bench.views import Firehose, summed_up, timed

_BATCH = 50_000
_WAYS: tuple[Grouping, ...] = ("tool", "context", "participant", "kind")


def _frames(name: str, plot: GrowthPlot, steps: Iterable[Callable[[], object]]) -> dict[str, float]:
    """Of each step, the time until the plot is painted: by the wall clock, and of the processor alone."""
    canvas = plot.canvas
    times: list[float] = []
    worked: list[float] = []
    for step in steps:
        began, cpu = time.perf_counter(), time.thread_time()
        step()
        canvas.repaint()
        times.append((time.perf_counter() - began) * 1000)
        worked.append((time.thread_time() - cpu) * 1000)
    return {**summed_up(name, times), **summed_up(f"{name}_cpu", worked)}


def measure(messages: int = 1_000_000) -> dict[str, float]:
    """Everything, over a window that shows so many messages, all of which stand in one context."""
    hose = Firehose()
    hose.window.resize(1280, 800)
    hose.hold()
    for start in range(0, messages, _BATCH):
        hose.write(envelopes(start, min(_BATCH, messages - start), 3))
    hose.panes.bridge.set_paused(False)
    hose.settle()
    tokens = hose.document.analysis.tokens
    counts = np.random.default_rng(1).integers(1, 400, messages).astype(np.int32)
    tokens._note(np.arange(messages), counts)
    hose.window.actions_by_id["view.timeline"].trigger()
    hose.settle()
    panel = hose.window.center.currentWidget()
    assert isinstance(panel, TimelinePanel)
    plot, axis = panel.plot, panel.axis
    assert plot is not None
    found: dict[str, float] = {"made_ms": round(hose.go_on_while(lambda: not plot.latest.is_current), 2)}
    engine = Engine()
    number = engine.adopt(hose.document)
    found["compute_ms"] = round(timed(lambda: engine.answer_request(number, ContextGrowth())), 2)
    found["steps"] = len(plot.growth.figures.places)
    middle = (axis.first_ns + axis.last_ns) // 2
    for name in (GROWTH, RATES):
        plot.head.plots.choose(name)
        plot.refresh()
        hose.settle()
        axis.fit()
        key = "growth" if name == GROWTH else "rates"
        found |= _frames(f"{key}_whole", plot, [plot.canvas.redraw] * 20)
        found |= _frames(f"{key}_cursor", plot, [lambda n=n: axis.set_cursor(middle + n) for n in range(20)])
        found |= _frames(f"{key}_zoom", plot, [lambda: axis.zoom(1.5, middle)] * 25)
        axis.fit()
        axis.zoom(2, middle)
        found |= _frames(f"{key}_pan", plot, [lambda n=n: axis.pan(0.05 if n % 2 else -0.05) for n in range(20)])
    for way in _WAYS:
        found[f"by_{way}_ms"] = round(timed(lambda way=way: shares(hose.document.analysis, way)), 2)
    hose.close()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(*map(int, sys.argv[1:]))) + "\n")
