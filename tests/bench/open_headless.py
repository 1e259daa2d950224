"""Opens a log without a window; prints one JSON object with what it cost.

Run as `python -m tests.bench.open_headless LOG`. Memory is what became private and dirty, worker processes included,
once freed blocks were given back, as a window gives them back.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from inspector.base import gc_control
from inspector.document.document import CaptureDocument
from tests.bench import machine


def measure(path: Path) -> dict[str, float]:
    """Open the log; times in seconds, memory in MB."""
    before, used = machine.private_dirty_mb(), machine.cpu_s()
    document = CaptureDocument()
    started = time.perf_counter()
    first = 0.0
    for progress in document.open_log(path):
        if progress.messages and not first:
            first = time.perf_counter() - started
    complete, used = time.perf_counter() - started, machine.cpu_s() - used
    gc_control.freeze_and_trim()  # as a window does when a log has been read
    found = {
        "messages": len(document.capture),
        "bytes": path.stat().st_size,
        "records": document.capture.record_count,
        "unreadable": document.unreadable,
        "first_s": first,
        "complete_s": complete,
        "cpu_s": used,
        "memory_mb": machine.private_dirty_mb() - before,
        "peak_mb": machine.peak_mb(),
    }
    document.close()
    return found


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(Path(sys.argv[1]))))
