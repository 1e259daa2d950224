"""Standard input as a file: what cannot be read at any offset is spooled to disk first (design.md 4)."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

STANDARD_INPUT = "-"


@contextmanager
def readable(file: str) -> Generator[tuple[Path, str | None]]:
    """A file to read for a FILE argument, and the name to show where that is not its own.

    Standard input and pipes are copied, to their end, into a file that lives as long as the context.

    Raises:
        OSError: there is no room for it.
    """
    path = Path(file)
    if file != STANDARD_INPUT and (path.is_file() or path.is_dir() or not path.exists()):
        yield path, None
        return
    name = "standard input" if file == STANDARD_INPUT else path.name
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        copy = Path(folder) / name
        with copy.open("wb") as spool:
            if file == STANDARD_INPUT:
                shutil.copyfileobj(sys.stdin.buffer, spool)
            else:  # a pipe or device, such as a shell's <(...)
                with path.open("rb") as stream:
                    shutil.copyfileobj(stream, spool)
        yield copy, name
