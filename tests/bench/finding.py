"""Finding and keeping over a large log, in the window: full text, sorting, find in view, completion, presets, export.

Searches stand beside `grep -c` of the same text on the same warm file in the same run. A search in the window is what
a user waits for: from the filter in force to the repainted table, with the pauses the window makes for its other work.
Run as `python -m tests.bench.finding LOG`; prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.export.files import export_file, rows_of
from inspector.filters import compile_filter
from inspector.filters.completion import Completer
from inspector.filters.find import FindSearch
from inspector.filters.find_query import FindQuery
from inspector.filters.search import Search
from inspector.filters.visible import VisibleRows
from inspector.ui.app.application import Application
from inspector.ui.docview.panes import Panes
from inspector.ui.window.main_window import MainWindow
from tests.bench.offscreen import Found, Heartbeat, repaint, run, until

LITERALS = {"rare": "src/module_123.py", "absent": "nowhere", "in nearly all": "lead", "beyond ASCII": "café"}
PATTERNS = {
    "with a plain text": r"module_1[0-9]{2}\.py", "digits only": r"[0-9]{5}[a-z]{3}", "rare classes": r"[xyz]{3}",
    "one plain character": r"[a-z]+@[a-z]+", "alternatives": r"(read|write)\s[0-9]", "nothing to go by": r".x.x.x",
}  # fmt: skip
DECODED = {'payload.method == "tools/call"': "tools/call", 'payload.text contains "caller says"': "caller says"}
SORTED_BY = ("time", "context", "kind", "from", "size", "payload.method")
PRESETS = ("!context", 'context.type == "reasoning"', "context.depth == 1", 'kind like "mcp/*"', "badge")
COMPLETED = ("kind == ", "context == ", 'context == "nowhere', "from == ", "to == ", 'payload.method == "')
TURNS = 3
_ENOUGH_S = 5.0
"""What took so long together is not measured again."""
_CALM_S = 1.0
"""For events that came while measurements without the loop went on, half a minute in a large log."""
_HOSTILE = r"(\w+\s?)+[!]$"
_LONG_S = 120.0
_EXPORT_S = 60.0


def grep(path: Path, *arguments: str) -> tuple[float, int]:
    """Seconds that `grep -c` takes on the warm file, best of the turns, and the lines it finds."""
    times: list[float] = []
    lines = 0
    while len(times) < TURNS and sum(times) < _ENOUGH_S:
        began = time.perf_counter()
        done = subprocess.run(["grep", "-c", *arguments, str(path)], capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - began)
        lines = int(done.stdout)
    return min(times), lines


def stepped(step: Callable[[], bool], found: Callable[[], int]) -> tuple[float, float]:
    """Seconds of a search without a pause between its slices, and until it has found anything (0 where nothing)."""
    began, first = time.perf_counter(), 0.0
    done = False
    while not done:
        done = step()
        if not first and found():
            first = time.perf_counter() - began
    return time.perf_counter() - began, first


class Measuring:
    """The measurements of one window.

    Attributes:
        found: what was measured.
    """

    def __init__(self, application: Application, window: MainWindow, path: Path) -> None:
        assert window.panes is not None
        self.found: Found = {"messages": window.shown.state.messages}
        self._application = application
        self._window = window
        self._panes: Panes = window.panes
        self._path = path
        self._document = CaptureDocument()
        self._document.load(path)
        self._rows = VisibleRows(self._document.analysis)
        self._rows.apply_filter(compile_filter(""), None)

    def _analysis_filter(self, text: str) -> tuple[float, float, int]:
        """Seconds of a filter's search alone, until its first hit, and the hits; the best of the turns."""
        times: list[float] = []
        first, hits = 0.0, 0
        while len(times) < TURNS and sum(times) < _ENOUGH_S:
            search = Search(self._rows, compile_filter(text), None)
            seconds, first = stepped(search.step, lambda search=search: search.found)
            times.append(seconds)
            hits = len(search.result())
        return min(times), first or min(times), hits

    async def _in_window(self, text: str) -> float:
        """Seconds from a filter to the repainted table."""
        await self._cleared()
        began = time.perf_counter()
        self._panes.filter_state.apply_filter(text)
        await until(lambda: self._panes.rows.filter.text == text, text, _LONG_S)
        repaint(self._window)
        return time.perf_counter() - began

    async def _cleared(self) -> None:
        self._panes.filter_state.apply_filter("")
        await until(lambda: not self._panes.rows.filter.text, "the filter to go", _LONG_S)
        repaint(self._window)

    async def literals(self) -> None:
        """Plain text as a filter and in find in view."""
        rows = []
        for name, needle in LITERALS.items():
            grep_s, lines = grep(self._path, "-F", "--", needle)
            alone_s, first_s, hits = self._analysis_filter(f'"{needle}"')
            window_s = min([await self._in_window(f'"{needle}"') for _ in range(TURNS)])
            await self._cleared()  # find in view looks at what is shown
            find_s = self._find(FindQuery(needle))[0]
            rows.append({
                "name": name, "grep_s": grep_s, "lines": lines, "alone_s": alone_s, "window_s": window_s,
                "first_s": first_s, "hits": hits, "find_s": find_s,
            })  # fmt: skip
        self.found["literals"] = rows

    def _find(self, query: FindQuery) -> tuple[float, int]:
        times: list[float] = []
        hits = 0
        while len(times) < TURNS and sum(times) < _ENOUGH_S:
            search = FindSearch(self._rows, query)
            times.append(stepped(search.step, lambda search=search: len(search.hits))[0])
            hits = len(search.hits)
        return min(times), hits

    def patterns(self) -> None:
        """Regular expressions in find in view, upper and lower case apart as for grep."""
        rows = []
        for name, text in PATTERNS.items():
            grep_s, lines = grep(self._path, "-E", "--", text.replace(r"\s", "[[:space:]]"))
            find_s, hits = self._find(FindQuery(text, match_case=True, is_pattern=True))
            rows.append({"name": name, "grep_s": grep_s, "lines": lines, "find_s": find_s, "hits": hits})
        self.found["patterns"] = rows

    def decoded(self) -> None:
        """Comparisons with a value in the payload, beside grep of the value."""
        rows = []
        for text, value in DECODED.items():
            grep_s, _ = grep(self._path, "-F", "--", value)
            alone_s, _, hits = self._analysis_filter(text)
            rows.append({"name": text, "grep_s": grep_s, "alone_s": alone_s, "hits": hits})
        self.found["decoded"] = rows

    async def cancelled(self) -> None:
        """How long it takes to give a search up, and how late the loop is while one goes on."""
        await asyncio.sleep(_CALM_S)
        self._panes.filter_state.apply_filter('payload.jsonrpc == "3.0"')
        with Heartbeat(self._application) as heart:
            await asyncio.sleep(0.3)
            began = time.perf_counter()
            self._panes.filter_state.apply_filter("")
            repaint(self._window)
            self.found["cancel_s"] = time.perf_counter() - began
        self.found["searching_late_s"] = heart.found()["late_max_s"]

    async def hostile(self) -> None:
        """How late the loop is while an expression that takes for ever is written letter by letter."""
        bar = self._panes.messages.find_bar
        self._panes.find_in_view.open()
        bar.is_pattern.setChecked(True)
        with Heartbeat(self._application) as heart:
            for length in range(1, len(_HOSTILE) + 1):
                bar.editor.setText(_HOSTILE[:length])
                await asyncio.sleep(0.2)  # so slowly that each is tried
            await asyncio.sleep(0.5)
        bar.is_pattern.setChecked(False)
        bar.editor.clear()
        self._panes.find_in_view.close()
        self.found["hostile_late_s"] = heart.found()["late_max_s"]

    async def sorting(self) -> None:
        """From the order asked for to the repainted table, once each way."""
        sorter = self._panes.messages.sorter
        rows = {}
        for name in SORTED_BY:
            times = []
            for descending in (False, True):
                began = time.perf_counter()
                sorter.sort(name, descending)
                await until(lambda: not sorter.busy, f"the order by {name}", _LONG_S)
                repaint(self._window)
                times.append(time.perf_counter() - began)
            rows[name] = max(times)
        sorter.clear()
        self.found["sorts"] = rows

    def completion(self) -> None:
        """Candidates with their counts, nothing remembered."""
        times = []
        for text in COMPLETED:
            completer = Completer(self._document.analysis)
            began = time.perf_counter()
            completer.complete(text, len(text))
            times.append(time.perf_counter() - began)
        self.found["completion_s"] = max(times)

    async def presets(self) -> None:
        """From one preset's filter to the next, the table repainted."""
        times = []
        for text in PRESETS * 2:
            began = time.perf_counter()
            self._panes.filter_state.apply_filter(text)
            repaint(self._window)
            times.append(time.perf_counter() - began)
            await asyncio.sleep(0.05)
        self.found |= {"preset_s": statistics.median(times), "preset_worst_s": max(times)}
        await self._cleared()

    def export(self) -> None:
        """All messages as JSON Lines, secrets masked; given up after a minute."""
        target = self._path.with_name("exported.jsonl")
        began, size, count = time.perf_counter(), 0, 0
        steps = export_file(self._document, rows_of(self._rows.visible), target)
        for step in steps:
            size, count = step.size_bytes, step.messages
            if time.perf_counter() - began > _EXPORT_S:
                steps.close()
                break
        spent = time.perf_counter() - began
        target.unlink(missing_ok=True)
        self.found |= {"export_mb_s": size / 1e6 / spent, "exported": count}


async def measure(application: Application, path: Path) -> Found:
    """Open the log in a window and find things in it."""
    window = application.new_window()
    await window.opening.load(path)
    await until(lambda: window.panes is not None and len(window.panes.rows), "the log", _LONG_S)
    repaint(window)
    measuring = Measuring(application, window, path)
    await measuring.literals()
    measuring.patterns()
    measuring.decoded()
    await measuring.cancelled()
    await measuring.hostile()
    await measuring.sorting()
    measuring.completion()
    await measuring.presets()
    measuring.export()
    return measuring.found


if __name__ == "__main__":
    log = Path(sys.argv[1])
    print(json.dumps(run(lambda application: measure(application, log))))
