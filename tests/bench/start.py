"""From starting the program to its painted window, warm; prints one JSON object.

The window is the start page, offscreen; the clock starts before the process does and stops when Qt has painted the
window for the first time. Run as `python -m tests.bench.start [STARTS]`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from tests.bench.sending import ROOT

CHILD = """
import sys, time
from inspector.base.gc_control import no_collection, freeze_and_trim
with no_collection():  # as the program imports it
    from PySide6.QtCore import QEvent, QTimer
    import inspector.ui.app.application
    import inspector.ui.window.tabbed_windows as windows
    freeze_and_trim()

class Timed(windows.TabbedWindow):
    painted = False
    def event(self, event):
        done = super().event(event)
        if event.type() == QEvent.Type.UpdateRequest and not self.painted:
            Timed.painted = True
            print(time.time_ns(), flush=True)
            QTimer.singleShot(0, self.close)
        return done

windows.TabbedWindow = Timed
sys.argv = ["context-inspector", "window"]
from inspector.__main__ import main
main()
"""


def start_once() -> float:
    """Seconds from starting a process to its painted window."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as home:
        environment = {**os.environ, "CONTEXT_INSPECTOR_HOME": home, "QT_QPA_PLATFORM": "offscreen"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody compiles the program at each start
        started = time.time_ns()
        done = subprocess.run(
            [sys.executable, "-c", CHILD], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
    return (int(done.stdout.split()[0]) - started) / 1e9


def measure(starts: int) -> dict[str, float]:
    """Start so many times after a first one that only warms the caches."""
    start_once()
    found = [start_once() for _ in range(starts)]
    return {"start_s": statistics.median(found), "best_s": min(found), "worst_s": max(found), "starts": starts}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 5)))
