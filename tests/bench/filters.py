"""Display filters over a large log: header filters to the repainted table, and full text beside `grep -c`.

Run as `python -m tests.bench.filters LOG`; prints one JSON object.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.filters import compile_filter
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from tests.bench.offscreen import Found, repaint, run
from tests.ui.local_client import LocalClient

HEADER_FILTERS = (
    'kind like "mcp/*" && from == "lead"',
    'kind == "reasoning/thought"',
    'to == "files" && context.depth == 1',
    'context.type == "reasoning" && !(from in {"coder", "reviewer"})',
    '!context || kind == "mcp/response"',
)
NEEDLE = "src/module_123.py"
TURNS = 3
_FULL_TEXT_S = 60.0
_CHUNK = 5_000


def header_filters(panes: Panes, application: Application) -> Found:
    """Seconds from a filter to the repainted table: each filter's first time, and the median of its later ones."""
    first: list[float] = []
    again: list[float] = []
    for text in HEADER_FILTERS:
        for turn in range(TURNS + 1):
            panes.filter_state.apply_filter("")
            repaint(application.windows[0])
            started = time.perf_counter()
            panes.filter_state.apply_filter(text)
            repaint(application.windows[0])
            (again if turn else first).append(time.perf_counter() - started)
    panes.filter_state.apply_filter("")
    return {"first_s": max(first), "median_s": statistics.median(again), "worst_s": max(again)}


def grep(path: Path) -> tuple[float, int]:
    """Seconds that `grep -c` takes on the warm file, best of three, and the lines it finds."""
    found: list[float] = []
    lines = 0
    for _ in range(3):
        started = time.perf_counter()
        done = subprocess.run(["grep", "-c", "-F", NEEDLE, str(path)], capture_output=True, text=True, check=False)
        found.append(time.perf_counter() - started)
        lines = int(done.stdout)
    return min(found), lines


def full_text(document: CaptureDocument) -> Found:
    """Seconds of a literal search through all messages, and until its first hit; given up after a minute.

    Returns:
        `searched` tells how many messages were: what is not all of them took all of the time.
    """
    filter_ = compile_filter(f'"{NEEDLE}"')
    total, hits, searched, first = len(document.capture), 0, 0, 0.0
    started = time.perf_counter()
    while searched < total and time.perf_counter() - started < _FULL_TEXT_S:
        rows = np.arange(searched, min(total, searched + _CHUNK))
        hits += int(np.count_nonzero(filter_.mask(document.analysis, rows)))
        searched += len(rows)
        if hits and not first:
            first = time.perf_counter() - started
    return {"text_s": time.perf_counter() - started, "hits": hits, "first_hit_s": first, "searched": searched}


async def measure(application: Application, path: Path) -> Found:
    """Read the log, show it, and filter it."""
    document = CaptureDocument()
    document.load(path)
    window = application.new_window()
    panes = run_to_end(window.showing(LocalClient.with_document(document, window)))
    repaint(window)
    found = {"messages": len(document.capture)} | header_filters(panes, application)
    grep_s, lines = grep(path)
    found |= full_text(document) | {"grep_s": grep_s, "grep_lines": lines}
    share = found["searched"] / max(1, found["messages"])
    return found | {"text_ratio": found["text_s"] / (grep_s * share)}


if __name__ == "__main__":
    log = Path(sys.argv[1])
    print(json.dumps(run(lambda application: measure(application, log))))
