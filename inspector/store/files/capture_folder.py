"""Manages the folder of live captures: new names, locks, and captures left unsaved by a crash.

Each capture is one file, locked while its process lives. This module describes unsaved captures for the start page. It
does not write or read captures beyond that (`capture_writer`, `document`), and ignores captures saved elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector.base.file_lock import FileLock
from inspector.base.file_names import file_stem
from inspector.base.paths import data_folder
from inspector.protocol.secrets.masking import mask_text
from inspector.store.files.capture_format import HEADER, SUFFIX

MARKS_SUFFIX = ".ctxmarks.json"
"""Suffix of the file with a capture's marks; that file lies beside the capture."""
_LOCK_SUFFIX = ".lock"
_COUNTED_BYTES = 32 << 20
"""Bytes searched to count messages, some 30 ms; further captures show their size instead."""
# The first and the last records have the times; whole captures may have gigabytes.
_END_BYTES = 1 << 16
_OWN_RECORD = re.compile(rb'\{"t":\d{1,20},(?:"dir":"(in|out)",|"src":\d+,"mark":")')
_GREETING = "system/welcome"


def captures_folder() -> Path:
    """Returns the folder of unsaved live captures; creates it."""
    folder = data_folder() / "captures"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


class OwnCapture:
    """A capture in this folder that this process has locked: no other process offers, opens or deletes it.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self._lock = lock

    def release(self) -> None:
        """Releases the lock; a remaining file becomes an unsaved capture for the next start."""
        gone = not self.path.exists()
        with contextlib.suppress(OSError):
            if gone:
                self._lock.remove()
            else:
                self._lock.release()

    def discard(self) -> None:
        """Deletes the file and releases the lock.

        Raises:
            OSError: if it cannot be deleted; the lock is released all the same.
        """
        try:
            self.path.unlink(missing_ok=True)
            self.path.with_name(self.path.name + MARKS_SUFFIX).unlink(missing_ok=True)
        finally:
            self.release()


def new_capture(space: str) -> OwnCapture:
    """Returns a locked name for a new capture; the file does not exist yet.

    Raises:
        OSError: if the folder cannot be written to.
    """
    folder = captures_folder()
    name = file_stem(mask_text(space), "capture")
    stamp = time.strftime("%Y-%m-%d %H.%M.%S")
    # Several windows may join the same space in one second.
    for number in range(1, 1_000):
        path = folder / (f"{name} {stamp}{SUFFIX}" if number == 1 else f"{name} {stamp} ({number}){SUFFIX}")
        # The check before the lock saves a lock file; the one after it decides, since another
        # process may be faster.
        if path.exists():
            continue
        own = _lock_path(path)
        if own is None:
            continue
        if not path.exists():
            return own
        own.release()
    raise OSError(f"There is no free name for a new capture in {folder}.")


def lock_capture(path: Path) -> OwnCapture | None:
    """Locks a capture of the folder, unless it is locked already or has disappeared."""
    own = _lock_path(path) if path.exists() else None
    if own is not None and not path.exists():
        own.release()
        return None
    return own


def _lock_path(path: Path) -> OwnCapture | None:
    lock = FileLock.acquire(path.with_name(path.name + _LOCK_SUFFIX))
    return None if lock is None else OwnCapture(path, lock)


@dataclass(frozen=True)
class UnsavedCapture:
    """A capture whose process ended without saving it."""

    path: Path
    space: str
    """The watched space; empty if unknown."""
    messages: int | None
    """Received messages plus unknown lines; 0 for a greeting alone; None if there are too many to count."""
    size_bytes: int
    first_ns: int | None
    """Time of the first record, nanoseconds since the Unix epoch."""
    last_ns: int | None
    """Time of the last whole record."""


def unsaved_captures() -> list[UnsavedCapture]:
    """Returns the captures of dead processes, latest first; removes demos and captures without received messages.

    Captures of live processes, this one included, are skipped. An error with one capture hides only that one.
    """
    found: list[UnsavedCapture] = []
    may_count = _COUNTED_BYTES
    with contextlib.suppress(OSError):
        for path in sorted(captures_folder().glob(f"*{SUFFIX}")):
            with contextlib.suppress(OSError):
                looked_at = _inspect_unsaved(path, may_count)
                if looked_at is not None:
                    found.append(looked_at)
                    may_count -= looked_at.size_bytes if looked_at.messages is not None else 0
    return sorted(found, key=lambda one: one.last_ns or 0, reverse=True)


def _inspect_unsaved(path: Path, may_count: int) -> UnsavedCapture | None:
    own = lock_capture(path)
    if own is None:
        return None
    # The lock is held while the file is read or removed: another window may open it at the same
    # time.
    try:
        origin = _origin(path)
        unsaved = _describe_unsaved(path, origin, max(may_count, _END_BYTES))
        if origin.get("demo") is True or unsaved.messages == 0:
            path.unlink()
            return None
        return unsaved
    finally:
        own.release()


def _describe_unsaved(path: Path, origin: dict[str, Any], may_count: int) -> UnsavedCapture:
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_END_BYTES)
        file.seek(max(0, size - _END_BYTES))
        end = file.read()
    # The first line is the header, which has no time of a message.
    times = [_time_of(line) for line in start.split(b"\n")[1:]]
    # The last line may be incomplete, as after a crash.
    last_times = [_time_of(line) for line in reversed(end.split(b"\n")[:-1])]
    space = origin.get("space")
    return UnsavedCapture(
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
    """Returns the `t` at the beginning of a record of this program; the rest may be long and is not parsed."""
    digits = line[5:30].partition(b",")[0]
    return int(digits) if line.startswith(b'{"t":') and digits.isdigit() else None


def _count_received(path: Path) -> int:
    """Counts received messages and foreign lines; 0 only if a greeting is certainly the only one."""
    received, worth_keeping = 0, False
    with path.open("rb") as file:
        for number, line in enumerate(file):
            ours = _OWN_RECORD.match(line)
            if (ours is not None and ours[1] != b"in") or (number == 0 and _is_header(line)):
                continue
            received += 1
            worth_keeping = worth_keeping or ours is None or not _is_greeting(line)
    return received if worth_keeping else 0


def _is_greeting(line: bytes) -> bool:
    """Returns True if the frame itself is a greeting, whatever text its payload contains."""
    # A byte search first: decoding each line would take as long as opening the capture.
    if _GREETING.encode() not in line:
        return False
    import msgspec  # imported late: mostly the start page finds no captures

    shape = msgspec.defstruct("Received", [("frame", msgspec.defstruct("Frame", [("kind", str)]))])
    try:
        received: Any = msgspec.json.decode(line, type=shape)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return received.frame.kind == _GREETING


def _is_header(line: bytes) -> bool:
    """Returns True for the first line of a capture, or its remains after a crash."""
    return line.startswith(HEADER) or HEADER.startswith(line)
