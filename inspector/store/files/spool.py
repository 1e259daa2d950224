"""Spools: temporary files for sources without random access, or without permanence (docs/design.md 4).

Each has its own folder below the cache folder, and a lock beside it while in use. A folder with a free lock belongs to
a process that ended without removing it. Process ids would not work: containers, and machines with a shared home
folder, have their own.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
import uuid
import weakref
from collections.abc import Generator
from pathlib import Path

from inspector.base.file_lock import FileLock
from inspector.base.paths import HOME_VARIABLE, cache_folder
from inspector.store.files.source_files import read_at

# Other programs, and the capture of a live session, need the disk too.
RESERVE_BYTES = 256 << 20
"""Bytes left free on the disk for temporary files."""

_PREFIX = "spool-"
_LOCK_SUFFIX = ".lock"
_CHECK_BYTES = 16 << 20
# `copy_file_range` cannot be interrupted, so the stop event is checked between such steps.
_SHARE_BYTES = 8 << 20
_COPY_BYTES = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class NoRoomError(OSError):
    """The temporary disk is full, nearly so, or not writable; the text is a clause that says how to continue."""


class TemporaryFolder:
    """A folder of this process. It is deleted by `cleanup` or at exit, else by the next program that creates one.

    Attributes:
        path: the folder.
    """

    def __init__(self, path: Path | None = None, lock: FileLock | None = None) -> None:
        """Creates a folder, or takes over a locked one. Raises OSError."""
        if path is None or lock is None:
            # Removes the files that crashed programs left.
            remove_dead_spools()
            try:
                path, lock = _new_folder()
            except OSError as error:
                raise NoRoomError(
                    f"its copy cannot be written below {cache_folder()} ({error.strerror or error}). Make that folder "
                    f"writable, or set {HOME_VARIABLE} to another one"
                ) from error
        self.path = path
        self._remove = weakref.finalize(self, _remove_folder, path, lock)  # also at exit

    def cleanup(self) -> None:
        """Deletes the folder with all contents."""
        self._remove()


@contextlib.contextmanager
def temporary_folder(parent: str | None = None) -> Generator[Path]:
    """Yields a temporary folder, which the next program deletes if this one is killed.

    Args:
        parent: a folder that its own owner deletes; None for the cache folder.

    Raises:
        OSError: if it cannot be created.
    """
    if parent is not None:
        with tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
        return
    own = TemporaryFolder()
    try:
        yield own.path
    finally:
        own.cleanup()


class Spool:
    """A temporary file that only grows, in its own folder. Written by one thread.

    Attributes:
        path: the file.
        size: bytes in it, and the offset of the next write.
    """

    def __init__(self, name: str) -> None:
        """Creates the file.

        Args:
            name: of the file, as messages show it.

        Raises:
            OSError: if it cannot be created.
        """
        self._folder = TemporaryFolder()
        self.path = self._folder.path / (re.sub(r"[/\\:\0]", "-", name).strip(".") or "log")[-200:]
        self.size = 0
        self._checked = -_CHECK_BYTES
        self._share = getattr(os, "copy_file_range", None)
        try:
            self._file = os.open(self.path, _NEW_FILE, 0o600)
        except OSError:
            self._folder.cleanup()
            raise

    def write(self, data: bytes) -> None:
        """Appends bytes. Raises OSError, and NoRoomError before the disk is full."""
        # Asking the system for free space at each write would cost more than the write.
        if self.size + len(data) - self._checked >= _CHECK_BYTES:
            self.require_room(len(data))
            self._checked = self.size
        # A shared copy moves no file position, so it is set each time.
        os.lseek(self._file, self.size, os.SEEK_SET)
        view = memoryview(data)
        # A write may take only a part, for example when a signal interrupts it.
        while view:
            written = os.write(self._file, view)
            self.size += written
            view = view[written:]

    def overwrite(self, offset: int, data: bytes) -> None:
        """Overwrites existing bytes. Raises OSError."""
        view = memoryview(data)
        while view:
            os.lseek(self._file, offset, os.SEEK_SET)
            written = os.write(self._file, view)
            offset, view = offset + written, view[written:]

    def require_room(self, count: int) -> None:
        """Raises NoRoomError unless `count` more bytes leave the reserve free."""
        if free_bytes(self.path.parent) - count < RESERVE_BYTES:
            raise NoRoomError(
                f"the disk that holds {cache_folder()} has less than {RESERVE_BYTES >> 20} MB left. Free some space "
                "there and open it again"
            )

    def set_write_offset(self, offset: int) -> None:
        """Moves the write position; bytes before it are unused."""
        self.size = offset

    def fill_from(self, file: int, count: int, stopped: threading.Event) -> int:
        """Copies a file's first bytes, as shared extents where the file system can; returns their number."""
        self.require_room(count)
        while self.size < count and not stopped.is_set():
            if not self._copy_on(file, count - self.size):
                break
        return self.size

    def _copy_on(self, file: int, count: int) -> bool:
        """Copies bytes from the same offset of a file; returns False at its end."""
        if self._share is not None:
            try:
                # The kernel copies, or shares blocks where the file system can.
                shared = self._share(file, self._file, min(count, _SHARE_BYTES), self.size, self.size)
            except OSError:  # another file system, or one without support
                self._share = None
            else:
                self.size += shared
                return shared > 0
        data = read_at(file, self.size, min(count, _COPY_BYTES))
        self.write(data)
        return bool(data)

    def close(self) -> None:
        """Closes the file and deletes its folder with all contents."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._folder.cleanup()


def adopt_spool(path: Path) -> TemporaryFolder | None:
    """Takes over the folder of an ended process's spool. Returns None if it is gone or in use."""
    folder = path.parent
    if folder.parent != cache_folder() or not folder.name.startswith(_PREFIX) or not path.is_file():
        return None
    lock = _lock_folder(folder)
    if lock is None:
        return None
    adopted = TemporaryFolder(folder, lock)
    if not path.is_file():  # removed before it was locked
        adopted.cleanup()
        return None
    return adopted


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def remove_dead_spools() -> None:
    """Deletes spools of dead processes; skips one on an error."""
    for folder in cache_folder().glob(f"{_PREFIX}*"):
        if folder.name.endswith(_LOCK_SUFFIX):
            continue
        with contextlib.suppress(OSError):
            lock = _lock_folder(folder)
            if lock is not None:
                _remove_folder(folder, lock)


def _new_folder() -> tuple[Path, FileLock]:
    """Creates a folder. Its lock is taken first, so that a visible folder is always locked."""
    folder = cache_folder() / f"{_PREFIX}{uuid.uuid4().hex[:12]}"
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # raises the reason if it could not be created
    lock = _lock_folder(folder)
    if lock is None:
        raise FileExistsError(f"{folder} is in use by another program")
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        _remove_folder(folder, lock)
        raise
    return folder, lock


def _lock_folder(folder: Path) -> FileLock | None:
    """Locks a folder, unless it is locked already."""
    return FileLock.acquire(folder.with_name(folder.name + _LOCK_SUFFIX))


def _remove_folder(folder: Path, lock: FileLock) -> None:
    """Deletes a locked folder and its lock."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        if folder.exists():
            lock.release()
        else:
            lock.remove()
