"""File locks held for the life of a process: a free lock means that its owner has ended, however it did.

`filelock` does this too, but its import takes a tenth of a start.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from pathlib import Path

_LOCKED_OFFSET = 1 << 40
"""Offset of the byte that Windows locks: locked bytes are unreadable for others, and no data lies there."""
_LOCKED_ERRORS = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_RETRY_S = 0.02


class FileLock:
    """A lock file, locked until it is released or the process ends.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path, patience_s: float = 0.0) -> FileLock | None:
        """Locks a file, created if necessary; returns None if it stays locked, by this process too, for `patience_s`.

        Raises:
            OSError: if it cannot be created, or its file system has no locks.
        """
        until = time.monotonic() + patience_s
        while True:
            descriptor = os.open(path, _FLAGS, 0o600)
            lock = cls(path, descriptor)
            try:
                # The former owner may delete the file between the open and the lock.
                if lock_descriptor(descriptor) and lock.is_current:
                    return lock
            except OSError:
                lock.release()
                raise
            gone = not lock.is_current  # its former owner has deleted it: a new attempt creates another file
            lock.release()
            if not gone:
                if time.monotonic() >= until:
                    return None
                time.sleep(_RETRY_S)

    @property
    def is_current(self) -> bool:
        """True if the locked file is still the one at its path."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Releases the lock. The file stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Releases the lock and deletes the file, if possible."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):  # deleted under the lock: no other process can have begun to use it
            self.path.unlink()
        self.release()
        # Windows cannot delete an open file, so a second attempt after the release is safe too
        if sys.platform == "win32":
            with contextlib.suppress(OSError):
                self.path.unlink()


def lock_descriptor(descriptor: int) -> bool:
    """Locks an open file until it is closed; returns False if it is locked already.

    The file's position is at its end afterwards.

    Raises:
        OSError: if the file system has no locks.
    """
    try:
        _lock_exclusively(descriptor)
    except OSError as error:
        if error.errno in _LOCKED_ERRORS:
            return False
        raise
    return True


def _lock_exclusively(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        try:
            # Windows locks ranges; one far behind the content blocks no reader.
            os.lseek(descriptor, _LOCKED_OFFSET, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_END)
    else:
        # flock rather than fcntl: POSIX locks end when any descriptor of the file is closed by this process.
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
