"""Opens files of a folder by descriptor, so that no link that is swapped in meanwhile leads out of it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd  # not on Windows, where it takes rights of its own to make a link


def identity_inside(root: Path, path: Path) -> tuple[int, int]:
    """Device and number of a file in a folder. Raises OSError where a link leads to it."""
    with opened_inside(root, path) as file:
        found = os.fstat(file)
        return found.st_dev, found.st_ino


@contextmanager
def opened_inside(root: Path, path: Path) -> Generator[int]:
    """A descriptor of a file in a folder, to which no link leads on any level.

    Args:
        root: the folder.
        path: of a file in it, without links and steps up.

    Raises:
        OSError: there is no such file, or a link in its place.
    """
    if not _BY_FOLDER:
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
    """A copy of a file that nobody else can swap, for what is read by its name again and again.

    Attributes:
        path: where it lies, under the name of the file.
    """

    def __init__(self, root: Path, path: Path) -> None:
        """Copy it. Raises OSError."""
        self._folder = tempfile.TemporaryDirectory(prefix="context-inspector-")
        self.path = Path(self._folder.name) / path.name
        try:
            self._take(root, path)
        except BaseException:
            self.close()
            raise

    def _take(self, root: Path, path: Path) -> None:
        with opened_inside(root, path) as file, os.fdopen(os.dup(file), "rb") as source, self.path.open("xb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)

    def take_beside(self, root: Path, path: Path) -> None:
        """Copy another file beside it, if there is one that no link leads to."""
        try:
            with opened_inside(root, path) as file, os.fdopen(os.dup(file), "rb") as source:
                (self.path.parent / path.name).write_bytes(source.read())
        except OSError:
            return

    def close(self) -> None:
        """Remove it."""
        self._folder.cleanup()
