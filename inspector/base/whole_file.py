"""Files that stand complete or not at all: written beside their place, and put there when nothing more can go wrong."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
import time
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from inspector.base.file_modes import mode_for
from inspector.base.held_file import Lock, hold

_SUFFIX = ".part"
_SURELY_LEFT_S = 5.0
"""A younger one may be about to be held, or to take its place."""
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LOOKING = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_up_to(path: Path, most_bytes: int) -> bytes:
    """The beginning of a file of the program's own; a pipe that lies in its place is never waited for.

    Raises:
        OSError: it cannot be read, or is no file.
    """
    with os.fdopen(os.open(path, _READING), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        return file.read(most_bytes)


@contextlib.contextmanager
def in_place_of(target: Path) -> Generator[BinaryIO]:
    """Open a file that takes the place of another one at the end of the block; left by an error it leaves no trace.

    What a link leads to is replaced, not the link. The file is as readable as other files of the user.

    Raises:
        OSError: it cannot be written; what was there is untouched.
    """
    target = Path(os.path.realpath(target))
    with _beside(target) as (file, part):
        yield file
        file.close()
        part.path.chmod(mode_for(target))
        part.take_place_of(target)


def replace_whole(target: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a file of the program's own, readable by the user alone.

    What a link leads to is replaced, not the link.

    Args:
        target: to be written.
        data: all of it.
        sync: wait until it is on the disk, so that not even a power cut can lose it.

    Raises:
        OSError: it cannot be written; what was there is untouched.
    """
    target = Path(os.path.realpath(target))
    with _beside(target) as (file, part):
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())
        file.close()
        part.take_place_of(target)


@contextlib.contextmanager
def _beside(target: Path) -> Generator[tuple[BinaryIO, PartFile]]:
    """A file of the user's alone in the folder of another one; it is gone when anything fails."""
    part = PartFile(target)
    try:
        with part.open() as file:
            yield file, part
    except BaseException:
        part.discard()
        raise


class PartFile:
    """What is to take the place of a file, in the same folder, and the user's alone.

    It is held for as long as it lies there, so that one whose process was killed is known: it is cleared away when the
    same file is written next.

    Attributes:
        path: where it lies.
    """

    def __init__(self, target: Path) -> None:
        """Make an empty one.

        Raises:
            OSError: there can be none.
        """
        prefix = f".context-inspector-{zlib.crc32(os.fsencode(target.name)):08x}-"
        _clear_left(target.parent, prefix)
        self._descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=target.parent)
        self.path = Path(name)
        with contextlib.suppress(OSError):  # where nothing can be held, nothing is cleared away either
            hold(self._descriptor)

    def open(self) -> BinaryIO:
        """The file, to be written from its beginning."""
        return os.fdopen(os.dup(self._descriptor), "wb")

    def take_place_of(self, target: Path) -> None:
        """Put it where it goes; whoever has opened it has closed it.

        Raises:
            OSError: it cannot be put there, and is still here.
        """
        if os.name == "nt":  # what is open cannot be renamed there
            self.release()
        self.path.replace(target)
        self.release()

    def release(self) -> None:
        """Hold it no longer; it stays where it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """It is not wanted, or has taken its place."""
        if os.name == "nt":
            self.release()
        with contextlib.suppress(OSError):
            self.path.unlink()
        self.release()


def _clear_left(folder: Path, prefix: str) -> None:
    """Delete what processes left that were killed while they wrote; what anybody holds stays."""
    left: list[Path] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left += (Path(one.path) for one in entries if one.name.startswith(prefix) and one.name.endswith(_SUFFIX))
    for path in left:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, _LOOKING)
            lock = Lock(path, descriptor)
            try:
                found = os.fstat(descriptor)
                old = time.time() - found.st_mtime > _SURELY_LEFT_S
                if old and stat.S_ISREG(found.st_mode) and hold(descriptor):
                    lock.remove()
            finally:
                lock.release()
