"""A stream of many frames in one row of the table: opened in place, then growing; prints one JSON object.

What is timed is processor time, to the repainted table: of opening the row, and of a flush while it is open. What all
passes do about the new frames is given apart. Run as `python -m tests.bench.folded FRAMES NEW FLUSHES`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QObject

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from inspector.ui.app.application import Application
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.panels.messages.view_rows import ViewRows
from tests.bench.offscreen import Found, run, take_in
from tests.ui.local_client import LocalClient
from tests.ui.panels.filtering import follow

_HEAD = b'{"ctxcap":1,"origin":{"space":"demo","participant":"me"}}\n'
_OPEN = (
    b'{"t":1767600000000000000,"dir":"in","src":0,"frame":{"protocol":"mew/v0.4","id":"o1","from":"gateway","to":["mew"],'
    b'"kind":"stream/open","payload":{"stream_id":"s","owner":"mew"}}}\n'
)
_FRAME = (
    b'{"t":%d,"dir":"in","src":0,"bin":true,'
    b'"text":"#s#{\\"context\\":\\"r1\\",\\"type\\":\\"token\\",\\"value\\":\\"word \\"}"}\n'
)


class Flowing:
    """A live document whose one stream flows."""

    def __init__(self, folder: Path, application: Application) -> None:
        self.path = folder / "stream.ctxcap"
        self.path.write_bytes(_HEAD + _OPEN)
        self.document = CaptureDocument()
        self.document.follow_capture(self.path, name="stream")
        self.document.analysis.now_ns = 1
        self._sent = 0
        self._told: list[AnalysisChanges] = []
        self.document.observers.append(self)
        self._owner = QObject()
        client = LocalClient.with_document(self.document, self._owner)
        self.panel = MessagesPanel(client, application.theme, ViewRows(client))
        self.panel.resize(1280, 700)

    def messages_changed(self, changes: AnalysisChanges) -> None:
        """What the document tells."""
        self._told.append(changes)

    def flow(self, frames: int) -> float:
        """Send frames and let all passes take them in; processor seconds."""
        with self.path.open("ab") as file:
            file.writelines(_FRAME % (1767600000000000000 + (self._sent + n) * 1_000_000) for n in range(frames))
        self._sent += frames
        began = time.process_time()
        take_in(self.document)
        return time.process_time() - began

    def flush(self) -> float:
        """Processor seconds until what has come is on screen."""
        began = time.process_time()
        for changes in self._told:
            follow(self.panel, changes)
        self._told.clear()
        self.panel.view.viewport().repaint()
        return time.process_time() - began


async def measure(application: Application, frames: int, new: int, flushes: int) -> Found:
    """Time the row of a stream of so many frames."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        stream = Flowing(Path(folder), application)
        stream.flow(frames)
        stream.panel.show()
        stream.flush()
        panel, began = stream.panel, time.process_time()
        panel.model.expand(1)
        panel.view.viewport().repaint()
        opened = time.process_time() - began
        taken, passes = [], []
        for _ in range(flushes):
            passes.append(stream.flow(new))
            taken.append(stream.flush())
        found: Found = {
            "frames": int(stream.document.analysis.streams.runs["frames"][1]),
            "rows": len(panel.model.rows.visible),
            "open_s": opened,
            "flush_median_s": statistics.median(taken),
            "flush_max_s": max(taken),
            "passes_median_s": statistics.median(passes),
        }
        panel.close()
        stream.document.close()
    return found


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:4]]
    print(json.dumps(run(lambda application: measure(application, *sizes))))
