"""Opens a log without a window, in an interpreter of its own; prints one JSON object with what it cost.

Run as `python -m tests.bench.open_headless LOG`.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from inspector.document import CaptureDocument
from inspector.filters import compile_filter

HEADER_FILTER = 'kind like "mcp/*" && from == "lead" && context under "nothing"'


def private_dirty_mb() -> float:
    """Private dirty memory of this process in MB; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty")) / 1000


def measure(path: Path) -> dict[str, float]:
    """Open the log and filter it; times in seconds, memory in MB."""
    before = private_dirty_mb()
    document = CaptureDocument()
    started = time.perf_counter()
    steps = document.open_log(path)
    first = 0.0
    for progress in steps:
        if progress.messages and not first:
            first = time.perf_counter() - started
    complete = time.perf_counter() - started
    after = private_dirty_mb()
    rows = np.arange(len(document.capture))
    filter_ = compile_filter(HEADER_FILTER)
    started = time.perf_counter()
    filter_.mask(document.analysis, rows)
    first_filter = time.perf_counter() - started
    started = time.perf_counter()
    filter_.mask(document.analysis, rows)
    found = {
        "messages": len(document.capture),
        "records": document.capture.record_count,
        "first_s": first,
        "complete_s": complete,
        "memory_mb": after - before,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "filter_s": first_filter,
        "filter_again_s": time.perf_counter() - started,
    }
    document.close()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(Path(sys.argv[1]))))
