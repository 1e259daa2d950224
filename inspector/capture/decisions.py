"""The gateway's capability decisions beside a log: they annotate messages and are no messages themselves."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from inspector.capture.columns import GrowingColumns
from inspector.capture.hashes import NO_HASH, HashIndex, hash_text
from inspector.capture.sources import SourceFile
from inspector.protocol.header import NotAnObjectError, decode_json, read_header

FILE_NAME = "capability-decisions.jsonl"
"""Name the MEW gateway gives the file, beside `envelope-history.jsonl`."""


class Decisions:
    """Finds the decisions about an envelope by its id. Lines that are no decisions are passed over.

    Attributes:
        source: the file.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self._lines = GrowingColumns({"offset": np.uint64, "length": np.uint32})
        self._index = HashIndex()

    def __len__(self) -> int:
        return len(self._lines)

    def read_all(self) -> None:
        """Read the file as it is now. Raises OSError when it cannot be read."""
        self._read(whole_lines=False)

    def read_on(self) -> None:
        """Read the whole lines it has gained. Raises OSError when it cannot be read."""
        self._read(whole_lines=True)

    def _read(self, *, whole_lines: bool) -> None:
        offset = self.source.read_to
        data = self.source.read(offset, max(0, self.source.size - offset))
        if whole_lines:
            data = data[: data.rfind(b"\n") + 1]
        if not data:
            return
        self.source.read_to += len(data)
        rows: list[tuple[int, int, int]] = []
        for line in data.split(b"\n"):
            if line.strip():
                rows.append((offset, len(line), self._envelope_hash(line)))
            offset += len(line) + 1
        columns = np.array(rows, np.uint64).reshape(-1, 3)
        start = self._lines.append({"offset": columns[:, 0], "length": columns[:, 1]})
        self._index.add(columns[:, 2], np.arange(start, len(self._lines), dtype=np.uint32))

    def _envelope_hash(self, line: bytes) -> int:
        try:
            identifier = read_header(line).envelope_id
        except NotAnObjectError:
            return NO_HASH
        return hash_text(identifier) if isinstance(identifier, str) else NO_HASH

    def about(self, envelope_id: str) -> list[dict[str, Any]]:
        """The decisions about an envelope, in log order."""
        found: list[dict[str, Any]] = []
        for row in self._index.rows(hash_text(envelope_id)):
            line = self.source.read(int(self._lines["offset"][row]), int(self._lines["length"][row]))
            try:
                decision = decode_json(line)
            except (NotAnObjectError, msgspec.DecodeError):
                continue
            if isinstance(decision, dict) and decision.get("envelope_id") == envelope_id:
                found.append(decision)
        return found
