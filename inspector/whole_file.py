"""Files that stand complete or not at all: written beside their place, and put there when nothing more can go wrong."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from inspector.file_modes import mode_for


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
        part.chmod(mode_for(target))
        part.replace(target)


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
        part.replace(target)


@contextlib.contextmanager
def _beside(target: Path) -> Generator[tuple[BinaryIO, Path]]:
    """A file of the user's alone in the folder of another one; it is gone when anything fails."""
    handle, name = tempfile.mkstemp(prefix=".context-inspector-", suffix=".part", dir=target.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, part
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
