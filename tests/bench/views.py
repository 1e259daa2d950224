"""How long the views take: flushes of a live capture, filters, the context tree; each function prints one dict.

Times are milliseconds of wall clock. Run as `python -m tests.bench.views NAME [NUMBER]...`, offscreen.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from inspector.base.slices import run_to_end
from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application, make_qt
from inspector.ui.docview.panes import Panes
from inspector.ui.panels.contexts.panel import ContextsPanel
from inspector.ui.window.main_window import MainWindow
from tests.bench.offscreen import take_in
from tests.ui.local_client import LocalClient

_START_NS = 1_767_600_000_000_000_000
_TEXT = "x" * 220
_BATCH = 100_000
_GIVEN_UP_S = 60


class Firehose:
    """A window on a live capture that this process writes, some messages at a time; at 1920x1200."""

    def __init__(self) -> None:
        self.qt = make_qt()
        self._application = Application(self.qt, theme="light", bundled_fonts=True, remembers=False)
        self._folder = tempfile.mkdtemp(prefix="inspector-bench-")
        self._path = Path(self._folder) / "live.ctxcap"
        self._path.write_bytes(b'{"ctxcap":1,"created":1,"origin":{"space":"demo"}}\n')
        self.document = CaptureDocument()
        self.document.follow_capture(self._path, name="demo")
        self.document.analysis.now_ns = time.time_ns()
        self.made = 0
        self.window: MainWindow = self._application.new_window()
        self.window.resize(1920, 1200)
        run_to_end(self.window.showing(LocalClient.with_document(self.document, self.window)))
        self.settle()

    @property
    def panes(self) -> Panes:
        assert self.window.panes is not None
        return self.window.panes

    def settle(self) -> None:
        """Let everything be painted."""
        for _ in range(3):
            self.qt.processEvents()

    def go_on_while(self, working: Callable[[], bool]) -> float:
        """Let the window work a little at a time; milliseconds until it is done."""

        def wait() -> None:
            until = time.perf_counter() + _GIVEN_UP_S
            while working() and time.perf_counter() < until:
                self.qt.processEvents()

        return timed(wait)

    def write(self, envelopes: Iterable[dict[str, Any]]) -> None:
        """Append envelopes and let the document read them; the window hears of it when it is flushed."""
        with self._path.open("ab") as file:
            for envelope in envelopes:
                frame = json.dumps(envelope, separators=(",", ":"))
                file.write(b'{"t":%d,"dir":"in","src":0,"frame":%b}\n' % (self._now(), frame.encode()))
                self.made += 1
        take_in(self.document)

    def write_usual(self, messages: int) -> None:
        """Append messages of 400 bytes in 50 reasoning sequences."""
        for start in range(0, messages, _BATCH):
            self.write(self._usual(number) for number in range(start, min(messages, start + _BATCH)))

    def _usual(self, number: int) -> dict[str, Any]:
        return {
            "protocol": "mew/v0.4", "id": f"m{self.made}", "ts": "2026-01-05T09:00:00.000Z", "from": "lead",
            "kind": "reasoning/thought" if number % 3 else "chat", "context": f"reason-{number % 50}/a",
            "payload": {"message": _TEXT},
        }  # fmt: skip

    def _now(self) -> int:
        return _START_NS + self.made * 50_000

    def hold(self) -> None:
        """Let the window hear of nothing until it is flushed."""
        self.panes.bridge.set_paused(True)

    def close(self) -> None:
        """Close the window and remove the files."""
        self.window.close()
        shutil.rmtree(self._folder)


def timed(work: Callable[[], object]) -> float:
    """Milliseconds some work takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def summed_up(name: str, times: list[float]) -> dict[str, float]:
    """Median and longest of some times."""
    return {f"{name}_ms": round(statistics.median(times), 2), f"{name}_max_ms": round(max(times), 2)}


def flush_ms(messages: int = 1_000_000, filter_: str = 'context.type == "reasoning"') -> dict[str, float]:
    """Flushes of 660 new messages, 1/30 s at 20,000/s, into a window that already shows a million."""
    hose = Firehose()
    hose.panes.filter_state.apply_filter(filter_)
    hose.hold()
    hose.write_usual(messages)
    resumed = timed(lambda: hose.panes.bridge.set_paused(False))
    hose.settle()
    flushes, paints = [], []
    for _ in range(30):
        hose.panes.bridge.set_paused(True)
        hose.write_usual(660)
        flushes.append(timed(lambda: hose.panes.bridge.set_paused(False)))
        paints.append(timed(hose.qt.processEvents))
    hose.close()
    return {
        "messages": messages, "resume_ms": round(resumed, 2),
        **summed_up("flush", flushes), **summed_up("paint", paints),
    }  # fmt: skip


