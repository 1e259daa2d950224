"""Lines that stand for several of a source: what was put together of them lies in a spool beside it.

Each has an offset as every line has, behind all that a file may hold. So whoever reads a line by its offset need not
know which of the two it is.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from inspector.capture.sources import JOINED_FROM, read_at
from inspector.capture.spool import Spool


class JoinedLines:
    """The lines put together of one source's. Written and read by the thread that owns the capture.

    Attributes:
        left_out: lines of the source that are no records, as those here stand for them.
    """

    def __init__(self, name: str) -> None:
        """Prepare; nothing is created before the first line.

        Args:
            name: of the source.
        """
        self._name = name
        self.left_out = 0
        self._spool: Spool | None = None
        self._file = -1

    @property
    def path(self) -> Path | None:
        """The file they lie in; None before the first."""
        return self._spool.path if self._spool is not None else None

    def put(self, line: bytes) -> int:
        """Keep a line, and return its offset.

        Raises:
            OSError: there is no room for it.
        """
        if self._spool is None:
            self._spool = Spool(self._name)
            self._file = os.open(self._spool.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        offset = self._spool.size
        self._spool.write(line + b"\n")
        return JOINED_FROM + offset

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset, as `put` gave it."""
        return read_at(self._file, offset - JOINED_FROM, length) if self._file >= 0 else b""

    def duplicate(self) -> int:
        """A file descriptor of one's own on the spool. Raises OSError."""
        return os.dup(self._file)

    def close(self) -> None:
        """Remove the spool."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        if self._spool is not None:
            self._spool.close()
