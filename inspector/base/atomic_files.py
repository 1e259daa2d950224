"""Atomic file writes: a temporary file beside the target replaces it at the end."""

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

from inspector.base.file_lock import FileLock, lock_descriptor
from inspector.base.file_modes import mode_for

_SUFFIX = ".part"
_ABANDONED_AFTER_S = 5.0
"""Seconds of age below which a temporary file may still be in use."""
# O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
# O_NOFOLLOW: a link in a shared folder could name a file of another place.
_CHECK_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_up_to(path: Path, most_bytes: int) -> bytes:
    """Returns the beginning of a file of the program's own; never blocks on a pipe in its place.

    Raises:
        OSError: if it cannot be read, or is no regular file.
    """
    with os.fdopen(os.open(path, _READ_FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no file", str(path))
        return file.read(most_bytes)


@contextlib.contextmanager
def open_replacement(target: Path) -> Generator[BinaryIO]:
    """Opens a file that replaces the target at the end of the block; an error leaves no trace.

    A symbolic link keeps its place, and its target is replaced. The file is as readable as other files of the user.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    target = Path(os.path.realpath(target))
    with _temporary_file(target) as (file, part):
        yield file
        file.close()
        part.path.chmod(mode_for(target))
        part.replace_target(target)


def replace_file(target: Path, data: bytes, *, sync: bool = True) -> None:
    """Replaces a file of the program's own, readable by the user alone.

    A symbolic link keeps its place, and its target is replaced.

    Args:
        target: the file.
        data: its contents.
        sync: wait until the data is on the disk, so that a power failure cannot lose it.

    Raises:
        OSError: if it cannot be written; the old file is unchanged.
    """
    target = Path(os.path.realpath(target))
    with _temporary_file(target) as (file, part):
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())
        file.close()
        part.replace_target(target)


@contextlib.contextmanager
def _temporary_file(target: Path) -> Generator[tuple[BinaryIO, TemporaryFile]]:
    """Opens a private temporary file beside the target; deletes it on any error."""
    part = TemporaryFile(target)
    try:
        with part.open() as file:
            yield file, part
    except BaseException:
        part.discard()
        raise


class TemporaryFile:
    """A private temporary file in the folder of its target.

    It stays locked while it exists, so that a killed process's file is detected and deleted by the next write of the
    same target.

    Attributes:
        path: the file.
    """

    def __init__(self, target: Path) -> None:
        """Creates an empty file.

        Raises:
            OSError: if it cannot be created.
        """
        prefix = f".context-inspector-{zlib.crc32(os.fsencode(target.name)):08x}-"
        _delete_abandoned(target.parent, prefix)
        self._descriptor, name = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=target.parent)
        self.path = Path(name)
        with contextlib.suppress(OSError):  # without locks, abandoned files are never deleted either
            lock_descriptor(self._descriptor)

    def open(self) -> BinaryIO:
        """Returns the file opened for writing from its beginning."""
        # A copy, as the lock must last until the file has its final name.
        return os.fdopen(os.dup(self._descriptor), "wb")

    def replace_target(self, target: Path) -> None:
        """Renames the file to its target; the caller has closed it.

        Raises:
            OSError: if that fails; the temporary file stays.
        """
        if os.name == "nt":  # Windows cannot rename an open file
            self.release()
        self.path.replace(target)
        self.release()

    def release(self) -> None:
        """Releases the lock; the file stays."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """Deletes the file if it still exists, and releases the lock."""
        if os.name == "nt":
            self.release()
        with contextlib.suppress(OSError):
            self.path.unlink()
        self.release()


def _delete_abandoned(folder: Path, prefix: str) -> None:
    """Deletes temporary files of killed processes; locked ones stay."""
    left: list[Path] = []
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        left += (Path(one.path) for one in entries if one.name.startswith(prefix) and one.name.endswith(_SUFFIX))
    for path in left:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, _CHECK_FLAGS)
            lock = FileLock(path, descriptor)
            try:
                found = os.fstat(descriptor)
                old = time.time() - found.st_mtime > _ABANDONED_AFTER_S
                # The age protects a file between its creation and its lock.
                if old and stat.S_ISREG(found.st_mode) and lock_descriptor(descriptor):
                    lock.remove()
            finally:
                lock.release()
