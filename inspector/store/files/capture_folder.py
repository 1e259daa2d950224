"""The folder of live captures: one file each, held by a lock while its process lives; what a dead one left is unsaved.

Owns names, locks and what the start page says of an unsaved capture. It neither writes nor reads captures beyond
that (`capture_writer`, `document`). A capture saved under a name of the user's is no business of this
module.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.base.file_names import file_stem
from inspector.base.held_file import Lock
from inspector.base.paths import data_folder
from inspector.protocol.secrets.masking import mask_text

SUFFIX = ".ctxcap"
MARKS_SUFFIX = ".ctxmarks.json"
"""What follows the name of a capture in that of the file with its marks, which lies beside it."""
_LOCK_SUFFIX = ".lock"
_COUNTED_BYTES = 32 << 20
"""So much is looked through for numbers of messages, some 30 ms; of further captures the size is said."""
_END_BYTES = 1 << 16
_HEADER = b'{"ctxcap":'
_OURS = re.compile(rb'\{"t":\d{1,20},(?:"dir":"(in|out)",|"src":\d+,"mark":")')
_GREETING = "system/welcome"


def captures_folder() -> Path:
    """Where live captures lie until they are saved; created."""
    folder = data_folder() / "captures"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class OwnCapture:
    """A capture in our folder that this process holds: nobody else offers, opens or deletes it.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, lock: Lock) -> None:
        """Hold a lock that was taken."""
        self.path = path
        self._lock = lock

    def release(self) -> None:
        """Let go: what still lies there is an unsaved capture for the next start."""
        gone = not self.path.exists()
        with contextlib.suppress(OSError):
            if gone:
                self._lock.remove()
            else:
                self._lock.release()

    def discard(self) -> None:
        """Delete the file and let go.

        Raises:
            OSError: it cannot be deleted; it is let go all the same.
        """
        try:
            self.path.unlink(missing_ok=True)
            self.path.with_name(self.path.name + MARKS_SUFFIX).unlink(missing_ok=True)
        finally:
            self.release()


def new_capture(space: str) -> OwnCapture:
    """A name for a new capture, held; the file is not made yet.

    Raises:
        OSError: the folder cannot be written to.
    """
    folder = captures_folder()
    name = file_stem(mask_text(space), "capture")
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    for number in range(1, 1_000):
        path = folder / (f"{name} {stamp}{SUFFIX}" if number == 1 else f"{name} {stamp} ({number}){SUFFIX}")
        if path.exists():
            continue
        own = _take(path)
        if own is None:
            continue
        if not path.exists():
            return own
        own.release()
    raise OSError(f"There is no free name for a new capture in {folder}.")


def claim(path: Path) -> OwnCapture | None:
    """Hold a capture that lies in the folder; None when another process, or this one, holds it, or it is gone."""
    own = _take(path) if path.exists() else None
    if own is not None and not path.exists():
        own.release()
        return None
    return own


def _take(path: Path) -> OwnCapture | None:
    lock = Lock.take(path.with_name(path.name + _LOCK_SUFFIX))
    return None if lock is None else OwnCapture(path, lock)


@dataclass(frozen=True)
class Unsaved:
    """A capture whose process ended without saving it."""

    path: Path
    space: str
    """What was watched; empty when even that is not known."""
    messages: int | None
    """Messages received, and lines nobody knows; 0 for a greeting alone; None when there are too many to count."""
    size_bytes: int
    first_ns: int | None
    """When the first record was written, nanoseconds since the Unix epoch."""
    last_ns: int | None
    """When the last whole record was written."""


def unsaved_captures() -> list[Unsaved]:
    """What dead processes left, latest first; removes demos, and those in which surely nothing was received.

    Captures that live processes hold, this one included, are left out. Trouble with one hides that one only.
    """
    found: list[Unsaved] = []
    may_count = _COUNTED_BYTES
    with contextlib.suppress(OSError):
        for path in sorted(captures_folder().glob(f"*{SUFFIX}")):
            with contextlib.suppress(OSError):
                looked_at = _look_at(path, may_count)
                if looked_at is not None:
                    found.append(looked_at)
                    may_count -= looked_at.size_bytes if looked_at.messages is not None else 0
    return sorted(found, key=lambda one: one.last_ns or 0, reverse=True)


def _look_at(path: Path, may_count: int) -> Unsaved | None:
    own = claim(path)
    if own is None:
        return None
    try:
        origin = _origin(path)
        unsaved = _facts(path, origin, max(may_count, _END_BYTES))
        if origin.get("demo") is True or unsaved.messages == 0:
            path.unlink()
            return None
        return unsaved
    finally:
        own.release()


def _facts(path: Path, origin: dict[str, Any], may_count: int) -> Unsaved:
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_END_BYTES)
        file.seek(max(0, size - _END_BYTES))
        end = file.read()
    times = [_time_of(line) for line in start.split(b"\n")[1:]]
    last_times = [_time_of(line) for line in reversed(end.split(b"\n")[:-1])]
    space = origin.get("space")
    return Unsaved(
        path,
        space if isinstance(space, str) else "",
        _count_received(path) if size <= may_count else None,
        size,
        next((t for t in times if t is not None), None),
        next((t for t in last_times if t is not None), None),
    )


def _origin(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        line = file.readline(_END_BYTES)
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    origin = header.get("origin") if isinstance(header, dict) else None
    return origin if isinstance(origin, dict) else {}


def _time_of(line: bytes) -> int | None:
    """The `t` that begins each record of ours, and nothing else of it: the rest may be long."""
    digits = line[5:30].partition(b",")[0]
    return int(digits) if line.startswith(b'{"t":') and digits.isdigit() else None


def _count_received(path: Path) -> int:
    """Messages received, and lines that are not ours, which may be; 0 only when all that came is surely a greeting."""
    received, worth_keeping = 0, False
    with path.open("rb") as file:
        for number, line in enumerate(file):
            ours = _OURS.match(line)
            if (ours is not None and ours[1] != b"in") or (number == 0 and _is_header(line)):
                continue
            received += 1
            worth_keeping = worth_keeping or ours is None or not _is_greeting(line)
    return received if worth_keeping else 0


def _is_greeting(line: bytes) -> bool:
    """Whether the frame itself is one, whatever words a payload may hold."""
    if _GREETING.encode() not in line:
        return False
    import msgspec  # the start page asks for captures, and most often there are none

    shape = msgspec.defstruct("Received", [("frame", msgspec.defstruct("Frame", [("kind", str)]))])
    try:
        received: Any = msgspec.json.decode(line, type=shape)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return received.frame.kind == _GREETING


def _is_header(line: bytes) -> bool:
    """Whether it is the first line of a capture, or what a crash left of it."""
    return line.startswith(_HEADER) or _HEADER.startswith(line)
