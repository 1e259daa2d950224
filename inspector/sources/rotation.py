"""Logs that were rotated: `x.log.2.gz`, `x.log.1` and `x.log` are one log, the highest number the oldest.

Named as logrotate and the handlers of logging libraries do it: by number, or by day (`x.log-20260131.gz`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PART = re.compile(r"(?P<log>.+\.\w+?)(?:\.(?P<number>\d{1,4})|-(?P<day>\d{8}(?:-?\d{2,10})?))(?:\.gz|\.zst)?")
_NEWEST = (2, 0)


def rotated_together(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Files by log: what was rotated away of it, the oldest first, and the newest last. Each file once."""
    logs: dict[Path, dict[Path, tuple[int, int]]] = {}
    for path in paths:
        log, age = _place_of(path)
        logs.setdefault(log.absolute(), {})[path] = age
    return [tuple(sorted(found, key=lambda path: (found[path], path.name))) for found in logs.values()]


def _place_of(path: Path) -> tuple[Path, tuple[int, int]]:
    """The log that a file is of, and where it stands among its parts."""
    found = _PART.fullmatch(path.name)
    if found is None:
        return path, _NEWEST
    number, day = found["number"], found["day"]
    return path.with_name(found["log"]), (0, -int(number)) if number is not None else (1, int(day.replace("-", "")))
