"""The gateway's capability decisions beside a log: they annotate messages and are no messages themselves."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.capture.columns import GrowingColumns
from inspector.capture.hashes import NO_HASH, HashIndex, hash_bytes, hash_text
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
        self._lines = GrowingColumns(
            {"offset": np.uint64, "length": np.uint32, "envelope": np.uint64, "says": np.uint64}
        )
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
        rows: list[tuple[int, int, int, int]] = []
        for line in data.split(b"\n"):
            if line.strip():
                rows.append((offset, len(line), self._envelope_hash(line), says_hash(line)))
            offset += len(line) + 1
        columns = np.array(rows, np.uint64).reshape(-1, 4)
        names = ("offset", "length", "envelope", "says")
        start = self._lines.append({name: columns[:, place] for place, name in enumerate(names)})
        self._index.add(columns[:, 2], np.arange(start, len(self._lines), dtype=np.uint32))

    def _envelope_hash(self, line: bytes) -> int:
        try:
            identifier = read_header(line).envelope_id
        except NotAnObjectError:
            return NO_HASH
        return hash_text(identifier) if isinstance(identifier, str) else NO_HASH

    def about(self, envelope_id: str) -> list[dict[str, Any]]:
        """The decisions about an envelope, in log order."""
        decided = map(self.decision, self._index.rows(hash_text(envelope_id)))
        return [found for found in decided if found is not None and found.get("envelope_id") == envelope_id]

    def decision(self, place: int) -> dict[str, Any] | None:
        """One line of the file, counted from 0; None when it is no object, or the file has become shorter."""
        line = self.source.read(int(self._lines["offset"][place]), int(self._lines["length"][place]))
        try:
            found = decode_json(line)
        except (NotAnObjectError, msgspec.DecodeError):
            return None
        return found if isinstance(found, dict) else None

    @property
    def envelopes(self) -> NDArray[np.uint64]:
        """(lines,) hash of the id of the envelope that was decided about; NO_HASH."""
        return self._lines["envelope"]

    @property
    def says(self) -> NDArray[np.uint64]:
        """(lines,) what `says_hash` makes of each."""
        return self._lines["says"]


_BEGIN = re.compile(rb'\{"timestamp":"[^"\\]*","event":"[^"\\]*","envelope_id":"[^"\\]*",')
_END = re.compile(rb',"metadata":\{[^{}]*\}\}\s*$')


def says_hash(line: bytes) -> int:
    """Hash of who, what, with which capabilities and how it was decided: what a line says beside time and envelope.

    As gateways write it, time and envelope stand in front and metadata behind; of lines in another order all counts.
    """
    begin, end = _BEGIN.match(line), _END.search(line, max(0, len(line) - _LONGEST_METADATA))
    return hash_bytes(line[begin.end() if begin else 0 : end.start() if end else None])


_LONGEST_METADATA = 4_096
