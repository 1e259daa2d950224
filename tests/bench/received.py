"""What a capture file holds, compared with what the sender must have sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench import mixes
from tests.bench.sender import LIVE_BLOCK, live_template, live_times

_FRAME = b'"frame":'
_SAID = re.compile(rb'"id":"[a-z]+-[0-9a-f]{8}-([0-9]{10})"')
_STAMP = re.compile(rb'\{"t":([0-9]+),')
_KEEP = 4


def frames_of(path: Path) -> tuple[list[int], list[bytes]]:
    """The sender's messages in a capture, in the file's order: their numbers, and the frames of the first blocks.

    Frames are kept for the blocks that `compare` looks at byte for byte, as 480 MB of them need not be in memory.
    """
    numbers: list[int] = []
    frames: list[bytes] = []
    with path.open("rb") as file:
        for line in file:
            if b'"dir":"in"' not in line[:80] or not line.endswith(b"}\n"):
                continue
            said = _SAID.search(line, 0, 200)
            if said is None:
                continue
            block, place = divmod(int(said[1]), 100_000)
            numbers.append(block * LIVE_BLOCK + place)
            if block < _KEEP:
                frames.append(line[line.index(_FRAME) + len(_FRAME) : -2])
    return numbers, frames


def compare(path: Path, *, sent: int, start_ms: int, rate: float) -> dict[str, Any]:
    """Counts, order and bytes of what lies in a capture file.

    Returns:
        `kept`, messages in the file; `lost`; `duplicates`; `in_order`; `bytes_equal`, for the first 20,000 messages.
    """
    numbers, frames = frames_of(path)
    distinct = set(numbers)
    expected: list[bytes] = []
    template = live_template(framed=False)
    for number in range(min(_KEEP, -(-sent // LIVE_BLOCK))):
        block = template.block(number, live_times(number, start_ms, rate))
        count = min(LIVE_BLOCK, sent - number * LIVE_BLOCK)
        expected += [bytes(block[int(template.ends[i]) : int(template.ends[i + 1])]) for i in range(count)]
    return {
        "kept": len(numbers),
        "lost": sent - len(distinct & set(range(sent))),
        "duplicates": len(numbers) - len(distinct),
        "in_order": numbers == sorted(numbers),
        "bytes_equal": frames == expected,
    }


def compare_mix(path: Path, mix: str, sent: int) -> dict[str, Any]:
    """The same for traffic of a mix: whether the frames in a capture file are those sent, byte for byte, in order."""
    expected = (line.rstrip() for line in mixes.lines(mix, sent))
    kept = 0
    equal = True
    with path.open("rb") as file:
        for line in file:
            if b'"dir":"in"' not in line[:80] or b'"id":"welcome-1"' in line[:300]:
                continue
            kept += 1
            equal = equal and line[line.index(_FRAME) + len(_FRAME) : -2] == next(expected, b"")
    return {"kept": kept, "lost": sent - kept, "bytes_equal": equal}


def stamp_errors(path: Path, log: Path) -> dict[str, float]:
    """By how much the arrival stamps in a capture file are off, against the sender's log: both have one clock.

    A message that the socket took late arrived late: between being given to the socket and having been taken nothing
    is an error.

    Returns:
        Percentiles of the error in seconds: `stamp_p50_s`, `stamp_p95_s`, `stamp_p99_s`, and `stamp_max_s`.
    """
    sent = [json.loads(line) for line in log.read_bytes().splitlines() if line.endswith(b"}")]
    stamps: list[tuple[int, int]] = []
    with path.open("rb") as file:
        for line in file:
            head, said = _STAMP.match(line), _SAID.search(line, 0, 200)
            if head is not None and said is not None and b'"dir":"in"' in line[:80]:
                block, place = divmod(int(said[1]), 100_000)
                stamps.append((block * LIVE_BLOCK + place, int(head[1])))
    numbers, stamped = np.array(stamps, np.int64).reshape(-1, 2).T
    ends = np.array([entry["sent"] for entry in sent], np.int64)
    which = np.searchsorted(ends, numbers, side="right")
    given = np.array([entry["at"] for entry in sent], np.int64)[which]
    taken = np.array([entry["t"] for entry in sent], np.int64)[which]
    off = np.maximum(np.maximum(given - stamped, stamped - taken), 0) / 1e9
    p50, p95, p99 = (float(one) for one in np.percentile(off, (50, 95, 99)))
    return {"stamp_p50_s": p50, "stamp_p95_s": p95, "stamp_p99_s": p99, "stamp_max_s": float(off.max())}
