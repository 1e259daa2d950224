"""Opens four logs one by one, and together; prints one JSON object with what both cost.

Run as `python -m tests.bench.together LOG`. The four are the lines of a log by turns, so that each message has its
neighbours in the others. Times are of the processor, worker processes included.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from inspector.base import gc_control
from inspector.document.document import CaptureDocument
from inspector.document.source_set import SourceChoice
from tests.bench import machine

SOURCES = 4


def _parted(log: Path, folder: Path) -> list[Path]:
    """The lines of a log by turns in as many files."""
    paths = [folder / f"source-{number}.jsonl" for number in range(SOURCES)]
    files = [path.open("wb") for path in paths]
    with log.open("rb") as lines:
        for line, file in zip(lines, cycle(files), strict=False):
            file.write(line)
    for file in files:
        file.close()
    return paths


def _opened(paths: Sequence[Path]) -> tuple[CaptureDocument, float, float]:
    """A document of some logs, and what it cost: seconds, and MB."""
    memory, used = machine.private_dirty_mb(), machine.cpu_s()
    document = CaptureDocument()
    for _ in document.open_together([SourceChoice(path) for path in paths]):
        pass
    used = machine.cpu_s() - used
    gc_control.freeze_and_trim()
    return document, used, machine.private_dirty_mb() - memory


def measure(log: Path) -> dict[str, float]:
    """Open the logs; the single ones stay open until all are, as several windows have them."""
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        paths = _parted(log, Path(folder))
        warm, _, _ = _opened(paths[:1])
        warm.close()
        together, together_s, together_mb = _opened(paths)
        messages = len(together.capture)
        in_order = bool((together.capture.columns["time_ns"][1:] >= together.capture.columns["time_ns"][:-1]).all())
        together.close()
        del together
        alone = [_opened([path]) for path in paths]
        for document, _, _ in alone:
            document.close()
        return {
            "messages": messages, "in_order": in_order, "together_s": together_s, "together_mb": together_mb,
            "alone_s": sum(used for _, used, _ in alone), "alone_mb": sum(memory for _, _, memory in alone),
        }  # fmt: skip


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(Path(sys.argv[1]))))
