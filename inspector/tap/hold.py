"""Holding the file a tap writes, so that no second tap mixes its server into it.

A lock of the operating system on the capture itself: it goes with the process, however that ends, and leaves no second
file behind. (filelock would empty the file it locks, and costs a start 80 ms.)
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from contextlib import suppress

PATIENCE_S = 2.0
"""A client that starts its server anew does not wait for the tap before: so long that one may take to end."""
REMOVED = "it was moved away or removed"
CUT = "it was cut short"
"""What others may have done to it meanwhile."""
HELD = "another tap writes to it"
NO_FILE = "it is no file"
_AGAIN_S = 0.02
_OPENED = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BYTE = 1 << 40  # what is locked, far behind the end: on Windows and its shares nobody else can write a byte that is
_HELD_ERRORS = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})


class FileHold:
    """One file held for as long as it is written.

    Attributes:
        file: its descriptor, to look at it; -1 while nothing is held.
    """

    def __init__(self) -> None:
        self.file = -1

    def make(self, path: str) -> None:
        """Make a file and hold it. Raises FileExistsError, or another OSError."""
        self._take(os.open(path, _OPENED | os.O_CREAT | os.O_EXCL, 0o600), path, 0)

    def take(self, path: str, patience_s: float = 0.0, *, make: bool = False) -> None:
        """Hold a file, made if need be and asked for, as soon as nobody else does.

        Raises:
            OSError: it is no file (a pipe would never be read to its end), or is held or cannot be opened.
        """
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - pathlib costs a start 20 ms
                raise OSError(errno.EINVAL, NO_FILE)
        self._take(os.open(path, _OPENED | (os.O_CREAT if make else 0), 0o600), path, patience_s)

    def meanwhile(self, path: str, size: int) -> str:
        """What was done to the file by others: REMOVED, CUT, or "" where nothing was.

        Args:
            path: its name.
            size: bytes it holds, for all we know.
        """
        try:
            own, found = os.fstat(self.file), os.stat(path)  # noqa: PTH116
        except OSError:
            return REMOVED
        if not os.path.samestat(own, found):
            return REMOVED
        return CUT if own.st_size < size else ""

    def begins_with(self, size: int) -> bytes:
        """The first bytes of the file."""
        os.lseek(self.file, 0, os.SEEK_SET)
        return os.read(self.file, size)

    def release(self) -> None:
        """Let others have it."""
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
                time.sleep(_AGAIN_S)
        except OSError:
            os.close(file)
            raise
        self.file = file


def _lock(file: int) -> bool:
    """Whether the lock is ours now. Where the file system knows no locks nobody is kept off, as everywhere there."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        elif sys.platform == "linux":
            import fcntl
            import struct

            lock = struct.pack("hhqqi0q", fcntl.F_WRLCK, os.SEEK_SET, _BYTE, 1, 0)  # as C has it, with its padding
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, lock)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _HELD_ERRORS
    return True
