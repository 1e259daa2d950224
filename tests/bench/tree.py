"""The context tree's panel with 100,000 contexts, all expanded, and 1,000 changes a flush; prints one JSON object.

What is timed is the flush, to the repainted panel. Selection, the row on top and the expansion must not move.
Run as `python -m tests.bench.tree CONTEXTS CHANGES FLUSHES`.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application
from inspector.ui.docview.document_bridge import DocumentBridge
from inspector.ui.panels.contexts.panel import ContextsPanel
from tests.bench.offscreen import Found, run, take_in
from tests.ui.local_client import LocalClient

_CHILDREN = 99


class GrowingTree:
    """A live document of nothing but contexts, and the panel that shows them."""

    def __init__(self, folder: Path, application: Application) -> None:
        self.path = folder / "tree.ctxcap"
        self.path.touch()
        self.document = CaptureDocument()
        self.document.follow_capture(self.path, name="tree")
        self.client = LocalClient.with_document(self.document, application.theme)
        self.bridge = DocumentBridge(self.client)
        self.contexts: list[str] = []
        self._numbers = count(1)
        self._application = application

    def show(self) -> None:
        """Make the panel, everything expanded, a row in the middle current."""
        theme = self._application.theme
        self.panel = ContextsPanel(self.client, theme)
        self.bridge.flushed.connect(self.panel.model.changes.request_now)
        self.panel.resize(320, 760)
        self.panel.show()
        self.panel.expand_all()
        middle = self.panel.model.index(self.panel.model.rowCount() // 2, 0)
        self.panel.view.setCurrentIndex(middle)
        self.panel.view.scrollTo(middle, self.panel.view.ScrollHint.PositionAtCenter)
        self.panel.view.viewport().repaint()

    def say_in(self, contexts: Iterator[str], *, odd: bool = False) -> None:
        """One message in each of these contexts, read but not yet shown; an odd one answers what was never asked."""
        kind = b'mcp/response","correlation_id":["nothing"],"to":["lead"]' if odd else b'chat"'
        with self.path.open("ab") as file:
            for context in contexts:
                number = next(self._numbers)
                file.write(
                    b'{"protocol":"mew/v0.4","id":"t%d","ts":"2026-01-05T09:00:00.000Z","from":"lead",'
                    b'"kind":"%b,"context":"%b","payload":{}}\n' % (number, kind, context.encode())
                )
        take_in(self.document)

    def flush(self) -> float:
        """Seconds until what was read is on screen."""
        started = time.perf_counter()
        self.bridge.flush()
        self.panel.view.viewport().repaint()
        return time.perf_counter() - started

    def place(self) -> tuple[int, int, int]:
        """What must not move: the current row's and the top row's contexts, and how far the top row is scrolled."""
        view, model = self.panel.view, self.panel.model
        top = view.row_at(0)
        return model.code(view.currentIndex().row()), model.code(top), view.visualRect(model.index(top, 0)).top()


def grown(folder: Path, application: Application, contexts: int) -> GrowingTree:
    """A tree of so many contexts, shown: roots with 99 children each."""
    tree = GrowingTree(folder, application)
    for root in range(-(-contexts // (_CHILDREN + 1))):
        tree.contexts += [f"root-{root:05d}", *(f"root-{root:05d}/child-{child:02d}" for child in range(_CHILDREN))]
    tree.contexts = tree.contexts[:contexts]
    tree.say_in(iter(tree.contexts))
    tree.show()
    return tree


async def measure(application: Application, contexts: int, changes: int, flushes: int) -> Found:
    """Time flushes of messages in contexts there are, of such with findings, and of new contexts among them."""
    chosen = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        tree = grown(Path(folder), application, contexts)
        numbers, roots = count(1), contexts // (_CHILDREN + 1)
        modes: dict[str, Callable[[], Iterator[str]]] = {
            "spoke": lambda: iter(chosen.sample(tree.contexts, changes)),
            "odd": lambda: iter(chosen.sample(tree.contexts, changes)),
            "new": lambda: (f"root-{chosen.randrange(roots):05d}/new-{next(numbers)}" for _ in range(changes)),
        }  # fmt: skip
        found: Found = {"contexts": len(tree.document.analysis.contexts.tree), "changes": changes}
        for mode, pick in modes.items():
            before = tree.place()
            taken: list[float] = []
            for _ in range(flushes):
                tree.say_in(pick(), odd=mode == "odd")
                taken.append(tree.flush())
            found |= {f"{mode}_median_s": statistics.median(taken), f"{mode}_max_s": max(taken)}
            found[f"{mode}_unmoved"] = tree.place() == before
        found["contexts_after"] = len(tree.document.analysis.contexts.tree)
        found["rows"] = tree.panel.model.rowCount()
        tree.panel.close()
        tree.document.close()
    return found


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:4]]
    print(json.dumps(run(lambda application: measure(application, *sizes))))
