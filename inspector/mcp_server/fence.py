"""Opens files inside a folder by descriptor, so that no link leads out, and makes private copies."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from inspector.store.files.spool import TemporaryFolder

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CAN_OPEN_BY_FOLDER = os.open in os.supports_dir_fd  # False on Windows, where making a link takes special rights


def identity_inside(root: Path, path: Path) -> tuple[int, int]:
    """Returns device and inode of a file in a folder. Raises OSError if a link is on the way."""
    with opened_inside(root, path) as file:
        found = os.fstat(file)
        return found.st_dev, found.st_ino


@contextmanager
def opened_inside(root: Path, path: Path) -> Generator[int]:
    """Opens a file in a folder, without following a link on any level.

    Args:
        root: the folder.
        path: path of a file in it, without links and `..`.

    Raises:
        OSError: if there is no such file, or a link in its place.
    """
    if not _CAN_OPEN_BY_FOLDER:
        file = os.open(path, _FILE)
    else:
        *folders, name = path.relative_to(root).parts
        at = os.open(root, _FOLDER)
        try:
            for folder in folders:
                below = os.open(folder, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
            file = os.open(name, _FILE, dir_fd=at)
        finally:
            os.close(at)
    try:
        yield file
    finally:
        os.close(file)


class PrivateCopy:
    """Private copy of a file, for readers that open it by name several times.

    Attributes:
        path: path of the copy; it has the name of the file.
    """

    def __init__(self, root: Path, path: Path) -> None:
        """Copies the file. Raises OSError."""
        self._folder = TemporaryFolder()
        self.path = self._folder.path / path.name
        try:
            self._take(root, path)
        except BaseException:
            self.close()
            raise

    def _take(self, root: Path, path: Path) -> None:
        with opened_inside(root, path) as file, os.fdopen(os.dup(file), "rb") as source, self.path.open("xb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)

    def take_beside(self, root: Path, path: Path) -> None:
        """Copies another file beside it, if it exists without a link."""
        try:
            with opened_inside(root, path) as file, os.fdopen(os.dup(file), "rb") as source:
                (self.path.parent / path.name).write_bytes(source.read())
        except OSError:
            return

    def close(self) -> None:
        self._folder.cleanup()
