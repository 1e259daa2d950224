"""Gives equal rows without an id an id each, so that every row of a data set counts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from inspector.formats.entry_builders import decoded_object
from inspector.formats.training_data.reader import ID_OF_COPY, READER, conversation_of, has_id
from inspector.protocol.json_size import is_too_large
from inspector.protocol.tolerant_encoder import to_json
from inspector.reading.reassembly.derived_lines import DerivedLineSpool, OrderedLine

MARKS = (b'"conversations"', b'"conversation"', b'"chosen', b'"preferred_output"', b'"completion"', b'"instruction"')
_MOST_ROWS = 1 << 20
"""Limit of rows that are remembered, some 100 MB; copies of later rows count once."""


class EqualRows:
    """Processes the lines of one source, each once, in order; a `ReassemblyStage`."""

    def __init__(self, joined: DerivedLineSpool) -> None:
        self._joined = joined
        self._counts: dict[bytes, int] = {}

    def is_relevant(self, data: bytes) -> bool:
        """Returns True if any of the lines may be a row."""
        return any(mark in data for mark in MARKS)

    def process_lines(self, lines: Sequence[OrderedLine]) -> list[OrderedLine]:
        """Returns the lines to read instead. Raises OSError if there is no room for one."""
        return [self._process_line(line) for line in lines]

    def finish(self) -> list[OrderedLine]:
        """Returns no lines: none is held back."""
        return []

    def _process_line(self, line: OrderedLine) -> OrderedLine:
        data = line.data.strip()
        if line.known_facts is not None or not any(all(mark in data for mark in marks) for marks in READER.marks):
            return line
        key = hashlib.blake2b(data, digest_size=8).digest()
        count = self._counts.get(key, 0) + 1
        if count > 1 or len(self._counts) < _MOST_ROWS:
            self._counts[key] = count
        row = decoded_object(data) if count > 1 and not is_too_large(data) else None
        if row is None or has_id(row) or not READER.is_known(row, False):
            return line
        known = {"copy": count}
        copy = to_json({**row, ID_OF_COPY: f"{conversation_of(row)}-{count}"})
        places = (line.offset, line.length)
        return OrderedLine(copy, self._joined.store_line(copy, known, places), len(copy), known)
