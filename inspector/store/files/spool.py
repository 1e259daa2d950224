"""Spools: temporary files of ours for what cannot be read at any offset, or not for long (docs/design.md 4).

Each has a folder of its own below the cache folder, and a lock beside it that is held while it is used. A folder whose
lock can be had belongs to a program that ended without removing it. Process numbers would not tell: those of a
container, or of another machine that shares the home folder, mean nothing here.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import threading
import uuid
import weakref
from pathlib import Path

from inspector.base.held_file import Lock
from inspector.base.paths import cache_folder
from inspector.store.files.source_files import read_at

RESERVE_BYTES = 256 << 20
"""So much of the disk that holds temporary files is left free."""

_PREFIX = "spool-"
_LOCK_SUFFIX = ".lock"
_CHECK_BYTES = 16 << 20
_SHARE_BYTES = 8 << 20
_COPY_BYTES = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class NoRoomError(OSError):
    """The disk that holds temporary files is full, or nearly; the text is a sentence's end that says what to do."""


class Spool:
    """A temporary file that only grows, in a folder of its own. Written by one thread.

    Attributes:
        path: the file.
        size: bytes in it, and where the next one goes.
    """

    def __init__(self, name: str) -> None:
        """Create it.

        Args:
            name: of the file, as a sentence about it says it.

        Raises:
            OSError: it cannot be created.
        """
        sweep()
        folder, lock = _new_folder()
        self._remove = weakref.finalize(self, _remove, folder, lock)  # when the program ends, too
        self.path = folder / (re.sub(r"[/\\:\0]", "-", name).strip(".") or "log")[-200:]
        self.size = 0
        self._checked = -_CHECK_BYTES
        self._share = getattr(os, "copy_file_range", None)
        try:
            self._file = os.open(self.path, _NEW_FILE, 0o600)
        except OSError:
            self._remove()
            raise

    def write(self, data: bytes) -> None:
        """Append bytes, as many as there is room for. Raises OSError, and NoRoomError before the disk is full."""
        if self.size + len(data) - self._checked >= _CHECK_BYTES:
            self.require_room(len(data))
            self._checked = self.size
        os.lseek(self._file, self.size, os.SEEK_SET)
        view = memoryview(data)
        while view:
            written = os.write(self._file, view)
            self.size += written
            view = view[written:]

    def put(self, offset: int, data: bytes) -> None:
        """Write over bytes that are there. Raises OSError."""
        view = memoryview(data)
        while view:
            os.lseek(self._file, offset, os.SEEK_SET)
            written = os.write(self._file, view)
            offset, view = offset + written, view[written:]

    def require_room(self, count: int) -> None:
        """Raise NoRoomError unless so many bytes more would leave the reserve free."""
        if free_bytes(self.path.parent) - count < RESERVE_BYTES:
            raise NoRoomError(
                f"the disk that holds {cache_folder()} has less than {RESERVE_BYTES >> 20} MB left. Free some space "
                "there and open it again"
            )

    def go_on_at(self, offset: int) -> None:
        """Write the next byte there; what lies before it is of no use."""
        self.size = offset

    def fill_from(self, file: int, count: int, stopped: threading.Event) -> int:
        """Copy a file's first bytes, sharing them on disk where the file system can; returns how many there were."""
        self.require_room(count)
        while self.size < count and not stopped.is_set():
            if not self._copy_on(file, count - self.size):
                break
        return self.size

    def _copy_on(self, file: int, count: int) -> bool:
        """Copy some bytes that lie at the same offset in a file; False at its end."""
        if self._share is not None:
            try:
                shared = self._share(file, self._file, min(count, _SHARE_BYTES), self.size, self.size)
            except OSError:  # another file system, or one that cannot
                self._share = None
            else:
                self.size += shared
                return shared > 0
        data = read_at(file, self.size, min(count, _COPY_BYTES))
        self.write(data)
        return bool(data)

    def close(self) -> None:
        """Close the file and remove its folder, with all that was taken in."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._remove()


def free_bytes(folder: Path) -> int:
    """What the disk has left for us."""
    return shutil.disk_usage(folder).free


def sweep() -> None:
    """Remove spools of programs that ended without doing so; trouble with one keeps that one."""
    for folder in cache_folder().glob(f"{_PREFIX}*"):
        if folder.name.endswith(_LOCK_SUFFIX):
            continue
        with contextlib.suppress(OSError):
            lock = _locked(folder)
            if lock is not None:
                _remove(folder, lock)


def _new_folder() -> tuple[Path, Lock]:
    """A folder, and its lock, which is taken first: whoever sees the folder sees that it is held."""
    folder = cache_folder() / f"{_PREFIX}{uuid.uuid4().hex[:12]}"
    lock = _locked(folder)
    if lock is None:
        raise FileExistsError(f"{folder} is held by another program")
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        _remove(folder, lock)
        raise
    return folder, lock


def _locked(folder: Path) -> Lock | None:
    """The lock of a folder, held; None when somebody else, or this program, holds it."""
    return Lock.take(folder.with_name(folder.name + _LOCK_SUFFIX))


def _remove(folder: Path, lock: Lock) -> None:
    """Remove a folder that is held, and its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        if folder.exists():
            lock.release()
        else:
            lock.remove()
