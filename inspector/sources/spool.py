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

    Standard input is copied, to its end, into a file that lives as long as the context.

    Raises:
        OSError: there is no room for it.
    """
    if file != STANDARD_INPUT:
        yield Path(file), None
        return
    with tempfile.TemporaryDirectory(prefix="context-inspector-") as folder:
        path = Path(folder) / "standard input"
        with path.open("wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool)
        yield path, "standard input"
