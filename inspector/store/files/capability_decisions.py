"""Capability decisions of a gateway in a file beside its log; they annotate messages."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.protocol.header import NotAnObjectError, decode_json, read_header
from inspector.store.columns.columns import GrowingColumns
from inspector.store.columns.hashes import NO_HASH, HashIndex, hash_bytes, hash_text
from inspector.store.files.source_files import SourceFile

FILE_NAME = "capability-decisions.jsonl"
"""Name of the MEW gateway's file, beside `envelope-history.jsonl`."""


class CapabilityDecisions:
    """Index of decisions by envelope id. Other lines are skipped.

    Attributes:
        sources: the files.
    """

    def __init__(self, *sources: SourceFile) -> None:
        self.sources = list(sources)
        self._lines = GrowingColumns(
            {"source": np.uint16, "offset": np.uint64, "length": np.uint32, "envelope": np.uint64, "says": np.uint64}
        )
        self._index = HashIndex()

    def __len__(self) -> int:
        return len(self._lines)

    def add_source(self, source: SourceFile) -> None:
        self.sources.append(source)

    def read_all(self) -> None:
        """Reads the files to their present end. Raises OSError if one cannot be read."""
        for place in range(len(self.sources)):
            self._read(place, whole_lines=False)

    def read_new_lines(self) -> None:
        """Reads new whole lines. Raises OSError if one cannot be read."""
        for place in range(len(self.sources)):
            self._read(place, whole_lines=True)

    def _read(self, place: int, *, whole_lines: bool) -> None:
        source = self.sources[place]
        offset = source.read_to
        data = source.read(offset, max(0, source.size - offset))
        # The last line of a file that still grows may be incomplete.
        if whole_lines:
            data = data[: data.rfind(b"\n") + 1]
        if not data:
            return
        source.read_to += len(data)
        rows: list[tuple[int, int, int, int, int]] = []
        for line in data.split(b"\n"):
            if line.strip():
                rows.append((place, offset, len(line), self._envelope_hash(line), decision_hash(line)))
            offset += len(line) + 1
        columns = np.array(rows, np.uint64).reshape(-1, 5)
        names = ("source", "offset", "length", "envelope", "says")
        start = self._lines.append({name: columns[:, number] for number, name in enumerate(names)})
        self._index.add(columns[:, 3], np.arange(start, len(self._lines), dtype=np.uint32))

    def _envelope_hash(self, line: bytes) -> int:
        try:
            identifier = read_header(line).envelope_id
        except NotAnObjectError:
            return NO_HASH
        return hash_text(identifier) if isinstance(identifier, str) else NO_HASH

    def decisions_about(self, envelope_id: str) -> list[dict[str, Any]]:
        """Returns the decisions about an envelope, in log order."""
        decided = map(self.decision, self._index.rows_of(hash_text(envelope_id)))
        # Equal hashes do not prove equal ids.
        return [found for found in decided if found is not None and found.get("envelope_id") == envelope_id]

    def decision(self, place: int) -> dict[str, Any] | None:
        """Returns one line, counted from 0 over all files; None if it is no object, or the file was truncated."""
        source = self.sources[int(self._lines["source"][place])]
        line = source.read(int(self._lines["offset"][place]), int(self._lines["length"][place]))
        try:
            found = decode_json(line)
        except (NotAnObjectError, msgspec.DecodeError):
            return None
        return found if isinstance(found, dict) else None

    @property
    def envelope_hashes(self) -> NDArray[np.uint64]:
        """(lines,) hash of the id of the envelope decided about; NO_HASH."""
        return self._lines["envelope"]

    @property
    def decision_hashes(self) -> NDArray[np.uint64]:
        """(lines,) `decision_hash` of each line."""
        return self._lines["says"]


_BEGIN = re.compile(rb'\{"timestamp":"[^"\\]*","event":"[^"\\]*","envelope_id":"[^"\\]*",')
_END = re.compile(rb',"metadata":\{[^{}]*\}\}\s*$')


def decision_hash(line: bytes) -> int:
    """Returns a hash of participant, action, capabilities and decision, without time and envelope.

    Gateways write time and envelope first and metadata last. Lines in another order are hashed whole.
    """
    begin, end = _BEGIN.match(line), _END.search(line, max(0, len(line) - _LONGEST_METADATA))
    return hash_bytes(line[begin.end() if begin else 0 : end.start() if end else None])


# Bounds the backtracking of the expression in a line of megabytes.
_LONGEST_METADATA = 4_096
