"""Holding a file for as long as a process lives: whoever finds it free knows that its owner has ended, somehow.

`filelock` does this too, but takes as long to import as a tenth of a start.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from pathlib import Path

_FAR_AWAY = 1 << 40
"""Where Windows holds one byte: what is held there cannot be read by others, and nothing ever lies there."""
_HELD = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK})
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_AGAIN_S = 0.02


class Lock:
    """A file that is there to be held, until it is let go or the process ends, however it does.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        """Hold an open file that is locked."""
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, patience_s: float = 0.0) -> Lock | None:
        """Hold a file, made if need be; None when somebody else, or this process, holds it for longer than that.

        Raises:
            OSError: it cannot be made, or nothing can be held where it lies.
        """
        until = time.monotonic() + patience_s
        while True:
            descriptor = os.open(path, _FLAGS, 0o600)
            lock = cls(path, descriptor)
            try:
                if hold(descriptor) and lock.is_whole:
                    return lock
            except OSError:
                lock.release()
                raise
            gone = not lock.is_whole  # whoever held it has removed it: the next one is another file
            lock.release()
            if not gone:
                if time.monotonic() >= until:
                    return None
                time.sleep(_AGAIN_S)

    @property
    def is_whole(self) -> bool:
        """Whether the file that is held is the one that lies there."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let go; another may have it. The file stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def remove(self) -> None:
        """Let go, and remove the file, as far as that can be."""
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError):  # while it is held: nobody can have begun to use it
            self.path.unlink()
        self.release()
        if sys.platform == "win32":  # there nothing that is open can be removed, so this takes it from nobody either
            with contextlib.suppress(OSError):
                self.path.unlink()


def hold(descriptor: int) -> bool:
    """Hold an open file for this process until it is closed; False when somebody else holds it.

    The file's position is that of its end afterwards.

    Raises:
        OSError: where it lies nothing can be held.
    """
    try:
        _hold(descriptor)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def _hold(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        try:
            os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(descriptor, 0, os.SEEK_END)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
