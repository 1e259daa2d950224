"""Somebody who writes a log at a steady pace and rotates it once: a process of its own.

Run as `python -m tests.bench.writer LOG RATE LINES NOTES [keep]`. Lines of about 400 bytes are appended to LOG; halfway
it is renamed to LOG.1 and made anew, unless `keep` is given. NOTES gets a line `{"t":<ns since the epoch>,"written":n}`
after each write. Prints `{"written":..,"seconds":..}` at the end.
"""

from __future__ import annotations

import json
import os
import sys
import time
from functools import cache
from itertools import islice
from pathlib import Path

from tests.bench.sender import LENGTH, LIVE_BLOCK
from tests.bench.story import Story, line_of
from tests.bench.template import Template

TICK_S = 0.005


@cache
def line_template() -> Template:
    """The messages that are written, one a line; numbered like the sender's."""
    story = Story(length=LENGTH)
    told = [line_of(envelope) + b"\n" for envelope in islice(story.envelopes(), LIVE_BLOCK)]
    return Template(told, story.times_ms)


class Log:
    """The log that is written to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._opened()

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, data: memoryview) -> None:
        """Append bytes, all of them."""
        while data:
            data = data[os.write(self._file, data) :]

    def rotate(self) -> None:
        """Rename it and make it anew, as log rotation does."""
        os.close(self._file)
        self._path.rename(self._path.with_name(f"{self._path.name}.1"))
        self._file = self._opened()

    def close(self) -> None:
        os.close(self._file)


def write_lines(path: Path, rate: float, count: int, notes: Path, *, rotate: bool) -> dict[str, float]:
    """Append `count` lines at `rate` a second; what was due and not yet written is caught up."""
    template, log = line_template(), Log(path)
    noted = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    begun = time.perf_counter()
    written, number, block = 0, -1, memoryview(b"")
    while written < count:
        due = min(count, int((time.perf_counter() - begun) * rate) + 1)
        while written < due:
            if written // LIVE_BLOCK != number:
                number = written // LIVE_BLOCK
                block = template.block(number)
            first = written - number * LIVE_BLOCK
            last = min(first + due - written, LIVE_BLOCK)
            if rotate and written <= count // 2 < written + last - first:
                last = first + count // 2 - written
            log.write(block[int(template.ends[first]) : int(template.ends[last])])
            written += last - first
            if rotate and written == count // 2:
                log.rotate()
                rotate = False
        os.write(noted, b'{"t":%d,"written":%d}\n' % (time.time_ns(), written))
        time.sleep(TICK_S)
    log.close()
    os.close(noted)
    return {"written": written, "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    log, rate, count, notes = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    print(json.dumps(write_lines(log, rate, count, notes, rotate="keep" not in sys.argv)))
