"""What the checks cost: the same log opened, and the same live traffic taken in, with them and without, by turns.

Run as `python -m tests.bench.checks LOG TURNS LIVE`; prints one JSON object. LIVE messages of 400 bytes are taken in as
a window does at 20,000 a second: 600 at a time. Ratios are of processor time, of the best turn each, so that other
work on the machine counts little.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from typing_extensions import override

from inspector.analysis.findings import FindingPass
from inspector.document.document import CaptureDocument
from tests.bench import machine
from tests.bench.sender import LENGTH
from tests.bench.story import BLOCK_MARK, TIME_MARK, Story, line_of

BATCH = 600
_START_NS = 1_767_600_000_000_000_000
_EACH_NS = 50_000


class Unchecked(FindingPass):
    """Keeps its column and looks at nothing."""

    @override
    def _begin_round(self, now_ns: int | None) -> None:
        self._checked_count = self._fed
        self._changed.clear()


def document(*, checked: bool) -> CaptureDocument:
    """A document with the checks, or without."""
    made = CaptureDocument()
    if not checked:
        made.analysis.findings = Unchecked(made.analysis.findings._passes)
    return made


def opening(path: Path, *, checked: bool) -> tuple[float, float, int]:
    """Seconds and processor seconds to open a log, and findings."""
    opened = document(checked=checked)
    began, cpu = time.perf_counter(), time.process_time()
    opened.load(path)
    took = time.perf_counter() - began, time.process_time() - cpu
    found = len(opened.analysis.findings.found)
    opened.close()
    return *took, found


def taking_in(lines: list[bytes], path: Path, *, checked: bool) -> float:
    """Processor seconds to take in what a live source has written, 600 messages at a time."""
    live = document(checked=checked)
    path.write_bytes(b'{"ctxcap":1}\n')
    live.follow_capture(path, name="live")
    cpu = 0.0
    with path.open("ab", buffering=0) as file:
        for start in range(0, len(lines), BATCH):
            file.write(b"".join(lines[start : start + BATCH]))
            live.analysis.now_ns = _START_NS + start * _EACH_NS
            began = time.process_time()
            while live.poll():
                pass
            cpu += time.process_time() - began
    began = time.process_time()
    live.end_live()
    cpu += time.process_time() - began
    assert len(live.capture) == len(lines)
    assert not live.unreadable
    live.close()
    return cpu


def live_lines(count: int) -> list[bytes]:
    """Lines of a capture as a live source writes them."""
    story = Story(length=LENGTH)
    head = b'{"t":%d,"dir":"in","src":0,"frame":%b}\n'
    told = islice(story.envelopes(), count)
    marks = ((TIME_MARK.encode(), b"2026-01-05T08:00:00.000Z"), (BLOCK_MARK.encode(), b"0" * len(BLOCK_MARK)))
    lines: list[bytes] = []
    for number, one in enumerate(told):
        line = line_of(one)
        for mark, written in marks:
            line = line.replace(mark, written)
        lines.append(head % (_START_NS + number * _EACH_NS, line))
    return lines


def measure(path: Path, turns: int, live: int) -> dict[str, float]:
    """By turns; times in seconds."""
    lines = live_lines(live)
    wall: dict[bool, list[float]] = {True: [], False: []}
    cpu: dict[bool, list[float]] = {True: [], False: []}
    taken: dict[bool, list[float]] = {True: [], False: []}
    findings = 0
    with tempfile.TemporaryDirectory(prefix="inspector-bench-") as folder:
        for _ in range(turns):
            for checked in (False, True):
                seconds, processor, found = opening(path, checked=checked)
                wall[checked].append(seconds)
                cpu[checked].append(processor)
                findings = max(findings, found)
                taken[checked].append(taking_in(lines, Path(folder) / "live.ctxcap", checked=checked))
    return {
        "with_s": min(wall[True]),
        "without_s": min(wall[False]),
        "ratio": min(cpu[True]) / min(cpu[False]),
        "findings": findings,
        "live_ratio": min(taken[True]) / min(taken[False]),
        "live_per_s": len(lines) / min(taken[True]),
        "live_per_s_without": len(lines) / min(taken[False]),
    }


if __name__ == "__main__":
    machine.start_workers_as_the_program()
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
