"""Compares two long sessions without a window; prints one JSON object.

Run as `python -m tests.bench.compare MESSAGES`. Two pairs: one part halfway and are equal before and after, the others
share no text. Times are seconds of the comparison alone, by the clock and of the processor, with its sentence; both
logs are open before. Memory is the growth of the peak.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from inspector.engine.comparing import compared
from inspector.engine.log import Log
from inspector.engine.opening import OpenOptions, Target
from tests.bench import machine
from tests.bench.conversation import write_session


def measure(messages: int) -> dict[str, float]:
    """Compares both pairs."""
    turns, found = messages // 5, dict[str, float]()
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        one, parted, other = (Path(folder) / f"{name}.jsonl" for name in ("one", "parted", "other"))
        write_session(one, turns)
        call = b'"make part-%d"' % (turns // 2)
        parted.write_bytes(one.read_bytes().replace(call, call.replace(b"make", b"cmake")))
        write_session(other, turns, seed=6)
        for name, paths in (("parted", (one, parted)), ("different", (one, other))):
            logs = [Log.read([Target(path)], OpenOptions()) for path in paths]
            found["messages"] = len(logs[0].document.capture)
            before, began, used = machine.peak_mb(), time.perf_counter(), time.process_time()
            answer = compared(logs[0].document, logs[1].document)
            verdict = answer.verdict()
            found |= {
                f"{name}_s": time.perf_counter() - began, f"{name}_cpu_s": time.process_time() - used,
                f"{name}_mb": machine.peak_mb() - before, f"{name}_differences": sum(verdict.counts.values()),
            }  # fmt: skip
            for log in logs:
                log.close()
    return found


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(int(sys.argv[1]))))