def tree_flush_ms(contexts: int = 100_000, changes: int = 1_000) -> dict[str, float]:
    """Flushes of the context tree: new nodes, messages in old ones, and a tenth of the changes moves a node."""
    hose = Firehose()
    hose.hold()
    roots = max(1, contexts // 100)
    hose.write(
        {"id": f"c{n}", "kind": "chat", "from": "lead", "context": f"r{n % roots}/n{n}", "payload": {}}
        for n in range(contexts - roots)
    )
    panel = hose.panes.contexts
    filled = timed(lambda: hose.panes.bridge.set_paused(False))
    expanded = timed(panel.expand_all)
    view = panel.view
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    hose.settle()
    top = view.row_at(0)
    before = panel.model.label(top)
    flushes, paints = [], []
    for turn in range(20):
        hose.panes.bridge.set_paused(True)
        hose.write(_tree_changes(turn, roots, changes))
        flushes.append(_timed_part(panel, hose))
        paints.append(timed(hose.qt.processEvents))
    unmoved = panel.model.label(view.row_at(0)) == before
    hose.close()
    return {
        "contexts": contexts, "changes": changes, "fill_ms": round(filled, 2), "expand_ms": round(expanded, 2),
        **summed_up("flush", flushes), **summed_up("paint", paints), "unmoved": unmoved,
    }  # fmt: skip


def _timed_part(panel: ContextsPanel, hose: Firehose) -> float:
    """Milliseconds of a flush that the tree's panel takes."""
    hose.panes.bridge.set_paused(False)
    return timed(panel.model.changes.request_now)


def _tree_changes(turn: int, roots: int, changes: int) -> Iterable[dict[str, Any]]:
    moves, new = changes // 10, changes * 4 // 10
    for n in range(moves):  # a context of its own goes below another one
        yield {"id": f"t{turn}-{n}", "kind": "chat", "from": "lead", "context": f"m{turn}-{n}", "payload": {}}
        start = {"id": f"m{turn - 1}-{n}", "kind": "reasoning/start", "from": "lead", "context": f"r{n % roots}"}
        yield start | {"payload": {"message": "why"}}
    for n in range(new):
        yield {
            "id": f"u{turn}-{n}",
            "kind": "chat",
            "from": "lead",
            "context": f"r{n * 7 % roots}/x{turn}-{n}",
            "payload": {},
        }
    for n in range(changes - 2 * moves - new):
        yield {"id": f"v{turn}-{n}", "kind": "chat", "from": "lead", "context": f"r{n * 11 % roots}", "payload": {}}


FILTERS = (
    'kind == "chat"', 'context.type == "reasoning"', 'kind like "reasoning/*" && from == lead && size > 100',
    'context under "reason-7"', 'from == "nobody"', "answered", 'id == "m4711"',
)  # fmt: skip


def filter_ms(messages: int = 1_000_000) -> dict[str, float]:
    """Header filters over a window of messages, from the text in the bar to the repainted table."""
    hose = Firehose()
    hose.hold()
    hose.write_usual(messages)
    hose.panes.bridge.set_paused(False)
    hose.settle()
    found: dict[str, float] = {"messages": messages}
    for text in FILTERS:
        times = []
        for _ in range(3):
            hose.panes.filter_state.apply_filter("")
            hose.settle()
            bar, table = hose.window.filter_bar, hose.panes.messages.view.viewport()
            began = time.perf_counter()
            bar._editor.set_text(text)
            bar._on_entered()
            table.repaint()
            times.append((time.perf_counter() - began) * 1000)
            hose.settle()
        found[text] = round(statistics.median(times), 1)
    hose.close()
    return found


NAMES: dict[str, Callable[..., dict[str, float]]] = {
    "flush": flush_ms,
    "tree": tree_flush_ms,
    "filter": filter_ms,
}


if __name__ == "__main__":
    result = NAMES[sys.argv[1]](*map(int, sys.argv[2:]))
    sys.stdout.write(json.dumps(result) + "\n")
