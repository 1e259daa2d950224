"""Converts a page of the API, and a saved event stream, to one line an event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from inspector.formats.document_conversion import read_document
from inspector.formats.file_conversion import FileConverter
from inspector.formats.file_records import HEAD_BYTES, first_record
from inspector.formats.managed_agents.reader import NAME, READER
from inspector.formats.value_conversions import mapping_or_empty, mappings_in
from inspector.protocol.tolerant_encoder import to_json

_DATA = b"data:"
_FIELDS = (_DATA, b"event:", b"id:", b"retry:", b":")


def begins_events(head: bytes) -> bool:
    """Returns True for the first bytes of a page with events, or of an event stream with them."""
    if head.startswith(_FIELDS):
        lines = (line[len(_DATA) :].strip() for line in head.splitlines()[:-1] if line.startswith(_DATA))
        return READER.read(next(lines, b"")) is not None
    if b'"processed_at"' not in head:
        return False
    return any(READER.read(to_json(dict(one))) is not None for one in mappings_in(first_record(head).get("data"))[:1])


class _EventConversion:
    """Converts a page or a stream.

    Attributes:
        progress: events converted, and their total if known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.progress = (0, 0)

    def lines(self) -> Iterator[bytes]:
        """Yields the lines. Raises OSError and NotConvertedError."""
        with self._path.open("rb") as file:
            is_stream = file.read(HEAD_BYTES).startswith(_FIELDS)
        for number, line in enumerate(self._streamed() if is_stream else self._listed(), 1):
            self.progress = (number, number)
            yield line + b"\n"

    def _streamed(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            for line in file:
                if line.startswith(_DATA) and (data := line[len(_DATA) :].strip()):
                    yield data

    def _listed(self) -> Iterator[bytes]:
        yield from (to_json(dict(one)) for one in mappings_in(mapping_or_empty(read_document(self._path)).get("data")))


CONVERSION = FileConverter(
    head_bytes=HEAD_BYTES, begins_file=begins_events, convert=_EventConversion, container=NAME
)  # fmt: skip
