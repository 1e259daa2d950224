"""The files a capture's records lie in, read with `pread` and never mapped (design.md 4)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

from inspector.protocol.formats import FRAME_LABEL


class SourceFile:
    """One file of records.

    Attributes:
        path: where it is.
        name: what the `source` field shows.
        formats: lines each format knew; None counts unreadable ones.
        origin: a capture's own first line, when it is one.
        read_to: offset in bytes up to which lines were read.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        """Open the file for reading. Raises OSError when it cannot be."""
        self.path = path
        self.name = name or path.name
        self.formats: Counter[str | None] = Counter()
        self.origin: dict[str, Any] = {}
        self.read_to = 0
        self._file = path.open("rb", buffering=0)

    @property
    def size(self) -> int:
        """Bytes in the file now."""
        return os.fstat(self._file.fileno()).st_size

    @property
    def format(self) -> str | None:
        """The format most lines are in; None when no line is known."""
        known = [(count, name) for name, count in self.formats.items() if name not in (None, FRAME_LABEL)]
        return max(known)[1] if known else None

    def read(self, offset: int, length: int) -> bytes:
        """Bytes at an offset; fewer where the file has become shorter."""
        if not hasattr(os, "pread"):  # Windows
            self._file.seek(offset)
            return self._file.read(length)
        parts: list[bytes] = []
        while length > 0:
            part = os.pread(self._file.fileno(), length, offset)
            if not part:
                break
            parts.append(part)
            offset, length = offset + len(part), length - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Close the file; what was read stays in the columns."""
        self._file.close()
