"""Locks the file that a tap writes, so that no second tap writes into it.

It is a lock of the operating system on the capture itself. It ends with the process, however that ends, and leaves no
lock file behind. (filelock would truncate the file it locks, and adds 80 ms to a start.)
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import suppress

PATIENCE_S = 2.0
"""Seconds to wait for the lock: a client may restart its server before the previous tap has ended."""
REMOVED = "it was moved away or removed"
CUT = "it was cut short"
"""Changes that other programs may make to the file."""
HELD = "another tap writes to it"
NO_FILE = "it is no file"
_RETRY_S = 0.02
_OPEN_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# the locked byte, far beyond the end: on Windows and its shares a locked byte cannot be written by others
_LOCKED_BYTE = 1 << 40
# Systems disagree: EWOULDBLOCK from flock, EAGAIN or EACCES from fcntl, EACCES or EDEADLK on Windows.
_LOCKED_ERRORS = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})


class FileHold:
    """Lock on one file while it is written.

    Attributes:
        file: its descriptor; -1 while unlocked.
    """

    def __init__(self) -> None:
        self.file = -1

    def make(self, path: str) -> None:
        """Creates a file and locks it. Raises FileExistsError, or another OSError."""
        self._take(os.open(path, _OPEN_FLAGS | os.O_CREAT | os.O_EXCL, 0o600), path, 0)

    def acquire(self, path: str, patience_s: float = 0.0, *, make: bool = False) -> None:
        """Locks a file, created first if `make` is set; waits up to `patience_s` for another lock to end.

        Raises:
            OSError: if it is not a regular file (a pipe would never end), is locked or cannot be opened.
        """
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib costs a start 20 ms
                raise OSError(errno.EINVAL, NO_FILE)
        self._take(os.open(path, _OPEN_FLAGS | (os.O_CREAT if make else 0), 0o600), path, patience_s)

    def meanwhile(self, path: str, size: int) -> str:
        """Returns REMOVED or CUT if another program changed the file, else "".

        Args:
            path: path of the file.
            size: its expected size in bytes.
        """
        try:
            own, found = os.fstat(self.file), os.stat(path)  # noqa: PTH116 - pathlib costs a start 20 ms
        except OSError:
            return REMOVED
        # Another file of this name: logrotate and editors rename, so the path alone proves no identity.
        if not os.path.samestat(own, found):
            return REMOVED
        return CUT if own.st_size < size else ""

    def begins_with(self, size: int) -> bytes:
        os.lseek(self.file, 0, os.SEEK_SET)
        return os.read(self.file, size)

    def release(self) -> None:
        if self.file >= 0:
            with suppress(OSError):
                os.close(self.file)
        self.file = -1

    def _take(self, file: int, path: str, patience_s: float) -> None:
        self.release()
        until = time.monotonic() + patience_s
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(errno.EINVAL, NO_FILE)
            while not _lock(file):
                if time.monotonic() >= until:
                    raise BlockingIOError(errno.EWOULDBLOCK, HELD, path)
                time.sleep(_RETRY_S)
        except OSError:
            os.close(file)
            raise
        self.file = file


def _lock(file: int) -> bool:
    """Tries to lock a file. Returns True on success, and where the file system has no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        elif sys.platform == "linux":
            import fcntl
            import struct

            # struct flock of C, with its padding
            lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, _LOCKED_BYTE, 1, 0)
            # Bound to the open file, not to the process: closing another descriptor of the file does not release it.
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _LOCKED_ERRORS
    return True
