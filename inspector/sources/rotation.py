"""Groups the rotated parts of logs: `x.log.2.gz`, `x.log.1` and `x.log` are one log, highest number first.

Names follow logrotate and the handlers of logging libraries: by number, or by day (`x.log-20260131.gz`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_PART_NAME = re.compile(r"(?P<log>.+\.\w+?)(?:\.(?P<number>\d{1,4})|-(?P<day>\d{8}(?:-?\d{2,10})?))(?:\.gz|\.zst)?")
_NEWEST_AGE = (2, 0)


def rotated_together(paths: Iterable[Path]) -> list[tuple[Path, ...]]:
    """Groups files by log, oldest part first, without duplicates."""
    logs: dict[Path, dict[Path, tuple[int, int]]] = {}
    for path in paths:
        log, age = _log_and_age(path)
        logs.setdefault(log.absolute(), {})[path] = age
    return [tuple(sorted(found, key=lambda path: (found[path], path.name))) for found in logs.values()]


def _log_and_age(path: Path) -> tuple[Path, tuple[int, int]]:
    """Returns the log of a file, and the sort key among its parts."""
    found = _PART_NAME.fullmatch(path.name)
    if found is None:
        return path, _NEWEST_AGE
    number, day = found["number"], found["day"]
    return path.with_name(found["log"]), (0, -int(number)) if number is not None else (1, int(day.replace("-", "")))
